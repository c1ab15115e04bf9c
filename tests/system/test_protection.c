// SPDX-License-Identifier: Apache-2.0
// takes long
// Two fulfillers and what protects their providers: pauses, the breaker, limits over both of them, and that a sick
// provider slows nobody else.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/protection.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define PAUSED(provider)  "largesse_provider_paused{provider=\"" provider "\"}"
#define BREAKER(provider) "largesse_breaker_state{provider=\"" provider "\"}"
#define SHARE(provider)   "largesse_concurrency_share{provider=\"" provider "\"}"
#define COMMAND(s, ...)   protection_command((s), (const char *const[]){__VA_ARGS__, NULL})

static const char sick[] = "{\"match\":{\"rewardCode\":\"voucher-100\"},\"times\":1000000,\"steps\":[%s]}";

static void make_sick(struct stack *s, const char *step)
{
  char *script = support_format(sick, step);
  simulator_script(s->simulator_port, script);
  mem_free(script);
}

static bool all_done(struct stack *s, const char *activity, int count)
{
  return protection_count(s, activity, "c.status = 'succeeded'") == count;
}

static int64_t changes(struct stack *s, const char *condition)
{
  return sql_int(s->sql, "select count(*) from largesse.provider_change where %s", condition);
}

// --- pauses

static void a_pause_is_seen_by_all_within_a_second_and_burns_no_attempt(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "pause", .stock = 100});
  COMMAND(s, "pause", "simulator", "--reason", "maintenance");
  WITHIN(protection_both(rig, PAUSED("simulator"), 1), 1);
  int64_t calls = simulator_stat(s->simulator_port, "requests");
  protection_claims(s, "pause", 1, 40);
  // Long enough for the sweeper, were it not told.
  WAIT_FOR(protection_count(s, "pause", "c.next_attempt_at < largesse.clock_now() - interval '1500 ms'") == 40, 10);
  assert_int_equal(protection_count(s, "pause", "c.attempts = 0 and c.sweeps = 0"), 40);
  assert_int_equal(simulator_stat(s->simulator_port, "requests"), calls);
  assert_int_equal(broker_count(rig->broker, DELIVERY_LANE), 40);
  assert_true(protection_both(rig, "largesse_claims_held{provider=\"simulator\"}", 0));
  COMMAND(s, "resume", "simulator", "--reason", "they are back");
  WITHIN(protection_both(rig, PAUSED("simulator"), 0), 1);
  WAIT_FOR(all_done(s, "pause", 40), 5);
  assert_int_equal(protection_count(s, "pause", "c.attempts = 1"), 40);
  assert_int_equal(changes(s, "what = 'pause' and actor like 'cli:%' and reason in ('maintenance', 'they are back')"),
                   2);
}

static void a_pause_with_an_end_ends_by_itself(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  json_t *answer = NULL;
  activity_make(s->sql, &(struct activity_terms){.code = "until", .stock = 100});
  assert_int_equal(http_json(s->reconciler_port, "POST", "/v1/providers/simulator/pause",
                             "{\"until\":\"2s\",\"reason\":\"a while\"}", &answer),
                   200);
  assert_string_equal(json_string_value(json_object_get(answer, "state")), "paused");
  assert_true(json_is_string(json_object_get(answer, "pausedUntil")));
  json_decref(answer);
  WITHIN(protection_both(rig, PAUSED("simulator"), 1), 1);
  protection_claims(s, "until", 1, 10);
  assert_int_equal(protection_count(s, "until", "c.attempts = 0"), 10);
  WITHIN(protection_both(rig, PAUSED("simulator"), 0), 3);
  WAIT_FOR(all_done(s, "until", 10), 5);
}

// --- the breaker

// Moves of the simulator's breaker from one state to another after an instant.
static int64_t moves(struct stack *s, const char *after, const char *to)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.provider_change where provider = 'simulator' and what = 'breaker' and "
                 "to_value = '%s' and at > '%s'",
                 to, after);
}

