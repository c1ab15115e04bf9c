// SPDX-License-Identifier: Apache-2.0
// The night's report by two reconcilers and a clock that the test sets: one run per business date, also where clocks
// change; whoever is killed or stopped in the midst leaves it to the other; the same night twice is the same bytes.
// Field case B29.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *second;
};

static int set_up(void **state)
{
  static struct rig rig;
  static const char *const env[] = {"LARGESSE_RECONCILER__NIGHT__TIME_ZONE=Europe/Berlin",
                                    "LARGESSE_RECONCILER__NIGHT__EVERY=100ms",
                                    "LARGESSE_RECONCILER__NIGHT__CATCH_UP=2",
                                    "LARGESSE_RECONCILER__NIGHT__LEASE=30s",
                                    "LARGESSE_RECONCILER__AUDIT__STATEMENT_TIMEOUT=60s",
                                    "LARGESSE_RECONCILER__FIGURES_EVERY=200ms",
                                    NULL};
  rig.server = server_start();
  rig.stack = stack_start(
      rig.server,
      &(struct stack_options){
          .schedulers = STACK_NONE, .no_fulfiller = true, .no_simulator = true, .test_clock = true, .env = env});
  rig.second = stack_start_another(rig.stack, "reconciler");
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  process_free(rig->second);
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

static void clock_to(struct stack *s, const char *instant)
{
  sql_exec(s->sql, "select largesse.clock_set(timestamptz '%s' - clock_timestamp())", instant);
}

// While the clock is set to one instant after the other nobody looks at it: what is due on the way there would be
// begun, and would be late at the next.
static void nobody_looks(struct rig *rig)
{
  process_signal(rig->stack->reconciler, SIGSTOP);
  process_signal(rig->second, SIGSTOP);
  WAIT_FOR(sql_int(rig->stack->sql,
                   "select count(*) from pg_stat_activity where datname = current_database() and application_name like "
                   "'reconciler%%' and state = 'active'") == 0,
           10);
}

static void they_look_again(struct rig *rig)
{
  process_signal(rig->stack->reconciler, SIGCONT);
  process_signal(rig->second, SIGCONT);
}

static void claim_at(struct stack *s, const char *instant, int user)
{
  clock_to(s, instant);
  const char *verdict =
      sql_text(s->sql,
               "select verdict from largesse.claim_submit((select id from largesse.activity where code = 'run'), "
               "array['b%d'], array[%d::bigint], array[1], array[null::text], '5 s') where ord = 1",
               user, user);
  assert_string_equal(verdict, "ACCEPTED");
  mem_free((char *)(uintptr_t)verdict);
}

static bool is_reported(struct stack *s, const char *date)
{
  return sql_bool(s->sql, "select exists (select from largesse.night where business_date = '%s' and state = 'done')",
                  date);
}

// "claims hours from until" of a report as the API gives it.
static char *report_of(struct stack *s, const char *date)
{
  json_t *doc = NULL;
  char *path = support_format("/v1/reports/%s", date);
  assert_int_equal(http_json(s->reconciler_port, "GET", path, NULL, &doc), 200);
  const json_t *totals = json_object_get(json_object_get(doc, "report"), "totals");
  char *text =
      support_format("%lld %zu %s %s", (long long)json_integer_value(json_object_get(doc, "claims")),
                     json_array_size(json_object_get(totals, "claimsByHour")),
                     json_string_value(json_object_get(doc, "from")), json_string_value(json_object_get(doc, "until")));
  json_decref(doc);
  mem_free(path);
  return text;
}

static void check_report(struct stack *s, const char *date, const char *expected)
{
  char *text = report_of(s, date);
  assert_string_equal(text, expected);
  mem_free(text);
}

static void make_activity(struct stack *s)
{
  clock_to(s, "2027-03-26 12:00Z");
  sql_exec(s->sql,
           "select largesse.activity_put(jsonb_build_object('code', 'run', 'name', 'n', 'kind', 'registration', "
           "'timeZone', 'Europe/Berlin', 'startAt', '2027-03-26T00:00:00+01:00', 'endAt', '2027-12-01T00:00:00+01:00', "
           "'stock', '{\"total\": 100}'::jsonb), 'test', null);"
           "select largesse.activity_action('run', 'publish', 'test', null, null);"
           "select largesse.activity_advance(10)");
}

// --- cases

static void one_report_where_clocks_are_put_forward(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  nobody_looks(rig);
  make_activity(s);
  claim_at(s, "2027-03-27 22:59:50Z", 1);
  claim_at(s, "2027-03-27 23:00Z", 2);     // 28 March, 00:00
  claim_at(s, "2027-03-28 00:59:50Z", 3);  // 01:59:50
  clock_to(s, "2027-03-28 01:00:00Z");     // 03:00: there is no 02:00
  they_look_again(rig);
  WAIT_FOR(is_reported(s, "2027-03-27"), 20);
  nobody_looks(rig);
  claim_at(s, "2027-03-28 21:59:50Z", 4);
  claim_at(s, "2027-03-28 22:00Z", 5);  // 29 March, 00:00
  clock_to(s, "2027-03-29 00:00:00Z");
  they_look_again(rig);
  WAIT_FOR(is_reported(s, "2027-03-28"), 20);
  check_report(s, "2027-03-27", "1 24 2027-03-26T23:00:00.000000Z 2027-03-27T23:00:00.000000Z");
  check_report(s, "2027-03-28", "3 23 2027-03-27T23:00:00.000000Z 2027-03-28T22:00:00.000000Z");
}

// The nights between are more than are caught up.
static void one_report_where_clocks_are_put_back(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  clock_to(s, "2027-03-30 00:00:00Z");
  WAIT_FOR(is_reported(s, "2027-03-29"), 20);
  nobody_looks(rig);
  claim_at(s, "2027-10-30 21:59:50Z", 6);
  claim_at(s, "2027-10-30 22:00Z", 7);  // 31 October, 00:00
  clock_to(s, "2027-10-31 00:00:00Z");  // 02:00 for the first time
  they_look_again(rig);
  WAIT_FOR(is_reported(s, "2027-10-29") && is_reported(s, "2027-10-30"), 20);
  nobody_looks(rig);
  claim_at(s, "2027-10-31 00:30Z", 8);  // 02:30
  claim_at(s, "2027-10-31 01:30Z", 9);  // 02:30 once more; 02:00 has been twice
  claim_at(s, "2027-10-31 22:59:50Z", 10);
  claim_at(s, "2027-10-31 23:00Z", 11);
  clock_to(s, "2027-11-01 01:00:00Z");
  they_look_again(rig);
  WAIT_FOR(is_reported(s, "2027-10-31"), 20);
  check_report(s, "2027-10-31", "4 25 2027-10-30T22:00:00.000000Z 2027-10-31T23:00:00.000000Z");
}

static int count_in_log(struct process *p, const char *text)
{
  struct buf log;
  int count = 0;
  buf_init(&log, 100000000);
  process_read_log(p, &log);
  for (const char *at = buf_text(&log); (at = strstr(at, text)) != NULL; at++) count++;
  buf_release(&log);
  return count;
}

static void two_reconcilers_made_each_once(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  char *dates =
      sql_text(s->sql, "select string_agg(business_date::text, ' ' order by business_date) from largesse.night");
  assert_string_equal(dates, "2027-03-27 2027-03-28 2027-03-29 2027-10-29 2027-10-30 2027-10-31");
  mem_free(dates);
  assert_int_equal(sql_int(s->sql, "select sum(token) from largesse.night"), 6);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.audit_run where finished_at is not null"), 6);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.audit_run"), 6);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.event_out where type = 'report.finished'"), 6);
  // Each claim in exactly one: that of the last night is not over.
  assert_int_equal(sql_int(s->sql, "select sum(claims) from largesse.night"), 10);
  WAIT_FOR(count_in_log(s->reconciler, "report.finished") + count_in_log(rig->second, "report.finished") == 6, 10);
}

