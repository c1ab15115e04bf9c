// SPDX-License-Identifier: Apache-2.0
// Retry delays: doubled, capped, jittered the same way each time; and the clocks.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/backoff.h"

static void delays_double_up_to_the_cap(void **state)
{
  (void)state;
  struct backoff_policy policy = {.base = span_ms(100), .cap = span_s(1)};
  static const int64_t expected_ms[] = {100, 200, 400, 800, 1000, 1000};
  for (uint32_t i = 0; i < 6; i++) assert_int_equal(span_to_ms(backoff_delay(&policy, i, 1)), expected_ms[i]);
  assert_int_equal(span_to_ms(backoff_delay(&policy, UINT32_MAX, 1)), 1000);
}

static void extreme_policies_neither_overflow_nor_hang(void **state)
{
  (void)state;
  struct backoff_policy policy = {.base = span_us(INT64_MAX / 2 + 1), .cap = span_us(INT64_MAX), .jitter_percent = 100};
  for (uint32_t i = 0; i < 200; i++) {
    int64_t us = backoff_delay(&policy, i, i).us;
    assert_true(us >= 0);
  }
  policy = (struct backoff_policy){.base = span_s(5), .cap = span_s(1)};
  assert_true(backoff_delay(&policy, 0, 1).us == 1000000);
  policy = (struct backoff_policy){.base = span_us(0), .cap = span_s(1), .jitter_percent = 50};
  assert_true(backoff_delay(&policy, UINT32_MAX, 1).us == 0);
}

static void jitter_only_shortens_and_stays_in_its_share(void **state)
{
  (void)state;
  struct backoff_policy policy = {.base = span_s(10), .cap = span_s(10), .jitter_percent = 30};
  int64_t least = INT64_MAX, most = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    int64_t us = backoff_delay(&policy, 0, seed).us;
    assert_true(us >= 7000000 && us <= 10000000);
    if (us < least) least = us;
    if (us > most) most = us;
    assert_true(us == backoff_delay(&policy, 0, seed).us);
  }
  assert_true(least < 7050000 && most > 9950000);
}

static void the_seed_spreads_callers_and_attempts(void **state)
{
  (void)state;
  struct backoff_policy policy = {.base = span_s(10), .cap = span_s(10), .jitter_percent = 100};
  assert_true(backoff_delay(&policy, 0, 1).us != backoff_delay(&policy, 0, 2).us);
  assert_true(backoff_delay(&policy, 1, 1).us != backoff_delay(&policy, 2, 1).us);
  assert_true(backoff_delay(&policy, 1, 0).us != backoff_delay(&policy, 0, 1).us);
}

static void the_clocks_run_forward(void **state)
{
  (void)state;
  struct mono_time a = clk_mono();
  struct mono_time b = clk_mono();
  assert_false(mono_before(b, a));
  assert_true(mono_since(b, a).us >= 0);
  assert_true(mono_before(a, mono_after(a, span_us(1))));
  assert_true(clk_wall().us > 1700000000000000);
  assert_true(wall_since(wall_after(clk_wall(), span_s(100)), clk_wall()).us > 99000000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delays_double_up_to_the_cap),
      cmocka_unit_test(extreme_policies_neither_overflow_nor_hang),
      cmocka_unit_test(jitter_only_shortens_and_stays_in_its_share),
      cmocka_unit_test(the_seed_spreads_callers_and_attempts),
      cmocka_unit_test(the_clocks_run_forward),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
