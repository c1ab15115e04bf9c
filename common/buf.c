// SPDX-License-Identifier: Apache-2.0
// The growing byte buffer with a maximum: storage, numbers in decimal and big-endian, JSON strings.
// Owned by whoever holds the struct; no thread may share one.
#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/utf8.h"

#define FIRST_CAPACITY 64

void buf_init(struct buf *b, size_t max_bytes)
{
  REQUIRE(max_bytes < SIZE_MAX / 2);
  *b = (struct buf){.max = max_bytes};
}

void buf_release(struct buf *b)
{
  mem_free(b->data);
  *b = (struct buf){.max = b->max};
}

void buf_wipe(struct buf *b)
{
  if (b->data != NULL) explicit_bzero(b->data, b->cap);
  buf_release(b);
}

void buf_clear(struct buf *b)
{
  b->len = 0;
  b->overflowed = false;
  if (b->data != NULL) b->data[0] = '\0';
}

// Makes room for len more bytes and a NUL. False, and overflow remembered, if the maximum forbids it.
static bool reserve(struct buf *b, size_t len)
{
  if (b->overflowed || b->len > b->max || len > b->max - b->len) {
    b->overflowed = true;
    return false;
  }
  size_t need = b->len + len + 1;
  if (need <= b->cap) return true;
  size_t cap = b->cap < FIRST_CAPACITY ? FIRST_CAPACITY : b->cap * 2;
  if (cap < need) cap = need;
  if (cap > b->max + 1) cap = b->max + 1;
  b->data = mem_resize(b->data, cap, 1);
  b->cap = cap;
  return true;
}

void buf_append(struct buf *b, const void *bytes, size_t len)
{
  if (!reserve(b, len)) return;
  if (len > 0) memcpy(b->data + b->len, bytes, len);
  b->len += len;
  b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }

void buf_putc(struct buf *b, char c)
{
  if (!reserve(b, 1)) return;
  b->data[b->len++] = c;
  b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *format, ...)
{
  va_list args;
  va_list again;
  va_start(args, format);
  va_copy(again, args);
  // An empty buffer has no storage to try in; the first call then only measures.
  size_t room = b->cap > b->len ? b->cap - b->len : 0;
  if (b->len > b->max)
    room = 0;
  else if (room > b->max - b->len + 1)
    room = b->max - b->len + 1;
  int len = vsnprintf(room > 0 ? b->data + b->len : NULL, room, format, args);
  REQUIRE(len >= 0);
  if ((size_t)len < room && !b->overflowed) {
    b->len += (size_t)len;
  } else {
    if (room > 0) b->data[b->len] = '\0';  // undo what the attempt left behind the content
    if (reserve(b, (size_t)len)) {
      vsnprintf(b->data + b->len, (size_t)len + 1, format, again);
      b->len += (size_t)len;
    }
  }
  va_end(again);
  va_end(args);
}

void buf_put_u64(struct buf *b, uint64_t value)
{
  char digits[20];
  size_t at = sizeof(digits);
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  buf_append(b, digits + at, sizeof(digits) - at);
}

void buf_put_i64(struct buf *b, int64_t value)
{
  if (value >= 0) {
    buf_put_u64(b, (uint64_t)value);
    return;
  }
  char text[24];
  int len = snprintf(text, sizeof(text), "%lld", (long long)value);
  buf_append(b, text, (size_t)len);
}

static void put_big_endian(struct buf *b, uint64_t value, size_t bytes)
{
  unsigned char wire[8];
  for (size_t i = 0; i < bytes; i++) wire[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
  buf_append(b, wire, bytes);
}

void buf_put_be16(struct buf *b, uint16_t value) { put_big_endian(b, value, 2); }

void buf_put_be32(struct buf *b, uint32_t value) { put_big_endian(b, value, 4); }

void buf_put_be64(struct buf *b, uint64_t value) { put_big_endian(b, value, 8); }

// The escape that a code point needs inside a JSON string, or NULL. scratch holds at least 8 bytes.
static const char *json_escape(uint32_t code_point, char *scratch)
{
  switch (code_point) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: break;
  }
  // C0, DEL and C1 (among them U+0085 and the terminal's CSI), the two separators that end lines for some readers, the
  // byte order mark and the two values that are no characters (YAML refuses them unescaped).
  bool is_control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
  bool is_separator = code_point == 0x2028 || code_point == 0x2029;
  if (!is_control && !is_separator && code_point != 0xFEFF && code_point != 0xFFFE && code_point != 0xFFFF) return NULL;
  snprintf(scratch, 8, "\\u%04x", (unsigned)(code_point & 0xFFFF));
  return scratch;
}

void buf_put_json(struct buf *b, const char *bytes, size_t len)
{
  char scratch[8];
  size_t plain_from = 0;  // bytes from here to `at` need no escape and are copied in one go
  size_t at = 0;
  buf_putc(b, '"');
  while (at < len) {
    unsigned char c = (unsigned char)bytes[at];
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      at++;
      continue;
    }
    uint32_t code_point = 0;
    size_t width = utf8_decode(bytes + at, len - at, &code_point);
    const char *escape = width == 0 ? "\xEF\xBF\xBD" : json_escape(code_point, scratch);
    if (width == 0) width = 1;
    if (escape != NULL) {
      buf_append(b, bytes + plain_from, at - plain_from);
      buf_puts(b, escape);
      plain_from = at + width;
    }
    at += width;
  }
  buf_append(b, bytes + plain_from, at - plain_from);
  buf_putc(b, '"');
}

void buf_consume(struct buf *b, size_t len)
{
  REQUIRE(len <= b->len);
  if (len == 0) return;
  b->len -= len;
  memmove(b->data, b->data + len, b->len);
  b->data[b->len] = '\0';
}

enum result buf_result(const struct buf *b) { return b->overflowed ? RESULT_TOO_BIG : RESULT_OK; }

const char *buf_text(const struct buf *b) { return b->data != NULL ? b->data : ""; }

char *buf_take(struct buf *b)
{
  char *data = b->data != NULL ? b->data : mem_strdup("");
  *b = (struct buf){.max = b->max};
  return data;
}