static bool is_waiting_in_the_audit(struct stack *s)
{
  return sql_bool(
      s->sql,
      "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = "
      "'Lock' and application_name like '%%night%%')");
}

static struct process *holder_of(struct rig *rig)
{
  char *pid =
      sql_text(rig->stack->sql, "select split_part(holder, ':', 2) from largesse.night where state = 'running'");
  assert_non_null(pid);
  char *of_second = support_format("%d", (int)process_pid(rig->second));
  struct process *p = strcmp(pid, of_second) == 0 ? rig->second : rig->stack->reconciler;
  mem_free(of_second);
  mem_free(pid);
  return p;
}

static struct sql *block_audits(struct stack *s)
{
  struct sql *blocker = server_open(s->server, s->database);
  sql_exec(blocker, "begin; lock table largesse.activity_limit in access exclusive mode");
  return blocker;
}

static void start_again(struct rig *rig, struct process *ended)
{
  if (ended == rig->second) {
    process_free(rig->second);
    rig->second = stack_start_another(rig->stack, "reconciler");
  } else {
    stack_start_reconciler(rig->stack);
  }
}

static void a_killed_reconcilers_night_is_gone_on_with(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  struct sql *blocker = block_audits(s);
  clock_to(s, "2027-11-02 01:00:00Z");
  WAIT_FOR(is_waiting_in_the_audit(s), 20);
  struct process *killed = holder_of(rig);
  process_kill(killed);
  sql_close(blocker);
  assert_false(is_reported(s, "2027-11-01"));  // the lease runs
  clock_to(s, "2027-11-02 01:02:00Z");
  WAIT_FOR(is_reported(s, "2027-11-01"), 20);
  assert_int_equal(sql_int(s->sql, "select token from largesse.night where business_date = '2027-11-01'"), 2);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.audit_run where scope = 'night 2027-11-01'"), 1);
  start_again(rig, killed);
  check_report(s, "2027-11-01", "1 24 2027-10-31T23:00:00.000000Z 2027-11-01T23:00:00.000000Z");
}

