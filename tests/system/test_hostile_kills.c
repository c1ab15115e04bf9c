// SPDX-License-Identifier: Apache-2.0
// takes long
// The hostile provider while two fulfillers are killed and stopped at random, by a seed: one effect at most per claim,
// every claim at its fate's end, and never two calls for one request id at a time, since nobody is stopped for longer
// than a lease. LARGESSE_CHAOS makes it longer, with stops beyond leases too; LARGESSE_SEED repeats the moments.
#include <signal.h>

#include "tests/system/hostile_rig.h"

#define ROUNDS         12
#define ROUNDS_LONG    150
#define ROUNDS_BEYOND  30
#define CLAIMS_A_ROUND 80
#define PAUSE_MS_MAX   400
#define STOP_MS_MAX    1500  // the lease is over 4 s
#define STOP_BEYOND_S  8
#define SETTLED_WITHIN 90

// Nothing that only a callback could settle: a fulfiller that was just killed does not hear it, and it is not sent
// again. Nothing that never heals either: how many attempts the kills use up is chance.
#define MIX                                                                                                       \
  "{\"plain\":4,\"lostAnswer\":3,\"lostRequest\":2,\"slowPaid\":3,\"slowPaying\":3,\"slowUnpaid\":3,\"error\":2," \
  "\"errorPaid\":2,\"unavailable\":1,\"gateway\":2,\"rateSeconds\":1,\"ratePast\":1,\"wrongJson\":1,"             \
  "\"twoTruthsUnpaid\":1,\"busyInside\":1,\"refused\":1,\"refusedLater\":1,\"pending\":1,\"pendingEarly\":1,"     \
  "\"pendingLate\":1,\"pendingDouble\":1,\"pendingMute\":1,\"pendingFailed\":1,\"forgedFailure\":1}"

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *second;
  uint64_t seed;
  unsigned short random[3];
  int64_t users;
};

static int set_up(void **state)
{
  static struct rig rig;
  static const char *const env[] = {"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__ATTEMPTS=1000",
                                    "LARGESSE_LOG__LEVEL=info", NULL};
  rig.seed = hostile_seed();
  memcpy(rig.random, &rig.seed, sizeof rig.random);
  rig.server = server_start();
  rig.stack = hostile_stack(rig.server, env);
  rig.second = stack_start_another(rig.stack, "fulfiller");
  simulator_config(rig.stack->simulator_port, "{\"dedupe\":false}");
  hostile_chaos(rig.stack->simulator_port, rig.seed, MIX);
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

static void kill_one(struct rig *rig, bool second)
{
  if (!second) {
    process_kill(rig->stack->fulfiller);
    stack_start_fulfiller(rig->stack);
    return;
  }
  process_kill(rig->second);
  process_free(rig->second);
  rig->second = stack_start_another(rig->stack, "fulfiller");
}

static void stop_one(struct rig *rig, bool second, double seconds)
{
  struct process *p = second ? rig->second : rig->stack->fulfiller;
  process_signal(p, SIGSTOP);
  support_sleep(seconds);  // how long it stands still is the fault itself
  process_signal(p, SIGCONT);
}

static void strike(struct rig *rig, double stop_seconds)
{
  bool second = nrand48(rig->random) % 2 == 0;
  if (nrand48(rig->random) % 2 == 0)
    kill_one(rig, second);
  else
    stop_one(rig, second, stop_seconds);
}

static void assert_everything_adds_up(struct rig *rig, const char *activity)
{
  struct stack *s = rig->stack;
  hostile_wait(s, SETTLED_WITHIN);
  hostile_import(s, s->simulator_port);
  hostile_assert_none("claim, user, fate, end meant, end, books", hostile_faults(s, activity));
  hostile_assert_none("claim, moves", hostile_moves_back(s));
  hostile_assert_audit_is_clean(s);
}

static void killed_and_stopped_fulfillers_pay_once(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  int rounds = getenv("LARGESSE_CHAOS") != NULL ? ROUNDS_LONG : ROUNDS;
  activity_make(s->sql, &(struct activity_terms){.code = "kills", .stock = ROUNDS_LONG * CLAIMS_A_ROUND});
  for (int i = 0; i < rounds; i++) {
    hostile_claim(s, "kills", rig->users + 1, rig->users + CLAIMS_A_ROUND);
    rig->users += CLAIMS_A_ROUND;
    support_sleep((double)(nrand48(rig->random) % PAUSE_MS_MAX) / 1000);  // the seeded moment
    strike(rig, (double)(nrand48(rig->random) % STOP_MS_MAX) / 1000);
  }
  assert_everything_adds_up(rig, "kills");
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlightPerRequestId"), 1);
}

// Two calls may overlap then; they are still one effect.
static void stopped_for_longer_than_a_lease_pays_once_too(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  int rounds = getenv("LARGESSE_CHAOS") != NULL ? ROUNDS_BEYOND : 1;
  activity_make(s->sql, &(struct activity_terms){.code = "beyond", .stock = ROUNDS_BEYOND * CLAIMS_A_ROUND});
  for (int i = 0; i < rounds; i++) {
    hostile_claim(s, "beyond", rig->users + 1, rig->users + CLAIMS_A_ROUND);
    rig->users += CLAIMS_A_ROUND;
    support_sleep((double)(nrand48(rig->random) % PAUSE_MS_MAX) / 1000);  // the seeded moment
    stop_one(rig, nrand48(rig->random) % 2 == 0, STOP_BEYOND_S);
  }
  assert_everything_adds_up(rig, "beyond");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killed_and_stopped_fulfillers_pay_once),
      cmocka_unit_test(stopped_for_longer_than_a_lease_pays_once_too),
  };
  return cmocka_run_group_tests_name("hostile provider, killed fulfillers", tests, set_up, tear_down);
}
