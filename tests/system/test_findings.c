// SPDX-License-Identifier: Apache-2.0
// Findings as things that people act on over HTTP: repaired and explained, previewed, once per key, gone on with after
// a kill; found by any key. What each repair does to rows: tests/sql/repairs.sql.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

static int set_up(void **state)
{
  struct server *server = server_start();
  struct stack *s = stack_start(
      server,
      &(struct stack_options){.schedulers = STACK_NONE,
                              .no_fulfiller = true,
                              .no_simulator = true,
                              .env = (const char *const[]){"LARGESSE_RECONCILER__OPERATIONS__EVERY=50ms", NULL}});
  activity_make(s->sql, &(struct activity_terms){.code = "a", .stock = 50});
  *state = s;
  return 0;
}

// --- calls

static json_t *get(struct stack *s, const char *path)
{
  json_t *json = NULL;
  int status = http_json(s->reconciler_port, "GET", path, NULL, &json);
  if (status != 200) fail_msg("GET %s: %d", path, status);
  return json;
}

static json_t *send(struct stack *s, const char *path, const char *body, int status)
{
  json_t *json = NULL;
  int got = http_json(s->reconciler_port, "POST", path, body, &json);
  if (got != status) fail_msg("%s %s: %d instead of %d", path, body, got, status);
  return json;
}

static const char *text_of(const json_t *doc, const char *name)
{
  const char *text = json_string_value(json_object_get(doc, name));
  return text != NULL ? text : "";
}

static int64_t total_of(const json_t *result, const char *name)
{
  return json_integer_value(json_object_get(result, name));
}

// --- cases

static void findings_are_repaired(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql, "delete from largesse.finding");
  sql_exec(s->sql, "update largesse.stock set taken = taken + 1");
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"audit", NULL}, NULL), 1);
  json_t *list = get(s, "/v1/findings?severity=critical&source=audit&sort=severity&activityCode=a");
  const json_t *finding = json_array_get(json_object_get(list, "items"), 0);
  assert_true(json_is_true(json_object_get(json_object_get(finding, "repair"), "available")));
  json_t *preview = send(s, "/v1/findings/repair", "{\"filter\":{\"severity\":\"critical\"},\"dryRun\":true}", 200);
  const json_t *item = json_array_get(json_object_get(preview, "items"), 0);
  assert_int_equal(total_of(preview, "repaired"), 1);
  assert_string_equal(text_of(item, "before"), "remaining 50, taken 1");
  assert_string_equal(text_of(item, "after"), "remaining 50, taken 0");
  assert_int_equal(sql_int(s->sql, "select taken from largesse.stock"), 1);
  json_decref(send(s, "/v1/findings/repair", "{\"filter\":{\"state\":\"gone\"},\"dryRun\":true}", 400));
  for (int times = 0; times < 2; times++) {  // a double click
    json_t *done =
        send(s, "/v1/findings/repair",
             "{\"filter\":{\"kind\":\"stock_not_matching_claims\"},\"reason\":\"counted\",\"key\":\"r1\"}", 200);
    assert_int_equal(total_of(done, "repaired"), 1);
    json_decref(done);
  }
  assert_int_equal(sql_int(s->sql, "select taken from largesse.stock"), 0);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"audit", NULL}, NULL), 0);
  json_decref(preview);
  json_decref(list);
}

// Keys of findings have spaces, colons and slashes.
static void findings_are_explained_and_found_by_any_key(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql, "delete from largesse.finding");
  sql_exec(
      s->sql,
      "select largesse.finding_upsert(array['statement_missing_here/a b/\u00fc%%2F:x'], '{statement_missing_here}', "
      "'{null}', '{null}', '{1}', '{2}', '{shop}', '{500}', '{JPY}')");
  static const char path[] = "/v1/findings/statement_missing_here%2Fa%20b%2F%C3%BC%252F%3Ax";
  json_t *found = get(s, path);
  assert_int_equal(total_of(found, "amount"), 500);
  json_decref(found);
  json_t *done =
      send(s, "/v1/findings/resolve",
           "{\"ids\":[\"statement_missing_here/a b/\\u00fc%2F:x\",\"nothing\"],\"reason\":\"another shop's\"}", 200);
  assert_int_equal(total_of(done, "explained"), 1);
  assert_int_equal(total_of(done, "notFound"), 1);
  json_decref(done);
  found = get(s, path);
  assert_string_equal(text_of(found, "state"), "gone");
  assert_string_equal(text_of(json_object_get(found, "resolution"), "reason"), "another shop's");
  json_decref(found);
}

static void bad_orders_about_findings_are_refused(void **state)
{
  struct stack *s = *state;
  static const char *const bodies[] = {
      "{}",
      "{\"ids\":[1]}",
      "{\"ids\":[\"\"]}",
      "{\"ids\":[\"k\"],\"filter\":{}}",
      "{\"filter\":{\"severity\":\"low\"}}",
      "{\"filter\":{\"source\":\"rumour\"}}",
      "{\"filter\":{\"state\":\"lost\"}}",
      "{\"filter\":{\"cause\":\"x\"}}",
      "{\"ids\":[\"k\"],\"proof\":\"x\"}",
  };
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
    json_decref(send(s, "/v1/findings/repair", bodies[i], 400));
    json_decref(send(s, "/v1/findings/resolve", bodies[i], 400));
  }
  static const char *const queries[] = {"severity=low", "source=x", "sort=amount", "state=lost"};
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    char *path = support_format("/v1/findings?%s", queries[i]);
    assert_int_equal(http_json(s->reconciler_port, "GET", path, NULL, NULL), 400);
    mem_free(path);
  }
}

static bool is_done(struct stack *s, const char *path)
{
  json_t *json = NULL;
  bool is_answered = http_json(s->reconciler_port, "GET", path, NULL, &json) == 200;
  bool is_done = is_answered && strcmp(text_of(json, "state"), "done") == 0;
  if (is_done) assert_int_equal(total_of(json, "explained"), 30);
  json_decref(json);
  return is_done;
}

// Each step is one transaction: whoever is killed has done some items, and the next one does the rest.
static void a_killed_operation_about_findings_is_gone_on_with(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql, "delete from largesse.finding");
  sql_exec(
      s->sql,
      "select largesse.finding_upsert(array_agg('probe ' || n), array_agg('statement_missing_here'::text), "
      "array_agg(null::bigint), array_agg(null::bigint), array_agg('1'::text), array_agg('2'::text), null, null, null) "
      "from generate_series(1, 30) n");
  json_t *begun =
      send(s, "/v1/findings/resolve", "{\"filter\":{\"source\":\"statement\"},\"reason\":\"known\",\"rate\":10}", 202);
  process_kill(s->reconciler);
  assert_true(sql_int(s->sql, "select count(*) from largesse.finding where state <> 'gone'") > 0);
  stack_start_reconciler(s);
  char *path = support_format("/v1/operations/%s", text_of(begun, "operationId"));
  WAIT_FOR(is_done(s, path), 10);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.finding where state <> 'gone'"), 0);
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.operator_log where action = 'finding.explained' and reason = 'known'"),
      30);
  mem_free(path);
  json_decref(begun);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findings_are_repaired),
      cmocka_unit_test(findings_are_explained_and_found_by_any_key),
      cmocka_unit_test(bad_orders_about_findings_are_refused),
      cmocka_unit_test(a_killed_operation_about_findings_is_gone_on_with),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
