// SPDX-License-Identifier: Apache-2.0
// What people order about dead letters and delivered claims, against a provider that counts: bulks that run twice and
// are interrupted, refunds, resolves and roll-backs, by call and by command.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

static int set_up(void **state)
{
  struct server *server = server_start();
  *state = delivery_stack(
      server, &(struct stack_options){.env = (const char *const[]){"LARGESSE_RECONCILER__OPERATIONS__EVERY=50ms",
                                                                   "LARGESSE_RECONCILER__FIGURES_EVERY=100ms",
                                                                   "LARGESSE_SCHEDULER__SWEEP__RATE=2000", NULL}});
  return 0;
}

// --- claims and letters

// Claims of users 1 … count, accepted and at once under review with a letter each; step says what is known of them.
static void review_all(struct stack *s, const char *code, int count, const char *step)
{
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = count});
  sql_exec(
      s->sql,
      "select largesse.claim_submit(a.id, array(select 'b' || n from generate_series(1, %d) n), array(select "
      "n::bigint from generate_series(1, %d) n), array_fill(1, array[%d]), array_fill(null::text, array[%d]), '1 h')"
      "  from largesse.activity a where a.code = '%s';"
      "update largesse.claim c set review_since = now(), review_cause = '%s', next_attempt_at = null, attempts = 4, "
      "step = '%s' from largesse.activity a where a.id = c.activity_id and a.code = '%s';"
      "select largesse.dead_letter_open(array_agg(c.activity_id), array_agg(c.id), array_agg('simulator'::text), "
      "array_agg('%s'::text), array_agg(null::text), array_agg('no answer'::text))"
      "  from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '%s'",
      count, count, count, count, code, code, step, code, code, code);
}

static char *claim_of(struct stack *s, const char *code, int user)
{
  char *id = sql_text(s->sql,
                      "select c.activity_id || '-' || c.id from largesse.claim c join largesse.activity a on a.id = "
                      "c.activity_id where a.code = '%s' and c.user_id = %d",
                      code, user);
  assert_non_null(id);
  return id;
}

static int64_t count_claims(struct stack *s, const char *code, const char *status)
{
  return sql_int(
      s->sql,
      "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = "
      "'%s' and c.status = '%s'",
      code, status);
}

// --- calls

static int64_t number(const json_t *doc, const char *name) { return json_integer_value(json_object_get(doc, name)); }
static const char *text(const json_t *doc, const char *name)
{
  const char *value = json_string_value(json_object_get(doc, name));
  return value != NULL ? value : "";
}

static json_t *call(struct stack *s, const char *method, const char *path, const char *body, int status)
{
  json_t *json = NULL;
  int got = http_json(s->reconciler_port, method, path, body, &json);
  if (got != status) {
    char *shown = json != NULL ? json_dumps(json, 0) : NULL;
    fail_msg("%s %s %s: %d instead of %d: %s", method, path, body, got, status, shown != NULL ? shown : "");
  }
  return json;
}

static json_t *operation(struct stack *s, const char *id)
{
  char *path = support_format("/v1/operations/%s", id);
  json_t *doc = call(s, "GET", path, NULL, 200);
  mem_free(path);
  return doc;
}

static bool is_finished(struct stack *s, const char *id)
{
  json_t *doc = operation(s, id);
  bool is_done = strcmp(text(doc, "state"), "done") == 0;
  assert_true(number(doc, "done") <= number(doc, "total"));
  json_decref(doc);
  return is_done;
}

// Two people press the button at the same moment. Ids of the operations.
static void double_click(struct stack *s, const char *path, const char *body, char out_ids[2][24])
{
  const struct http_request request = {.port = s->reconciler_port, .path = path, .body = body};
  const struct http_request requests[] = {request, request};
  struct http_answer answers[2];
  http_call_all(requests, 2, answers);
  for (int i = 0; i < 2; i++) {
    json_t *doc = http_answer_json(&answers[i]);
    char *location = http_answer_header(&answers[i], "Location");
    if (answers[i].status != 202) fail_msg("%s: %d %s", body, answers[i].status, answers[i].body);
    (void)snprintf(out_ids[i], 24, "%s", text(doc, "operationId"));
    char *expected = support_format("/v1/operations/%s", out_ids[i]);
    assert_string_equal(location, expected);
    assert_string_equal(text(doc, "state"), "running");
    mem_free(expected);
    mem_free(location);
    json_decref(doc);
    http_answer_release(&answers[i]);
  }
}