static void a_stopped_reconciler_leaves_its_night_at_once(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  struct sql *blocker = block_audits(s);
  clock_to(s, "2027-11-03 01:00:00Z");
  WAIT_FOR(is_waiting_in_the_audit(s), 20);
  struct process *stopped = holder_of(rig);
  assert_int_equal(process_stop(stopped, 10), 0);
  sql_close(blocker);
  WAIT_FOR(is_reported(s, "2027-11-02"), 20);
  assert_true(sql_bool(
      s->sql, "select clean and failed = 0 and token = 2 from largesse.night where business_date = '2027-11-02'"));
  start_again(rig, stopped);
}

static int night(struct stack *s, const char *date, const char *option, struct buf *out)
{
  buf_clear(out);
  return stack_command(s, "reconciler",
                       (const char *const[]){"report", "night", date, "--format", "json", option, NULL}, out);
}

static void the_same_night_twice_is_the_same_bytes(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  struct buf first, second;
  struct http_answer answer;
  buf_init(&first, 1000000);
  buf_init(&second, 1000000);
  assert_int_equal(night(s, "2027-10-31", NULL, &first), 0);
  assert_int_equal(night(s, "2027-10-31", NULL, &second), 0);
  assert_string_equal(buf_text(&first), buf_text(&second));
  http_get(s->reconciler_port, "/v1/reports/2027-10-31", &answer);
  assert_int_equal(answer.status, 200);
  assert_memory_equal(answer.body, buf_text(&first), answer.body_len);
  http_answer_release(&answer);

  // Something is found that night: the report stays, the moment is another.
  char *report = sql_text(s->sql, "select report from largesse.night where business_date = '2027-10-31'");
  sql_exec(s->sql, "update largesse.stock set remaining = remaining - 1");
  assert_int_equal(night(s, "2027-10-31", "--again", &second), 1);
  assert_non_null(strstr(buf_text(&second), "stock_not_matching_claims"));
  assert_non_null(strstr(buf_text(&second), report));
  assert_int_equal(night(s, "2027-10-31", NULL, &first), 1);
  assert_string_equal(buf_text(&first), buf_text(&second));
  sql_exec(s->sql, "update largesse.stock set remaining = remaining + 1");
  assert_int_equal(night(s, "2027-10-31", "--again", &second), 0);
  assert_non_null(strstr(buf_text(&second), report));
  mem_free(report);
  buf_release(&first);
  buf_release(&second);
}

