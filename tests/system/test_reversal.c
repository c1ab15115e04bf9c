// SPDX-License-Identifier: Apache-2.0
// Deliveries that are taken back: each is reversed once at the provider, whatever becomes of the call, and everything
// is given back once; and a claim's trace from the click to the provider.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define SETTLED_WITHIN 20

// What the claims of `ids` are decided to, as an operator's roll-back decides.
static void take_back(struct stack *s, const char *claim_id)
{
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim_reverse(array[split_part('%s', '-', 1)::bigint], "
                           "array[split_part('%s', '-', 2)::bigint])",
                           claim_id, claim_id),
                   1);
}

static void reverse_script(struct stack *s, int64_t user, const char *steps)
{
  char *json =
      support_format("{\"match\":{\"userId\":%lld,\"call\":\"reverse\"},\"steps\":%s}", (long long)user, steps);
  simulator_script(s->simulator_port, json);
  mem_free(json);
}

// The claim's reversal has ended: nothing is due, nothing held, and the provider took back so many times.
static void assert_ended(struct stack *s, const char *name, const char *claim_id, const char *status, int64_t reversals)
{
  int64_t taken_back = simulator_ledger(s->simulator_port, claim_id, "reversals");
  int64_t is_idle = delivery_int(
      s, claim_id,
      "(lease_until is null and next_attempt_at is null and review_since is null and trust_after is null)::int");
  int64_t is_marked = delivery_int(s, claim_id, "(reversed_at is not null)::int");
  if (!delivery_is(s, claim_id, status) || taken_back != reversals || is_idle != 1 || is_marked != reversals)
    fail_msg("%s: claim %s: %s: %d, %lld reversals (%lld), idle %lld, marked %lld", name, claim_id, status,
             delivery_is(s, claim_id, status), (long long)taken_back, (long long)reversals, (long long)is_idle,
             (long long)is_marked);
}

// --- misfortunes

struct misfortune {
  const char *name, *steps;
};
static const struct misfortune misfortunes[] = {
    {"nothing happens", "[{}]"},
    {"the answer is lost after the effect", "[{\"effect\":\"before\",\"close\":true}]"},
    {"the connection closes without an effect", "[{\"effect\":\"none\",\"close\":true}]"},
    {"500 without an effect", "[{\"status\":500,\"effect\":\"none\"}]"},
    {"500 after the effect", "[{\"status\":500,\"effect\":\"before\"}]"},
    {"502 from a gateway, the effect comes behind it", "[{\"status\":502,\"effect\":\"after\"}]"},
    {"503 twice", "[{\"status\":503,\"effect\":\"none\"},{\"status\":503,\"effect\":\"none\"}]"},
    {"429 with patience", "[{\"status\":429,\"effect\":\"none\",\"headers\":{\"Retry-After\":\"1\"}}]"},
    {"slow beyond the time-out, with its effect", "[{\"delayMs\":1500,\"effect\":\"before\"}]"},
    {"slow beyond the time-out, the effect last", "[{\"delayMs\":1000,\"effect\":\"after\"}]"},
    {"slow beyond the time-out, no effect at all", "[{\"delayMs\":1500,\"effect\":\"none\"}]"},
    {"a success that is no JSON", "[{\"body\":\"<html>Welcome</html>\"}]"},
    {"a page that is not there", "[{\"status\":404,\"effect\":\"none\",\"body\":\"<html>Not Found</html>\"}]"},
};
#define MISFORTUNES (sizeof misfortunes / sizeof misfortunes[0])

static void one_reversal_per_claim_whatever_happens(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  static struct delivery_claim claims[MISFORTUNES];
  activity_make(s->sql, &(struct activity_terms){.code = "back", .stock = 100});
  for (size_t i = 0; i < MISFORTUNES; i++) {
    claims[i] = delivery_claim(s, "back", (int64_t)i + 1);
    reverse_script(s, (int64_t)i + 1, misfortunes[i].steps);
  }
  for (size_t i = 0; i < MISFORTUNES; i++) WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(activity_remaining(s->sql, "back"), 100 - (int64_t)MISFORTUNES);
  for (size_t i = 0; i < MISFORTUNES; i++) take_back(s, claims[i].id);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'rolled_back'") == (int64_t)MISFORTUNES,
           SETTLED_WITHIN);
  for (size_t i = 0; i < MISFORTUNES; i++) assert_ended(s, misfortunes[i].name, claims[i].id, "rolled_back", 1);
  assert_int_equal(activity_remaining(s->sql, "back"), 100);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.usage where used <> 0"), 0);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter"), 0);
}

