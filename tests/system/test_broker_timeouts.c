// SPDX-License-Identifier: Apache-2.0
// What a broker gives up by itself: a consumer that does not acknowledge in time (B54), a peer that is silent (B54,
// B55). LARGESSE_CHAOS takes the real times, which are minutes; else they are scaled down.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/protection.h"
#include "tests/support/support.h"

#define BACK_WITHIN 30

struct times {
  const char *consumer_timeout_ms, *tick_ms, *total_timeout, *heartbeat;
  int hold_s, stop_s, idle_s;
};
static const struct times scaled = {"3000", "500", "20s", "5s", 7, 12, 12};
static const struct times real = {"60000", "10000", "300s", "10s", 200, 180, 120};

struct rig {
  struct server *server;
  struct stack *stack;
  const struct times *times;
};

static void set_timeouts(struct rig *rig, const char *timeout_ms, const char *tick_ms)
{
  char *code = support_format(
      "application:set_env(rabbit, consumer_timeout, %s), application:set_env(rabbit, channel_tick_interval, %s).",
      timeout_ms, tick_ms);
  server_rabbitmqctl(rig->server, (const char *[]){"eval", code, NULL}, NULL);
  mem_free(code);
}

static int set_up(void **state)
{
  static struct rig rig;
  rig.times = getenv("LARGESSE_CHAOS") != NULL ? &real : &scaled;
  rig.server = server_start();
  set_timeouts(&rig, rig.times->consumer_timeout_ms, rig.times->tick_ms);
  char *total = support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__TOTAL_TIMEOUT=%s", rig.times->total_timeout),
       *trust =
           support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__NOT_FOUND_AFTER=%s", rig.times->total_timeout),
       *beat = support_format("LARGESSE_BROKER__HEARTBEAT=%s", rig.times->heartbeat);
  char *ladder =
      support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__LADDER=[800ms, %s]", rig.times->total_timeout);
  const char *const env[] = {total, trust, beat, ladder, NULL};
  rig.stack = delivery_stack(rig.server, &(struct stack_options){.no_reconciler = true, .env = env});
  activity_make(rig.stack->sql, &(struct activity_terms){.code = "times", .stock = 1000});
  mem_free(total);
  mem_free(trust);
  mem_free(beat);
  mem_free(ladder);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  stack_free(rig->stack);
  set_timeouts(rig, "1800000", "60000");
  server_free(rig->server);
  return 0;
}

static double metric(struct stack *s, const char *series) { return protection_metric(s->fulfiller_port, series); }

static void assert_delivered_once(struct stack *s, const char *claim_id, double seconds)
{
  WAIT_FOR(delivery_is(s, claim_id, "succeeded"), seconds);
  assert_int_equal(delivery_hits(s, claim_id), 1);
  assert_int_equal(delivery_effects(s, claim_id), 1);
}

// B54: the provider takes longer to answer than the broker waits for the acknowledgement.
static void a_slow_answer_costs_the_channel_and_not_the_lane(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  double cancelled = metric(s, "largesse_amqp_consumers_cancelled_total");
  char *steps = support_format("[{\"delayMs\":%d}]", rig->times->hold_s * 1000);
  delivery_script(s, 1, steps);
  struct delivery_claim slow = delivery_claim(s, "times", 1);
  WAIT_FOR(metric(s, "largesse_amqp_consumers_cancelled_total") > cancelled, rig->times->hold_s + BACK_WITHIN);
  struct delivery_claim next = delivery_claim(s, "times", 2);
  assert_delivered_once(s, next.id, BACK_WITHIN);
  assert_delivered_once(s, slow.id, rig->times->hold_s + BACK_WITHIN);
  struct delivery_claim last = delivery_claim(s, "times", 3);
  assert_delivered_once(s, last.id, BACK_WITHIN);
  mem_free(steps);
}

// B54, the second run: the process stands still for longer than heartbeats may fail to come.
static void a_process_that_stood_still_comes_back_to_its_lane(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  delivery_script(s, 11, "[{\"delayMs\":1000}]");
  struct delivery_claim in_flight = delivery_claim(s, "times", 11);
  WAIT_FOR(delivery_hits(s, in_flight.id) == 1, 10);
  process_signal(s->fulfiller, SIGSTOP);
  struct delivery_claim meanwhile = delivery_claim(s, "times", 12);
  support_sleep(rig->times->stop_s);  // standing still is the fault itself
  process_signal(s->fulfiller, SIGCONT);
  assert_delivered_once(s, meanwhile.id, BACK_WITHIN);
  assert_delivered_once(s, in_flight.id, BACK_WITHIN);
  assert_true(process_log_has(s->fulfiller, "mq.connection_lost"));
  WAIT_FOR(metric(s, "largesse_amqp_connected{role=\"consumer\"}") == 1, BACK_WITHIN);
}

// B55: nobody publishes or consumes for many heartbeats; then one claim goes its way at once.
static void an_idle_stack_keeps_its_connections(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  process_kill(s->fulfiller);  // its log begins anew
  stack_start_fulfiller(s);
  int missed = server_broker_log_count(rig->server, "missed heartbeats");
  support_sleep(rig->times->idle_s);  // idleness is what is tested
  struct delivery_claim claim = delivery_claim(s, "times", 21);
  assert_delivered_once(s, claim.id, 5);
  assert_int_equal(delivery_int(s, claim.id, "attempts"), 1);
  assert_false(process_log_has(s->fulfiller, "mq.connection_lost"));
  assert_false(process_log_has(s->schedulers[0], "mq.connection_lost"));
  assert_int_equal(server_broker_log_count(rig->server, "missed heartbeats"), missed);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_idle_stack_keeps_its_connections),
      cmocka_unit_test(a_slow_answer_costs_the_channel_and_not_the_lane),
      cmocka_unit_test(a_process_that_stood_still_comes_back_to_its_lane),
  };
  return cmocka_run_group_tests_name("broker timeouts", tests, set_up, tear_down);
}
