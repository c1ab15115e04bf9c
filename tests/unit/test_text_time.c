// SPDX-License-Identifier: Apache-2.0
// RFC 3339 instants and durations (dates that do not exist, offsets, units).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"

static void assert_time(const char *text, int64_t us)
{
  struct wall_time t = {-1};
  if (text_to_time(text, strlen(text), &t) != RESULT_OK) fail_msg("refused: %s", text);
  if (t.us != us) fail_msg("%s: %lld", text, (long long)t.us);
}

static void assert_no_time(const char *text)
{
  struct wall_time t = {-7};
  if (text_to_time(text, strlen(text), &t) != RESULT_INVALID) fail_msg("accepted: %s", text);
  assert_true(t.us == -7);
}

static void instants_are_read_with_their_offset(void **state)
{
  (void)state;
  assert_time("1970-01-01T00:00:00Z", 0);
  assert_time("1970-01-01T08:00:00+08:00", 0);
  assert_time("1969-12-31T16:00:00-08:00", 0);
  assert_time("2026-11-29T12:00:00Z", 1795953600000000);
  assert_time("2026-11-29T20:00:00+08:00", 1795953600000000);
  assert_time("2026-11-29T17:30:00+05:30", 1795953600000000);
  assert_time("2026-11-29T12:00:00-00:00", 1795953600000000);
  assert_time("2026-11-29T12:00:00+00:00", 1795953600000000);
  assert_time("9999-12-31T23:59:59.999999Z", 253402300799999999);
}

static void fractions_have_one_to_six_digits(void **state)
{
  (void)state;
  assert_time("1970-01-01T00:00:00.1Z", 100000);
  assert_time("1970-01-01T00:00:00.000001Z", 1);
  assert_time("1970-01-01T00:00:01.500Z", 1500000);
  assert_no_time("1970-01-01T00:00:00.Z");
  assert_no_time("1970-01-01T00:00:00.0000001Z");
  assert_no_time("1970-01-01T00:00:00,5Z");
}

static void leap_days_exist_in_leap_years_only(void **state)
{
  (void)state;
  assert_time("2024-02-29T00:00:00Z", 1709164800000000);
  assert_time("2000-02-29T00:00:00Z", 951782400000000);
  assert_no_time("2027-02-29T00:00:00Z");
  assert_no_time("2100-02-29T00:00:00Z");
  assert_no_time("2024-02-30T00:00:00Z");
}

