// SPDX-License-Identifier: Apache-2.0
// Base64, hex, URL encoding, and comparison of secrets.
// Pure; any thread.
#include "common/text.h"

// Decoders write all or nothing, so they ask before the first byte.
static bool has_room(const struct buf *out, size_t len) { return !out->overflowed && len <= out->max - out->len; }

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text_base64(const void *bytes, size_t len, struct buf *out)
{
  const unsigned char *b = bytes;
  for (size_t at = 0; at < len; at += 3) {
    size_t left = len - at;
    uint32_t group = (uint32_t)b[at] << 16;
    if (left > 1) group |= (uint32_t)b[at + 1] << 8;
    if (left > 2) group |= b[at + 2];
    char four[4] = {base64_digits[group >> 18], base64_digits[group >> 12 & 63], base64_digits[group >> 6 & 63],
                    base64_digits[group & 63]};
    if (left < 3) four[3] = '=';
    if (left < 2) four[2] = '=';
    buf_append(out, four, sizeof(four));
  }
}

static int base64_value(char c)
{
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

// Number of '=' at the end, or -1 if the text is not canonical base64.
static int base64_check(const char *text, size_t len)
{
  if (len % 4 != 0) return -1;
  if (len == 0) return 0;
  int padding = text[len - 1] != '=' ? 0 : text[len - 2] != '=' ? 1 : 2;
  for (size_t i = 0; i < len - (size_t)padding; i++) {
    if (base64_value(text[i]) < 0) return -1;
  }
  // Bits behind the last byte must be zero, or two texts would mean the same bytes.
  if (padding == 1 && (base64_value(text[len - 2]) & 3) != 0) return -1;
  if (padding == 2 && (base64_value(text[len - 3]) & 15) != 0) return -1;
  return padding;
}

enum result text_from_base64(const char *text, size_t len, struct buf *out)
{
  int padding = base64_check(text, len);
  if (padding < 0) return RESULT_INVALID;
  size_t bytes = len / 4 * 3 - (size_t)padding;
  if (!has_room(out, bytes)) return RESULT_TOO_BIG;
  for (size_t at = 0; at < len; at += 4) {
    uint32_t group = 0;
    for (size_t i = 0; i < 4; i++)
      group = group << 6 | (uint32_t)(text[at + i] == '=' ? 0 : base64_value(text[at + i]));
    char three[3] = {(char)(group >> 16 & 255), (char)(group >> 8 & 255), (char)(group & 255)};
    buf_append(out, three, bytes < 3 ? bytes : 3);
    bytes -= bytes < 3 ? bytes : 3;
  }
  return RESULT_OK;
}

void text_hex(const void *bytes, size_t len, struct buf *out)
{
  static const char digits[] = "0123456789abcdef";
  const unsigned char *b = bytes;
  for (size_t i = 0; i < len; i++) {
    char two[2] = {digits[b[i] >> 4], digits[b[i] & 15]};
    buf_append(out, two, sizeof(two));
  }
}

static int hex_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum result text_from_hex(const char *text, size_t len, struct buf *out)
{
  if (len % 2 != 0) return RESULT_INVALID;
  for (size_t i = 0; i < len; i++) {
    if (hex_value(text[i]) < 0) return RESULT_INVALID;
  }
  if (!has_room(out, len / 2)) return RESULT_TOO_BIG;
  for (size_t i = 0; i < len; i += 2) buf_putc(out, (char)(hex_value(text[i]) * 16 + hex_value(text[i + 1])));
  return RESULT_OK;
}

static bool is_unreserved(char c)
{
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void text_url_encode(const char *bytes, size_t len, struct buf *out)
{
  static const char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[i];
    char three[3] = {'%', digits[c >> 4], digits[c & 15]};
    if (is_unreserved(bytes[i]))
      buf_putc(out, bytes[i]);
    else
      buf_append(out, three, sizeof(three));
  }
}

// Bytes after decoding, or -1: a '%' without two hex digits, or a NUL, which no text may hold.
static int64_t url_decoded_length(const char *text, size_t len)
{
  int64_t count = 0;
  for (size_t i = 0; i < len; i++, count++) {
    if (text[i] == '\0') return -1;
    if (text[i] != '%') continue;
    if (len - i < 3 || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0) return -1;
    if (text[i + 1] == '0' && text[i + 2] == '0') return -1;
    i += 2;
  }
  return count;
}

enum result text_url_decode(const char *text, size_t len, bool plus_is_space, struct buf *out)
{
  int64_t count = url_decoded_length(text, len);
  if (count < 0) return RESULT_INVALID;
  if (!has_room(out, (size_t)count)) return RESULT_TOO_BIG;
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    if (c == '%') {
      c = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    buf_putc(out, c);
  }
  return RESULT_OK;
}

bool text_equals_secret(const char *a, size_t a_len, const char *b, size_t b_len)
{
  // Runs over a whole whatever b holds; only the length of a shows in the time it takes.
  volatile unsigned char difference = a_len != b_len;
  for (size_t i = 0; i < a_len; i++) {
    unsigned char other = b_len > 0 ? (unsigned char)b[i % b_len] : 0;
    difference = (unsigned char)(difference | ((unsigned char)a[i] ^ other));
  }
  return difference == 0;
}