// --- nothing to take back

// A provider that said "done" and knows nothing of it now, as behind a wrong address of reversals: nothing is given
// back, a person decides.
static void a_reversal_that_finds_nothing_waits_for_a_person(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "nothing", .stock = 10});
  delivery_script(s, 100, "[{\"effect\":\"none\",\"body\":{\"status\":\"SUCCESS\",\"ref\":\"x\"}}]");
  struct delivery_claim claim = delivery_claim(s, "nothing", 100);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), SETTLED_WITHIN);
  take_back(s, claim.id);
  WAIT_FOR(delivery_int(s, claim.id, "(review_cause = 'reversal_not_found')::int") == 1, SETTLED_WITHIN);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(activity_remaining(s->sql, "nothing"), 9);
  json_t *news = NULL;
  WAIT_FOR((news = delivery_take_dead(rig->broker)) != NULL, 5);
  assert_string_equal(json_string_value(json_object_get(news, "claimId")), claim.id);
  assert_string_equal(json_string_value(json_object_get(news, "cause")), "reversal_not_found");
  json_decref(news);
  sql_exec(s->sql,
           "select largesse.claim_reversal_end(array[activity_id], array[id], array['done']) from "
           "largesse.claim where review_cause = 'reversal_not_found'");
  assert_int_equal(activity_remaining(s->sql, "nothing"), 10);
}

// --- late news

// The provider refused and took effect all the same; later it says so: exactly one reversal, however often it is said.
static void a_success_after_a_failure_is_taken_back_once(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "late", .stock = 10});
  delivery_script(s, 200, "[{\"status\":422,\"effect\":\"before\"}]");
  reverse_script(s, 200, "[{\"effect\":\"before\",\"close\":true}]");
  struct delivery_claim claim = delivery_claim(s, "late", 200);
  WAIT_FOR(delivery_is(s, claim.id, "failed"), SETTLED_WITHIN);
  for (int i = 0; i < 3; i++) {
    sql_exec(s->sql,
             "select * from largesse.claim_told_done(array[split_part('%s', '-', 1)::bigint], array[split_part('%s', "
             "'-', 2)::bigint], array['late'])",
             claim.id, claim.id);
    WAIT_FOR(delivery_int(s, claim.id, "(reversed_at is not null)::int") == 1, SETTLED_WITHIN);
  }
  assert_ended(s, "late success", claim.id, "failed", 1);
  assert_int_equal(activity_remaining(s->sql, "late"), 10);
}

// The provider says that it delivered after all, and then knows nothing of it: that is no end, a person is told.
static void a_success_that_cannot_be_found_waits_for_a_person(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "lost", .stock = 10});
  delivery_script(s, 210, "[{\"status\":422,\"effect\":\"none\"}]");
  struct delivery_claim claim = delivery_claim(s, "lost", 210);
  WAIT_FOR(delivery_is(s, claim.id, "failed"), SETTLED_WITHIN);
  sql_exec(s->sql,
           "select * from largesse.claim_told_done(array[split_part('%s', '-', 1)::bigint], array[split_part('%s', "
           "'-', 2)::bigint], array['late'])",
           claim.id, claim.id);
  WAIT_FOR(delivery_int(s, claim.id, "(review_cause = 'reversal_not_found')::int") == 1, SETTLED_WITHIN);
  json_t *news = NULL;
  WAIT_FOR((news = delivery_take_dead(rig->broker)) != NULL, 5);
  assert_string_equal(json_string_value(json_object_get(news, "claimId")), claim.id);
  assert_string_equal(json_string_value(json_object_get(news, "cause")), "reversal_not_found");
  json_decref(news);
  assert_int_equal(delivery_int(s, claim.id, "(reversal = 'refused' and next_attempt_at is null)::int"), 1);
  sql_exec(s->sql,
           "select largesse.claim_reversal_end(array[activity_id], array[id], array['done']) from "
           "largesse.claim where review_cause = 'reversal_not_found'");
}

