// SPDX-License-Identifier: Apache-2.0
// Statements of a provider from outside: fetched by command and by the daemon itself, given in over HTTP and by
// command, the same file twice, a corrected one, a bad one of which nothing is left (B86, B125).
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLAIMS       12
#define MANY_SECONDS 30

static int set_up(void **state)
{
  static const char *const env[] = {"LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__FETCH__URL=http://127.0.0.1:1/",
                                    "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__FETCH__AT=00:00",
                                    "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__FETCH__RETRY_EVERY=100ms",
                                    "LARGESSE_RECONCILER__NIGHT__ENABLED=false", NULL};
  *state = stack_start(server_start(), &(struct stack_options){.env = env});
  return 0;
}

static void today(char out_date[11])
{
  time_t now = time(NULL);
  struct tm parts;
  (void)gmtime_r(&now, &parts);
  assert_int_equal(strftime(out_date, 11, "%Y-%m-%d", &parts), 10);
}

// The simulator's statement of today; heap.
static char *statement(const struct stack *s)
{
  char date[11];
  struct http_answer answer;
  today(date);
  char *path = support_format("/sim/statement.csv?date=%s", date);
  http_get(s->simulator_port, path, &answer);
  assert_int_equal(answer.status, 200);
  char *text = mem_strdup(answer.body);
  http_answer_release(&answer);
  mem_free(path);
  return text;
}

// Gives a file in; the status, and the statement or the problem.
static int give(const struct stack *s, const char *provider, const char *file, json_t **out_doc)
{
  char date[11];
  struct http_answer answer;
  today(date);
  char *path = support_format("/v1/statements/%s?date=%s&file=day.csv&reason=test", provider, date);
  http_call(&(struct http_request){.port = s->reconciler_port,
                                   .path = path,
                                   .headers = "Content-Type: text/csv\r\n",
                                   .body = file,
                                   .timeout_ms = 60000},
            &answer);
  int status = answer.status;
  *out_doc = http_answer_json(&answer);
  http_answer_release(&answer);
  mem_free(path);
  return status;
}

static int64_t figure(const json_t *doc, const char *name)
{
  return json_integer_value(json_object_get(json_object_get(doc, "counts"), name));
}

static void claims_are_delivered(struct stack *s)
{
  activity_make(s->sql, &(struct activity_terms){.code = "stated", .stock = 100, .limits = "[]"});
  for (int i = 0; i < CLAIMS; i++) {
    char biz_id[16];
    (void)snprintf(biz_id, sizeof biz_id, "s%d", i);
    struct claim_click click = claim_click(s->scheduler_ports[0], "stated", 1000 + i, "%s", biz_id);
    assert_int_equal(claim_send(&click).status, 201);
  }
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'succeeded'") == CLAIMS, 20);
}

static void a_statement_is_fetched_by_command(void **state)
{
  struct stack *s = *state;
  char date[11];
  struct buf out;
  today(date);
  claims_are_delivered(s);
  char *url = support_format(
      "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__FETCH__URL="
      "http://127.0.0.1:%d/sim/statement.csv?date=${date}",
      s->simulator_port);
  buf_init(&out, 1 << 16);
  const char *const args[] = {"statement", "fetch",    "--provider", "simulator", "--date",
                              date,        "--format", "json",       NULL};
  assert_int_equal(stack_command_env(s, "reconciler", args, (const char *const[]){url, NULL}, &out), 0);
  json_t *doc = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);
  assert_int_equal(figure(doc, "matched"), CLAIMS);
  assert_true(json_is_true(json_object_get(doc, "clean")));
  json_decref(doc);
  // Where nobody answers, that is what it says.
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler", args, &out), 69);
  assert_non_null(strstr(buf_text(&out), "not fetched"));
  buf_release(&out);
  mem_free(url);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.operator_log where action = 'statement.fetch'"), 1);
}

static void a_file_twice_is_one_and_a_corrected_one_takes_its_place(void **state)
{
  struct stack *s = *state;
  json_t *doc = NULL;
  char *file = statement(s);
  assert_int_equal(give(s, "simulator", file, &doc), 200);
  int64_t findings = json_integer_value(json_object_get(doc, "findings"));
  assert_int_equal(findings, 0);
  json_decref(doc);
  // Without its last line, and with the first one's amount off by one.
  char *lacking = mem_strdup(file), *amount = strstr(lacking, ",10000,");
  lacking[strlen(lacking) - 1] = '\0';
  *(strrchr(lacking, '\n') + 1) = '\0';
  assert_non_null(amount);
  amount[5] = '1';
  assert_int_equal(give(s, "simulator", lacking, &doc), 201);
  assert_int_equal(figure(doc, "matched"), CLAIMS - 2);
  assert_int_equal(figure(doc, "missingAtProvider"), 1);
  assert_int_equal(figure(doc, "amountDiffers"), 1);
  char *path =
      support_format("/v1/statements/%s/lines?outcome=finding", json_string_value(json_object_get(doc, "statementId")));
  json_decref(doc);
  assert_int_equal(http_json(s->reconciler_port, "GET", path, NULL, &doc), 200);
  assert_int_equal(json_array_size(json_object_get(doc, "items")), 2);
  json_decref(doc);
  mem_free(path);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/findings?kind=statement_amount_differs", NULL, &doc), 200);
  const json_t *finding = json_array_get(json_object_get(doc, "items"), 0);
  assert_string_equal(json_string_value(json_object_get(finding, "expected")), "100.00 CNY");
  json_decref(doc);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/statements?provider=simulator", NULL, &doc), 200);
  assert_int_equal(json_array_size(json_object_get(doc, "items")), 2);
  json_decref(doc);
  // The first file again: it is in force, and nothing is found.
  assert_int_equal(give(s, "simulator", file, &doc), 200);
  assert_true(json_is_true(json_object_get(doc, "clean")));
  json_decref(doc);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.finding where state <> 'gone'"), 0);
  mem_free(lacking);
  mem_free(file);
}

