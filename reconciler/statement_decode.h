// SPDX-License-Identifier: Apache-2.0
// The bytes of a file as UTF-8, whatever it was written in, in pieces of any size. The only user of iconv.h.
// Owner: the reader's; any one thread.
#pragma once

#include "common/buf.h"
#include "common/result.h"

struct statement_decoder;
// NULL: iconv knows no such encoding.
struct statement_decoder *statement_decoder_new(const char *encoding);
void statement_decoder_free(struct statement_decoder *d);  // NULL is allowed
// Appends to out, without a byte order mark; out is the caller's to empty. RESULT_INVALID: bytes that are none of this
// encoding, or a file that ends within a character.
MUST_CHECK enum result statement_decoder_feed(struct statement_decoder *d, const char *bytes, size_t len,
                                              struct buf *out);
MUST_CHECK enum result statement_decoder_end(struct statement_decoder *d, struct buf *out);
int64_t statement_decoder_line(const struct statement_decoder *d);  // that was reached, from 1
const char *statement_decoder_why(const struct statement_decoder *d);
