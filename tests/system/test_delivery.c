// SPDX-License-Identifier: Apache-2.0
// Delivery through a provider that misbehaves and whose `dedupe` is off, so that every POST that takes effect would pay
// again: one effect per claim, the right final state, and books that agree at the end.
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
#include "tests/support/http.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define CLAIMS_EACH    5
#define SETTLED_WITHIN 20

static void assert_effects(struct stack *s, const char *claim_id, int64_t effects)
{
  int64_t found = delivery_effects(s, claim_id);
  if (found != effects)
    fail_msg("claim %s: %lld effects instead of %lld", claim_id, (long long)found, (long long)effects);
}

// --- misfortunes

struct misfortune {
  const char *name, *steps, *status;
  int64_t effects, hits, attempts_min;
};
static const struct misfortune misfortunes[] = {
    {"the answer is lost after the effect", "[{\"effect\":\"before\",\"close\":true}]", "succeeded", 1, 1, 2},
    {"the connection closes without an effect", "[{\"effect\":\"none\",\"close\":true}]", "succeeded", 1, 2, 2},
    {"500 without an effect", "[{\"status\":500,\"effect\":\"none\"}]", "succeeded", 1, 2, 2},
    {"500 after the effect", "[{\"status\":500,\"effect\":\"before\"}]", "succeeded", 1, 1, 2},
    {"502 from a gateway, the effect comes behind it", "[{\"status\":502,\"effect\":\"after\"}]", "succeeded", 1, 1, 2},
    {"slow beyond the time-out, with its effect", "[{\"delayMs\":1500,\"effect\":\"before\"}]", "succeeded", 1, 1, 2},
    {"slow beyond the time-out, the effect last", "[{\"delayMs\":1000,\"effect\":\"after\"}]", "succeeded", 1, 1, 2},
    {"slow beyond the time-out, no effect at all", "[{\"delayMs\":1500,\"effect\":\"none\"}]", "succeeded", 1, 2, 2},
    {"a success that is no JSON", "[{\"body\":\"<html>Welcome</html>\"}]", "succeeded", 1, 1, 2},
    {"a success that contradicts itself",
     "[{\"body\":\"{\\\"status\\\":\\\"FAILED\\\",\\\"status\\\":\\\"SUCCESS\\\"}\"}]", "succeeded", 1, 1, 2},
    {"twice 503, then lost after the effect",
     "[{\"status\":503,\"effect\":\"none\"},{\"status\":503,\"effect\":\"none\"},{\"close\":true}]", "succeeded", 1, 3,
     4},
    {"429 twice", "[{\"status\":429,\"effect\":\"none\"},{\"status\":429,\"effect\":\"none\"}]", "succeeded", 1, 3, 3},
    {"pending, paid a second later",
     "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":1200,\"status\":\"SUCCESS\"}}]", "succeeded", 1, 1,
     1},
    {"pending, failed a second later",
     "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":1200,\"status\":\"FAILED\"}}]", "failed", 0, 1, 1},
    {"finally refused", "[{\"status\":400,\"effect\":\"none\",\"body\":{\"code\":\"NO_SUCH_WALLET\"}}]", "failed", 0, 1,
     1},
    {"finally refused after an error", "[{\"status\":500,\"effect\":\"none\"},{\"status\":422,\"effect\":\"none\"}]",
     "failed", 0, 2, 2},
};
#define MISFORTUNES (sizeof misfortunes / sizeof misfortunes[0])

static void assert_outcome(struct stack *s, const struct misfortune *m, const char *claim_id)
{
  int64_t effects = delivery_effects(s, claim_id), hits = delivery_hits(s, claim_id),
          attempts = delivery_int(s, claim_id, "attempts");
  int64_t records = sql_int(
      s->sql, "select count(distinct attempt) from largesse.attempt where activity_id || '-' || claim_id = '%s'",
      claim_id);
  if (!delivery_is(s, claim_id, m->status) || effects != m->effects || hits != m->hits || attempts < m->attempts_min ||
      records != attempts)
    fail_msg(
        "%s: claim %s: %s after all: %d, %lld effects (%lld), %lld POSTs (%lld), %lld attempts (at least %lld), %lld "
        "recorded",
        m->name, claim_id, m->status, delivery_is(s, claim_id, m->status), (long long)effects, (long long)m->effects,
        (long long)hits, (long long)m->hits, (long long)attempts, (long long)m->attempts_min, (long long)records);
  assert_int_equal(
      delivery_int(s, claim_id,
                   "(lease_until is not null or next_attempt_at is not null or review_since is not null)::int"),
      0);
}

