// SPDX-License-Identifier: Apache-2.0
// The hostile day: a thousand claims a second while every daemon is killed again and again and the servers go away
// under them. Afterwards the clients' record, the claims, the provider's books and the audit say the same.
// LARGESSE_CHAOS makes it a long day; LARGESSE_SEED repeats one.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/broker.h"
#include "tests/support/claims.h"
#include "tests/support/crowd.h"
#include "tests/support/delivery.h"
#include "tests/support/support.h"

#define RATE         1000
#define STOCK        100000000
#define PAUSE_MS_MAX 700

// What can happen. A kill is followed by a new start at once; servers are back when the fault is over.
enum fault {
  KILL_SCHEDULER_0,
  KILL_SCHEDULER_1,
  KILL_FULFILLER_0,
  KILL_FULFILLER_1,
  KILL_RECONCILER,
  RESTART_POSTGRES,
  RESTART_BROKER_APP,
  KILL_BROKER,
  FAULTS
};
static const char *const fault_names[FAULTS] = {
    "scheduler 0 killed",
    "scheduler 1 killed",
    "fulfiller 0 killed",
    "fulfiller 1 killed",
    "reconciler killed",
    "PostgreSQL restarted (immediate)",
    "RabbitMQ's application restarted",
    "RabbitMQ killed",
};
// How often each happens: in the suite, and in the long version.
static const int times_short[FAULTS] = {5, 5, 5, 5, 5, 1, 1, 0};
static const int times_long[FAULTS] = {30, 30, 30, 30, 30, 5, 3, 3};

#define PLAN_MAX 256

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *second;  // fulfiller
  struct crowd *crowd;
  enum fault plan[PLAN_MAX];
  size_t plan_length;
  uint64_t random;
};

static uint64_t choose_seed(void)
{
  const char *given = getenv("LARGESSE_SEED");
  uint64_t seed = (uint64_t)time(NULL);
  if (given != NULL && text_to_u64(given, strlen(given), &seed) != RESULT_OK)
    support_die("LARGESSE_SEED must be a number");
  return seed;
}

static uint64_t next_random(struct rig *rig, uint64_t below)  // splitmix64
{
  uint64_t z = (rig->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

static void make_plan(struct rig *rig)
{
  const int *times = getenv("LARGESSE_CHAOS") != NULL ? times_long : times_short;
  for (int f = 0; f < FAULTS; f++) {
    for (int i = 0; i < times[f]; i++) rig->plan[rig->plan_length++] = (enum fault)f;
  }
  for (size_t i = rig->plan_length - 1; i > 0; i--) {
    size_t other = (size_t)next_random(rig, i + 1);
    enum fault kept = rig->plan[i];
    rig->plan[i] = rig->plan[other];
    rig->plan[other] = kept;
  }
}

static int set_up(void **state)
{
  static struct rig rig;
  // A machine that is busy with all this may be slow to answer; nobody shall give up a claim for that.
  static const char *const env[] = {"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__TOTAL_TIMEOUT=2s",
                                    "LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__NOT_FOUND_AFTER=2s",
                                    "LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__ATTEMPTS=1000",
                                    "LARGESSE_LOG__LEVEL=info", NULL};
  rig.random = choose_seed();
  print_message("seed %llu\n", (unsigned long long)rig.random);
  rig.server = server_start();
  rig.stack = delivery_stack(rig.server, &(struct stack_options){.schedulers = 2, .env = env});
  rig.second = stack_start_another(rig.stack, "fulfiller");
  make_plan(&rig);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  process_free(rig->second);
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

static void kill_second_fulfiller(struct rig *rig)
{
  process_kill(rig->second);
  process_free(rig->second);
  rig->second = stack_start_another(rig->stack, "fulfiller");
}

static void strike(struct rig *rig, enum fault fault)
{
  struct stack *s = rig->stack;
  switch (fault) {
    case KILL_SCHEDULER_0:
    case KILL_SCHEDULER_1:
      process_kill(s->schedulers[fault == KILL_SCHEDULER_0 ? 0 : 1]);
      stack_start_scheduler(s, fault == KILL_SCHEDULER_0 ? 0 : 1);
      break;
    case KILL_FULFILLER_0:
      process_kill(s->fulfiller);
      stack_start_fulfiller(s);
      break;
    case KILL_FULFILLER_1: kill_second_fulfiller(rig); break;
    case KILL_RECONCILER:
      process_kill(s->reconciler);
      stack_start_reconciler(s);
      break;
    case RESTART_POSTGRES:
      server_postgres_restart(rig->server, true);
      // The test's own session went with it.
      sql_close(s->sql);
      s->sql = server_open(rig->server, s->database);
      break;
    case RESTART_BROKER_APP:
      server_broker_stop_app(rig->server);
      server_broker_start_app(rig->server);
      break;
    case KILL_BROKER:
      server_broker_kill(rig->server);
      server_broker_start(rig->server);
      break;
    case FAULTS: break;
  }
}

static int send_crowd_home(void **state)
{
  struct rig *rig = *state;
  crowd_free(rig->crowd);
  rig->crowd = NULL;
  server_heal(rig->server);
  return 0;
}

static int64_t open_claims(struct rig *rig)
{
  return sql_int(rig->stack->sql, "select count(*) from largesse.claim where status = 'issuing'");
}

static void everything_adds_up_after_a_hostile_day(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "hostile", .stock = STOCK});
  rig->crowd = crowd_start(s, "hostile", RATE, rig->random);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim") > RATE / 2, 20);
  double begin = support_now();
  for (size_t i = 0; i < rig->plan_length; i++) {
    support_sleep((double)next_random(rig, PAUSE_MS_MAX) / 1000);  // the seeded moment
    print_message("%6.2f s  %s\n", support_now() - begin, fault_names[rig->plan[i]]);
    strike(rig, rig->plan[i]);
  }
  crowd_end(rig->crowd);
  print_message("%6.2f s  no more clicks\n", support_now() - begin);
  WAIT_FOR(open_claims(rig) == 0, 120);
  print_message("%6.2f s  nothing is open\n", support_now() - begin);
  char *faults = crowd_faults(rig->crowd, STOCK);
  if (faults[0] != '\0') fail_msg("%s", faults);
  print_message("%lld claims accepted, each delivered once\n", (long long)crowd_accepted(rig->crowd));
  assert_true(crowd_accepted(rig->crowd) > 10 * RATE);
  mem_free(faults);
}

static void the_lane_is_empty_and_everybody_ends_well(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  assert_int_equal(process_stop(rig->second, 15), 0);
  assert_int_equal(process_stop(s->fulfiller, 15), 0);
  for (int i = 0; i < s->scheduler_count; i++) assert_int_equal(process_stop(s->schedulers[i], 15), 0);
  assert_int_equal(process_stop(s->reconciler, 15), 0);
  struct broker *b = broker_open(s->broker_url);
  assert_int_equal(broker_count(b, "largesse.dead"), 0);
  broker_close(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(everything_adds_up_after_a_hostile_day, send_crowd_home),
      cmocka_unit_test(the_lane_is_empty_and_everybody_ends_well),
  };
  return cmocka_run_group_tests_name("hostile day", tests, set_up, tear_down);
}
