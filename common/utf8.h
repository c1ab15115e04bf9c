// SPDX-License-Identifier: Apache-2.0
// One code point of UTF-8 at a time: no surrogates, no overlong forms, nothing above U+10FFFF (RFC 3629).
// Pure; any thread. Callers outside common want text_is_utf8() of text.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Bytes that the code point at the start of bytes takes (1 to 4), or 0 if it is not valid. len is at least 1.
static inline size_t utf8_decode(const char *bytes, size_t len, uint32_t *out_code_point)
{
  const unsigned char *b = (const unsigned char *)bytes;
  if (b[0] < 0x80) {
    *out_code_point = b[0];
    return 1;
  }
  size_t need = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
  if (b[0] < 0xC2 || b[0] > 0xF4 || need > len) return 0;
  uint32_t code_point = b[0] & (0x7Fu >> need);
  for (size_t i = 1; i < need; i++) {
    if ((b[i] & 0xC0) != 0x80) return 0;
    code_point = code_point << 6 | (b[i] & 0x3Fu);
  }
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < smallest[need] || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) return 0;
  *out_code_point = code_point;
  return need;
}
