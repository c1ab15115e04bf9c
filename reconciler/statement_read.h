// SPDX-License-Identifier: Apache-2.0
// Reads the file of a statement in pieces of any size, by its profile: bounded memory, one line at a time.
// Owner: the import; any one thread.
#pragma once

#include "reconciler/statement_profile.h"

struct statement_reader;
// Anything but RESULT_OK ends the reading, and feed returns it. The texts of the line live during the call.
typedef enum result statement_line_fn(void *ctx, const struct statement_line *line);

// RESULT_INVALID: the encoding is not known to iconv.
MUST_CHECK enum result statement_reader_new(const struct statement_profile *p, statement_line_fn *on_line, void *ctx,
                                            struct statement_reader **out_reader);
void statement_reader_free(struct statement_reader *r);  // NULL is allowed
// RESULT_INVALID: the file is not as the profile says; statement_reader_why tells with line and column. Nothing may be
// fed after that.
MUST_CHECK enum result statement_reader_feed(struct statement_reader *r, const char *bytes, size_t len);
MUST_CHECK enum result statement_reader_end(struct statement_reader *r);
const char *statement_reader_why(
    const struct statement_reader *r);  // "line 17: Betrag (amount) …"; "" if nothing is wrong
int64_t statement_reader_fault_line(const struct statement_reader *r);  // 0: of no line
