// SPDX-License-Identifier: Apache-2.0
// Tests of scheduler/event_batch: rows with many events, and attributes as headers; and of common/trace_parent.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "scheduler/event_batch.h"

static void a_row_is_taken_apart(void **state)
{
  const struct event_row row = {7,        "claim.failed", "2026-11-29T12:00:00.000000Z", "a\nb\nc",
                                "1\n\n3", "\n\n",         "{}\n[2]\n{\"x\":3}"};
  struct event_batch *b = event_batch_new(&row);
  (void)state;
  assert_int_equal(b->id, 7);
  assert_int_equal(b->count, 3);
  assert_string_equal(b->type, "claim.failed");
  assert_string_equal(b->at, row.at);
  static const char *const expected[3][3] = {{"a", "1", "{}"}, {"b", "", "[2]"}, {"c", "3", "{\"x\":3}"}};
  for (size_t i = 0; i < 3; i++) {
    assert_false(event_batch_is_over(b));
    struct event_item *item = event_batch_next(b);
    assert_string_equal(item->event_id, expected[i][0]);
    assert_string_equal(item->subject, expected[i][1]);
    assert_string_equal(item->trace, "");
    assert_string_equal(item->doc, expected[i][2]);
    assert_ptr_equal(item->batch, b);
  }
  assert_null(event_batch_next(b));
  assert_true(event_batch_is_over(b));
  assert_int_equal(b->failed, 0);
  event_batch_fail(&b->items[1], "why");
  event_batch_fail(&b->items[1], "why");
  assert_int_equal(b->failed, 1);
  assert_string_equal(b->fault, "why");
  event_batch_free(b);
}

static void a_row_of_odd_columns_has_failed(void **state)
{
  const struct event_row row = {7, "x", "t", "a\nb", "1\n2", "\n", "{}\n{\n}"};
  struct event_batch *b = event_batch_new(&row);
  (void)state;
  assert_int_equal(b->count, 2);
  assert_int_equal(b->failed, 2);
  assert_null(event_batch_next(b));
  assert_true(event_batch_is_over(b));
  event_batch_free(b);
}

static void attributes_are_percent_encoded(void **state)
{
  static const struct {
    const char *text, *header;
  } cases[] = {
      {"", ""},
      {"12-345.succeeded", "12-345.succeeded"},
      {"a b\"c%d", "a%20b%22c%25d"},
      {"\u00e9\u6d3b\U0001f600", "%C3%A9%E6%B4%BB%F0%9F%98%80"},
      {"!~\x7f\t\r\n", "!~%7F%09%0D%0A"},
  };
  char out[64], small[8];
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    event_header_encode(cases[i].text, out, sizeof out);
    assert_string_equal(out, cases[i].header);
  }
  event_header_encode("abcde  f", small, sizeof small);
  assert_string_equal(small, "abcde");
  event_header_encode("abcd  f", small, sizeof small);
  assert_string_equal(small, "abcd%20");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_is_taken_apart),
      cmocka_unit_test(a_row_of_odd_columns_has_failed),
      cmocka_unit_test(attributes_are_percent_encoded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
