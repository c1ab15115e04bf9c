// SPDX-License-Identifier: Apache-2.0
// Tests of scheduler/claim.c: what memory may judge, and what it must leave to the database.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "scheduler/claim.h"

static const struct wall_time START = {1000000}, END = {2000000};

static struct activity_facts facts(enum activity_status status, int64_t remaining)
{
  return (struct activity_facts){status, START, END, remaining >= 0, remaining >= 0 ? remaining : 0, false};
}

static void check_at(const struct activity_facts *f, int64_t at_us, int64_t quantity, bool ask, enum verdict refusal)
{
  struct claim_decision d = claim_decide_at(f, (struct wall_time){at_us}, quantity);
  assert_int_equal(d.ask, ask);
  if (!ask) assert_int_equal(d.refusal, refusal);
}

static void window_is_half_open(void **state)
{
  (void)state;
  const enum activity_status open[] = {ACTIVITY_PUBLISHED, ACTIVITY_ONGOING};
  for (size_t i = 0; i < ARRAY_LEN(open); i++) {
    struct activity_facts f = facts(open[i], 5);
    check_at(&f, 999999, 1, false, VERDICT_NOT_STARTED);
    check_at(&f, 1000000, 1, true, VERDICT_ACCEPTED);
    check_at(&f, 1999999, 1, true, VERDICT_ACCEPTED);
    check_at(&f, 2000000, 1, false, VERDICT_ENDED);
  }
}

static void status_counts_where_time_does_not(void **state)
{
  (void)state;
  struct activity_facts f = facts(ACTIVITY_PAUSED, 5);
  check_at(&f, 500000, 1, false, VERDICT_PAUSED);
  check_at(&f, 1500000, 1, false, VERDICT_PAUSED);
  check_at(&f, 2000000, 1, false, VERDICT_ENDED);
  f = facts(ACTIVITY_FINISHED, 5);
  check_at(&f, 1500000, 1, false, VERDICT_ENDED);
  f = facts(ACTIVITY_ARCHIVED, 5);
  check_at(&f, 1500000, 1, false, VERDICT_ENDED);
  f = facts(ACTIVITY_DRAFT, 5);
  check_at(&f, 1500000, 1, false, VERDICT_ACTIVITY_NOT_FOUND);
  f = facts(ACTIVITY_UNKNOWN, 0);
  check_at(&f, 1500000, 1, true, VERDICT_ACCEPTED);
}

static void stock_is_all_or_nothing(void **state)
{
  (void)state;
  struct activity_facts f = facts(ACTIVITY_ONGOING, 3);
  check_at(&f, 1500000, 3, true, VERDICT_ACCEPTED);
  check_at(&f, 1500000, 4, false, VERDICT_SOLD_OUT);
  f = facts(ACTIVITY_ONGOING, 0);
  check_at(&f, 1500000, 1, false, VERDICT_SOLD_OUT);
  f = facts(ACTIVITY_ONGOING, -1);  // unlimited
  check_at(&f, 1500000, 1000000, true, VERDICT_ACCEPTED);
}

static void time_is_first_and_stock_last(void **state)
{
  (void)state;
  struct activity_facts f = facts(ACTIVITY_ONGOING, 0);
  check_at(&f, 999999, 1, false, VERDICT_NOT_STARTED);
  check_at(&f, 2000000, 1, false, VERDICT_ENDED);
}

// Memory refuses on time only when no clock within the doubt could say otherwise.
static void doubt_is_for_the_database(void **state)
{
  (void)state;
  struct activity_facts f = facts(ACTIVITY_ONGOING, 5);
  const struct clock_view view = {{10000}, {2000}, true};
  const struct span margin = {5000};
  struct claim_decision d;
  d = claim_decide(&f, &view, (struct wall_time){1000000 - 10000 - 7001}, margin, 1);
  assert_false(d.ask);
  assert_int_equal(d.refusal, VERDICT_NOT_STARTED);
  d = claim_decide(&f, &view, (struct wall_time){1000000 - 10000 - 7000}, margin, 1);
  assert_true(d.ask);
  d = claim_decide(&f, &view, (struct wall_time){2000000 - 10000 + 6999}, margin, 1);
  assert_true(d.ask);
  d = claim_decide(&f, &view, (struct wall_time){2000000 - 10000 + 7000}, margin, 1);
  assert_false(d.ask);
  assert_int_equal(d.refusal, VERDICT_ENDED);
}

