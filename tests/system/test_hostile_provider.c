// SPDX-License-Identifier: Apache-2.0
// takes long
// A provider that does everything a provider can do wrong, by a seed: every claim ends as its fate has it, with one
// effect at most, no state moves back, and the audit has nothing to say. `dedupe` is off where the provider can be
// asked: a second POST that takes effect would pay again. LARGESSE_SEED repeats a run.
#include "tests/system/hostile_rig.h"

#define FATES          34  // of the simulator; all are in its mix when none is given
#define ENDS           4
#define CLAIMS         5000
#define CLAIMS_AGAIN   500
#define CLAIMS_BLIND   500
#define SETTLED_WITHIN 60

// Without an inquiry there is nothing to tell what a callback forgot.
#define BLIND_MIX                                                                                                    \
  "{\"plain\":1,\"lostAnswer\":1,\"lostRequest\":1,\"slowPaid\":1,\"slowPaying\":1,\"slowUnpaid\":1,\"error\":1,"    \
  "\"errorPaid\":1,\"unavailable\":1,\"gateway\":1,\"rateSeconds\":1,\"rateDate\":1,\"ratePast\":1,"                 \
  "\"rateNonsense\":1,\"wrongJson\":1,\"wrongJsonUnpaid\":1,\"twoTruths\":1,\"twoTruthsUnpaid\":1,\"busyInside\":1," \
  "\"errorInside\":1,\"refused\":1,\"refusedLater\":1,\"never\":1}"

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *blind;  // the simulator behind simulator-b
  int blind_port;
  uint64_t seed;
};

static void start_blind_provider(struct rig *rig)
{
  char *bin = support_bin("simulator"), *listen = support_format("127.0.0.1:%d", rig->blind_port);
  rig->blind = process_start(&(struct process_spec){.name = "simulator-b",
                                                    .argv = (const char *[]){bin, "--listen", listen, NULL},
                                                    .ready_port = rig->blind_port,
                                                    .ready_path = "/sim/stats"});
  mem_free(listen);
  mem_free(bin);
}

static int set_up(void **state)
{
  static struct rig rig;
  rig.seed = hostile_seed();
  rig.server = server_start();
  rig.blind_port = server_free_port(rig.server);
  start_blind_provider(&rig);
  char *url =
      support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__BASE_URL=http://127.0.0.1:%d", rig.blind_port);
  rig.stack = hostile_stack(rig.server, (const char *[]){url, "LARGESSE_LOG__LEVEL=info", NULL});
  mem_free(url);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  process_free(rig->blind);
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

static int64_t fates(struct stack *s, const char *fate)
{
  return sql_int(s->sql, "select count(*) from hostile_ledger where fate = '%s'", fate);
}

static bool news_is_over(int port)
{
  int64_t heard = simulator_stat(port, "callbacksAccepted") + simulator_stat(port, "callbacksFailed");
  return simulator_stat(port, "callbacksWaiting") == 0 && simulator_stat(port, "callbacksSent") == heard;
}

// Late and contradicting news comes when everything seems to be settled.
static void wait_for_the_end(struct stack *s)
{
  hostile_wait(s, SETTLED_WITHIN);
  WAIT_FOR(news_is_over(s->simulator_port), SETTLED_WITHIN);
  hostile_wait(s, SETTLED_WITHIN);
  hostile_import(s, s->simulator_port);
}

// Exactly the forged callbacks were refused; the others were kept, each event once, and some of them decided.
static void assert_news_was_understood(struct stack *s)
{
  assert_int_equal(simulator_stat(s->simulator_port, "callbacksFailed"),
                   3 * fates(s, "forgedFailure") + 2 * fates(s, "forgedSuccess"));
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.callback"),
                   simulator_stat(s->simulator_port, "callbacksAccepted") - 2 * fates(s, "pendingDouble"));
  assert_true(sql_int(s->sql, "select count(*) from largesse.callback where state = 'applied'") > 0);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.callback where state = 'owes_reversal'"),
                   fates(s, "paidAfterAll"));
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where reversed_at is not null"),
                   fates(s, "paidAfterAll"));
}

static void run(struct rig *rig, const char *activity, int64_t claims)
{
  struct stack *s = rig->stack;
  simulator_reset(s->simulator_port);
  simulator_config(s->simulator_port, "{\"dedupe\":false}");
  hostile_chaos(s->simulator_port, rig->seed, NULL);
  activity_make(s->sql, &(struct activity_terms){.code = activity, .stock = CLAIMS});
  hostile_claim(s, activity, 1, claims);
  wait_for_the_end(s);
  hostile_assert_none("claim, user, fate, end meant, end, books", hostile_faults(s, activity));
}

static void claim_blind(struct rig *rig)
{
  hostile_chaos(rig->blind_port, rig->seed, BLIND_MIX);
  activity_make(rig->stack->sql, &(struct activity_terms){.code = "blind", .stock = CLAIMS, .provider = "simulator-b"});
  hostile_claim(rig->stack, "blind", 1, CLAIMS_BLIND);
}

static void every_claim_ends_as_its_fate_has_it(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  claim_blind(rig);  // at the same time, on the other lane
  run(rig, "hostile", CLAIMS);
  // All fates were there, and all ends.
  assert_int_equal(sql_int(s->sql, "select count(distinct fate) from hostile_ledger where fate <> 'paidInTime'"),
                   FATES);
  assert_int_equal(sql_int(s->sql, "select count(distinct ending) from hostile_ledger"), ENDS);
  assert_news_was_understood(s);
  hostile_assert_none("claim, moves", hostile_moves_back(s));
  // One call per request id at a time, also when the answer took longer than anybody waited.
  assert_int_equal(simulator_stat(s->simulator_port, "maxInFlightPerRequestId"), 1);
}

static void a_provider_that_cannot_be_asked_is_asked_again_with_the_same_id(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  hostile_import(s, rig->blind_port);
  hostile_assert_none("claim, user, fate, end meant, end, books", hostile_faults(s, "blind"));
  hostile_assert_none("claim, moves", hostile_moves_back(s));
  assert_int_equal(simulator_stat(rig->blind_port, "inquiries"), 0);
}

static void the_same_seed_gives_the_same_final_states(void **state)
{
  struct rig *rig = *state;
  run(rig, "again", CLAIMS_AGAIN);
  hostile_assert_none(
      "user, first, again",
      sql_table(rig->stack->sql,
                "select user_id, string_agg(c.status || coalesce(' ' || c.review_cause, ''), ' / ' order by a.code)"
                "  from largesse.claim c join largesse.activity a on a.id = c.activity_id"
                " where a.code in ('hostile', 'again') and user_id <= %d"
                "   and user_id not in (select user_id from hostile_early) group by user_id"
                " having count(*) <> 2 or count(distinct (c.status, c.review_since is null)) <> 1 limit 20",
                CLAIMS_AGAIN));
}

static void the_audit_has_nothing_to_say(void **state)
{
  struct rig *rig = *state;
  hostile_assert_audit_is_clean(rig->stack);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_claim_ends_as_its_fate_has_it),
      cmocka_unit_test(a_provider_that_cannot_be_asked_is_asked_again_with_the_same_id),
      cmocka_unit_test(the_same_seed_gives_the_same_final_states),
      cmocka_unit_test(the_audit_has_nothing_to_say),
  };
  return cmocka_run_group_tests_name("hostile provider", tests, set_up, tear_down);
}
