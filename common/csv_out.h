// SPDX-License-Identifier: Apache-2.0
// Writing CSV (RFC 4180) that a spreadsheet may open: what it would take for a formula becomes text, numbers stay
// numbers. Pure; any thread.
#pragma once

#include "common/buf.h"

// Cells are separated by the caller with a comma; a row ends with "\r\n". A cell that begins with = + - @ tab, CR or LF
// (also after blanks) gets an apostrophe in front, unless it is a plain decimal number such as -500 or -5.00.
void csv_put_cell(struct buf *out, const char *text);
// A whole row of cells; ended by NULL.
void csv_put_row(struct buf *out, const char *const *cells);