static void dates_and_times_that_do_not_exist(void **state)
{
  (void)state;
  static const char *const wrong[] = {"2026-00-01T00:00:00Z",      "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
                                      "2026-01-32T00:00:00Z",      "2026-04-31T00:00:00Z", "2026-06-31T00:00:00Z",
                                      "2026-09-31T00:00:00Z",      "2026-11-31T00:00:00Z", "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",      "2026-12-31T23:59:60Z", "2026-01-01T00:00:00+24:00",
                                      "2026-01-01T00:00:00+08:60", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01",
                                      "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00Z"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_no_time(wrong[i]);
}

static void the_form_is_strict(void **state)
{
  (void)state;
  static const char *const wrong[] = {"",
                                      "2026",
                                      "2026-11-29",
                                      "2026-11-29T12:00:00",
                                      "2026-11-29 12:00:00Z",
                                      "2026-11-29t12:00:00Z",
                                      "2026-11-29T12:00:00z",
                                      "2026-11-29T12:00Z",
                                      "2026-11-29T12:00:00+08",
                                      "2026-11-29T12:00:00+0800",
                                      "2026-11-29T12:00:00+8:00",
                                      "2026-11-29T12:00:00 Z",
                                      " 2026-11-29T12:00:00Z",
                                      "2026-11-29T12:00:00Z ",
                                      "2026-11-29T12:00:00ZZ",
                                      "2026-11-29T12:00:00Z[Asia/Shanghai]",
                                      "26-11-29T12:00:00Z",
                                      "2026-1-29T12:00:00Z",
                                      "+2026-11-29T12:00:00Z",
                                      "2026-11-29T12:00:00\xE2\x88\x92\x30\x38:00",
                                      "20261129T120000Z",
                                      "-026-11-29T12:00:00Z",
                                      "2026-11-29T12:00:00.5",
                                      "1795953600"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_no_time(wrong[i]);
  struct wall_time t;
  assert_int_equal(text_to_time(NULL, 0, &t), RESULT_INVALID);
  assert_int_equal(text_to_time("2026-11-29T12:00:00Z\0", 21, &t), RESULT_INVALID);
  for (size_t len = 0; len < 20; len++) assert_int_equal(text_to_time("2026-11-29T12:00:00Z", len, &t), RESULT_INVALID);
}

static void written_times_read_back(void **state)
{
  (void)state;
  char text[TEXT_TIME_BYTES];
  text_from_time((struct wall_time){1795953600123456}, text);
  assert_string_equal(text, "2026-11-29T12:00:00.123456Z");
  // Every day around the leap rules of four centuries, at an odd time.
  for (int64_t day = 0; day < 366 * 440; day += 13) {
    struct wall_time t = {day * INT64_C(86400000000) + 86399999999};
    struct wall_time back = {-1};
    text_from_time(t, text);
    assert_int_equal(text_to_time(text, strlen(text), &back), RESULT_OK);
    assert_true(back.us == t.us);
  }
}

static void a_broken_clock_is_clamped(void **state)
{
  (void)state;
  char text[TEXT_TIME_BYTES];
  text_from_time((struct wall_time){INT64_MIN}, text);
  assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
  text_from_time((struct wall_time){INT64_MAX}, text);
  assert_string_equal(text, "9999-12-31T23:59:59.999999Z");
}

static void durations_have_a_unit(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t us;
  } right[] = {{"0", 0},
               {"0s", 0},
               {"1us", 1},
               {"250ms", 250000},
               {"30s", 30000000},
               {"15m", 900000000},
               {"2h", 7200000000},
               {"1d", 86400000000},
               {"9223372036854775807us", INT64_MAX},
               {"106751991d", 106751991 * INT64_C(86400000000)}};
  for (size_t i = 0; i < ARRAY_LEN(right); i++) {
    struct span s = {-1};
    assert_int_equal(text_to_span(right[i].text, strlen(right[i].text), &s), RESULT_OK);
    assert_true(s.us == right[i].us);
  }
  static const char *const wrong[] = {"",
                                      "30",
                                      "1",
                                      "s",
                                      "ms",
                                      "30sx",
                                      "30 s",
                                      "30S",
                                      "30sec",
                                      "1h30m",
                                      "-5s",
                                      "+5s",
                                      "05s",
                                      "1.5s",
                                      "1e3s",
                                      "00",
                                      "106751992d",
                                      "9223372036854775808us",
                                      "99999999999999999999s",
                                      "5w"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    struct span s = {-7};
    if (text_to_span(wrong[i], strlen(wrong[i]), &s) != RESULT_INVALID) fail_msg("accepted: %s", wrong[i]);
    assert_true(s.us == -7);
  }
}

static void durations_are_written_in_the_largest_exact_unit(void **state)
{
  (void)state;
  static const struct {
    int64_t us;
    const char *text;
  } cases[] = {{0, "0s"},           {1, "1us"},
               {1500, "1500us"},    {250000, "250ms"},
               {90000000, "90s"},   {900000000, "15m"},
               {86400000000, "1d"}, {90000000000, "25h"},
               {-5000000, "-5s"},   {INT64_MIN, "-9223372036854775808us"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 64);
    text_from_span(span_us(cases[i].us), &b);
    assert_string_equal(buf_text(&b), cases[i].text);
    buf_release(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instants_are_read_with_their_offset),
      cmocka_unit_test(fractions_have_one_to_six_digits),
      cmocka_unit_test(leap_days_exist_in_leap_years_only),
      cmocka_unit_test(dates_and_times_that_do_not_exist),
      cmocka_unit_test(the_form_is_strict),
      cmocka_unit_test(written_times_read_back),
      cmocka_unit_test(a_broken_clock_is_clamped),
      cmocka_unit_test(durations_have_a_unit),
      cmocka_unit_test(durations_are_written_in_the_largest_exact_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
