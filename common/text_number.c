// SPDX-License-Identifier: Apache-2.0
// Canonical decimals, byte sizes, UTF-8 and the two alphabets of codes.
// Pure; any thread.
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "common/utf8.h"

enum result text_to_u64(const char *bytes, size_t len, uint64_t *out_value)
{
  if (len == 0 || len > 20) return RESULT_INVALID;
  if (bytes[0] == '0' && len > 1) return RESULT_INVALID;
  uint64_t value = 0;
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] < '0' || bytes[i] > '9') return RESULT_INVALID;
    uint64_t digit = (uint64_t)(bytes[i] - '0');
    if (value > (UINT64_MAX - digit) / 10) return RESULT_INVALID;
    value = value * 10 + digit;
  }
  *out_value = value;
  return RESULT_OK;
}

enum result text_to_i64(const char *bytes, size_t len, int64_t *out_value)
{
  if (len == 0) return RESULT_INVALID;
  bool negative = bytes[0] == '-';
  uint64_t magnitude = 0;
  if (text_to_u64(bytes + negative, len - negative, &magnitude) != RESULT_OK) return RESULT_INVALID;
  if (negative && magnitude == 0) return RESULT_INVALID;  // "-0" is not canonical
  if (magnitude > (uint64_t)INT64_MAX + negative) return RESULT_INVALID;
  *out_value = negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
  return RESULT_OK;
}

enum result text_to_i32(const char *bytes, size_t len, int32_t *out_value)
{
  int64_t value = 0;
  if (text_to_i64(bytes, len, &value) != RESULT_OK) return RESULT_INVALID;
  if (value < INT32_MIN || value > INT32_MAX) return RESULT_INVALID;
  *out_value = (int32_t)value;
  return RESULT_OK;
}

enum result text_to_size(const char *bytes, size_t len, uint64_t *out_bytes)
{
  static const struct {
    const char *unit;
    uint64_t factor;
  } units[] = {// "B" comes last: the others end in it too.
               {"KiB", 1ull << 10},
               {"MiB", 1ull << 20},
               {"GiB", 1ull << 30},
               {"TiB", 1ull << 40},
               {"B", 1}};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    size_t unit_len = strlen(units[i].unit);
    if (len <= unit_len || memcmp(bytes + len - unit_len, units[i].unit, unit_len) != 0) continue;
    uint64_t count = 0;
    if (text_to_u64(bytes, len - unit_len, &count) != RESULT_OK) return RESULT_INVALID;
    if (count > UINT64_MAX / units[i].factor) return RESULT_INVALID;
    *out_bytes = count * units[i].factor;
    return RESULT_OK;
  }
  return RESULT_INVALID;
}

bool text_is_utf8(const char *bytes, size_t len)
{
  for (size_t at = 0; at < len;) {
    uint32_t code_point = 0;
    size_t width = utf8_decode(bytes + at, len - at, &code_point);
    if (width == 0 || code_point == 0) return false;
    at += width;
  }
  return true;
}

size_t text_utf8_length(const char *bytes, size_t len)
{
  size_t count = 0;
  for (size_t i = 0; i < len; i++) count += ((unsigned char)bytes[i] & 0xC0) != 0x80;
  return count;
}

// isalnum() depends on the locale; the contract does not.
static bool is_alphanumeric(char c)
{
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_made_of(const char *bytes, size_t len, const char *punctuation)
{
  for (size_t i = 0; i < len; i++) {
    if (!is_alphanumeric(bytes[i]) && (bytes[i] == '\0' || strchr(punctuation, bytes[i]) == NULL)) return false;
  }
  return true;
}

enum result text_to_pair(const char *text, int64_t *out_first, int64_t *out_second)
{
  int64_t first = 0, second = 0;
  const char *dash = strchr(text, '-');
  size_t len = dash != NULL ? (size_t)(dash - text) : strlen(text);
  if (text_to_i64(text, len, &first) != RESULT_OK || first < 0) return RESULT_INVALID;
  if (dash == NULL) return RESULT_NOT_FOUND;
  if (text_to_i64(dash + 1, strlen(dash + 1), &second) != RESULT_OK || second < 0) return RESULT_INVALID;
  *out_first = first;
  *out_second = second;
  return RESULT_OK;
}

bool text_is_code(const char *bytes, size_t len)
{
  return len >= 1 && len <= CODE_BYTES_MAX && is_alphanumeric(bytes[0]) && is_made_of(bytes, len, "._-");
}

bool text_is_biz_id(const char *bytes, size_t len)
{
  return len >= 1 && len <= BIZ_ID_BYTES_MAX && is_made_of(bytes, len, "._:-");
}