// From when both know that it is open, and what they had taken before has ended, each attempt belongs to a probe: of
// the one that may be under way, and those that follow.
static void only_probes_call(struct protection_rig *rig, const char *activity)
{
  struct stack *s = rig->stack;
  WAIT_FOR(protection_both(rig, BREAKER("simulator"), 2), 10);
  WAIT_FOR(protection_count(s, activity, "c.lease_until is not null") <= 1, 5);
  char *quiet = sql_text(s->sql, "select clock_timestamp()");
  WAIT_FOR(moves(s, quiet, "open") >= 2, 10);
  int64_t attempts = sql_int(s->sql,
                             "select count(*) from largesse.attempt where provider = 'simulator' and call = 1 and "
                             "started_at > '%s'",
                             quiet);
  int64_t probes = moves(s, quiet, "half_open") + 1;
  if (attempts > probes) fail_msg("%lld attempts, but %lld probes at most", (long long)attempts, (long long)probes);
  mem_free(quiet);
}

// Until the breaker is open at both; then nothing more is called but one probe at a time, and what waits has not been
// tried. After healing the probe closes it.
static void breaks_and_heals(struct protection_rig *rig, const char *activity, const char *step)
{
  struct stack *s = rig->stack;
  char *start = sql_text(s->sql, "select clock_timestamp()");
  activity_make(s->sql, &(struct activity_terms){.code = activity, .stock = 100});
  make_sick(s, step);
  struct stopwatch watch = stopwatch_start();
  protection_claims(s, activity, 1, 60);
  WAIT_FOR(moves(s, start, "open") > 0, 4);
  double opened = stopwatch_seconds(&watch);
  if (opened > 3) fail_msg("the breaker of 2 s opened after %.1f s", opened);
  mem_free(start);
  only_probes_call(rig, activity);
  if (protection_count(s, activity, "c.attempts = 0") < 20) fail_msg("what waits has been tried");
  protection_heal(s);
  WAIT_FOR(protection_both(rig, BREAKER("simulator"), 0), 8);
  WAIT_FOR(all_done(s, activity, 60), 20);
  assert_true(protection_count(s, activity, "c.attempts = 1") >= 20);
  assert_int_equal(protection_count(s, activity, "c.review_since is not null"), 0);
}

static void errors_open_the_breaker_and_a_probe_closes_it(void **state)
{
  breaks_and_heals(*state, "errors", "{\"status\":500,\"effect\":\"none\"}");
}

static void a_provider_that_hangs_opens_it_too(void **state)
{
  breaks_and_heals(*state, "hangs", "{\"delayMs\":3000,\"effect\":\"none\"}");
}

static void refusals_and_patience_do_not(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  int64_t before = changes(s, "provider = 'simulator' and what = 'breaker'");
  activity_make(s->sql, &(struct activity_terms){.code = "refusals", .stock = 100});
  make_sick(s, "{\"status\":422,\"effect\":\"none\"}");
  protection_claims(s, "refusals", 1, 40);
  WAIT_FOR(protection_count(s, "refusals", "c.status = 'failed'") == 40, 10);
  assert_int_equal(changes(s, "provider = 'simulator' and what = 'breaker'"), before);
  protection_heal(s);
}

static void a_breaker_can_be_held(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "hold", .stock = 100});
  COMMAND(s, "set", "simulator", "--breaker", "open", "--reason", "by hand");
  WITHIN(protection_both(rig, BREAKER("simulator"), 2), 1);
  protection_claims(s, "hold", 1, 10);
  WAIT_FOR(protection_count(s, "hold", "c.next_attempt_at < largesse.clock_now() - interval '1 s'") == 10, 10);
  assert_int_equal(protection_count(s, "hold", "c.attempts = 0 and c.sweeps = 0"), 10);
  COMMAND(s, "set", "simulator", "--breaker", "auto", "--reason", "by hand");
  WAIT_FOR(all_done(s, "hold", 10), 5);
  WITHIN(protection_both(rig, BREAKER("simulator"), 0), 1);
}

