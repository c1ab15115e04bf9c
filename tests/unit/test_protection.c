// SPDX-License-Identifier: Apache-2.0
// What protects a provider, by itself: windows of calls and failures, token buckets, shares of limits. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "fulfiller/breaker.h"
#include "fulfiller/limit.h"

#define T(ms) ((struct mono_time){1000000000LL + (ms)*1000LL})

// --- breaker

static const struct breaker_terms terms = {
    .window = {10000000}, .min_calls = 20, .failure_percent = 50, .open_for = {5000000}, .open_max = {60000000}};

static bool is_tripped(const struct breaker *b, int64_t ms)
{
  return breaker_is_tripped(&terms, breaker_count(b, &terms, T(ms)));
}

static void note(struct breaker *b, int calls, bool failed, int64_t ms)
{
  for (int i = 0; i < calls; i++) breaker_note(b, &terms, failed, T(ms));
}

static void only_faults_of_the_provider_are_failures(void **state)
{
  (void)state;
  static const int failing[] = {500, 502, 503, 504, 599},
                   well[] = {200, 202, 204, 301, 400, 401, 404, 408, 409, 422, 429};
  struct breaker_terms gateways = terms, silence = terms;
  gateways.counts = BREAKER_COUNTS_GATEWAY;
  silence.counts = BREAKER_COUNTS_NO_ANSWER;
  assert_true(breaker_is_failure(&terms, HTTP_NEVER_SENT, 0) && breaker_is_failure(&terms, HTTP_SENT_NO_ANSWER, 0));
  assert_true(breaker_is_failure(&silence, HTTP_NEVER_SENT, 0) && breaker_is_failure(&silence, HTTP_SENT_NO_ANSWER, 0));
  for (size_t i = 0; i < ARRAY_LEN(failing); i++) {
    assert_true(breaker_is_failure(&terms, HTTP_ANSWERED, failing[i]));
    assert_int_equal(breaker_is_failure(&gateways, HTTP_ANSWERED, failing[i]), failing[i] >= 502 && failing[i] <= 504);
    assert_false(breaker_is_failure(&silence, HTTP_ANSWERED, failing[i]));
  }
  for (size_t i = 0; i < ARRAY_LEN(well); i++) assert_false(breaker_is_failure(&terms, HTTP_ANSWERED, well[i]));
}

static void a_few_failures_prove_nothing(void **state)
{
  struct breaker b;
  (void)state;
  breaker_clear(&b);
  note(&b, 19, true, 0);
  assert_false(is_tripped(&b, 0));
  note(&b, 1, true, 1);
  assert_true(is_tripped(&b, 1));
}

static void half_of_the_calls_is_enough(void **state)
{
  struct breaker b;
  (void)state;
  breaker_clear(&b);
  note(&b, 51, false, 0);
  note(&b, 50, true, 10);
  assert_false(is_tripped(&b, 10));
  note(&b, 1, true, 20);
  assert_true(is_tripped(&b, 20));
  struct breaker_count count = breaker_count(&b, &terms, T(20));
  assert_int_equal(count.calls, 102);
  assert_int_equal(count.failures, 51);
}

static void what_is_older_than_the_window_is_forgotten(void **state)
{
  struct breaker b;
  (void)state;
  breaker_clear(&b);
  note(&b, 30, true, 500);
  assert_true(is_tripped(&b, 9900));
  assert_false(is_tripped(&b, 10500));
  note(&b, 10, true, 10600);  // in the slot of the old ones
  assert_int_equal(breaker_count(&b, &terms, T(10600)).calls, 10);
  note(&b, 10, true, 14000);
  note(&b, 5, true, 18000);
  assert_int_equal(breaker_count(&b, &terms, T(18000)).failures, 25);
  assert_int_equal(breaker_count(&b, &terms, T(21700)).failures, 15);
  assert_int_equal(breaker_count(&b, &terms, T(600000)).calls, 0);
  breaker_clear(&b);
  assert_int_equal(breaker_count(&b, &terms, T(18000)).calls, 0);
}

static void a_ratio_of_0_never_opens(void **state)
{
  struct breaker_terms never = terms;
  (void)state;
  never.failure_percent = 0;
  assert_false(breaker_is_tripped(&never, (struct breaker_count){1000, 1000}));
  never.failure_percent = 100;
  assert_false(breaker_is_tripped(&never, (struct breaker_count){1000, 999}));
  assert_true(breaker_is_tripped(&never, (struct breaker_count){1000, 1000}));
}

// --- bucket

// How many are had from `from` to `until`, asking each `step` milliseconds for `wanted`.
static size_t had(struct bucket *b, int64_t from, int64_t until, int64_t step, size_t wanted)
{
  size_t sum = 0;
  for (int64_t ms = from; ms < until; ms += step) {
    size_t available = bucket_available(b, wanted, T(ms));
    bucket_spend(b, available);
    sum += available;
  }
  return sum;
}

static void rates_hold_from_a_tenth_to_ten_thousand_per_second(void **state)
{
  static const double rates[] = {0.1, 1, 7.5, 100, 2500, 10000};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
    struct bucket b;
    bucket_init(&b, T(0));
    bucket_set(&b, rates[i], 0, T(0));
    double sum = (double)had(&b, 0, 100000, 3, 256), expected = rates[i] * 100;
    if (sum < expected * 0.99 - 1 || sum > expected * 1.01 + 1) fail_msg("%g per second: %g in 100 s", rates[i], sum);
  }
}

