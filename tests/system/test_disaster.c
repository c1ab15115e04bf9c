// SPDX-License-Identifier: Apache-2.0
// A seeded disaster: thirty activities of all kinds, forty faults planted in rows and in statements. Every one is found
// and rightly named, none is invented; after repairs, a corrected statement and reasons for the rest the audit is
// clean. LARGESSE_CHAOS: with 200,000 claims. Field cases B116, B118, B122.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLAIMS_SHORT 12  // of each of thirty activities
#define CLAIMS_CHAOS 6667

static int set_up(void **state)
{
  static const char *const env[] = {
      "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__TIME_ZONE=America/Vancouver",
      "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR_B__TIME_ZONE=America/Vancouver",
      "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR_B__FALLBACK=[user_amount_date]",
      "LARGESSE_RECONCILER__OPERATIONS__RATE=10000",
      "LARGESSE_RECONCILER__NIGHT__ENABLED=false",
      NULL,
  };
  struct server *server = server_start();
  struct stack *s = stack_start(
      server,
      &(struct stack_options){
          .schedulers = STACK_NONE, .no_fulfiller = true, .no_simulator = true, .no_reconciler = true, .env = env});
  sql_file(s->sql, "tests/support/disaster.sql");
  sql_exec(s->sql, "call disaster.make(%d)", getenv("LARGESSE_CHAOS") != NULL ? CLAIMS_CHAOS : CLAIMS_SHORT);
  sql_exec(s->sql, "select disaster.look_alikes(); select disaster.write_lines(); analyze");
  *state = s;
  return 0;
}

// --- commands

#define COMMAND(s, status, ...) command((s), (status), (const char *const[]){__VA_ARGS__, NULL})

static json_t *command(struct stack *s, int status, const char *const *args)
{
  struct buf out;
  buf_init(&out, 16u * 1024u * 1024u);
  int got = stack_command(s, "reconciler", args, &out);
  if (got != status) fail_msg("%s %s: status %d instead of %d: %s", args[0], args[1], got, status, buf_text(&out));
  json_t *doc = json_loadb(buf_text(&out), out.len, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
  if (doc == NULL) fail_msg("%s %s: no JSON: %s", args[0], args[1], buf_text(&out));
  buf_release(&out);
  return doc;
}

static void audit(struct stack *s, int status)
{
  json_t *report = COMMAND(s, status, "audit", "--all", "--format", "json");
  assert_int_equal(json_is_true(json_object_get(report, "clean")), status == 0);
  json_decref(report);
}

// day: 0 yesterday, 1 today, in the statements' zone.
static void import(struct stack *s, const char *provider, int day, bool is_corrected, int status)
{
  char *date = sql_text(s->sql, "select disaster.day() + %d", day);
  char *csv = sql_text(s->sql, "select disaster.statement('%s', disaster.day() + %d, %s)", provider, day,
                       is_corrected ? "true" : "false");
  char *name = support_format("statement-%s-%d%s.csv", provider, day, is_corrected ? "-corrected" : "");
  char *path = support_write(name, "%s", csv);
  json_decref(
      COMMAND(s, status, "statement", "import", "--provider", provider, path, "--date", date, "--format", "json"));
  mem_free(path);
  mem_free(name);
  mem_free(csv);
  mem_free(date);
}

static void assert_exactly(struct stack *s, const char *what, const char *left_to)
{
  char *verdict = sql_text(s->sql, "select disaster.verdict('{%s}')", left_to);
  if (verdict[0] != '\0') fail_msg("%s:\n%s", what, verdict);
  mem_free(verdict);
}

static int64_t number(const json_t *doc, const char *name) { return json_integer_value(json_object_get(doc, name)); }

// --- in this order

static void every_fault_is_found_and_none_is_invented(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql, "select disaster.plant_rows(); select disaster.plant_lines()");
  assert_int_equal(sql_int(s->sql, "select count(distinct fault) from disaster.expected"), 40);
  assert_true(sql_bool(s->sql, "select disaster.verdict('{repair}') like 'not found: fault 1, %%'"));  // not yet
  import(s, "simulator", 0, false, 1);
  import(s, "simulator-b", 0, false, 1);
  import(s, "simulator", 1, false, 1);
  audit(s, 1);
  assert_exactly(s, "after the faults", "repair,person,statement,answer");
}