static int command(struct stack *s, struct buf *out, const char *const *args)
{
  buf_clear(out);
  return stack_command(s, "reconciler", args, out);
}
#define COMMAND(s, out, ...) command((s), (out), (const char *const[]){__VA_ARGS__, NULL})

static void assert_told(const struct buf *out, const char *what)
{
  if (strstr(buf_text(out), what) == NULL) fail_msg("not told: %s\n%s", what, buf_text(out));
}

// --- bulks

// B115: ten letters, four of them fulfilled meanwhile, all retried by a double click: six effects, four shown as done,
// paced, and each on record.
static void retry_all_leaves_out_what_was_fulfilled(void **state)
{
  struct stack *s = *state;
  struct buf out, ids;
  char operations[2][24];
  int64_t retried = 0, skipped = 0, before = simulator_stat(s->simulator_port, "effects");
  buf_init(&out, 1024 * 1024);
  buf_init(&ids, 1000);
  review_all(s, "ten", 10, "deliver");
  for (int user = 1; user <= 10; user++) {
    char *id = claim_of(s, "ten", user);
    buf_printf(&ids, "%s\"%s\"", user > 1 ? "," : "", id);
    if (user <= 4)
      assert_int_equal(
          COMMAND(s, &out, "dead-letters", "resolve", id, "--proof", "voucher in the mail", "--reason", "by hand"), 0);
    mem_free(id);
  }
  char *body = support_format("{\"ids\":[%s],\"rate\":4,\"reason\":\"the wallet is mended\"}", buf_text(&ids));
  double_click(s, "/v1/dead-letters/retry", body, operations);
  for (int i = 0; i < 2; i++) {
    WAIT_FOR(is_finished(s, operations[i]), 20);
    json_t *doc = operation(s, operations[i]);
    retried += number(doc, "retried");
    skipped += number(doc, "alreadyDone");
    assert_int_equal(number(doc, "total"), 10);
    json_decref(doc);
    // A second's worth at once, the rest evenly.
    assert_true(sql_bool(s->sql,
                         "select finished_at - created_at >= interval '1.2 s' from largesse.operation where id = %s",
                         operations[i]));
  }
  assert_int_equal(retried, 6);
  assert_int_equal(skipped, 14);
  WAIT_FOR(count_claims(s, "ten", "succeeded") == 10, 15);
  assert_int_equal(simulator_stat(s->simulator_port, "effects") - before, 6);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.operation_item i join largesse.operation o on o.id = "
                           "i.operation_id where o.reason = 'the wallet is mended' and o.actor = 'anonymous' and "
                           "i.outcome is not null and i.at is not null"),
                   20);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where resolution = 'retried' and closed_by = "
                           "'anonymous' and close_reason = 'the wallet is mended'"),
                   6);
  mem_free(body);
  buf_release(&ids);
  buf_release(&out);
}

// 1,000 letters of which 400 succeed while two triggers of the same bulk are under way: 600 effects.
static void a_bulk_triggered_twice_has_each_effect_once(void **state)
{
  struct stack *s = *state;
  char operations[2][24];
  int64_t retried = 0, skipped = 0, before = simulator_stat(s->simulator_port, "effects");
  review_all(s, "bulk", 1000, "deliver");
  double_click(s, "/v1/dead-letters/retry", "{\"filter\":{\"cause\":\"bulk\"},\"rate\":200,\"reason\":\"mended\"}",
               operations);
  sql_exec(
      s->sql,
      "select largesse.claim_move(array_agg(c.activity_id), array_agg(c.id), 'succeeded', null, null, null) from "
      "largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'bulk' and c.user_id > 600");
  for (int i = 0; i < 2; i++) {
    WAIT_FOR(is_finished(s, operations[i]), 30);
    json_t *doc = operation(s, operations[i]);
    assert_int_equal(number(doc, "total"), 1000);
    retried += number(doc, "retried");
    skipped += number(doc, "alreadyDone");
    json_decref(doc);
  }
  assert_int_equal(retried, 600);
  assert_int_equal(skipped, 1400);
  WAIT_FOR(count_claims(s, "bulk", "succeeded") == 1000, 60);
  assert_int_equal(simulator_stat(s->simulator_port, "effects") - before, 600);
}