static void of_a_bad_file_nothing_is_left(void **state)
{
  struct stack *s = *state;
  json_t *doc = NULL;
  int64_t before = sql_int(s->sql, "select count(*) from largesse.statement_line");
  char *file = statement(s), *last = strrchr(file, ':');
  *last = 'x';
  assert_int_equal(give(s, "simulator", file, &doc), 400);
  char *line = support_format("line %d: at (at)", CLAIMS + 1);
  assert_non_null(strstr(json_string_value(json_object_get(doc, "detail")), line));
  json_decref(doc);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.statement_line"), before);
  assert_int_equal(give(s, "nobody", file, &doc), 404);
  json_decref(doc);
  struct buf out;
  buf_init(&out, 1 << 16);
  char *name = support_write("bad.csv", "%s", file);
  assert_int_equal(
      stack_command(s, "reconciler",
                    (const char *const[]){"statement", "import", "--provider", "simulator", name, NULL}, &out),
      65);
  assert_non_null(strstr(buf_text(&out), line));
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.statement_line"), before);
  buf_release(&out);
  mem_free(name);
  mem_free(line);
  mem_free(file);
}

static void what_is_due_is_fetched_by_the_daemon_and_tried_again(void **state)
{
  struct stack *s = *state;
  // Nobody answered so far.
  WAIT_FOR(sql_bool(s->sql,
                    "select exists (select from largesse.statement_fetch f where f.fault like 'not fetched%%' "
                    "and f.business_date = (now() at time zone 'UTC')::date - 1)"),
           20);
  assert_int_equal(process_stop(s->reconciler, 10), 0);
  for (size_t i = 0; s->env[i] != NULL; i++) {
    if (strstr(s->env[i], "FETCH__URL=") == NULL) continue;
    mem_free(s->env[i]);
    s->env[i] = support_format(
        "LARGESSE_RECONCILER__STATEMENTS__SIMULATOR__FETCH__URL="
        "http://127.0.0.1:%d/sim/statement.csv?date=${date}",
        s->simulator_port);
  }
  stack_start_reconciler(s);
  WAIT_FOR(sql_bool(s->sql,
                    "select exists (select from largesse.statement s where s.imported_by = 'system:statements' "
                    "and s.business_date = (now() at time zone 'UTC')::date - 1 and s.lines = 0)"),
           20);
  WAIT_FOR(sql_bool(s->sql,
                    "select not exists (select from largesse.statement_fetch where fault is not null and "
                    "business_date < (now() at time zone 'UTC')::date)"),
           20);
}

// A million lines with LARGESSE_CHAOS, and three faults among them: within 30 s, and in a gigabyte at most.
static void many_lines_are_matched(void **state)
{
  struct stack *s = *state;
  int lines = getenv("LARGESSE_CHAOS") != NULL ? 1000000 : 5000;
  char date[11];
  struct buf out;
  struct rusage used;
  today(date);
  activity_make(s->sql, &(struct activity_terms){.code = "many", .stock = 10, .provider = "simulator-b"});
  int64_t activity = sql_int(s->sql, "select id from largesse.activity where code = 'many'");
  sql_exec(s->sql,
           "insert into largesse.claim (activity_id, id, user_id, created_at, updated_at, succeeded_at, quantity, "
           "reward_id, biz_id, status, outcome, provider_ref) "
           "select a.id, 1000000 + n, n, t.at, t.at, t.at, 1, a.reward_id, 'm' || n, 'succeeded', 'done', 'r' || n "
           "from largesse.activity a, (select timestamptz '%sT01:00:00Z' as at) t, generate_series(1, %d) n "
           "where a.code = 'many'",
           date, lines);
  sql_exec(s->sql, "analyze largesse.claim");
  char *folder = support_log_dir(), *name = support_format("%s/many.csv", folder);
  FILE *f = fopen(name, "we");
  assert_non_null(f);
  (void)fputs("requestId,userId,type,amount,currency,at,ref\n", f);
  for (int n = 2; n <= lines + 1; n++)  // the first is missing here, the last one at the provider
    (void)fprintf(f, "%" PRId64 "-%d,%d,credit,%d,CNY,%sT01:00:00Z,r%d\n", activity, 1000000 + n, n,
                  n == 1000 ? 10001 : 10000, date, n);
  assert_int_equal(fclose(f), 0);
  buf_init(&out, 1 << 16);
  const char *const args[] = {"statement", "import",   "--provider", "simulator-b", "--date",
                              date,        "--format", "json",       name,          NULL};
  struct mono_time before = clk_mono();
  s->command_seconds = 600;
  assert_int_equal(stack_command(s, "reconciler", args, &out), 1);
  double seconds = span_to_seconds(mono_since(clk_mono(), before));
  assert_int_equal(getrusage(RUSAGE_CHILDREN, &used), 0);
  print_message("%d lines: %.1f s, %ld MiB at most in any command or daemon\n", lines, seconds, used.ru_maxrss / 1024);
  json_t *doc = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);
  assert_int_equal(figure(doc, "matched"), lines - 2);
  assert_int_equal(figure(doc, "missingHere"), 1);
  assert_int_equal(figure(doc, "missingAtProvider"), 1);
  assert_int_equal(figure(doc, "amountDiffers"), 1);
  json_decref(doc);
  if (getenv("LARGESSE_CHAOS") != NULL)
    assert_true(seconds < MANY_SECONDS);  // a promise of the product, on a machine of its own
  assert_true(used.ru_maxrss < 1024L * 1024);
  assert_int_equal(remove(name), 0);
  buf_release(&out);
  mem_free(name);
  mem_free(folder);
}

