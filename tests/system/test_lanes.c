// SPDX-License-Identifier: Apache-2.0
// takes long
// Lanes and rungs: what one fulfiller holds at a time, two of them on one lane, delays that do not wait for each other,
// and an end in the middle of a call.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

static int64_t waited_ms(struct stack *s, const char *claim_id, int attempt)
{
  return sql_int(s->sql,
                 "select coalesce((extract(epoch from max(started_at) filter (where attempt = %d + 1) - "
                 "max(started_at) filter (where attempt = %d)) * 1000)::bigint, 0)"
                 "  from largesse.attempt where activity_id || '-' || claim_id = '%s'",
                 attempt, attempt, claim_id);
}

// --- rungs

// With one queue and a delay per message the second claim would wait behind the first (B50).
static void a_short_delay_does_not_wait_for_a_long_one(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "rungs", .stock = 10, .provider = "simulator-b"});
  delivery_script(s, 1, "[{\"status\":429,\"effect\":\"none\"},{\"status\":429,\"effect\":\"none\"}]");
  delivery_script(s, 2, "[{\"status\":429,\"effect\":\"none\"}]");
  struct stopwatch watch = stopwatch_start();
  struct delivery_claim slow = delivery_claim(s, "rungs", 1);
  WAIT_FOR(delivery_int(s, slow.id, "(attempts = 2 and lease_until is null)::int") == 1, 10);  // on the rung of 4 s
  struct delivery_claim quick = delivery_claim(s, "rungs", 2);
  WAIT_FOR(delivery_is(s, quick.id, "succeeded"), 10);
  assert_true(delivery_is(s, slow.id, "issuing"));
  int64_t waited = waited_ms(s, quick.id, 1);
  int64_t longer = (int64_t)(1000 * stopwatch_slowness(&watch));
  if (waited < 1000 || waited > 1000 + longer) fail_msg("the rung of 1 s took %lld ms", (long long)waited);
  WAIT_FOR(delivery_is(s, slow.id, "succeeded"), 10);
  waited = waited_ms(s, slow.id, 2);
  if (waited < 4000 || waited > 4000 + longer) fail_msg("the rung of 4 s took %lld ms", (long long)waited);
  assert_int_equal(delivery_effects(s, quick.id), 1);
  assert_int_equal(delivery_effects(s, slow.id), 1);
}

// --- two fulfillers and their prefetch

#define HELD  (2 * DELIVERY_PREFETCH_B)
#define CROWD (3 * HELD)

static int64_t open_claims(struct stack *s)
{
  return sql_int(s->sql, "select count(*) from largesse.claim where status = 'issuing'");
}

// Read in this order the difference is never more than what is unacknowledged: a message is acknowledged when its claim
// is done.
static int64_t held(struct delivery_rig *rig)
{
  int64_t ready = broker_count(rig->broker, DELIVERY_LANE_B);
  return open_claims(rig->stack) - ready;
}

// Deliveries that one fulfiller has made, by its log.
static int deliveries_in_log(struct process *p)
{
  struct buf log;
  int count = 0;
  buf_init(&log, 64 * 1024 * 1024);
  process_read_log(p, &log);
  for (const char *at = buf_text(&log); (at = strstr(at, " delivery.done ")) != NULL; at++) count++;
  buf_release(&log);
  return count;
}

static void two_fulfillers_share_a_lane_and_hold_no_more_than_their_prefetch(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  struct process *second = stack_start_another(s, "fulfiller");
  struct delivery_claim claims[CROWD];
  activity_make(s->sql, &(struct activity_terms){.code = "crowd", .stock = 100, .provider = "simulator-b"});
  simulator_script(s->simulator_port,
                   "{\"match\":{\"rewardCode\":\"voucher-simulator-b\"},\"times\":18,\"steps\":[{\"delayMs\":1500}]}");
  int before = deliveries_in_log(s->fulfiller);
  for (int64_t i = 0; i < CROWD; i++) claims[i] = delivery_claim(s, "crowd", 1000 + i);
  // Nothing is acknowledged before the first call has ended: until then, what is not ready is unacknowledged.
  WAIT_FOR(simulator_stat(s->simulator_port, "inFlight") == HELD &&
               broker_count(rig->broker, DELIVERY_LANE_B) == CROWD - HELD,
           5);
  struct waiting w = waiting_start(20);
  while (open_claims(s) > 0) {
    int64_t in_flight = simulator_stat(s->simulator_port, "inFlight"), unacknowledged = held(rig);
    if (in_flight > HELD || unacknowledged > HELD)
      fail_msg("%lld calls, %lld messages held, not %d", (long long)in_flight, (long long)unacknowledged, HELD);
    if (!waiting_more(&w)) fail_msg("not delivered in 20 s");
  }
  int here = deliveries_in_log(s->fulfiller) - before, there = deliveries_in_log(second);
  if (here < DELIVERY_PREFETCH_B || there < DELIVERY_PREFETCH_B || here + there != CROWD)
    fail_msg("%d deliveries here, %d there", here, there);
  for (size_t i = 0; i < CROWD; i++) assert_int_equal(delivery_hits(s, claims[i].id), 1);
  assert_int_equal(process_stop(second, 10), 0);
  process_free(second);
}