static void a_quiet_time_saves_up_one_burst_and_no_more(void **state)
{
  struct bucket b;
  (void)state;
  bucket_init(&b, T(0));
  bucket_set(&b, 100, 25, T(0));
  assert_int_equal(bucket_available(&b, 1000, T(60000)), 25);
  bucket_spend(&b, 25);
  assert_int_equal(bucket_available(&b, 1000, T(60000)), 0);
  bucket_give_back(&b, 5);
  assert_int_equal(bucket_available(&b, 1000, T(60000)), 5);
  bucket_give_back(&b, 100);
  assert_int_equal(bucket_available(&b, 1000, T(60000)), 25);
}

static void who_joins_brings_one_token(void **state)
{
  struct bucket b;
  (void)state;
  bucket_init(&b, T(0));
  bucket_set(&b, 0.1, 50, T(0));
  assert_int_equal(bucket_available(&b, 100, T(0)), 1);
  bucket_spend(&b, 1);
  assert_int_equal(bucket_available(&b, 100, T(9900)), 0);
  assert_int_equal(bucket_wait(&b, 100).us / 1000, 100);
  assert_int_equal(bucket_available(&b, 100, T(10001)), 1);
}

static void no_rate_is_no_limit(void **state)
{
  struct bucket b;
  (void)state;
  bucket_init(&b, T(0));
  bucket_set(&b, 0, 0, T(0));
  bucket_spend(&b, 100000);
  assert_int_equal(bucket_available(&b, 4096, T(0)), 4096);
  assert_int_equal(bucket_available(&b, 0, T(0)), 0);
  assert_int_equal(bucket_wait(&b, 10).us, 0);
  bucket_set(&b, 10, 0, T(0));  // a limit comes: nothing of the past is owed
  assert_int_equal(bucket_available(&b, 10, T(0)), 1);
}

static void a_new_rate_holds_from_then_on(void **state)
{
  struct bucket b;
  (void)state;
  bucket_init(&b, T(0));
  bucket_set(&b, 10, 1, T(0));
  bucket_spend(&b, bucket_available(&b, 1, T(0)));
  bucket_set(&b, 1000, 1000, T(50));  // half a token came at the old rate
  assert_int_equal(bucket_available(&b, 1000, T(150)), 100);
}

static void small_change_is_saved_up(void **state)
{
  struct bucket b;
  (void)state;
  bucket_init(&b, T(0));
  bucket_set(&b, 10000, 0, T(0));
  bucket_spend(&b, 1);
  assert_int_equal(bucket_available(&b, 500, T(5)), 0);  // 50 of the 100 that are worth a statement
  assert_in_range(bucket_wait(&b, 500).us, 5000, 5100);
  assert_int_equal(bucket_available(&b, 500, T(10)), 100);
  assert_int_equal(bucket_available(&b, 3, T(10)), 3);
}

static void rates_are_read_strictly(void **state)
{
  static const char *const bad[] = {"",     "-1",        "1e3", "0.001",    "1000001", "1.",   ".5",
                                    "1.1s", "0.0000001", "1 ",  "99999999", "nan",     "0x10", "+1"};
  static const struct {
    const char *text;
    double rate;
  } good[] = {{"0", 0},       {"0.0", 0},       {"0.01", 0.01},      {"0.1", 0.1},
              {"7.25", 7.25}, {"10000", 10000}, {"1000000", 1000000}};
  double rate = 42;
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    if (limit_rate_parse(bad[i], &rate) == RESULT_OK) fail_msg("'%s' was taken", bad[i]);
    assert_true(rate == 42);
  }
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    assert_int_equal(limit_rate_parse(good[i].text, &rate), RESULT_OK);
    assert_true(rate > good[i].rate - 1e-9 && rate < good[i].rate + 1e-9);
    rate = 42;
  }
}

// --- shares

static void shares_add_up_to_the_limit(void **state)
{
  (void)state;
  for (size_t limit = 1; limit < 70; limit++) {
    for (size_t live = 1; live < 12; live++) {
      size_t sum = 0, least = limit, most = 0;
      for (size_t place = 0; place < live; place++) {
        size_t share = limit_share(limit, live, place);
        sum += share;
        if (share < least) least = share;
        if (share > most) most = share;
      }
      assert_int_equal(sum, limit);
      assert_true(most - least <= 1);
    }
  }
  assert_int_equal(limit_share(64, 0, 0), 64);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_faults_of_the_provider_are_failures),
      cmocka_unit_test(a_few_failures_prove_nothing),
      cmocka_unit_test(half_of_the_calls_is_enough),
      cmocka_unit_test(what_is_older_than_the_window_is_forgotten),
      cmocka_unit_test(a_ratio_of_0_never_opens),
      cmocka_unit_test(rates_hold_from_a_tenth_to_ten_thousand_per_second),
      cmocka_unit_test(a_quiet_time_saves_up_one_burst_and_no_more),
      cmocka_unit_test(who_joins_brings_one_token),
      cmocka_unit_test(no_rate_is_no_limit),
      cmocka_unit_test(a_new_rate_holds_from_then_on),
      cmocka_unit_test(small_change_is_saved_up),
      cmocka_unit_test(rates_are_read_strictly),
      cmocka_unit_test(shares_add_up_to_the_limit),
  };
  return cmocka_run_group_tests_name("protection", tests, NULL, NULL);
}