static void one_effect_per_claim_whatever_happens(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  static struct delivery_claim claims[MISFORTUNES][CLAIMS_EACH];
  activity_make(s->sql, &(struct activity_terms){.code = "misfortunes", .stock = 1000});
  for (size_t i = 0; i < MISFORTUNES; i++) {
    for (size_t j = 0; j < CLAIMS_EACH; j++) {
      int64_t user = (int64_t)(1000 + i * 100 + j);
      delivery_script(s, user, misfortunes[i].steps);
      claims[i][j] = delivery_claim(s, "misfortunes", user);
    }
  }
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'issuing'") == 0, SETTLED_WITHIN);
  int64_t refused = 0;
  for (size_t i = 0; i < MISFORTUNES; i++) {
    for (size_t j = 0; j < CLAIMS_EACH; j++) assert_outcome(s, &misfortunes[i], claims[i][j].id);
    refused += misfortunes[i].effects == 0 ? CLAIMS_EACH : 0;
  }
  assert_int_equal(activity_remaining(s->sql, "misfortunes"), 1000 - (int64_t)(MISFORTUNES * CLAIMS_EACH) + refused);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter"), 0);
}

// --- refusals

static void a_refused_claim_gives_everything_back(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){
                            .code = "refusal",
                            .stock = 1,
                            .limits = "[{\"count\":1,\"period\":\"total\"},{\"count\":1,\"period\":\"day\"}]"});
  delivery_script(
      s, 42,
      "[{\"delayMs\":400,\"status\":400,\"effect\":\"none\",\"body\":{\"code\":\"WALLET_CLOSED\",\"message\":"
      "\"gone\"}}]");
  struct delivery_claim refused = delivery_claim(s, "refusal", 42);
  // While the delivery is under way everything is held: nobody else gets the last one.
  struct claim_click other = claim_click(s->scheduler_ports[0], "refusal", 43, "other-1");
  struct claim_answer answer = claim_send(&other);
  assert_int_equal(answer.status, 409);
  assert_string_equal(answer.code, "SOLD_OUT");
  WAIT_FOR(delivery_is(s, refused.id, "failed"), SETTLED_WITHIN);
  char *failure = sql_text(
      s->sql, "select failure_code || ' ' || failure_detail from largesse.claim where activity_id || '-' || id = '%s'",
      refused.id);
  assert_string_equal(failure, "WALLET_CLOSED gone");
  mem_free(failure);
  assert_int_equal(activity_remaining(s->sql, "refusal"), 1);
  assert_int_equal(sql_int(s->sql, "select coalesce(sum(used), 0)::bigint from largesse.usage where user_id = 42"), 0);
  // The same user again, with a new bizId. The scheduler's memory may say sold out for a moment.
  struct claim_click again = claim_click(s->scheduler_ports[0], "refusal", 42, "again-1");
  WITHIN((answer = claim_send(&again)).status == 201, 2);
  WAIT_FOR(delivery_is(s, answer.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_effects(s, answer.claim_id, 1);
  assert_effects(s, refused.id, 0);
  assert_int_equal(activity_remaining(s->sql, "refusal"), 0);
  // The refused click repeated is answered with the claim as it is, never with a new one.
  struct claim_click replay = claim_click(s->scheduler_ports[0], "refusal", 42, "refusal-42");
  answer = claim_send(&replay);
  assert_int_equal(answer.status, 200);
  assert_true(answer.replayed);
  assert_string_equal(answer.claim_id, refused.id);
  assert_string_equal(answer.claim_status, "failed");
}

// --- the provider's wishes

static void retry_after_is_honoured(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "patience", .stock = 10});
  delivery_script(s, 51, "[{\"status\":429,\"effect\":\"none\",\"headers\":{\"Retry-After\":\"2\"}}]");
  delivery_script(s, 52, "[{\"status\":503,\"effect\":\"none\",\"headers\":{\"Retry-After\":\"2\"}}]");
  struct delivery_claim claims[] = {delivery_claim(s, "patience", 51), delivery_claim(s, "patience", 52)};
  for (size_t i = 0; i < 2; i++) {
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), SETTLED_WITHIN);
    assert_effects(s, claims[i].id, 1);
    int64_t waited_ms = sql_int(s->sql,
                                "select (extract(epoch from max(started_at) - min(started_at)) * 1000)::bigint from "
                                "largesse.attempt where activity_id || '-' || claim_id = '%s'",
                                claims[i].id);
    if (waited_ms < 2000)
      fail_msg("asked again after %lld ms, not after the 2 s it was asked for", (long long)waited_ms);
  }
}

static void a_provider_that_is_down_costs_nothing(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "down", .stock = 10});
  delivery_stop_simulator(s);
  struct delivery_claim claims[CLAIMS_EACH];
  for (int64_t i = 0; i < CLAIMS_EACH; i++) claims[i] = delivery_claim(s, "down", 60 + i);
  // Refused connections are certain: the attempt was not made.
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where outcome = 'retry'") == CLAIMS_EACH,
           SETTLED_WITHIN);
  delivery_start_simulator(s);
  for (size_t i = 0; i < CLAIMS_EACH; i++) {
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), SETTLED_WITHIN);
    assert_effects(s, claims[i].id, 1);
    assert_int_equal(delivery_hits(s, claims[i].id), 1);
  }
}

// --- one message many times

