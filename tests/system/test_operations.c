// SPDX-License-Identifier: Apache-2.0
// Bulks of dead letters, against a provider that counts: triggered twice, interrupted, cancelled, and how people see
// them.
#include "tests/system/operation_calls.h"

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

// 1,000 letters of which 400 succeed while two triggers of the same bulk are under way, and two reconcilers share the
// work: 600 effects.
static void a_bulk_triggered_twice_has_each_effect_once(void **state)
{
  struct stack *s = *state;
  char operations[2][24];
  int64_t retried = 0, skipped = 0, before = simulator_stat(s->simulator_port, "effects");
  struct process *another = stack_start_another(s, "reconciler");
  review_all(s, "bulk", 1000, "deliver");
  // Slowly at first, lest the 400 are retried before they have succeeded.
  double_click(s, "/v1/dead-letters/retry", "{\"filter\":{\"cause\":\"bulk\"},\"rate\":10,\"reason\":\"mended\"}",
               operations);
  sql_exec(
      s->sql,
      "select largesse.claim_move(array_agg(c.activity_id), array_agg(c.id), 'succeeded', null, null, null) from "
      "largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'bulk' and c.user_id > 600");
  sql_exec(s->sql, "update largesse.operation set rate = 200 where state = 'running'");
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
  process_free(another);
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

// What was cancelled stays cancelled, with what it did and left.
static void a_cancelled_order_is_told(void **state)
{
  struct stack *s = *state;
  char *id = sql_text(s->sql, "select id from largesse.operation where reason = 'slowly'");
  char *cancel = support_format("/v1/operations/%s/cancel", id);
  char *items = support_format("/v1/operations/%s/items?limit=100", id);
  json_t *doc = call(s, "POST", cancel, "{\"reason\":\"once more\"}", 200);
  assert_string_equal(text(doc, "state"), "cancelled");
  assert_string_equal(text(doc, "cancelReason"), "enough");
  json_t *list = call(s, "GET", items, NULL, 200);
  const json_t *all = json_object_get(list, "items");
  assert_int_equal(json_array_size(all), 100);
  assert_string_equal(text(json_array_get(all, 0), "outcome"), "retried");
  assert_null(json_object_get(json_array_get(all, 99), "outcome"));
  json_decref(list);
  json_decref(doc);
  json_decref(call(s, "POST", "/v1/operations/999999/cancel", "{}", 404));
  mem_free(items);
  mem_free(cancel);
  mem_free(id);
}

static void the_console_is_served(void **state)
{
  struct stack *s = *state;
  struct http_answer answer;
  http_get(s->reconciler_port, "/", &answer);
  assert_int_equal(answer.status, 200);
  const char *path = strstr(answer.body, "assets/"), *end = path != NULL ? strchr(path, '"') : NULL;
  assert_non_null(end);
  char *file = support_format("/%.*s", (int)(end - path), path);
  http_answer_release(&answer);
  http_get(s->reconciler_port, file, &answer);
  assert_int_equal(answer.status, 200);
  http_answer_release(&answer);
  json_decref(call(s, "GET", "/assets/0/app.js", NULL, 404));
  mem_free(file);
}

static void figures_and_lists_tell(void **state)
{
  struct stack *s = *state;
  struct http_answer answer;
  http_get(s->reconciler_port, "/metrics", &answer);
  assert_non_null(strstr(answer.body, "\nlargesse_operations_running 0\n"));
  assert_non_null(strstr(answer.body, "\nlargesse_operation_items_total{kind=\"retry\",outcome=\"retried\"}"));
  http_answer_release(&answer);
  json_t *list = call(s, "GET", "/v1/operations?kind=retry&limit=2", NULL, 200);
  assert_int_equal(json_array_size(json_object_get(list, "items")), 2);
  char *path = support_format("/v1/operations?kind=retry&limit=1&after=%s", text(list, "next"));
  json_t *next = call(s, "GET", path, NULL, 200);
  assert_int_equal(json_array_size(json_object_get(next, "items")), 1);
  json_decref(next);
  json_decref(list);
  mem_free(path);
  json_decref(call(s, "GET", "/v1/dead-letters?state=all&sort=-attempts&limit=1", NULL, 200));
  json_decref(call(s, "GET", "/v1/dead-letters?sort=attempts&after=7", NULL, 400));
  json_decref(call(s, "GET", "/v1/dead-letters?sort=-openedAt&after=2.7", NULL, 400));
  json_decref(call(s, "GET", "/v1/dead-letters?sort=cause", NULL, 400));
  json_decref(call(s, "GET", "/v1/now", NULL, 200));
  json_decref(call(s, "GET", "/v1/operations/999999", NULL, 404));
  json_decref(call(s, "GET", "/v1/operations?state=lost", NULL, 400));
  json_decref(call(s, "GET", "/v1/operations?kind=lost", NULL, 400));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(retry_all_leaves_out_what_was_fulfilled),
      cmocka_unit_test(a_bulk_triggered_twice_has_each_effect_once),
      cmocka_unit_test(a_bulk_goes_on_after_a_restart),
      cmocka_unit_test(an_order_outlives_its_command_and_can_be_cancelled),
      cmocka_unit_test(a_letter_shows_every_call_and_groups_count),
      cmocka_unit_test(a_cancelled_order_is_told),
      cmocka_unit_test(figures_and_lists_tell),
      cmocka_unit_test(the_console_is_served),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("operations", tests, set_up, stack_tear_down);
}