// --- people

static void a_reversal_that_is_refused_waits_for_a_person(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "no", .stock = 10});
  reverse_script(s, 300,
                 "[{\"status\":422,\"effect\":\"none\",\"body\":{\"code\":\"SPENT\",\"token\":\"abcdefghijkl\"}}]");
  struct delivery_claim claim = delivery_claim(s, "no", 300);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), SETTLED_WITHIN);
  take_back(s, claim.id);
  WAIT_FOR(delivery_int(s, claim.id, "(review_cause = 'reversal_refused')::int") == 1, SETTLED_WITHIN);
  assert_true(delivery_is(s, claim.id, "succeeded"));  // it still has what it took
  assert_int_equal(activity_remaining(s->sql, "no"), 9);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where closed_at is null and cause = "
                           "'reversal_refused' and fingerprint = 'reversal_refused: SPENT'"),
                   1);
  json_t *news = NULL;
  WAIT_FOR((news = delivery_take_dead(rig->broker)) != NULL, 5);
  assert_string_equal(json_string_value(json_object_get(news, "claimId")), claim.id);
  json_decref(news);
  // What was sent and answered is on record, without its secrets.
  assert_int_equal(
      sql_int(
          s->sql,
          "select count(*) from largesse.attempt where activity_id || '-' || claim_id = '%s' and step = 'reverse' and "
          "request like 'POST http%%/reverse%%\"refundId\": \"%s-r\"%%' and answer like 'HTTP 422%%SPENT%%' and "
          "answer not like '%%abcdefghijkl%%'",
          claim.id, claim.id),
      1);
  take_back(s, claim.id);  // the wallet has been filled
  WAIT_FOR(delivery_is(s, claim.id, "rolled_back"), SETTLED_WITHIN);
  assert_ended(s, "refused, then done", claim.id, "rolled_back", 1);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter where closed_at is null"), 0);
}

// --- a process that dies

static void a_fulfiller_killed_in_a_reversal_asks_before_it_repeats(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "killed", .stock = 10});
  reverse_script(s, 400, "[{\"delayMs\":500,\"effect\":\"before\"}]");
  struct delivery_claim claim = delivery_claim(s, "killed", 400);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), SETTLED_WITHIN);
  take_back(s, claim.id);
  WAIT_FOR(simulator_ledger(s->simulator_port, claim.id, "reversals") == 1, SETTLED_WITHIN);
  process_kill(s->fulfiller);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  stack_start_fulfiller(s);
  WAIT_FOR(delivery_is(s, claim.id, "rolled_back"), SETTLED_WITHIN);
  assert_ended(s, "killed", claim.id, "rolled_back", 1);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.attempt where activity_id || '-' || claim_id = '%s' and step "
                           "= 'inquire_reverse' and outcome = 'done'",
                           claim.id),
                   1);
}

// --- traces

#define TRACE "0af7651916cd43dd8448eb211c80319c"

