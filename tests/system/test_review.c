// SPDX-License-Identifier: Apache-2.0
// What people do about dead letters, by command and over HTTP: what was planted in them stays text (B105), a retry is
// previewed, done once, and tells what had already ended (B115).
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLAIMS 12

struct rig {
  struct server *server;
  struct stack *stack;
};

static int set_up(void **state)
{
  static struct rig rig;
  rig.server = server_start();
  rig.stack = stack_start(rig.server, &(struct stack_options){.schedulers = STACK_NONE,
                                                              .no_fulfiller = true,
                                                              .no_simulator = true,
                                                              .env = (const char *const[]){
                                                                  "LARGESSE_RECONCILER__DEAD_LETTERS__BATCH_ROWS=3",
                                                                  "LARGESSE_RECONCILER__FIGURES_EVERY=100ms", NULL}});
  sql_exec(rig.stack->sql,
           "do $$ begin perform largesse.reward_put('voucher', 'simulator', 100, 'CNY', '{}');"
           " perform largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'n', 'kind', 'reward', 'timeZone', "
           "'UTC', 'rewardCode', 'voucher',"
           "   'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{\"total\": "
           "50}'::jsonb), 'test', null);"
           " perform largesse.activity_action('a', 'publish', 'test', null, null);"
           " perform largesse.claim_submit(id, array(select 'b' || n from generate_series(1, %d) n), array(select "
           "n::bigint from generate_series(1, %d) n),"
           "   array_fill(1, array[%d]), array_fill(null::text, array[%d]), '5 s') from largesse.activity; end $$",
           CLAIMS, CLAIMS, CLAIMS, CLAIMS);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

// Every claim is issuing and under review with an open letter; earlier letters are gone. Letter n belongs to user n.
static void begin_anew(struct stack *s)
{
  sql_exec(s->sql,
           "delete from largesse.dead_letter; delete from largesse.attempt; delete from largesse.finding; alter table "
           "largesse.dead_letter alter column id restart with 1000;"
           "update largesse.claim set status = 'issuing', review_since = now(), review_cause = 'attempts_used_up', "
           "next_attempt_at = null, attempts = 2, attempts_before = 0;"
           "insert into largesse.dead_letter (id, activity_id, claim_id, provider, cause, detail, opened_at) "
           "overriding system value"
           "  select user_id, activity_id, id, 'simulator', 'attempts_used_up', 'no answer', now() from largesse.claim;"
           "insert into largesse.attempt select activity_id, id, n, 'deliver', 'simulator', now(), 1500, 'retry', 500, "
           "'oops' from largesse.claim, generate_series(1, 2) n");
}

static int64_t total_of(const json_t *result, const char *name)
{
  return json_integer_value(json_object_get(result, name));
}

static json_t *get(struct stack *s, const char *path)
{
  json_t *json = NULL;
  int status = http_json(s->reconciler_port, "GET", path, NULL, &json);
  if (status != 200) fail_msg("GET %s: %d", path, status);
  return json;
}

static json_t *retry(struct stack *s, const char *body, int status)
{
  json_t *json = NULL;
  int got = http_json(s->reconciler_port, "POST", "/v1/dead-letters/retry", body, &json);
  if (got != status) fail_msg("%s: %d instead of %d", body, got, status);
  return json;
}

static void lists_are_filtered_and_paged(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  begin_anew(s);
  int seen = 0;
  char *path = mem_strdup("/v1/dead-letters?limit=5");
  while (path != NULL) {
    json_t *page = get(s, path);
    seen += (int)json_array_size(json_object_get(page, "items"));
    mem_free(path);
    const char *next = json_string_value(json_object_get(page, "next"));
    path = next != NULL ? support_format("/v1/dead-letters?limit=5&after=%s", next) : NULL;
    json_decref(page);
  }
  assert_int_equal(seen, CLAIMS);
  static const struct {
    const char *query;
    size_t count;
  } cases[] = {
      {"provider=simulator", CLAIMS}, {"provider=other", 0}, {"cause=attempts_used_up&activityCode=a", CLAIMS},
      {"activityCode=b", 0},          {"state=closed", 0},   {"state=all", CLAIMS},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char *one = support_format("/v1/dead-letters?%s", cases[i].query);
    json_t *page = get(s, one);
    assert_int_equal(json_array_size(json_object_get(page, "items")), cases[i].count);
    json_decref(page);
    mem_free(one);
  }
  json_t *letter = get(s, "/v1/dead-letters/7");
  assert_string_equal(json_string_value(json_object_get(letter, "bizId")), "b7");
  assert_int_equal(json_array_size(json_object_get(letter, "history")), 2);
  json_decref(letter);
}

static void bad_requests_are_refused_and_change_nothing(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  static const char *const bodies[] = {
      "{}",
      "{\"ids\":[]}",
      "{\"ids\":[\"x\"]}",
      "{\"ids\":[0]}",
      "{\"ids\":[1.5]}",
      "{\"ids\":[-1]}",
      "{\"ids\":[9223372036854775808]}",
      "{\"ids\":1}",
      "{\"ids\":[1],\"filter\":{}}",
      "{\"filter\":{\"status\":\"x\"}}",
      "{\"filter\":[]}",
      "{\"ids\":[1],\"dryRun\":\"yes\"}",
      "{\"ids\":[1],\"reason\":5}",
      "{\"ids\":[1],\"ids\":[2]}",
      "[1]",
      "nothing",
      "{\"ids\":[1],\"force\":true}",
  };
  static const struct {
    const char *path;
    int status;
  } paths[] = {
      {"/v1/dead-letters?limit=0", 400},    {"/v1/dead-letters?limit=1001", 400}, {"/v1/dead-letters?after=x", 400},
      {"/v1/dead-letters?state=lost", 400}, {"/v1/dead-letters?cause=%FF", 400},  {"/v1/findings?state=lost", 400},
      {"/v1/dead-letters/x", 404},          {"/v1/dead-letters/99999", 404},      {"/v1/findings/nothing", 404},
  };
  begin_anew(s);
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) json_decref(retry(s, bodies[i], 400));
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    int status = http_json(s->reconciler_port, "GET", paths[i].path, NULL, NULL);
    if (status != paths[i].status) fail_msg("%s: %d", paths[i].path, status);
  }
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/dead-letters/retry", NULL, NULL), 404);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter where closed_at is null"), CLAIMS);
}

