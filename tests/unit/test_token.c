// SPDX-License-Identifier: Apache-2.0
// Token buckets: bursts, refilling without loss, shares, waits that are exact; the table of users never grows past its
// maximum. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/token.h"

#define RATE(n) ((n)*INT64_C(1000000))

static struct mono_time at_ms(int64_t ms) { return (struct mono_time){INT64_C(5000000) + ms * 1000}; }

static int take(struct token_bucket *b, const struct token_terms *t, int64_t ms)
{
  if (token_wait(b, t, at_ms(ms)).us > 0) return 0;
  token_spend(b, t);
  return 1;
}

static void a_burst_passes_and_then_the_rate(void **state)
{
  (void)state;
  const struct token_terms t = {RATE(10), 5};
  struct token_bucket b = {0};
  int passed = 0;
  for (int i = 0; i < 20; i++) passed += take(&b, &t, 0);
  assert_int_equal(passed, 5);
  assert_int_equal(token_left(&b), 0);
  assert_int_equal(token_wait(&b, &t, at_ms(0)).us, 100000);
  assert_int_equal(token_wait(&b, &t, at_ms(40)).us, 60000);
  assert_int_equal(take(&b, &t, 99), 0);
  assert_int_equal(take(&b, &t, 100), 1);
  passed = 0;
  for (int ms = 101; ms <= 10100; ms++) passed += take(&b, &t, ms);  // looked at every millisecond, nothing is lost
  assert_int_equal(passed, 100);
}

static void slow_rates_lose_nothing_by_being_asked_often(void **state)
{
  (void)state;
  const struct token_terms t = {1000, 1};  // one in 1000 s
  struct token_bucket b = {0};
  assert_int_equal(take(&b, &t, 0), 1);
  for (int ms = 1; ms < 1000000; ms += 7) assert_int_equal(take(&b, &t, ms), 0);
  assert_int_equal(take(&b, &t, 1000000), 1);
}

static void a_long_rest_fills_it_and_no_more(void **state)
{
  (void)state;
  const struct token_terms t = {RATE(1000000), 1000000};
  struct token_bucket b = {0};
  assert_int_equal(take(&b, &t, 0), 1);
  assert_int_equal(take(&b, &t, INT64_C(1000000000000)), 1);
  assert_int_equal(token_left(&b), 999999);
  assert_int_equal(take(&b, &t, 5), 1);  // a clock that goes back gives and takes nothing
  assert_int_equal(token_left(&b), 999998);
}

static void what_was_not_needed_comes_back(void **state)
{
  (void)state;
  const struct token_terms t = {RATE(1), 2}, none = {0, 0};
  struct token_bucket b = {0};
  assert_int_equal(take(&b, &t, 0), 1);
  token_give_back(&b, &t);
  token_give_back(&b, &t);
  assert_int_equal(token_left(&b), 2);
  struct token_bucket unlimited = {0};
  for (int i = 0; i < 10; i++) assert_int_equal(take(&unlimited, &none, 0), 1);
  token_give_back(&unlimited, &none);
  assert_int_equal(token_window_s(&none), 0);
}

static void limits_are_shared_by_division(void **state)
{
  (void)state;
  struct token_terms part = token_share((struct token_terms){RATE(100), 30}, 3);
  assert_int_equal(part.rate_micro, 33333333);
  assert_int_equal(part.burst, 10);
  part = token_share((struct token_terms){RATE(1), 1}, 4);
  assert_int_equal(part.rate_micro, 250000);
  assert_int_equal(part.burst, 1);
  assert_int_equal(token_share((struct token_terms){0, 0}, 4).rate_micro, 0);
  assert_int_equal(token_share((struct token_terms){RATE(7), 7}, 0).burst, 7);
  assert_int_equal(token_window_s(&(struct token_terms){RATE(3), 10}), 4);
}

static void more_users_than_there_is_room_for_forget_the_one_who_rests(void **state)
{
  (void)state;
  const struct token_terms t = {1, 1};
  struct token_table *table = token_table_new(100);
  for (int64_t user = 1; user <= 100; user++) assert_int_equal(take(token_table_get(table, 7, user), &t, 0), 1);
  for (int64_t user = 1; user <= 100; user++) assert_int_equal(take(token_table_get(table, 7, user), &t, 1), 0);
  assert_int_equal(take(token_table_get(table, 8, 1), &t, 1), 1);  // the same user elsewhere; user 1 of 7 is forgotten
  assert_int_equal(token_table_count(table), 100);
  for (int64_t user = 2; user <= 100; user++) assert_int_equal(take(token_table_get(table, 7, user), &t, 2), 0);
  assert_int_equal(take(token_table_get(table, 8, 1), &t, 2), 0);
  assert_int_equal(take(token_table_get(table, 7, 1), &t, 2), 1);
  for (int64_t user = 1000; user < 100000; user++) (void)token_table_get(table, 9, user);
  assert_int_equal(token_table_count(table), 100);
  token_table_free(table);
  token_table_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_burst_passes_and_then_the_rate),
      cmocka_unit_test(slow_rates_lose_nothing_by_being_asked_often),
      cmocka_unit_test(a_long_rest_fills_it_and_no_more),
      cmocka_unit_test(what_was_not_needed_comes_back),
      cmocka_unit_test(limits_are_shared_by_division),
      cmocka_unit_test(more_users_than_there_is_room_for_forget_the_one_who_rests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