#define RIVALS           8
#define ROUNDS_OF_RIVALS 25

struct rival {
  pthread_t thread;
  pthread_barrier_t *start;
  struct sql *sql;
  int number, wins;
};

static void *run_rival(void *ctx)
{
  struct rival *r = ctx;
  static const char *const to[] = {"open", "half_open"};
  for (int round = 0; round < 2 * ROUNDS_OF_RIVALS; round++) {
    (void)pthread_barrier_wait(r->start);
    // The first rival puts the breaker where all of them want to move it from.
    if (r->number == 0 && round % 2 == 0)
      sql_exec(r->sql,
               "update largesse.provider_state set breaker = 'closed', probe_by = null, probe_until = null where "
               "provider = 'rivals'");
    (void)pthread_barrier_wait(r->start);
    if (sql_bool(r->sql, "select moved from largesse.provider_breaker('rivals', 'r%d', '%s', '1 min', '1 min', 'race')",
                 r->number, to[round % 2]))
      r->wins++;
    (void)pthread_barrier_wait(r->start);
    // Its time is up: a probe may go out.
    if (r->number == 0 && round % 2 == 0)
      sql_exec(r->sql,
               "update largesse.provider_state set breaker_until = largesse.clock_now() where provider = 'rivals'");
  }
  return NULL;
}

static void only_one_of_many_moves_a_breaker(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  struct rival rivals[RIVALS];
  pthread_barrier_t start;
  int wins = 0;
  sql_exec(s->sql,
           "select largesse.provider_register(null, '{rivals}', '{1}', '{0}', '{false}', '{false}', '{false}')");
  assert_int_equal(pthread_barrier_init(&start, NULL, RIVALS), 0);
  for (int i = 0; i < RIVALS; i++) {
    rivals[i] = (struct rival){.start = &start, .sql = server_open(rig->server, s->database), .number = i};
    assert_int_equal(pthread_create(&rivals[i].thread, NULL, run_rival, &rivals[i]), 0);
  }
  for (int i = 0; i < RIVALS; i++) {
    (void)pthread_join(rivals[i].thread, NULL);
    wins += rivals[i].wins;
    sql_close(rivals[i].sql);
  }
  (void)pthread_barrier_destroy(&start);
  assert_int_equal(wins, 2 * ROUNDS_OF_RIVALS);
  assert_int_equal(changes(s, "provider = 'rivals'"), 2 * ROUNDS_OF_RIVALS);
}

// --- limits over both

// What is claimed from here on waits in the queue until the provider is resumed.
static void gather(struct protection_rig *rig)
{
  COMMAND(rig->stack, "pause", "simulator-b", "--reason", "gather");
  WITHIN(protection_both(rig, PAUSED("simulator-b"), 1), 1);
}

static void the_rate_is_that_of_all_fulfillers(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "rate", .stock = 1000, .provider = "simulator-b"});
  gather(rig);
  COMMAND(s, "set", "simulator-b", "--rate", "60", "--reason", "their limit");
  protection_claims(s, "rate", 1, 400);
  COMMAND(s, "resume", "simulator-b", "--reason", "go");
  WAIT_FOR(all_done(s, "rate", 400), 20);
  // Between the start, when buckets may be full, and the end, when one of the two may have nothing left.
  int64_t calls = sql_int(s->sql,
                          "with t as (select t.started_at as at from largesse.attempt t join largesse.activity a on "
                          "a.id = t.activity_id where a.code = 'rate')"
                          " select count(*) from t where at between (select min(at) + interval '1 s' from t) and "
                          "(select min(at) + interval '4 s' from t)");
  if (calls < 144 || calls > 216) fail_msg("%lld calls in 3 s at 60 per second", (long long)calls);
  assert_int_equal(protection_count(s, "rate", "c.attempts = 1"), 400);
  COMMAND(s, "set", "simulator-b", "--rate", "default", "--reason", "done");
}