static void a_preview_changes_nothing(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  begin_anew(s);
  json_t *result = retry(s, "{\"filter\":{\"provider\":\"simulator\"},\"dryRun\":true}", 200);
  assert_true(json_is_true(json_object_get(result, "dryRun")));
  assert_int_equal(total_of(result, "retried"), CLAIMS);
  assert_int_equal(json_array_size(json_object_get(result, "items")), CLAIMS);
  json_decref(result);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where review_since is not null"), CLAIMS);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter where closed_at is null"), CLAIMS);
}

// Four of the letters have meanwhile been fulfilled; two people press the button at the same moment.
static void a_double_click_retries_once_and_tells_what_had_ended(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  begin_anew(s);
  sql_exec(s->sql,
           "select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from "
           "largesse.claim where user_id <= 4");
  static const char body[] = "{\"ids\":[1,2,\"3\",4,5,6,7,8,9,10],\"reason\":\"wallet is mended\"}";
  const struct http_request request = {.port = s->reconciler_port, .path = "/v1/dead-letters/retry", .body = body};
  const struct http_request requests[] = {request, request};
  struct http_answer answers[2];
  int64_t retried = 0, done = 0;
  http_call_all(requests, 2, answers);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(answers[i].status, 200);
    json_t *result = http_answer_json(&answers[i]);
    retried += total_of(result, "retried");
    done += total_of(result, "alreadyDone");
    json_decref(result);
    http_answer_release(&answers[i]);
  }
  assert_int_equal(retried, 6);
  assert_int_equal(done, 14);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where resolution = 'retried' and closed_by = "
                           "'anonymous' and close_reason = 'wallet is mended'"),
                   6);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim where user_id between 5 and 10 and review_since is "
                           "null and next_attempt_at <= now() and attempts_before = 2"),
                   6);
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.claim where user_id > 10 and review_since is not null"), 2);
}