static int command(struct stack *s, const char *const *args, const char *text)
{
  struct buf out;
  buf_init(&out, 1000000);
  int status = stack_command(s, "reconciler", args, &out);
  if (strstr(buf_text(&out), text) == NULL) fail_msg("no '%s' in: %s", text, buf_text(&out));
  buf_release(&out);
  return status;
}

static void nights_are_listed_and_printed(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  json_t *page = NULL;
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports?limit=2&after=2027-11-02", NULL, &page), 200);
  const json_t *items = json_object_get(page, "items");
  assert_int_equal(json_array_size(items), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(items, 0), "date")), "2027-11-01");
  assert_string_equal(json_string_value(json_object_get(page, "next")), "2027-10-31");
  json_decref(page);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports/2027-05-01", NULL, NULL), 404);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports/2027-02-30", NULL, NULL), 404);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports?after=yesterday", NULL, NULL), 400);
  assert_int_equal(command(s, (const char *const[]){"report", "list", NULL}, "2027-03-28"), 0);
  assert_int_equal(command(s, (const char *const[]){"report", "night", NULL}, "\nnight: clean\n"), 0);
  assert_int_equal(command(s, (const char *const[]){"report", "night", "2027-05-01", NULL}, "Night of 2027-05-01"), 0);
  assert_int_equal(command(s, (const char *const[]){"report", "night", "2027-11-03", NULL}, "not over"), 65);
  assert_int_equal(command(s, (const char *const[]){"report", "night", "2027-02-30", NULL}, "usage"), 64);
  // A business date is the same time for an audit by hand.
  assert_int_equal(command(s, (const char *const[]){"audit", "--date", "2027-03-28", NULL},
                           "from 2027-03-27T23:00:00.000000Z until 2027-03-28T22:00:00.000000Z"),
                   0);
}

// The body in a form, which is the same whenever it is asked for; the policy of a page lets nothing in but its style.
static void check_form(struct stack *s, const char *path, const char *format, const char *type, const char *text)
{
  struct http_answer first, second;
  char *url = support_format("%s%sformat=%s", path, strchr(path, '?') != NULL ? "&" : "?", format);
  http_get(s->reconciler_port, url, &first);
  http_get(s->reconciler_port, url, &second);
  assert_int_equal(first.status, 200);
  if (strstr(first.body, text) == NULL) fail_msg("%s: no '%s' in: %s", url, text, first.body);
  char *given = http_answer_header(&first, "Content-Type");
  assert_non_null(given);
  assert_memory_equal(given, type, strlen(type));
  mem_free(given);
  if (strcmp(format, "html") == 0) {
    char *policy = http_answer_header(&first, "Content-Security-Policy");
    assert_non_null(policy);
    assert_non_null(strstr(policy, "default-src 'none'; style-src 'sha256-"));
    mem_free(policy);
  }
  if (strstr(path, "/reports/") != NULL) assert_string_equal(first.body, second.body);
  http_answer_release(&first);
  http_answer_release(&second);
  mem_free(url);
}

