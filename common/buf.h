// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer with its maximum set at birth. Overflow is remembered, not returned by each call: append as
// much as you like, then ask buf_result() once. After an overflow the content stays what it was at that moment.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/result.h"

struct buf {
  char *data;  // NUL-terminated whenever it is not NULL; use buf_text() to be sure of a string
  size_t len;
  size_t cap;
  size_t max;  // content never exceeds this many bytes (the NUL not counted)
  bool overflowed;
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_release(struct buf *b);  // frees the storage; the struct may be initialised again; half-initialised is fine
void buf_wipe(struct buf *b);     // buf_release of a secret: the storage is overwritten first
void buf_clear(struct buf *b);    // empties, keeps storage and maximum, forgets an overflow

void buf_append(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_put_u64(struct buf *b, uint64_t value);  // decimal, faster than printf
void buf_put_i64(struct buf *b, int64_t value);
void buf_put_be16(struct buf *b, uint16_t value);  // big-endian binary, for wire formats
void buf_put_be32(struct buf *b, uint32_t value);
void buf_put_be64(struct buf *b, uint64_t value);
// A JSON string with its quotes; bytes must be valid UTF-8 (invalid bytes become U+FFFD).
// Control characters, U+0085, U+2028 and U+2029 are escaped, so the text stays on one line anywhere.
void buf_put_json(struct buf *b, const char *bytes, size_t len);
void buf_consume(struct buf *b, size_t len);  // drops len bytes from the front

// RESULT_OK or RESULT_TOO_BIG.
MUST_CHECK enum result buf_result(const struct buf *b);
// The content as a string; "" when empty. Valid until the next change.
const char *buf_text(const struct buf *b);
// Hands the storage to the caller (free with mem_free) and leaves the buffer empty. Never NULL.
char *buf_take(struct buf *b);
