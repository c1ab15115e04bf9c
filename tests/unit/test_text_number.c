// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes, UTF-8 and codes from outside, at their edges (B78, B81, B83).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"

static enum result i64_of(const char *text, int64_t *out) { return text_to_i64(text, strlen(text), out); }

static void integers_at_both_limits(void **state)
{
  (void)state;
  int64_t value = 0;
  assert_int_equal(i64_of("9223372036854775807", &value), RESULT_OK);
  assert_true(value == INT64_MAX);
  assert_int_equal(i64_of("-9223372036854775808", &value), RESULT_OK);
  assert_true(value == INT64_MIN);
  assert_int_equal(i64_of("0", &value), RESULT_OK);
  assert_true(value == 0);
  assert_int_equal(i64_of("9007199254740993", &value), RESULT_OK);
  assert_true(value == 9007199254740993);
  uint64_t big = 0;
  assert_int_equal(text_to_u64("18446744073709551615", 20, &big), RESULT_OK);
  assert_true(big == UINT64_MAX);
  int32_t small = 0;
  assert_int_equal(text_to_i32("-2147483648", 11, &small), RESULT_OK);
  assert_int_equal(small, INT32_MIN);
  assert_int_equal(text_to_i32("2147483647", 10, &small), RESULT_OK);
  assert_int_equal(small, INT32_MAX);
}