static void claims_stand_for_their_letters(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  begin_anew(s);
  char *id = sql_text(s->sql, "select activity_id || '-' || id from largesse.claim where user_id = 3");
  char *body = support_format("{\"ids\":[\"%s\",\"1-1\"],\"reason\":\"r\"}", id);
  json_t *result = retry(s, body, 200);
  assert_int_equal(total_of(result, "retried"), 1);
  assert_int_equal(total_of(result, "notFound"), 1);
  json_decref(result);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter where id = 3 and resolution = 'retried'"),
                   1);
  mem_free(id);
  mem_free(body);
}

static void commands_do_the_same(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  struct buf out;
  buf_init(&out, 100000);
  begin_anew(s);
  sql_exec(s->sql, "select largesse.dead_letter_unreadable('simulator', 'unreadable', 'no JSON', 'xx')");
  sql_exec(s->sql,
           "select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from "
           "largesse.claim where user_id = 1");
  assert_int_equal(
      stack_command(s, "reconciler", (const char *const[]){"dead-letters", "list", "--format", "json", NULL}, &out), 0);
  json_t *list = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);  // progress may follow
  assert_non_null(list);
  assert_int_equal(json_array_size(json_object_get(list, "items")), CLAIMS);
  json_decref(list);
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"dead-letters", "show", "2", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "attempt 2  step deliver"));
  buf_clear(&out);
  assert_int_equal(
      stack_command(s, "reconciler", (const char *const[]){"dead-letters", "retry", "1", "2", "--dry-run", NULL}, &out),
      0);
  assert_non_null(strstr(buf_text(&out), "would retry 1; already done and skipped: 1"));
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler",
                                 (const char *const[]){"dead-letters", "retry", "1", "2", "--reason", "r", NULL}, &out),
                   0);
  assert_non_null(strstr(buf_text(&out), "retried 1; already done and skipped: 1"));
  assert_non_null(strstr(buf_text(&out), "already_done\n"));
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler",
                                 (const char *const[]){"dead-letters", "retry", "--provider", "simulator", "--activity",
                                                       "a", "--reason", "r", "--format", "json", NULL},
                                 &out),
                   0);
  json_t *result = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);  // progress may follow
  assert_int_equal(total_of(result, "retried"), CLAIMS - 2);
  json_decref(result);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter where closed_at is null"), 1);
  sql_exec(s->sql, "delete from largesse.dead_letter where claim_id is null");
  buf_release(&out);
}

// --- the page

static void planted_text_stays_text(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  static const char *const paths[] = {"/", "/v1/dead-letters", "/v1/dead-letters/1"};
  begin_anew(s);
  sql_exec(s->sql,
           "update largesse.dead_letter set cause = '<script>alert(1)</script>', detail = '\"><img src=x "
           "onerror=alert(1)>' where id = 1");
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    struct http_answer answer;
    http_get(s->reconciler_port, paths[i], &answer);
    assert_int_equal(answer.status, 200);
    char *type = http_answer_header(&answer, "Content-Type"),
         *policy = http_answer_header(&answer, "Content-Security-Policy");
    if (i == 0) {
      assert_string_equal(type, "text/html; charset=utf-8");
      assert_non_null(policy);
      assert_non_null(strstr(policy, "script-src 'self';"));
      assert_null(strstr(answer.body, "alert(1)"));  // no data in it: its scripts ask for them
    } else {
      assert_string_equal(type, "application/json");
    }
    mem_free(type);
    mem_free(policy);
    http_answer_release(&answer);
  }
}

static bool metrics_say(struct stack *s, const char *line)
{
  struct http_answer answer;
  http_get(s->reconciler_port, "/metrics", &answer);
  bool found = strstr(answer.body, line) != NULL;
  http_answer_release(&answer);
  return found;
}