static void reports_come_in_every_form(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  static const char *const paths[] = {"/v1/reports/2027-10-31", "/v1/reports/2027-10-31/comparison",
                                      "/v1/reports/2027-10-31/comparison?with=2027-03-27", "/v1/activities/run/review",
                                      "/v1/events/fair/review"};
  sql_exec(s->sql, "select largesse.event_put('fair', 'Fair', 'UTC')");
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    check_form(s, paths[i], "json", "application/json", "{");
    check_form(s, paths[i], "csv", "text/csv", "section,item,figure,value,unit\r\n");
    check_form(s, paths[i], "html", "text/html", "</main></body></html>");
    check_form(s, paths[i], "text", "text/plain", "\n");
  }
  static const char *const missing[] = {"/v1/reports/2027-03-27/comparison", "/v1/reports/2027-06-01/comparison",
                                        "/v1/reports/2027-10-31/comparison?with=2027-06-01",
                                        "/v1/activities/none/review", "/v1/events/none/review"};
  for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
    assert_int_equal(http_json(s->reconciler_port, "GET", missing[i], NULL, NULL), 404);
  }
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports/2027-10-31?format=pdf", NULL, NULL), 400);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/reports/2027-10-31/comparison?with=yesterday", NULL, NULL),
                   400);
}

static void commands_give_the_same(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  struct buf printed;
  struct http_answer answer;
  buf_init(&printed, 1000000);
  static const char *const formats[] = {"text", "csv", "html"};
  for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
    char *url = support_format("/v1/reports/2027-10-31?format=%s", formats[i]);
    buf_clear(&printed);
    assert_int_equal(
        stack_command(s, "reconciler",
                      (const char *const[]){"report", "night", "2027-10-31", "--format", formats[i], NULL}, &printed),
        0);
    http_get(s->reconciler_port, url, &answer);
    assert_string_equal(buf_text(&printed), answer.body);
    http_answer_release(&answer);
    mem_free(url);
  }
  assert_int_equal(
      command(s, (const char *const[]){"report", "compare", "2027-10-31", NULL}, "compared with 2027-10-30"), 0);
  assert_int_equal(command(s, (const char *const[]){"report", "activity", "run", NULL}, "Review of activity run"), 0);
  assert_int_equal(command(s, (const char *const[]){"report", "event", "none", NULL}, "no such event"), 65);
  assert_int_equal(command(s, (const char *const[]){"report", "compare", NULL}, "usage"), 64);
  buf_release(&printed);
}

static bool metric_is_at_least(struct stack *s, const char *name, double least)
{
  struct http_answer answer;
  http_get(s->reconciler_port, "/metrics", &answer);
  char *line = support_format("\n%s ", name);
  const char *at = strstr(answer.body, line);
  bool is_so = at != NULL && strtod(at + strlen(line), NULL) >= least;
  mem_free(line);
  http_answer_release(&answer);
  return is_so;
}

static void the_metric_says_when_the_last_one_ended(void **state)
{
  struct stack *s = ((struct rig *)*state)->stack;
  double ended =
      (double)sql_int(s->sql, "select floor(extract(epoch from max(finished_at)))::bigint from largesse.night");
  WAIT_FOR(metric_is_at_least(s, "largesse_audit_last_success_timestamp_seconds", ended - 1), 10);
  // The latest date is 2 November, which ended at 23:00Z.
  assert_true(metric_is_at_least(s, "largesse_night_last_timestamp_seconds", 1825196400));
  assert_true(metric_is_at_least(s, "largesse_night_duration_seconds", 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_report_where_clocks_are_put_forward),
      cmocka_unit_test(one_report_where_clocks_are_put_back),
      cmocka_unit_test(two_reconcilers_made_each_once),
      cmocka_unit_test(a_killed_reconcilers_night_is_gone_on_with),
      cmocka_unit_test(a_stopped_reconciler_leaves_its_night_at_once),
      cmocka_unit_test(the_same_night_twice_is_the_same_bytes),
      cmocka_unit_test(nights_are_listed_and_printed),
      cmocka_unit_test(reports_come_in_every_form),
      cmocka_unit_test(commands_give_the_same),
      cmocka_unit_test(the_metric_says_when_the_last_one_ended),
  };
  return cmocka_run_group_tests_name("nights", tests, set_up, tear_down);
}
