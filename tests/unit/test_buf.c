// SPDX-License-Identifier: Apache-2.0
// The bounded buffer: overflow, growth, JSON strings, take and consume.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/text.h"

static void an_empty_buffer_is_an_empty_string(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 10);
  assert_string_equal(buf_text(&b), "");
  assert_int_equal(buf_result(&b), RESULT_OK);
  buf_append(&b, NULL, 0);
  buf_consume(&b, 0);
  assert_int_equal(b.len, 0);
  char *taken = buf_take(&b);
  assert_string_equal(taken, "");
  mem_free(taken);
  buf_release(&b);
  buf_release(&b);
}

static void the_maximum_is_exact_and_remembered(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 5);
  buf_puts(&b, "12345");
  assert_int_equal(buf_result(&b), RESULT_OK);
  buf_putc(&b, '6');
  assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
  assert_string_equal(buf_text(&b), "12345");
  buf_consume(&b, 5);
  buf_puts(&b, "x");  // still overflowed: half of a message must not follow
  assert_string_equal(buf_text(&b), "");
  assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
  buf_clear(&b);
  buf_puts(&b, "abc");
  assert_int_equal(buf_result(&b), RESULT_OK);
  assert_string_equal(buf_text(&b), "abc");
  buf_release(&b);
}

static void a_maximum_of_zero_takes_nothing(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 0);
  buf_puts(&b, "");
  assert_int_equal(buf_result(&b), RESULT_OK);
  buf_putc(&b, 'x');
  assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
  assert_string_equal(buf_text(&b), "");
  buf_release(&b);
}

static void a_refused_append_leaves_no_half(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 8);
  buf_puts(&b, "abc");
  buf_printf(&b, "%s", "123456");
  assert_string_equal(buf_text(&b), "abc");
  assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
  buf_release(&b);
  buf_init(&b, 100);
  buf_puts(&b, "abc");
  b.max = 5;  // the storage has room, the maximum has not
  buf_printf(&b, "%d", 12345);
  assert_string_equal(buf_text(&b), "abc");
  assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
  buf_release(&b);
}

static void it_grows_over_many_appends(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 100000);
  for (int i = 0; i < 10000; i++) buf_printf(&b, "%04d\n", i);
  assert_int_equal(buf_result(&b), RESULT_OK);
  assert_int_equal(b.len, 50000);
  assert_memory_equal(b.data + 5 * 9999, "9999\n", 6);
  buf_release(&b);
}

static void printf_fits_to_the_last_byte(void **state)
{
  (void)state;
  struct buf b;
  for (size_t len = 60; len < 70; len++) {
    buf_init(&b, len);
    buf_printf(&b, "%0*d", (int)len, 7);
    assert_int_equal(buf_result(&b), RESULT_OK);
    assert_int_equal(b.len, len);
    buf_release(&b);
    buf_init(&b, len - 1);
    buf_printf(&b, "%0*d", (int)len, 7);
    assert_int_equal(buf_result(&b), RESULT_TOO_BIG);
    assert_int_equal(b.len, 0);
    buf_release(&b);
  }
}

static void numbers_at_their_limits(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 200);
  buf_put_u64(&b, 0);
  buf_putc(&b, ' ');
  buf_put_u64(&b, UINT64_MAX);
  buf_putc(&b, ' ');
  buf_put_i64(&b, INT64_MIN);
  buf_putc(&b, ' ');
  buf_put_i64(&b, INT64_MAX);
  buf_putc(&b, ' ');
  buf_put_i64(&b, -1);
  assert_string_equal(buf_text(&b), "0 18446744073709551615 -9223372036854775808 9223372036854775807 -1");
  buf_clear(&b);
  buf_put_be16(&b, 0x0102);
  buf_put_be32(&b, 0x03040506);
  buf_put_be64(&b, 0x0708090A0B0C0DFFu);
  static const unsigned char expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 255};
  assert_int_equal(b.len, sizeof(expected));
  assert_memory_equal(b.data, expected, sizeof(expected));
  buf_release(&b);
}

static void assert_json(const char *bytes, size_t len, const char *expected)
{
  struct buf b;
  buf_init(&b, 1000);
  buf_put_json(&b, bytes, len);
  assert_string_equal(buf_text(&b), expected);
  buf_release(&b);
}
#define ASSERT_JSON(bytes, expected) assert_json((bytes), sizeof(bytes) - 1, (expected))

static void json_strings_escape_what_ends_lines(void **state)
{
  (void)state;
  ASSERT_JSON("", "\"\"");
  ASSERT_JSON("plain", "\"plain\"");
  ASSERT_JSON("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
  ASSERT_JSON("\n\r\t\b\f\x01\x1b\x7f", "\"\\n\\r\\t\\b\\f\\u0001\\u001b\\u007f\"");
  ASSERT_JSON("a\0b", "\"a\\u0000b\"");
  ASSERT_JSON("\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\xC2\x9B", "\"\\u0085\\u2028\\u2029\\u009b\"");
  ASSERT_JSON("\xEF\xBB\xBF", "\"\\ufeff\"");
  ASSERT_JSON("\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x8E\x81", "\"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x8E\x81\"");
}

static void json_strings_replace_invalid_bytes(void **state)
{
  (void)state;
  ASSERT_JSON(
      "a\xFF"
      "b",
      "\"a\xEF\xBF\xBD"
      "b\"");
  ASSERT_JSON("\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  ASSERT_JSON("\xE2\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  ASSERT_JSON("\xE2\"", "\"\xEF\xBF\xBD\\\"\"");
  ASSERT_JSON("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void consume_drops_from_the_front(void **state)
{
  (void)state;
  struct buf b;
  buf_init(&b, 20);
  buf_puts(&b, "hello world");
  buf_consume(&b, 6);
  assert_string_equal(buf_text(&b), "world");
  buf_consume(&b, 5);
  assert_string_equal(buf_text(&b), "");
  buf_puts(&b, "again");
  char *taken = buf_take(&b);
  assert_string_equal(taken, "again");
  assert_int_equal(b.len, 0);
  assert_int_equal(b.max, 20);
  buf_puts(&b, "new");
  assert_string_equal(buf_text(&b), "new");
  mem_free(taken);
  buf_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_buffer_is_an_empty_string),
      cmocka_unit_test(the_maximum_is_exact_and_remembered),
      cmocka_unit_test(a_maximum_of_zero_takes_nothing),
      cmocka_unit_test(a_refused_append_leaves_no_half),
      cmocka_unit_test(it_grows_over_many_appends),
      cmocka_unit_test(printf_fits_to_the_last_byte),
      cmocka_unit_test(numbers_at_their_limits),
      cmocka_unit_test(json_strings_escape_what_ends_lines),
      cmocka_unit_test(json_strings_replace_invalid_bytes),
      cmocka_unit_test(consume_drops_from_the_front),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