// The causes that the figures tell (R7.5).
static void causes_are_told_apart(void **state)
{
  struct stack *s = *state;
  static const struct {
    const char *what, *cause;
  } cases[] = {
      {"stock without record", "stock was taken without a record%"},
      {"record without stock", "a record was made without taking stock%"},
      {"wrong initial stock", "the initial stock was set wrongly%"},
      {"record lost", "stock was taken without a record%"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (sql_bool(
            s->sql,
            "select bool_and(largesse.finding_json(f)::json ->> 'cause' like '%s') from disaster.expected e join "
            "largesse.finding f on f.kind = e.kind and f.activity_id = e.activity_id where e.what = '%s' and e.kind "
            "= 'stock_not_matching_claims'",
            cases[i].cause, cases[i].what))
      continue;
    fail_msg("%s is not named so", cases[i].what);
  }
}

// Figures and amounts alone need no words.
static bool is_told(const char *text)
{
  bool has_words = false, has_chinese = false;
  for (; text != NULL && *text != '\0'; text++) {
    has_chinese = has_chinese || (unsigned char)*text >= 0xE4;
    has_words = has_words || (text[0] >= 'a' && text[0] <= 'z' && text[1] >= 'a' && text[1] <= 'z');
  }
  return has_chinese || !has_words;
}

// Also what was expected and what was there, with all that is optional in it.
static void every_fault_is_told_in_chinese(void **state)
{
  struct stack *s = *state;
  static const char *const members[] = {"/expected", "/actual", "/explanation", "/cause", "/nextStep", "/repair/text"};
  struct http_answer a;
  stack_start_reconciler(s);
  http_call(&(struct http_request){.port = s->reconciler_port,
                                   .method = "GET",
                                   .path = "/v1/findings?limit=1000",
                                   .headers = "Accept-Language: zh\r\n"},
            &a);
  json_t *doc = http_answer_json(&a), *items = json_object_get(doc, "items");
  assert_true(json_array_size(items) >= 40);
  for (size_t i = 0; i < json_array_size(items); i++) {
    const json_t *item = json_array_get(items, i);
    for (size_t k = 0; k < ARRAY_LEN(members); k++) {
      const char *text = json_string_value(jsonx_pointer(item, members[k]));
      if (!is_told(text)) fail_msg("%s: %s", json_string_value(json_object_get(item, "key")), text);
    }
  }
  json_decref(doc);
  http_answer_release(&a);
  assert_int_equal(process_stop(s->reconciler, 10), 0);
}

static void repairs_mend_what_can_be_mended(void **state)
{
  struct stack *s = *state;
  char *before = sql_text(s->sql, "select disaster.books()");
  json_t *preview =
      COMMAND(s, 65, "findings", "repair", "--all", "--dry-run", "--reason", "the disaster", "--format", "json");
  char *after = sql_text(s->sql, "select disaster.books()");
  assert_string_equal(after, before);  // a preview changes nothing
  json_t *done = COMMAND(s, 65, "findings", "repair", "--all", "--reason", "the disaster", "--format", "json");
  assert_int_equal(number(done, "done"), number(preview, "total"));
  assert_true(number(done, "repaired") >= 25);
  assert_int_equal(number(done, "repaired") + number(done, "alreadyRight"), number(preview, "repaired"));
  json_decref(preview);
  json_decref(done);
  mem_free(before);
  mem_free(after);
  assert_int_equal(sql_int(s->sql, "select disaster.answer()"), 4);  // those whose callbacks were lost are asked
  audit(s, 1);
  assert_exactly(s, "after the repairs", "person,statement");
}

static void the_corrected_statement_explains_some(void **state)
{
  struct stack *s = *state;
  import(s, "simulator", 0, true, 1);
  import(s, "simulator-b", 0, true, 1);
  assert_exactly(s, "after the corrected statements", "person");
}

static void with_reasons_for_the_rest_all_is_clean(void **state)
{
  struct stack *s = *state;
  json_t *done =
      COMMAND(s, 0, "findings", "resolve", "--all", "--reason", "settled with the providers", "--format", "json");
  assert_int_equal(number(done, "explained"),
                   sql_int(s->sql, "select count(*) from disaster.expected where left_to = 'person'"));
  json_decref(done);
  json_decref(COMMAND(s, 0, "statement", "match", "--provider", "simulator", "--format", "json"));
  assert_exactly(s, "in the end", "");
  audit(s, 0);
  // Who did it, and why, is in the log, item by item.
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.operator_log where action = 'finding.explained' and "
                           "reason = 'settled with the providers'"),
                   sql_int(s->sql, "select count(*) from disaster.expected where left_to = 'person'"));
  assert_true(sql_int(s->sql, "select count(*) from largesse.operator_log where action = 'finding.repaired'") >= 25);
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.operator_log l where l.hash <> largesse.log_hash(l.hash_before, "
              "l.seq, l.at, l.actor, l.action, l.target, l.reason, l.detail)"),
      0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_is_found_and_none_is_invented),
      cmocka_unit_test(causes_are_told_apart),
      cmocka_unit_test(every_fault_is_told_in_chinese),
      cmocka_unit_test(repairs_mend_what_can_be_mended),
      cmocka_unit_test(the_corrected_statement_explains_some),
      cmocka_unit_test(with_reasons_for_the_rest_all_is_clean),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
