// SPDX-License-Identifier: Apache-2.0
// Fuzzes the small parsers of text.h and the escaping of buf.h: whatever is accepted must come back the same.
// libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

// An accepted number has only one spelling.
static void fuzz_numbers(const char *text, size_t len)
{
  struct buf again;
  buf_init(&again, 64);
  int64_t i64 = 0;
  uint64_t u64 = 0;
  int32_t i32 = 0;
  if (text_to_i64(text, len, &i64) == RESULT_OK) {
    buf_put_i64(&again, i64);
    CHECK(again.len == len && memcmp(again.data, text, len) == 0);
  }
  buf_clear(&again);
  if (text_to_u64(text, len, &u64) == RESULT_OK) {
    buf_put_u64(&again, u64);
    CHECK(again.len == len && memcmp(again.data, text, len) == 0);
  }
  if (text_to_i32(text, len, &i32) == RESULT_OK) CHECK(text_to_i64(text, len, &i64) == RESULT_OK && i64 == i32);
  uint64_t bytes = 0;
  if (text_to_size(text, len, &bytes) == RESULT_OK) CHECK(len >= 2);
  buf_release(&again);
}

static void fuzz_times(const char *text, size_t len)
{
  struct wall_time t, t_again;
  char written[TEXT_TIME_BYTES];
  if (text_to_time(text, len, &t) == RESULT_OK) {
    text_from_time(t, written);
    CHECK(text_to_time(written, strlen(written), &t_again) == RESULT_OK && t_again.us == t.us);
  }
  struct span s, s_again;
  struct buf out;
  buf_init(&out, 64);
  if (text_to_span(text, len, &s) == RESULT_OK) {
    text_from_span(s, &out);
    CHECK(text_to_span(buf_text(&out), out.len, &s_again) == RESULT_OK && s_again.us == s.us);
  }
  buf_release(&out);
}

static void fuzz_codecs(const char *text, size_t len)
{
  struct buf decoded, again;
  buf_init(&decoded, 1 << 20);
  buf_init(&again, 1 << 20);
  if (text_from_base64(text, len, &decoded) == RESULT_OK) {
    text_base64(decoded.data, decoded.len, &again);
    CHECK(again.len == len && (len == 0 || memcmp(again.data, text, len) == 0));
  }
  buf_clear(&decoded);
  buf_clear(&again);
  text_url_encode(text, len, &again);
  if (text_url_decode(again.data, again.len, false, &decoded) == RESULT_OK) {
    CHECK(decoded.len == len && (len == 0 || memcmp(decoded.data, text, len) == 0));
  } else {
    CHECK(memchr(text, '\0', len) != NULL);
  }
  buf_clear(&decoded);
  enum result r = text_url_decode(text, len, true, &decoded);
  CHECK(r != RESULT_OK || decoded.len <= len);
  buf_clear(&decoded);
  r = text_from_hex(text, len, &decoded);
  CHECK(r != RESULT_OK || decoded.len * 2 == len);
  buf_release(&decoded);
  buf_release(&again);
}

// Escaped text is one line of valid UTF-8, whatever went in.
static void fuzz_escaping(const char *text, size_t len)
{
  struct buf out;
  buf_init(&out, 1 << 20);
  buf_put_json(&out, text, len);
  CHECK(text_is_utf8(out.data, out.len));
  for (size_t i = 0; i < out.len; i++) CHECK((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7F);
  if (text_is_utf8(text, len)) CHECK(text_utf8_length(text, len) <= len);
  if (text_is_code(text, len)) CHECK(text_is_biz_id(text, len));
  CHECK(text_equals_secret(text, len, text, len));
  buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  fuzz_numbers(text, size);
  fuzz_times(text, size);
  fuzz_codecs(text, size);
  fuzz_escaping(text, size);
  return 0;
}