// The trace that the caller began is in the message, at the claim, in every call of the provider, on the rungs, and in
// the log lines of both daemons.
static void a_claim_goes_on_with_its_callers_trace(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "traced", .stock = 10});
  delivery_script(s, 500, "[{\"status\":429,\"effect\":\"none\"}]");
  struct claim_click click = claim_click(s->scheduler_ports[0], "traced", 500, "traced-500");
  char *body = claim_body(&click);
  struct http_answer answer;
  http_call(&(struct http_request){.port = s->scheduler_ports[0],
                                   .path = "/v1/claims",
                                   .headers = "traceparent: 00-" TRACE "-b7ad6b7169203331-01\r\n",
                                   .body = body},
            &answer);
  struct claim_answer claim = claim_read(&answer);
  assert_int_equal(claim.status, 201);
  WAIT_FOR(delivery_is(s, claim.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(delivery_int(s, claim.claim_id, "(trace = '" TRACE "')::int"), 1);
  // Two calls, each a span of its own.
  assert_int_equal(
      sql_int(s->sql,
              "select count(distinct substring(request from 'traceparent: 00-" TRACE "-([0-9a-f]{16})-01')) from "
              "largesse.attempt where activity_id || '-' || claim_id = '%s' and trace = '" TRACE "'",
              claim.claim_id),
      2);
  assert_true(process_log_has(s->schedulers[0], "trace_id=" TRACE));
  assert_true(process_log_has(s->fulfiller, "trace=" TRACE));
  http_answer_release(&answer);
  mem_free(body);
}

static void claims_without_a_callers_trace_have_one_each(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  assert_int_equal(sql_int(s->sql, "select count(*) - count(distinct trace) from largesse.claim"), 0);
}

// --- places

// Says what the claim is then.
static int act(struct stack *s, const char *code, const char *biz_id, const char *action)
{
  char *path = support_format("/v1/claims/%s/%s/%s", code, biz_id, action);
  int status = http_json(s->scheduler_ports[0], "POST", path, "{}", NULL);
  mem_free(path);
  return status;
}

static struct claim_answer sign_up(struct stack *s, const char *code, int64_t user)
{
  struct claim_click click = claim_click(s->scheduler_ports[0], code, user, "%s-%lld", code, (long long)user);
  struct claim_answer answer = claim_send(&click);
  assert_int_equal(answer.status, 201);
  return answer;
}

static void make_places(struct stack *s, const char *code, const char *accept_within)
{
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = 1, .draft = true});
  sql_exec(s->sql,
           "update largesse.activity set kind = 'registration', waiting_max = 10, accept_within = %s where code = '%s'",
           accept_within, code);
  assert_int_equal(activity_act(s->scheduler_ports[0], code, "publish"), 200);
}

// A place with a reward that is given up is taken back at the provider, once; the next one's reward is delivered, as
// soon as the place is his.
static void a_place_that_is_given_up_takes_its_reward_back(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  make_places(s, "seat", "null");
  struct claim_answer first = sign_up(s, "seat", 600), next = sign_up(s, "seat", 601);
  assert_string_equal(next.claim_status, "waiting");
  WAIT_FOR(delivery_is(s, first.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(act(s, "seat", "seat-600", "cancel"), 200);
  assert_int_equal(act(s, "seat", "seat-600", "cancel"), 200);
  WAIT_FOR(delivery_int(s, first.claim_id, "(reversed_at is not null)::int") == 1, SETTLED_WITHIN);
  assert_ended(s, "given up", first.claim_id, "cancelled", 1);
  WAIT_FOR(delivery_is(s, next.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(delivery_effects(s, next.claim_id), 1);
  assert_int_equal(activity_remaining(s->sql, "seat"), 0);
}

static void an_accepted_place_is_delivered(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  make_places(s, "offer", "'1 hour'");
  struct claim_answer first = sign_up(s, "offer", 610), next = sign_up(s, "offer", 611);
  WAIT_FOR(delivery_is(s, first.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(act(s, "offer", "offer-611", "accept"), 409);
  assert_int_equal(act(s, "offer", "offer-610", "cancel"), 200);
  assert_true(delivery_is(s, next.claim_id, "offered"));
  assert_int_equal(delivery_effects(s, next.claim_id), 0);
  assert_int_equal(act(s, "offer", "offer-611", "accept"), 200);
  WAIT_FOR(delivery_is(s, next.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(act(s, "offer", "offer-611", "accept"), 200);
  assert_int_equal(delivery_effects(s, next.claim_id), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_reversal_per_claim_whatever_happens),
      cmocka_unit_test(a_reversal_that_finds_nothing_waits_for_a_person),
      cmocka_unit_test(a_success_after_a_failure_is_taken_back_once),
      cmocka_unit_test(a_success_that_cannot_be_found_waits_for_a_person),
      cmocka_unit_test(a_reversal_that_is_refused_waits_for_a_person),
      cmocka_unit_test(a_claim_goes_on_with_its_callers_trace),
      cmocka_unit_test(claims_without_a_callers_trace_have_one_each),
      cmocka_unit_test(a_place_that_is_given_up_takes_its_reward_back),
      cmocka_unit_test(an_accepted_place_is_delivered),
      cmocka_unit_test(a_fulfiller_killed_in_a_reversal_asks_before_it_repeats),
  };
  return cmocka_run_group_tests_name("reversal", tests, delivery_set_up, delivery_tear_down);
}