static void concurrency_is_that_of_all_fulfillers(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "wide", .stock = 1000, .provider = "simulator-b"});
  COMMAND(s, "set", "simulator-b", "--concurrency", "5", "--reason", "their limit");
  WAIT_FOR(protection_metric(s->fulfiller_port, SHARE("simulator-b")) +
                   protection_metric(rig->second_port, SHARE("simulator-b")) ==
               5,
           2);
  protection_heal(s);
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"rewardCode\":\"voucher-simulator-b\"},\"times\":1000000,\"steps\":[{\"delayMs\":100}]}");
  protection_claims(s, "wide", 1, 150);
  WAIT_FOR(all_done(s, "wide", 150), 30);
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlight"), 5);
}

// What it held comes again; its share is the other's after the five seconds in which it counts as alive.
static void the_share_of_the_dead_is_taken_over(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "heir", .stock = 1000, .provider = "simulator-b"});
  protection_claims(s, "heir", 1, 60);
  process_kill(rig->second);
  WAIT_FOR(protection_metric(s->fulfiller_port, SHARE("simulator-b")) == 5, 8);
  WAIT_FOR(all_done(s, "heir", 60), 40);
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlight"), 5);
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlightPerRequestId"), 1);
  protection_start_second(rig);
  COMMAND(s, "set", "simulator-b", "--concurrency", "default", "--reason", "done");
  WITHIN(protection_both(rig, SHARE("simulator-b"), 32), 3);
  protection_heal(s);
}

// --- prefetch

#define STORM 400

// B64: no more is held than the prefetch of each, and after both died everything comes again and takes effect once.
static void a_slow_provider_does_not_pile_up_messages(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "storm", .stock = 1000, .provider = "simulator-b"});
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"rewardCode\":\"voucher-simulator-b\"},\"times\":1000000,\"steps\":[{\"delayMs\":1000}]}");
  gather(rig);
  protection_claims(s, "storm", 1, STORM);
  WAIT_FOR(broker_count(rig->broker, DELIVERY_LANE_B) == STORM, 5);
  COMMAND(s, "resume", "simulator-b", "--reason", "go");
  WAIT_FOR(broker_count(rig->broker, DELIVERY_LANE_B) < STORM, 2);
  for (double end = support_now() + 3; support_now() < end; support_sleep(0.05)) {
    int64_t ready = broker_count(rig->broker, DELIVERY_LANE_B),
            open = protection_count(s, "storm", "c.status = 'issuing'");
    if (open - ready > 100) fail_msg("%lld messages are held", (long long)(open - ready));
  }
  process_kill(s->fulfiller);
  process_kill(rig->second);
  stack_start_fulfiller(s);
  protection_start_second(rig);
  WAIT_FOR(all_done(s, "storm", STORM), 60);
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlightPerRequestId"), 1);
  protection_heal(s);
}

// --- neighbours

#define ROUNDS 5

static double middle(double values[ROUNDS])
{
  for (int i = 1; i < ROUNDS; i++) {
    for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
      double swap = values[j];
      values[j] = values[j - 1];
      values[j - 1] = swap;
    }
  }
  return values[ROUNDS / 2];
}

static double p99(struct stack *s, const char *prefix, int round)
{
  char *code = support_format("%s-%d", prefix, round);
  double ms = protection_p99_ms(s, code, "simulator-b", 50, 2);
  mem_free(code);
  return ms;
}

// Both at once in the first round. Later the rungs have gathered claims in messages of many, and one of the two may
// hold them all: then its own share is what can be full.
static bool hangs_at_full_concurrency(struct protection_rig *rig, int round)
{
  static const char series[] = "largesse_deliveries_in_progress{provider=\"hanging\"}";
  double sum = protection_metric(rig->stack->fulfiller_port, series) + protection_metric(rig->second_port, series);
  return sum > (round == 0 ? 63 : 31);
}