static void figures_follow_the_rows(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  begin_anew(s);
  WAIT_FOR(metrics_say(s, "\nlargesse_dead_letters{provider=\"simulator\"} 12\n"), 5);
  assert_true(metrics_say(s, "\nlargesse_audit_findings{kind=\"stock_not_matching_claims\"} 0\n"));
  sql_exec(s->sql, "update largesse.stock set taken = taken + 1");
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"audit", NULL}, NULL), 1);
  WAIT_FOR(metrics_say(s, "\nlargesse_audit_findings{kind=\"stock_not_matching_claims\"} 1\n"), 5);
  WAIT_FOR(!metrics_say(s, "\nlargesse_audit_last_success_timestamp_seconds 0\n"),
           5);  // a figure of its own, read on its own
  json_t *findings = get(s, "/v1/findings?kind=stock_not_matching_claims");
  const json_t *first = json_array_get(json_object_get(findings, "items"), 0);
  const char *key = json_string_value(json_object_get(first, "key"));
  assert_non_null(key);
  char *path = support_format("/v1/findings/%s", key);
  json_t *finding = get(s, path);
  assert_string_equal(json_string_value(json_object_get(finding, "state")), "opened");
  json_decref(finding);
  json_decref(findings);
  mem_free(path);
  json_t *runs = get(s, "/v1/audits?limit=1");
  assert_true(json_is_false(json_object_get(json_array_get(json_object_get(runs, "items"), 0), "clean")));
  json_decref(runs);
  json_t *declared = get(s, "/v1/audits/definitions?source=audit&limit=2&after=stock_no");
  const json_t *stock = json_array_get(json_object_get(declared, "items"), 0);
  assert_string_equal(json_string_value(json_object_get(stock, "name")), "stock_not_matching_claims");
  assert_string_equal(json_string_value(json_object_get(stock, "period")), "activity");
  json_decref(declared);
  sql_exec(s->sql, "update largesse.stock set taken = taken - 1; delete from largesse.dead_letter");
  WAIT_FOR(metrics_say(s, "\nlargesse_dead_letters{provider=\"simulator\"} 0\n"), 5);
}

static void the_equations_are_listed(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  struct buf out;
  buf_init(&out, 100000);
  assert_int_equal(
      stack_command(s, "reconciler",
                    (const char *const[]){"audits", "list", "--source", "audit", "--format", "json", NULL}, &out),
      0);
  json_t *list = json_loadb(buf_text(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
  const json_t *items = json_object_get(list, "items"), *item;
  size_t index;
  assert_true(json_array_size(items) >= 25);
  json_array_foreach(items, index, item)
  {
    static const char *const members[] = {"name", "severity", "period", "explanation", "cause", "nextStep"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
      assert_int_not_equal(strlen(json_string_value(json_object_get(item, members[i]))), 0);
    assert_string_equal(json_string_value(json_object_get(item, "source")), "audit");
  }
  json_decref(list);
  buf_clear(&out);
  assert_int_equal(
      stack_command(s, "reconciler", (const char *const[]){"audits", "list", "--after", "stock_no", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "Every unit of stock is either free or held by a claim."));
  buf_release(&out);
}

static void it_stops_and_starts_and_ends_cleanly(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  assert_int_equal(process_stop(s->reconciler, 10), 0);
  stack_start_reconciler(s);
  json_decref(get(s, "/v1/dead-letters"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_filtered_and_paged),
      cmocka_unit_test(bad_requests_are_refused_and_change_nothing),
      cmocka_unit_test(a_preview_changes_nothing),
      cmocka_unit_test(a_double_click_retries_once_and_tells_what_had_ended),
      cmocka_unit_test(claims_stand_for_their_letters),
      cmocka_unit_test(commands_do_the_same),
      cmocka_unit_test(planted_text_stays_text),
      cmocka_unit_test(figures_follow_the_rows),
      cmocka_unit_test(the_equations_are_listed),
      cmocka_unit_test(it_stops_and_starts_and_ends_cleanly),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