// The same lines with other people's ids: one finding, and as quickly.
static void a_file_of_somebody_else_is_one_finding(void **state)
{
  struct stack *s = *state;
  int lines = getenv("LARGESSE_CHAOS") != NULL ? 1000000 : 5000;
  char date[11];
  struct buf out;
  today(date);
  char *folder = support_log_dir(), *name = support_format("%s/strange.csv", folder);
  FILE *f = fopen(name, "we");
  assert_non_null(f);
  (void)fputs("requestId,userId,type,amount,currency,at,ref\n", f);
  for (int n = 1; n <= lines; n++)
    (void)fprintf(f, "77-%d,%d,credit,10000,CNY,%sT01:00:00Z,x%d\n", 1000000 + n, n, date, n);
  assert_int_equal(fclose(f), 0);
  buf_init(&out, 1 << 16);
  const char *const args[] = {"statement", "import",   "--provider", "simulator-b", "--date",
                              date,        "--format", "json",       name,          NULL};
  struct mono_time before = clk_mono();
  assert_int_equal(stack_command(s, "reconciler", args, &out), 1);
  double seconds = span_to_seconds(mono_since(clk_mono(), before));
  print_message("%d lines of somebody else: %.1f s\n", lines, seconds);
  json_t *doc = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);
  assert_true(json_is_true(json_object_get(doc, "unrelated")));
  assert_int_equal(json_integer_value(json_object_get(doc, "findings")), lines);
  assert_int_equal(json_integer_value(json_object_get(doc, "findingsRecorded")), 1);
  json_decref(doc);
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.finding where kind = 'statement_unrelated' and state <> 'gone'"),
      1);
  assert_int_equal(remove(name), 0);
  buf_release(&out);
  mem_free(name);
  mem_free(folder);
}

// What the database cannot do is told by the night, which is not clean then.
static void a_night_without_matching_says_so(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1 << 20);
  const char *const args[] = {"report", "night", "--format", "json", NULL};
  sql_exec(s->sql, "%s", "alter function largesse.statement_match_open(text, int) rename to statement_match_away");
  assert_int_not_equal(stack_command(s, "reconciler", args, &out), 0);
  json_t *doc = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);
  const json_t *moment = json_object_get(doc, "moment");
  assert_int_equal(json_array_size(json_object_get(moment, "statementsNotMatched")), 2);
  assert_true(json_is_false(json_object_get(doc, "clean")));
  assert_int_equal(json_integer_value(json_object_get(doc, "failed")), 2);
  json_decref(doc);
  sql_exec(s->sql, "%s", "alter function largesse.statement_match_away(text, int) rename to statement_match_open");
  buf_clear(&out);
  const char *const again[] = {"report", "night", "--again", "--format", "json", NULL};
  (void)stack_command(s, "reconciler", again, &out);
  doc = json_loads(buf_text(&out), JSON_DISABLE_EOF_CHECK, NULL);
  assert_null(json_object_get(json_object_get(doc, "moment"), "statementsNotMatched"));
  assert_int_equal(json_integer_value(json_object_get(doc, "failed")), 0);
  json_decref(doc);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_statement_is_fetched_by_command),
      cmocka_unit_test(a_file_twice_is_one_and_a_corrected_one_takes_its_place),
      cmocka_unit_test(of_a_bad_file_nothing_is_left),
      cmocka_unit_test(many_lines_are_matched),
      cmocka_unit_test(a_file_of_somebody_else_is_one_finding),
      cmocka_unit_test(a_night_without_matching_says_so),
      cmocka_unit_test(what_is_due_is_fetched_by_the_daemon_and_tried_again),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