// B24
static void a_message_delivered_five_times_pays_once(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  struct broker *b = broker_open(s->broker_url);
  activity_make(s->sql, &(struct activity_terms){.code = "again", .stock = 10});
  delivery_script(s, 71, "[{\"delayMs\":500}]");
  delivery_script(s, 72, "[{\"status\":500,\"effect\":\"before\"}]");
  struct delivery_claim slow = delivery_claim(s, "again", 71), failing = delivery_claim(s, "again", 72);
  for (int i = 0; i < 5; i++) {
    delivery_publish(b, "simulator", slow.id, 0);         // while it is being delivered
    delivery_publish(b, "simulator", failing.id, i % 2);  // also as if for the attempt that is to come
  }
  WAIT_FOR(delivery_is(s, slow.id, "succeeded") && delivery_is(s, failing.id, "succeeded"), SETTLED_WITHIN);
  for (int i = 0; i < 5; i++) delivery_publish(b, "simulator", slow.id, i % 3);  // and when it is done
  // A later claim shows that those have been read.
  struct delivery_claim after = delivery_claim(s, "again", 73);
  WAIT_FOR(delivery_is(s, after.id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(delivery_hits(s, slow.id), 1);
  assert_int_equal(delivery_hits(s, failing.id), 1);
  assert_effects(s, slow.id, 1);
  assert_effects(s, failing.id, 1);
  broker_close(b);
}

static void a_fulfiller_killed_in_a_call_asks_before_it_repeats(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "killed", .stock = 10});
  delivery_script(s, 81, "[{\"delayMs\":400,\"effect\":\"before\"}]");
  delivery_script(s, 82, "[{\"delayMs\":400,\"effect\":\"none\"}]");
  struct delivery_claim paid = delivery_claim(s, "killed", 81), unpaid = delivery_claim(s, "killed", 82);
  WAIT_FOR(delivery_hits(s, paid.id) == 1 && delivery_hits(s, unpaid.id) == 1, SETTLED_WITHIN);
  process_kill(s->fulfiller);
  stack_start_fulfiller(s);
  WAIT_FOR(delivery_is(s, paid.id, "succeeded") && delivery_is(s, unpaid.id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(delivery_hits(s, paid.id), 1);
  assert_int_equal(delivery_hits(s, unpaid.id), 2);
  assert_effects(s, paid.id, 1);
  assert_effects(s, unpaid.id, 1);
}

static int64_t request_ids_of_user(struct stack *s, int64_t user)
{
  json_t *ledger = NULL;
  char number[24];
  int64_t count = 0;
  assert_int_equal(http_json(s->simulator_port, "GET", "/sim/ledger?limit=5000", NULL, &ledger), 200);
  (void)snprintf(number, sizeof number, "%lld", (long long)user);
  for (size_t i = 0; i < json_array_size(ledger); i++) {
    const json_t *of = json_object_get(json_array_get(ledger, i), "userId");
    count += json_is_string(of) && strcmp(json_string_value(of), number) == 0;
  }
  json_decref(ledger);
  return count;
}

// B24: one reward message, delivered by the rung, by the broker again after a kill, and five times by hand. Every call
// at the wallet has the claim's request id, and the balance rises once.
static void one_reward_message_has_one_request_id_for_ever(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  struct broker *b = broker_open(s->broker_url);
  activity_make(s->sql, &(struct activity_terms){.code = "one-id", .stock = 10});
  delivery_script(s, 83, "[{\"status\":429,\"effect\":\"none\"},{\"delayMs\":400,\"effect\":\"none\"}]");
  struct delivery_claim claim = delivery_claim(s, "one-id", 83);
  WAIT_FOR(delivery_hits(s, claim.id) == 2, SETTLED_WITHIN);
  process_kill(s->fulfiller);
  stack_start_fulfiller(s);
  for (int i = 0; i < 5; i++) delivery_publish(b, "simulator", claim.id, i);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), SETTLED_WITHIN);
  for (int i = 0; i < 5; i++) delivery_publish(b, "simulator", claim.id, i);
  struct delivery_claim after = delivery_claim(s, "one-id", 84);  // shows that those have been read
  WAIT_FOR(delivery_is(s, after.id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(delivery_hits(s, claim.id), 3);
  assert_effects(s, claim.id, 1);
  assert_int_equal(request_ids_of_user(s, 83), 1);
  broker_close(b);
}

static void the_books_agree(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  DELIVERY_BOOKS_AGREE(s);
  assert_int_equal(simulator_stat(s->simulator_port, "scripts"), 0);
  assert_int_equal(process_stop(s->fulfiller, 10), 0);
  struct broker *b = broker_open(s->broker_url);
  assert_int_equal(broker_count(b, DELIVERY_LANE), 0);  // also nothing that came back with the connection
  broker_close(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_provider_that_is_down_costs_nothing),  // first: the provider's books begin anew
      cmocka_unit_test(one_effect_per_claim_whatever_happens),
      cmocka_unit_test(a_refused_claim_gives_everything_back),
      cmocka_unit_test(retry_after_is_honoured),
      cmocka_unit_test(a_message_delivered_five_times_pays_once),
      cmocka_unit_test(a_fulfiller_killed_in_a_call_asks_before_it_repeats),
      cmocka_unit_test(one_reward_message_has_one_request_id_for_ever),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("delivery", tests, delivery_set_up, delivery_tear_down);
}