static void numbers_out_of_range_do_not_wrap(void **state)
{
  (void)state;
  int64_t value = 77;
  static const char *const wrong[] = {"9223372036854775808",  "-9223372036854775809", "18446744073709551616",
                                      "18446744073709551615", "99999999999999999999", "100000000000000000000000",
                                      "-18446744073709551616"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_int_equal(i64_of(wrong[i], &value), RESULT_INVALID);
  assert_true(value == 77);
  uint64_t big = 78;
  assert_int_equal(text_to_u64("18446744073709551616", 20, &big), RESULT_INVALID);
  assert_int_equal(text_to_u64("28446744073709551615", 20, &big), RESULT_INVALID);
  assert_int_equal(text_to_u64("-1", 2, &big), RESULT_INVALID);
  assert_true(big == 78);
  int32_t small = 79;
  assert_int_equal(text_to_i32("2147483648", 10, &small), RESULT_INVALID);
  assert_int_equal(text_to_i32("-2147483649", 11, &small), RESULT_INVALID);
  assert_int_equal(text_to_i32("4294967297", 10, &small), RESULT_INVALID);
  assert_int_equal(small, 79);
}

static void only_canonical_decimals_are_numbers(void **state)
{
  (void)state;
  int64_t value = 77;
  static const char *const wrong[] = {"",    "-",   "+",   "+3",   "03",    "00",    "-0",  "-03", "--3",  " 3", "3 ",
                                      "3\n", "3.0", "1e2", "0x1F", "1_000", "1,000", "30s", "３",  "null", "NaN"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_int_equal(i64_of(wrong[i], &value), RESULT_INVALID);
  assert_int_equal(text_to_i64("3\0", 2, &value), RESULT_INVALID);
  assert_int_equal(text_to_i64(NULL, 0, &value), RESULT_INVALID);
  assert_true(value == 77);
  assert_int_equal(text_to_i64("123", 2, &value), RESULT_OK);  // not NUL-terminated: the length counts
  assert_true(value == 12);
}

static void sizes_need_a_binary_unit(void **state)
{
  (void)state;
  uint64_t bytes = 0;
  assert_int_equal(text_to_size("512B", 4, &bytes), RESULT_OK);
  assert_true(bytes == 512);
  assert_int_equal(text_to_size("64KiB", 5, &bytes), RESULT_OK);
  assert_true(bytes == 65536);
  assert_int_equal(text_to_size("16777215TiB", 11, &bytes), RESULT_OK);
  assert_true(bytes == 16777215ull << 40);
  static const char *const wrong[] = {"",       "0",      "64",     "B",           "KiB",
                                      "64kB",   "64KB",   "64k",    "64 KiB",      "-1B",
                                      "1.5MiB", "64KiBx", "064KiB", "16777216TiB", "18446744073709551615KiB"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
    assert_int_equal(text_to_size(wrong[i], strlen(wrong[i]), &bytes), RESULT_INVALID);
  assert_true(bytes == 16777215ull << 40);
}

#define IS_UTF8(text) text_is_utf8((text), sizeof(text) - 1)

static void utf8_accepts_each_length_at_its_edges(void **state)
{
  (void)state;
  assert_true(IS_UTF8(""));
  assert_true(IS_UTF8("\x01\x7F"));
  assert_true(IS_UTF8("\xC2\x80\xDF\xBF"));
  assert_true(IS_UTF8("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"));
  assert_true(IS_UTF8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
}

static void utf8_refuses_what_only_looks_like_it(void **state)
{
  (void)state;
  assert_false(IS_UTF8("a\0b"));
  assert_false(IS_UTF8("\x80"));
  assert_false(IS_UTF8("\xBF"));
  assert_false(IS_UTF8("\xC0\x80"));  // overlong NUL
  assert_false(IS_UTF8("\xC0\xAF"));  // overlong slash
  assert_false(IS_UTF8("\xC1\xBF"));
  assert_false(IS_UTF8("\xE0\x80\xAF"));  // overlong in three
  assert_false(IS_UTF8("\xE0\x9F\xBF"));
  assert_false(IS_UTF8("\xF0\x80\x80\xAF"));  // overlong in four
  assert_false(IS_UTF8("\xF0\x8F\xBF\xBF"));
  assert_false(IS_UTF8("\xED\xA0\x80"));  // surrogates
  assert_false(IS_UTF8("\xED\xBF\xBF"));
  assert_false(IS_UTF8("\xF4\x90\x80\x80"));  // above U+10FFFF
  assert_false(IS_UTF8("\xF5\x80\x80\x80"));
  assert_false(IS_UTF8("\xFE"));
  assert_false(IS_UTF8("\xFF"));
  assert_false(IS_UTF8("\xC3"));  // cut off
  assert_false(IS_UTF8("\xE4\xB8"));
  assert_false(IS_UTF8("\xF0\x9F\x8E"));
  assert_false(IS_UTF8("\xC3("));  // wrong continuation
  assert_false(IS_UTF8("\xE4(\xB8"));
}

static void length_counts_characters(void **state)
{
  (void)state;
  assert_int_equal(text_utf8_length("", 0), 0);
  assert_int_equal(text_utf8_length("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x8E\x81", 10), 4);
}

static void codes_and_biz_ids_have_their_alphabets(void **state)
{
  (void)state;
  char long_text[65];
  memset(long_text, 'a', sizeof(long_text));
  assert_true(text_is_code("a", 1));
  assert_true(text_is_code("0", 1));
  assert_true(text_is_code("Festival-2026.10_01", 19));
  assert_true(text_is_code(long_text, 64));
  assert_false(text_is_code(long_text, 65));
  assert_false(text_is_code("", 0));
  assert_false(text_is_code(".a", 2));
  assert_false(text_is_code("-a", 2));
  assert_false(text_is_code("_a", 2));
  assert_false(text_is_code("a:b", 3));
  assert_false(text_is_code("a b", 3));
  assert_false(text_is_code("a\n", 2));
  assert_false(text_is_code("a\0", 2));
  assert_false(text_is_code("\xC3\xA9", 2));
  assert_true(text_is_biz_id(":", 1));
  assert_true(text_is_biz_id(".a-b_c:d", 8));
  assert_true(text_is_biz_id(long_text, 64));
  assert_false(text_is_biz_id(long_text, 65));
  assert_false(text_is_biz_id("", 0));
  assert_false(text_is_biz_id("a/b", 3));
  assert_false(text_is_biz_id("a\0b", 3));
  assert_false(text_is_biz_id("a\r\nb", 4));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_at_both_limits),
      cmocka_unit_test(numbers_out_of_range_do_not_wrap),
      cmocka_unit_test(only_canonical_decimals_are_numbers),
      cmocka_unit_test(sizes_need_a_binary_unit),
      cmocka_unit_test(utf8_accepts_each_length_at_its_edges),
      cmocka_unit_test(utf8_refuses_what_only_looks_like_it),
      cmocka_unit_test(length_counts_characters),
      cmocka_unit_test(codes_and_biz_ids_have_their_alphabets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
