// SPDX-License-Identifier: Apache-2.0
// HTTP dates: the three forms of RFC 9110 and what is none of them. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"

#define NOW ((struct wall_time){INT64_C(1795953600000000)})  // 2026-11-29T12:00:00Z

static void assert_date(const char *text, const char *same)
{
  struct wall_time t = {-1}, expected = {-2};
  assert_int_equal(text_to_time(same, strlen(same), &expected), RESULT_OK);
  if (text_to_http_date(text, strlen(text), NOW, &t) != RESULT_OK) fail_msg("refused: %s", text);
  assert_int_equal(t.us, expected.us);
}

static void the_three_forms_mean_the_same(void **state)
{
  (void)state;
  assert_date("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z");
  assert_date("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z");
  assert_date("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z");
  assert_date("Sun Nov 16 08:49:37 2026", "2026-11-16T08:49:37Z");
  assert_date("Sat, 31 Dec 2016 23:59:60 GMT", "2016-12-31T23:59:59Z");
}

static void two_digits_of_a_year_are_near_today(void **state)
{
  (void)state;
  assert_date("Sunday, 29-Nov-26 12:00:10 GMT", "2026-11-29T12:00:10Z");
  assert_date("Sunday, 29-Nov-76 12:00:10 GMT", "2076-11-29T12:00:10Z");
  assert_date("Sunday, 29-Nov-77 12:00:10 GMT", "1977-11-29T12:00:10Z");
}

static void what_is_no_date_is_refused(void **state)
{
  static const char *const texts[] = {"",
                                      "soon",
                                      "Sun, 06 Nov 1994",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "sun, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      "Sun, 06 Nov 1994 08:49:37 +0000",
                                      "Sun, 31 Nov 1994 08:49:37 GMT",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 24:00:00 GMT",
                                      "Sun, 06 Foo 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1969 08:49:37 GMT",
                                      "1994-11-06T08:49:37Z",
                                      "Sunday, 06-Nov-1994 08:49:37 GMT"};
  struct wall_time t = {-7};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    if (text_to_http_date(texts[i], strlen(texts[i]), NOW, &t) != RESULT_INVALID) fail_msg("accepted: %s", texts[i]);
  }
  assert_true(t.us == -7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_three_forms_mean_the_same),
      cmocka_unit_test(two_digits_of_a_year_are_near_today),
      cmocka_unit_test(what_is_no_date_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
