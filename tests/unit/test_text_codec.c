// SPDX-License-Identifier: Apache-2.0
// Base64, hex, URL coding and secrets: strict, all or nothing.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"

typedef enum result decode_fn(const char *text, size_t len, struct buf *out);

static void assert_decoded(decode_fn *decode, const char *text, const char *expected)
{
  struct buf out;
  buf_init(&out, 100);
  assert_int_equal(decode(text, strlen(text), &out), RESULT_OK);
  assert_string_equal(buf_text(&out), expected);
  buf_release(&out);
}

static void assert_refused(decode_fn *decode, const char *text)
{
  struct buf out;
  buf_init(&out, 100);
  buf_puts(&out, "kept");
  if (decode(text, strlen(text), &out) != RESULT_INVALID) fail_msg("accepted: %s", text);
  assert_string_equal(buf_text(&out), "kept");
  assert_int_equal(buf_result(&out), RESULT_OK);
  buf_release(&out);
}

static void base64_follows_rfc_4648(void **state)
{
  (void)state;
  static const char *const vectors[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
    struct buf out;
    buf_init(&out, 100);
    text_base64(vectors[i][0], strlen(vectors[i][0]), &out);
    assert_string_equal(buf_text(&out), vectors[i][1]);
    assert_decoded(text_from_base64, vectors[i][1], vectors[i][0]);
    buf_release(&out);
  }
  assert_decoded(text_from_base64, "w7/Dvg==", "\xC3\xBF\xC3\xBE");
}

static void base64_refuses_other_spellings(void **state)
{
  (void)state;
  static const char *const wrong[] = {
      "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm8=Zg==", "Zm 8", "Zm8=\n", "Zm-_", "Zm9v\n", "=Zm9", "Zg==="};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_refused(text_from_base64, wrong[i]);
}

static void hex_is_read_in_both_cases(void **state)
{
  (void)state;
  assert_decoded(text_from_hex, "", "");
  assert_decoded(text_from_hex, "6a4B", "jK");
  static const char *const wrong[] = {"6", "6g", "0x", " 6a", "6a ", "6\xC3"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_refused(text_from_hex, wrong[i]);
  struct buf out;
  buf_init(&out, 100);
  text_hex("\x00\xFF\x1a", 3, &out);
  assert_string_equal(buf_text(&out), "00ff1a");
  buf_release(&out);
}

static enum result decode_plus(const char *text, size_t len, struct buf *out)
{
  return text_url_decode(text, len, true, out);
}

static enum result decode_path(const char *text, size_t len, struct buf *out)
{
  return text_url_decode(text, len, false, out);
}

static void urls_are_coded_strictly(void **state)
{
  (void)state;
  assert_decoded(decode_plus, "a+b%20c%2Bd", "a b c+d");
  assert_decoded(decode_path, "a+b%2fc", "a+b/c");
  assert_decoded(decode_path, "%e4%B8%ad", "\xE4\xB8\xAD");
  assert_decoded(decode_path, "%2500", "%00");
  static const char *const wrong[] = {"%", "%2", "a%", "%zz", "%2g", "%%20", "%00", "a%00b", "%u0041"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_refused(decode_path, wrong[i]);
  struct buf out;
  buf_init(&out, 100);
  assert_int_equal(text_url_decode("a\0b", 3, false, &out), RESULT_INVALID);
  text_url_encode("aZ0-._~ /+%\xE4\n", 13, &out);
  assert_string_equal(buf_text(&out), "aZ0-._~%20%2F%2B%25%E4%0A");
  buf_release(&out);
}

static void a_full_buffer_gets_nothing(void **state)
{
  (void)state;
  struct buf out;
  buf_init(&out, 3);
  buf_putc(&out, 'x');
  assert_int_equal(text_from_base64("Zm9v", 4, &out), RESULT_TOO_BIG);
  assert_int_equal(text_from_hex("616263", 6, &out), RESULT_TOO_BIG);
  assert_int_equal(text_url_decode("abc", 3, false, &out), RESULT_TOO_BIG);
  assert_string_equal(buf_text(&out), "x");
  assert_int_equal(text_from_base64("Zm8=", 4, &out), RESULT_OK);
  assert_string_equal(buf_text(&out), "xfo");
  buf_release(&out);
}

static void secrets_are_equal_only_when_all_bytes_are(void **state)
{
  (void)state;
  assert_true(text_equals_secret("", 0, "", 0));
  assert_true(text_equals_secret("abc", 3, "abc", 3));
  assert_false(text_equals_secret("abc", 3, "abd", 3));
  assert_false(text_equals_secret("abc", 3, "abcd", 4));
  assert_false(text_equals_secret("abcd", 4, "abc", 3));
  assert_false(text_equals_secret("abcabc", 6, "abc", 3));
  assert_false(text_equals_secret("", 0, "a", 1));
  assert_false(text_equals_secret("a", 1, "", 0));
  assert_false(text_equals_secret("\0", 1, "", 0));
  assert_false(text_equals_secret("a\0b", 3, "a\0c", 3));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(base64_follows_rfc_4648),    cmocka_unit_test(base64_refuses_other_spellings),
      cmocka_unit_test(hex_is_read_in_both_cases),  cmocka_unit_test(urls_are_coded_strictly),
      cmocka_unit_test(a_full_buffer_gets_nothing), cmocka_unit_test(secrets_are_equal_only_when_all_bytes_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
