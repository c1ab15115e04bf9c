// SPDX-License-Identifier: Apache-2.0
// Giving up, knowing better and taking back: refunds, resolves and roll-backs against a provider that counts, by call
// and by command.
#include "tests/system/operation_calls.h"

// --- refunds

static void a_refund_reverses_what_may_have_been_delivered_and_gives_back_once(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  review_all(s, "refund", 3, "inquire");
  char *paid = claim_of(s, "refund", 1), *unpaid = claim_of(s, "refund", 2), *never = claim_of(s, "refund", 3);
  assert_int_equal(simulator_credit(s->simulator_port, paid, "1", 0), 200);  // it had taken effect, its answer was lost
  sql_exec(s->sql, "update largesse.claim set step = 'deliver' where activity_id || '-' || id = '%s'", never);
  assert_int_equal(activity_remaining(s->sql, "refund"), 0);
  assert_int_equal(COMMAND(s, &out, "dead-letters", "refund", "--cause", "refund", "--dry-run"), 0);
  assert_told(&out, "would refund 1; first reversed at the provider: 2");
  assert_int_equal(COMMAND(s, &out, "dead-letters", "refund", "--cause", "refund"), 64);  // no reason
  assert_int_equal(activity_remaining(s->sql, "refund"), 0);
  assert_int_equal(COMMAND(s, &out, "dead-letters", "refund", "--cause", "refund", "--reason", "the shop has closed"),
                   0);
  assert_told(&out, "refunded 1; first reversed at the provider: 2");
  assert_true(delivery_is(s, never, "failed"));
  WAIT_FOR(delivery_is(s, paid, "rolled_back") && delivery_is(s, unpaid, "rolled_back"), 20);
  assert_int_equal(simulator_ledger(s->simulator_port, paid, "reversals"), 1);
  assert_int_equal(simulator_ledger(s->simulator_port, unpaid, "effects"), 0);
  assert_int_equal(simulator_ledger(s->simulator_port, never, "hits"), 0);
  assert_int_equal(delivery_int(s, paid, "(reversal = 'done' and reversed_at is not null)::int"), 1);
  assert_int_equal(delivery_int(s, unpaid, "(reversal = 'not_found' and reversed_at is null)::int"), 1);
  assert_int_equal(activity_remaining(s->sql, "refund"), 3);
  assert_int_equal(COMMAND(s, &out, "dead-letters", "refund", paid, unpaid, never, "--reason", "once more"), 0);
  assert_told(&out, "already done and skipped: 3");
  assert_int_equal(activity_remaining(s->sql, "refund"), 3);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where cause = 'refund' and resolution = "
                           "'refunded' and close_reason = 'the shop has closed'"),
                   3);
  mem_free(paid);
  mem_free(unpaid);
  mem_free(never);
  buf_release(&out);
}

// --- resolves

