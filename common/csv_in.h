// SPDX-License-Identifier: Apache-2.0
// Reading CSV (RFC 4180) in pieces of any size: quoted cells with commas, doubled quotes and line ends inside; lines
// end with CRLF, LF or CR, the last one with or without; a byte order mark and empty lines are passed over; blanks
// around unquoted cells do not count. Cells are bytes: whether they are UTF-8 is for the caller to ask. The only user
// of csv.h. Pure; any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/result.h"

#define CSV_CELLS_MAX     128            // of a row; what a row has more is only counted
#define CSV_ROW_BYTES_MAX (1024 * 1024)  // as it stands in the file

struct csv_cell {
  const char *bytes;  // NUL-terminated; may hold NUL bytes of the file
  size_t len;
};
// line: where the row begins, from 1. cells: valid during the call; count may be larger than CSV_CELLS_MAX.
typedef void csv_row_fn(void *ctx, int64_t line, const struct csv_cell *cells, size_t count);

struct csv_reader;
struct csv_reader *csv_reader_new(csv_row_fn *on_row, void *ctx);
void csv_reader_set_delimiter(struct csv_reader *r, char delimiter);  // before the first byte; else it is a comma
void csv_reader_set_line(struct csv_reader *r, int64_t line);         // the same: the first line's number, else 1
void csv_reader_free(struct csv_reader *r);                           // NULL is allowed
// RESULT_INVALID: a quote that is not closed or stands inside a cell; RESULT_TOO_BIG: a row without end. Nothing may be
// fed after that. csv_reader_line tells where that row begins.
MUST_CHECK enum result csv_reader_feed(struct csv_reader *r, const char *bytes, size_t len);
MUST_CHECK enum result csv_reader_end(struct csv_reader *r);  // the last row may come now
int64_t csv_reader_line(const struct csv_reader *r);