static void unknown_clock_never_refuses_on_time(void **state)
{
  (void)state;
  struct activity_facts f = facts(ACTIVITY_ONGOING, 5);
  const struct clock_view view = {{0}, {0}, false};
  assert_true(claim_decide(&f, &view, (struct wall_time){0}, (struct span){0}, 1).ask);
  assert_true(claim_decide(&f, &view, (struct wall_time){9000000}, (struct span){0}, 1).ask);
  f.status = ACTIVITY_PAUSED;
  assert_false(claim_decide(&f, &view, (struct wall_time){1500000}, (struct span){0}, 1).ask);
}

static void clock_keeps_the_tightest_sample(void **state)
{
  (void)state;
  struct clock_view v = {{0}, {0}, false};
  v = clock_view_update(&v, (struct wall_time){1000}, (struct wall_time){6000}, (struct wall_time){3000});
  assert_true(v.is_known);
  assert_int_equal(v.difference.us, 4000);
  assert_int_equal(v.uncertainty.us, 1000);
  // Worse but compatible: the old one stays, a little less certain.
  v = clock_view_update(&v, (struct wall_time){10000}, (struct wall_time){19000}, (struct wall_time){30000});
  assert_int_equal(v.difference.us, 4000);
  assert_int_equal(v.uncertainty.us, 1050);
  // Tighter: taken.
  v = clock_view_update(&v, (struct wall_time){40000}, (struct wall_time){44200}, (struct wall_time){40200});
  assert_int_equal(v.difference.us, 4100);
  assert_int_equal(v.uncertainty.us, 100);
  // The database's clock jumped: taken although it is wide.
  v = clock_view_update(&v, (struct wall_time){50000}, (struct wall_time){10050000}, (struct wall_time){90000});
  assert_int_equal(v.difference.us, 9980000);
  assert_int_equal(v.uncertainty.us, 20000);
  // Our own clock went back between the two readings.
  v = clock_view_update(&v, (struct wall_time){900000}, (struct wall_time){20000000}, (struct wall_time){100000});
  assert_true(v.uncertainty.us >= 0);
}

static void names_are_those_of_the_database(void **state)
{
  (void)state;
  assert_int_equal(activity_status_of("paused"), ACTIVITY_PAUSED);
  assert_int_equal(activity_status_of("archived"), ACTIVITY_ARCHIVED);
  assert_int_equal(activity_status_of("Paused"), ACTIVITY_UNKNOWN);
  assert_int_equal(activity_status_of(""), ACTIVITY_UNKNOWN);
  assert_int_equal(verdict_of("ACCEPTED"), VERDICT_ACCEPTED);
  assert_int_equal(verdict_of("SOLD_OUT"), VERDICT_SOLD_OUT);
  assert_int_equal(verdict_of("NUMBER_TAKEN"), VERDICT_NUMBER_TAKEN);
  assert_int_equal(verdict_of("RATE_LIMITED"), VERDICT_COUNT);
  assert_int_equal(verdict_of("OVERLOADED"), VERDICT_COUNT);  // only this program says that
  assert_int_equal(verdict_of("UNKNOWN"), VERDICT_COUNT);
}

static void every_refusal_can_be_told(void **state)
{
  (void)state;
  for (int v = 0; v < VERDICT_COUNT; v++) {
    const struct verdict_info *info = verdict_info((enum verdict)v);
    assert_non_null(info->code);
    assert_non_null(info->outcome);
    assert_true(info->http_status >= 200 && info->http_status < 600);
    assert_int_equal(info->http_status == 503 || info->http_status == 429, info->retry_after_s > 0);
    if (info->http_status >= 400) assert_true(strlen(info->detail) > 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(window_is_half_open),
      cmocka_unit_test(status_counts_where_time_does_not),
      cmocka_unit_test(stock_is_all_or_nothing),
      cmocka_unit_test(time_is_first_and_stock_last),
      cmocka_unit_test(doubt_is_for_the_database),
      cmocka_unit_test(unknown_clock_never_refuses_on_time),
      cmocka_unit_test(clock_keeps_the_tightest_sample),
      cmocka_unit_test(names_are_those_of_the_database),
      cmocka_unit_test(every_refusal_can_be_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