static void a_person_resolves_with_a_proof_or_without_delivery(void **state)
{
  struct stack *s = *state;
  review_all(s, "resolve", 3, "inquire");
  char *delivered = claim_of(s, "resolve", 1), *lost = claim_of(s, "resolve", 2), *open = claim_of(s, "resolve", 3);
  sql_exec(s->sql, "select largesse.dead_letter_unreadable('simulator', 'unreadable', 'no JSON', 'xx')");
  char *unreadable = sql_text(s->sql, "select max(id) from largesse.dead_letter");
  static const char *const bad[] = {
      "{\"ids\":[1],\"as\":\"delivered\"}", "{\"ids\":[1],\"as\":\"perhaps\"}", "{\"ids\":[1],\"proof\":\"\"}",
      "{\"ids\":[1],\"proof\":5}",          "{\"ids\":[1],\"rate\":0}",         "{\"filter\":{\"fingerprint\":1}}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    json_decref(call(s, "POST", "/v1/dead-letters/resolve", bad[i], 400));
  json_decref(call(s, "POST", "/v1/dead-letters/retry", "{\"ids\":[1],\"proof\":\"x\"}", 400));
  char *body = support_format(
      "{\"ids\":[\"%s\"],\"as\":\"delivered\",\"proof\":\"receipt 4711\",\"reason\":\"seen in the shop\"}", delivered);
  json_t *doc = call(s, "POST", "/v1/dead-letters/resolve", body, 200);
  assert_int_equal(number(doc, "resolved"), 1);
  assert_true(delivery_is(s, delivered, "succeeded"));
  assert_int_equal(delivery_int(s, delivered, "(provider_ref = 'receipt 4711')::int"), 1);
  json_decref(doc);
  mem_free(body);
  body = support_format("{\"ids\":[\"%s\"],\"as\":\"not-delivered\"}", lost);
  json_decref(call(s, "POST", "/v1/dead-letters/resolve", body, 200));
  assert_true(delivery_is(s, lost, "failed"));
  assert_int_equal(activity_remaining(s->sql, "resolve"), 1);
  mem_free(body);
  // Without a proof a claim waits on, while a letter that no claim belongs to is closed.
  body = support_format("{\"ids\":[\"%s\",%s],\"reason\":\"looked at it\"}", open, unreadable);
  doc = call(s, "POST", "/v1/dead-letters/resolve", body, 200);
  assert_int_equal(number(doc, "proofNeeded"), 1);
  assert_int_equal(number(doc, "resolved"), 1);
  assert_int_equal(delivery_int(s, open, "(review_since is not null)::int"), 1);
  assert_true(sql_bool(
      s->sql,
      "select resolution = 'resolved' and close_reason = 'looked at it' from largesse.dead_letter where id = %s",
      unreadable));
  json_decref(doc);
  mem_free(body);
  assert_int_equal(simulator_ledger(s->simulator_port, delivered, "hits"), 0);
  mem_free(delivered);
  mem_free(lost);
  mem_free(open);
  mem_free(unreadable);
}

// --- roll-backs

static json_t *roll_back(struct stack *s, const char *claim, int status)
{
  char *path = support_format("/v1/claims/%s/roll-back", claim);
  json_t *doc = call(s, "POST", path, "{\"reason\":\"wrong person\"}", status);
  mem_free(path);
  return doc;
}

static void a_delivered_claim_is_taken_back_once(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  activity_make(s->sql, &(struct activity_terms){.code = "back", .stock = 10});
  struct delivery_claim a = delivery_claim(s, "back", 1), b = delivery_claim(s, "back", 2);
  WAIT_FOR(delivery_is(s, a.id, "succeeded") && delivery_is(s, b.id, "succeeded"), 10);
  assert_int_equal(activity_remaining(s->sql, "back"), 8);
  json_t *doc = roll_back(s, a.id, 202);
  assert_string_equal(text(doc, "outcome"), "reversing");
  assert_non_null(json_object_get(json_object_get(doc, "claim"), "reversal"));
  json_decref(doc);
  WAIT_FOR(delivery_is(s, a.id, "rolled_back"), 15);
  assert_int_equal(simulator_ledger(s->simulator_port, a.id, "reversals"), 1);
  assert_int_equal(activity_remaining(s->sql, "back"), 9);
  doc = roll_back(s, a.id, 200);
  assert_string_equal(text(doc, "outcome"), "already_done");
  assert_string_equal(text(json_object_get(json_object_get(doc, "claim"), "reversal"), "status"), "done");
  json_decref(doc);
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", b.id), 64);
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", b.id, "--dry-run"), 0);
  assert_told(&out, "first reversed at the provider: 1");
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", b.id, "--reason", "wrong person"), 0);
  WAIT_FOR(delivery_is(s, b.id, "rolled_back"), 15);
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", b.id, "--reason", "wrong person"), 0);
  assert_told(&out, "already done and skipped: 1");
  assert_int_equal(simulator_ledger(s->simulator_port, b.id, "reversals"), 1);
  assert_int_equal(activity_remaining(s->sql, "back"), 10);
  buf_release(&out);
}

static void what_cannot_be_taken_back_is_told(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  activity_make(s->sql, &(struct activity_terms){.code = "final", .stock = 10, .provider = "nobody"});
  struct delivery_claim claim = delivery_claim(s, "final", 1), open = delivery_claim(s, "final", 2);
  sql_exec(s->sql,
           "select largesse.claim_move(array[activity_id], array[id], 'succeeded', null, null, null) from "
           "largesse.claim where activity_id || '-' || id = '%s'",
           claim.id);
  json_t *doc = roll_back(s, claim.id, 409);
  assert_string_equal(text(doc, "code"), "STATE_CONFLICT");
  assert_non_null(strstr(text(doc, "detail"), "cannot reverse"));
  json_decref(doc);
  doc = roll_back(s, open.id, 409);
  assert_non_null(strstr(text(doc, "detail"), "succeeded"));
  json_decref(doc);
  doc = roll_back(s, "1-1", 404);
  assert_string_equal(text(doc, "code"), "CLAIM_NOT_FOUND");
  json_decref(doc);
  json_decref(roll_back(s, "x", 404));
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", claim.id, "--reason", "r"), 65);
  assert_told(&out, "cannot be reversed at their provider, left as they are: 1");
  assert_int_equal(COMMAND(s, &out, "claims", "roll-back", "17", "--reason", "r"), 64);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  buf_release(&out);
}

// The provider does not take it back: the claim says how far it is, then a person must decide.
static void a_reversal_that_is_stuck_is_seen_and_ended_by_hand(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  activity_make(s->sql, &(struct activity_terms){.code = "stuck", .stock = 10});
  struct delivery_claim claim = delivery_claim(s, "stuck", 77);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 10);
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"userId\":77,\"call\":\"reverse\"},\"times\":20,\"steps\":[{\"status\":500,\"effect\":\"none\"}]}");
  json_decref(roll_back(s, claim.id, 202));
  WAIT_FOR(delivery_int(s, claim.id, "(reversal = 'unknown')::int") == 1, 10);
  char *path = support_format("/v1/claims/%s", claim.id);
  json_t *doc = NULL;
  assert_int_equal(http_json(s->scheduler_ports[0], "GET", path, NULL, &doc), 200);
  assert_string_equal(text(doc, "status"), "succeeded");
  assert_true(strlen(text(json_object_get(doc, "reversal"), "status")) > 0);
  json_decref(doc);
  mem_free(path);
  json_decref(roll_back(s, claim.id, 200));  // it is under way: nothing new
  WAIT_FOR(delivery_int(s, claim.id, "(review_since is not null)::int") == 1, 20);
  assert_int_equal(activity_remaining(s->sql, "stuck"), 9);
  assert_int_equal(COMMAND(s, &out, "dead-letters", "show", claim.id), 0);
  assert_told(&out, "step reverse");
  assert_told(&out, "kind roll_back");
  assert_int_equal(COMMAND(s, &out, "dead-letters", "resolve", claim.id, "--as", "not-delivered", "--reason",
                           "taken back in the shop"),
                   0);
  assert_true(delivery_is(s, claim.id, "rolled_back"));
  assert_int_equal(activity_remaining(s->sql, "stuck"), 10);
  assert_int_equal(simulator_ledger(s->simulator_port, claim.id, "reversals"), 0);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refund_reverses_what_may_have_been_delivered_and_gives_back_once),
      cmocka_unit_test(a_person_resolves_with_a_proof_or_without_delivery),
      cmocka_unit_test(a_delivered_claim_is_taken_back_once),
      cmocka_unit_test(what_cannot_be_taken_back_is_told),
      cmocka_unit_test(a_reversal_that_is_stuck_is_seen_and_ended_by_hand),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("refunds", tests, set_up, stack_tear_down);
}