// Killed in the middle, started again: it goes on where it was. Nobody else drives it.
static void a_bulk_goes_on_after_a_restart(void **state)
{
  struct stack *s = *state;
  int64_t before = simulator_stat(s->simulator_port, "effects");
  review_all(s, "restart", 200, "deliver");
  json_t *doc = call(s, "POST", "/v1/dead-letters/retry",
                     "{\"filter\":{\"cause\":\"restart\"},\"rate\":40,\"key\":\"restart-1\"}", 202);
  char *id = mem_strdup(text(doc, "operationId"));
  json_decref(doc);
  WAIT_FOR(sql_int(s->sql, "select done from largesse.operation where id = %s", id) > 60, 10);
  process_kill(s->reconciler);
  int64_t done = sql_int(s->sql, "select done from largesse.operation where id = %s", id);
  assert_true(done > 60 && done < 200);
  stack_start_reconciler(s);
  // The same order with its key is the same operation.
  doc = call(s, "POST", "/v1/dead-letters/retry",
             "{\"filter\":{\"cause\":\"restart\"},\"rate\":40,\"key\":\"restart-1\"}", 202);
  assert_string_equal(text(doc, "operationId"), id);
  json_decref(doc);
  json_decref(
      call(s, "POST", "/v1/dead-letters/refund", "{\"filter\":{\"cause\":\"restart\"},\"key\":\"restart-1\"}", 422));
  WAIT_FOR(is_finished(s, id), 20);
  doc = operation(s, id);
  assert_int_equal(number(doc, "retried"), 200);
  json_decref(doc);
  WAIT_FOR(count_claims(s, "restart", "succeeded") == 200, 30);
  assert_int_equal(simulator_stat(s->simulator_port, "effects") - before, 200);
  mem_free(id);
}

// A command that is killed leaves its order to the reconciler, which can be told to stop.
static void an_order_outlives_its_command_and_can_be_cancelled(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  review_all(s, "cancel", 100, "deliver");
  char *bin = support_bin("reconciler");
  struct process *p = process_spawn(
      &(struct process_spec){.name = "order",
                             .argv = (const char *[]){bin, "-c", s->config, "dead-letters", "retry", "--cause",
                                                      "cancel", "--rate", "5", "--reason", "slowly", NULL},
                             .env = (const char *const *)s->env});
  WAIT_FOR(sql_int(s->sql, "select coalesce(max(done), 0) from largesse.operation where reason = 'slowly'") > 0, 10);
  process_kill(p);
  char *id = sql_text(s->sql, "select id from largesse.operation where reason = 'slowly'");
  int64_t done = sql_int(s->sql, "select done from largesse.operation where id = %s", id);
  WAIT_FOR(sql_int(s->sql, "select done from largesse.operation where id = %s", id) > done, 10);
  assert_int_equal(COMMAND(s, &out, "operations", "list", "--state", "running"), 0);
  assert_told(&out, "slowly");
  assert_int_equal(COMMAND(s, &out, "operations", "cancel", id), 64);
  assert_int_equal(COMMAND(s, &out, "operations", "cancel", id, "--reason", "enough"), 0);
  assert_told(&out, "cancelled");
  done = sql_int(s->sql, "select done from largesse.operation where id = %s", id);
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.dead_letter where cause = 'cancel' and closed_at is null"),
      100 - done);
  assert_int_equal(COMMAND(s, &out, "operations", "show", id, "--items"), 0);
  assert_told(&out, "cancelReason: enough");
  assert_int_equal(COMMAND(s, &out, "operations", "cancel", "999999", "--reason", "enough"), 65);
  process_free(p);
  mem_free(bin);
  mem_free(id);
  buf_release(&out);
}

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

// --- what people see