// Everything a killed fulfiller held comes again, and is asked about before it is repeated.
static void what_a_killed_fulfiller_held_is_delivered_once_by_the_other(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  struct process *second = stack_start_another(s, "fulfiller");
  struct delivery_claim claims[CROWD];
  activity_make(s->sql, &(struct activity_terms){.code = "storm", .stock = 100});
  simulator_script(s->simulator_port,
                   "{\"match\":{\"rewardCode\":\"voucher-100\"},\"times\":18,\"steps\":[{\"delayMs\":400}]}");
  for (int64_t i = 0; i < CROWD; i++) claims[i] = delivery_claim(s, "storm", 2000 + i);
  WAIT_FOR(simulator_stat(s->simulator_port, "inFlight") > 0, 5);
  process_kill(second);
  process_free(second);
  for (size_t i = 0; i < CROWD; i++) {
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), 20);
    assert_int_equal(delivery_effects(s, claims[i].id), 1);
  }
}

// --- the end of a fulfiller

// What was begun does not come back; what was not does, and perhaps once more by the sweeper. Takes the messages and
// puts two back.
static void assert_lane_names_only(struct broker *b, const struct delivery_claim two[2])
{
  struct buf body;
  bool seen[2] = {false};
  buf_init(&body, 65536);
  WAIT_FOR(broker_count(b, DELIVERY_LANE_B) >= 2, 5);
  while (broker_get(b, DELIVERY_LANE_B, &body)) {
    size_t which = strstr(buf_text(&body), two[0].id) != NULL ? 0 : 1;
    if (strstr(buf_text(&body), two[which].id) == NULL) fail_msg("redelivered: %s", buf_text(&body));
    seen[which] = true;
    buf_clear(&body);
  }
  buf_release(&body);
  for (size_t i = 0; i < 2; i++) {
    if (!seen[i]) fail_msg("the message of %s is lost", two[i].id);
    delivery_publish(b, "simulator-b", two[i].id, 0);
  }
}

// B65
static void sigterm_in_a_call_lets_it_end_and_leaves_nothing_behind(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "term", .stock = 10, .provider = "simulator-b"});
  struct delivery_claim claims[DELIVERY_PREFETCH_B + 2];
  for (int64_t i = 0; i < DELIVERY_PREFETCH_B; i++) {
    delivery_script(s, 3000 + i, "[{\"delayMs\":3000}]");
    claims[i] = delivery_claim(s, "term", 3000 + i);
  }
  WAIT_FOR(simulator_stat(s->simulator_port, "inFlight") == DELIVERY_PREFETCH_B, 2);
  for (int64_t i = DELIVERY_PREFETCH_B; i < DELIVERY_PREFETCH_B + 2; i++)
    claims[i] = delivery_claim(s, "term", 3000 + i);  // behind them
  struct stopwatch watch = stopwatch_start();
  process_signal(s->fulfiller, SIGTERM);
  assert_int_equal(process_wait(s->fulfiller, 15), 0);
  double seconds = stopwatch_seconds(&watch);
  if (seconds > 6) fail_msg("the end took %.1f s", seconds);
  for (size_t i = 0; i < DELIVERY_PREFETCH_B; i++) {
    assert_true(delivery_is(s, claims[i].id, "succeeded"));
    assert_int_equal(delivery_int(s, claims[i].id, "attempts"), 1);
  }
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where lease_until is not null"), 0);
  assert_lane_names_only(rig->broker, &claims[DELIVERY_PREFETCH_B]);
  stack_start_fulfiller(s);
  for (size_t i = 0; i < DELIVERY_PREFETCH_B + 2; i++) {
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), 10);
    assert_int_equal(delivery_hits(s, claims[i].id), 1);
    assert_int_equal(delivery_int(s, claims[i].id, "attempts"), 1);
  }
}

// B65: a call longer than the grace ends with the process; the next one asks, under the same request id.
static void a_call_beyond_the_grace_is_settled_by_the_next_process(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  struct process *usual = s->fulfiller;
  assert_int_equal(process_stop(usual, 10), 0);
  char *more[] = {mem_strdup("LARGESSE_DRAIN_TIMEOUT=500ms"), NULL}, **env = s->env;
  size_t count = 0;
  while (env[count] != NULL) count++;
  s->env = MEM_ARRAY(char *, count + 2);
  memcpy(s->env, env, count * sizeof *env);
  s->env[count] = more[0];
  stack_start_fulfiller(s);
  activity_make(s->sql, &(struct activity_terms){.code = "grace", .stock = 10, .provider = "simulator-b"});
  delivery_script(s, 4000, "[{\"delayMs\":3000,\"effect\":\"before\"}]");
  struct delivery_claim claim = delivery_claim(s, "grace", 4000);
  WAIT_FOR(delivery_hits(s, claim.id) == 1, 5);
  process_signal(s->fulfiller, SIGTERM);
  int status = process_wait(s->fulfiller, 2.5);
  if (status < 0) fail_msg("still there 2 s after the grace of 500 ms");
  stack_start_fulfiller(s);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 20);
  assert_int_equal(delivery_hits(s, claim.id), 1);
  assert_int_equal(delivery_effects(s, claim.id), 1);
  mem_free(s->env);
  mem_free(more[0]);
  s->env = env;
}

static void the_books_agree(void **state)
{
  struct delivery_rig *rig = *state;
  DELIVERY_BOOKS_AGREE(rig->stack);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_short_delay_does_not_wait_for_a_long_one),
      cmocka_unit_test(two_fulfillers_share_a_lane_and_hold_no_more_than_their_prefetch),
      cmocka_unit_test(what_a_killed_fulfiller_held_is_delivered_once_by_the_other),
      cmocka_unit_test(sigterm_in_a_call_lets_it_end_and_leaves_nothing_behind),
      cmocka_unit_test(a_call_beyond_the_grace_is_settled_by_the_next_process),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("lanes", tests, delivery_set_up, delivery_tear_down);
}