// 100 claims at a steady rate, by turns with the other provider paused and hanging, so that whatever else this machine
// does is in both; the middle p99 of each. What is below 20 ms is noise.
static void a_provider_that_hangs_slows_nobody_else(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  double alone[ROUNDS], beside[ROUNDS];
  activity_make(s->sql, &(struct activity_terms){.code = "stuck", .stock = 1000, .provider = "hanging"});
  COMMAND(s, "pause", "hanging", "--reason", "not yet");
  WITHIN(protection_both(rig, PAUSED("hanging"), 1), 1);
  protection_claims(s, "stuck", 1, 400);
  for (int i = 0; i < ROUNDS; i++) {
    WAIT_FOR(protection_both(rig, "largesse_deliveries_in_progress{provider=\"hanging\"}", 0), 8);
    alone[i] = p99(s, "alone", i);
    COMMAND(s, "resume", "hanging", "--reason", "to hang");
    WAIT_FOR(hangs_at_full_concurrency(rig, i), 5);
    beside[i] = p99(s, "beside", i);
    COMMAND(s, "pause", "hanging", "--reason", "by turns");
  }
  double quiet = middle(alone), sick_beside = middle(beside);
  print_message("p99 alone %.1f ms, beside a hanging provider %.1f ms\n", quiet, sick_beside);
  if (sick_beside > 2 * (quiet > 20 ? quiet : 20))
    fail_msg("p99 %.1f ms alone, %.1f ms beside a hanging provider", quiet, sick_beside);
}

// B69 with an address that never answers instead of a name: for the caller both are a connection that does not come.
static void who_cannot_be_reached_costs_the_time_to_connect_and_nobody_else(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "nowhere", .stock = 100, .provider = "nowhere"});
  protection_claims(s, "nowhere", 1, 30);
  struct stopwatch watch = stopwatch_start();
  double p99 = protection_p99_ms(s, "elsewhere", "simulator-b", 50, 3);
  if (p99 > 500 * stopwatch_slowness(&watch)) fail_msg("p99 %.1f ms beside an address that never answers", p99);
  WAIT_FOR(sql_int(s->sql, "select count(distinct claim_id) from largesse.attempt where provider = 'nowhere'") == 30,
           10);
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.attempt where provider = 'nowhere' and (outcome <> 'retry' or "
              "duration_us not between 900000 and 2000000)"),
      0);
  assert_true(process_is_alive(s->fulfiller) && process_is_alive(rig->second));
  COMMAND(s, "pause", "nowhere", "--reason", "there is nobody");
}

static void each_claim_took_effect_once(void **state)
{
  struct stack *s = ((struct protection_rig *)*state)->stack;
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id"
                           " where c.status not in ('succeeded', 'failed') and a.code not in ('nowhere', 'stuck')"),
                   0);
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = stack_command(s, "reconciler", (const char *const[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("the audit ended with %d: %s", status, buf_text(&out));
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pause_is_seen_by_all_within_a_second_and_burns_no_attempt),
      cmocka_unit_test(a_pause_with_an_end_ends_by_itself),
      cmocka_unit_test(errors_open_the_breaker_and_a_probe_closes_it),
      cmocka_unit_test(a_provider_that_hangs_opens_it_too),
      cmocka_unit_test(refusals_and_patience_do_not),
      cmocka_unit_test(a_breaker_can_be_held),
      cmocka_unit_test(only_one_of_many_moves_a_breaker),
      cmocka_unit_test(the_rate_is_that_of_all_fulfillers),
      cmocka_unit_test(concurrency_is_that_of_all_fulfillers),
      cmocka_unit_test(the_share_of_the_dead_is_taken_over),
      cmocka_unit_test(a_slow_provider_does_not_pile_up_messages),
      cmocka_unit_test(a_provider_that_hangs_slows_nobody_else),
      cmocka_unit_test(who_cannot_be_reached_costs_the_time_to_connect_and_nobody_else),
      cmocka_unit_test(each_claim_took_effect_once),
  };
  return cmocka_run_group_tests_name("protection", tests, protection_set_up, protection_tear_down);
}