static void a_letter_shows_every_call_and_groups_count(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "seen", .stock = 10});
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":88},\"times\":4,\"steps\":[{\"status\":429,\"body\":{\"code\":\"BUSY\"},"
                   "\"effect\":\"none\"}]}");
  struct delivery_claim claim = delivery_claim(s, "seen", 88);
  WAIT_FOR(delivery_int(s, claim.id, "(review_since is not null)::int") == 1, 20);
  char *id =
      sql_text(s->sql, "select id from largesse.dead_letter where activity_id || '-' || claim_id = '%s'", claim.id);
  char *path = support_format("/v1/dead-letters/%s", id);
  json_t *doc = call(s, "GET", path, NULL, 200);
  const json_t *history = json_object_get(doc, "history");
  assert_int_equal(json_array_size(history), DELIVERY_ATTEMPTS);
  for (size_t i = 0; i < DELIVERY_ATTEMPTS; i++) {
    const json_t *attempt = json_array_get(history, i);
    assert_int_equal(number(attempt, "httpStatus"), 429);
    assert_non_null(strstr(text(attempt, "request"), claim.id));
    assert_non_null(strstr(text(attempt, "answer"), "BUSY"));
    assert_int_equal(strlen(text(attempt, "trace")), 32);
  }
  assert_true(json_is_array(json_object_get(doc, "callbacks")));
  json_decref(doc);
  doc = call(s, "GET", "/v1/dead-letters/groups?activityCode=seen", NULL, 200);
  const json_t *group = json_array_get(json_object_get(doc, "items"), 0);
  assert_int_equal(number(group, "count"), 1);
  assert_string_equal(text(json_object_get(group, "example"), "claimId"), claim.id);
  // A group can be named in an order.
  char *body = support_format("{\"filter\":{\"activityCode\":\"seen\",\"fingerprint\":\"%s\"},\"dryRun\":true}",
                              text(group, "fingerprint"));
  json_t *preview = call(s, "POST", "/v1/dead-letters/retry", body, 200);
  assert_int_equal(number(preview, "retried"), 1);
  json_decref(preview);
  json_decref(doc);
  mem_free(body);
  mem_free(path);
  mem_free(id);
}

static void figures_and_page_tell(void **state)
{
  struct stack *s = *state;
  struct http_answer answer;
  http_get(s->reconciler_port, "/metrics", &answer);
  assert_non_null(strstr(answer.body, "\nlargesse_operations_running 0\n"));
  assert_non_null(strstr(answer.body, "\nlargesse_operation_items_total{kind=\"retry\",outcome=\"retried\"}"));
  http_answer_release(&answer);
  http_get(s->reconciler_port, "/", &answer);
  assert_non_null(strstr(answer.body, "<h2>Operations</h2>"));
  assert_non_null(strstr(answer.body, "slowly"));
  http_answer_release(&answer);
  json_t *list = call(s, "GET", "/v1/operations?kind=roll_back&limit=2", NULL, 200);
  assert_int_equal(json_array_size(json_object_get(list, "items")), 2);
  char *path = support_format("/v1/operations?kind=roll_back&limit=1&after=%s", text(list, "next"));
  json_t *next = call(s, "GET", path, NULL, 200);
  assert_int_equal(json_array_size(json_object_get(next, "items")), 1);
  json_decref(next);
  json_decref(list);
  mem_free(path);
  json_decref(call(s, "GET", "/v1/operations/999999", NULL, 404));
  json_decref(call(s, "GET", "/v1/operations?state=lost", NULL, 400));
  json_decref(call(s, "GET", "/v1/operations?kind=lost", NULL, 400));
}

static void the_books_agree(void **state)
{
  struct stack *s = *state;
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.activity a, largesse.audit_definition d, lateral "
                           "largesse.audit_run(d.name, a.id) r where d.name in ('stock_not_matching_claims', "
                           "'usage_not_matching_claims', 'claim_under_review_without_dead_letter')"),
                   0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(retry_all_leaves_out_what_was_fulfilled),
      cmocka_unit_test(a_bulk_triggered_twice_has_each_effect_once),
      cmocka_unit_test(a_bulk_goes_on_after_a_restart),
      cmocka_unit_test(an_order_outlives_its_command_and_can_be_cancelled),
      cmocka_unit_test(a_refund_reverses_what_may_have_been_delivered_and_gives_back_once),
      cmocka_unit_test(a_person_resolves_with_a_proof_or_without_delivery),
      cmocka_unit_test(a_delivered_claim_is_taken_back_once),
      cmocka_unit_test(what_cannot_be_taken_back_is_told),
      cmocka_unit_test(a_reversal_that_is_stuck_is_seen_and_ended_by_hand),
      cmocka_unit_test(a_letter_shows_every_call_and_groups_count),
      cmocka_unit_test(figures_and_page_tell),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("operations", tests, set_up, stack_tear_down);
}
