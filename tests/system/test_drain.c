// SPDX-License-Identifier: Apache-2.0
// A scheduler that is told to stop while claims come in: nobody goes without an answer, and what was answered is in the
// tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLICKS "6000"
#define RATE   "700"
#define STOPS  4  // scheduler 0, 1, 0, 1

struct house {
  struct stack *s;
  char *record;
};

static int set_up(void **state)
{
  static struct house h;
  char *dir = support_log_dir();
  h.record = support_format("%s/record.csv", dir);
  struct stack_options options = {.schedulers = 2, .no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  h.s = stack_start(server_start(), &options);
  mem_free(dir);
  *state = &h;
  return 0;
}

static int tear_down(void **state)
{
  struct house *h = *state;
  struct server *server = h->s->server;
  stack_free(h->s);
  server_free(server);
  mem_free(h->record);
  return 0;
}

static struct process *start_crowd(const struct house *h)
{
  char *load = support_bin("../bench/load"), *urls[2];
  for (int i = 0; i < 2; i++) urls[i] = support_format("http://127.0.0.1:%d", h->s->scheduler_ports[i]);
  struct process *p = process_start(&(struct process_spec){
      .name = "crowd", .argv = (const char *[]){load,       "--url",        urls[0],  "--url",
                                                urls[1],    "--activity",   "drain",  "--connections",
                                                "64",       "--rate",       RATE,     "--requests",
                                                CLICKS,     "--biz-prefix", "d-",     "--repeat-unanswered",
                                                "--record", h->record,      "--json", NULL}});
  for (int i = 0; i < 2; i++) mem_free(urls[i]);
  mem_free(load);
  return p;
}

// From SIGTERM until nobody answers any more /readyz says that it drains.
static bool says_draining(int port)
{
  for (struct waiting w = waiting_start(5); waiting_more(&w);) {
    struct http_answer a;
    http_get(port, "/readyz", &a);
    bool drains = a.status == 503 && strstr(a.body, "draining") != NULL, gone = a.status == 0;
    http_answer_release(&a);
    if (drains) return true;
    if (gone) return false;
  }
  return false;
}

static void stop_and_start(struct house *h, int index)
{
  int64_t seen = activity_claims(h->s->sql, "drain");
  WAIT_FOR(activity_claims(h->s->sql, "drain") > seen + 300, 10);
  process_signal(h->s->schedulers[index], SIGTERM);
  assert_true(says_draining(h->s->scheduler_ports[index]));
  assert_int_equal(process_wait(h->s->schedulers[index], 20), 0);
  stack_start_scheduler(h->s, index);
}

// The client's record as a table of the test's session.
static void load_record(struct house *h)
{
  FILE *f = fopen(h->record, "re");
  char line[512];
  struct buf sql;
  assert_non_null(f);
  buf_init(&sql, 4 * 1024 * 1024);
  assert_non_null(fgets(line, sizeof line, f));  // header
  buf_puts(&sql,
           "create temporary table record (biz_id text, user_id bigint, status int, claim_id text, code text, activity "
           "text); insert into record values ");
  for (int n = 0; fgets(line, sizeof line, f) != NULL; n++) {
    line[strcspn(line, "\n")] = '\0';
    char biz_id[65] = "", user[24] = "", status[8] = "", claim_id[48] = "", code[40] = "", activity[65] = "",
         *fields[] = {biz_id, user, status, claim_id, code, activity};
    const size_t sizes[] = {sizeof biz_id, sizeof user, sizeof status, sizeof claim_id, sizeof code, sizeof activity};
    const char *at = line;
    for (size_t i = 0; i < 6; i++) {
      size_t len = strcspn(at, ",");
      assert_true(len < sizes[i]);
      memcpy(fields[i], at, len);
      at += len + (at[len] == ',');
    }
    buf_printf(&sql, "%s('%s',%s,%s,'%s','%s','%s')", n > 0 ? "," : "", biz_id, user, status, claim_id, code, activity);
  }
  (void)fclose(f);
  assert_int_equal(buf_result(&sql), RESULT_OK);
  sql_exec(h->s->sql, "%s", buf_text(&sql));
  buf_release(&sql);
}

static int64_t member(const json_t *object, const char *name)
{
  return json_integer_value(json_object_get(object, name));
}

static json_t *report_of(struct process *crowd)
{
  struct buf log;
  buf_init(&log, 1024 * 1024);
  process_read_log(crowd, &log);
  json_t *report = json_loadb(log.data, log.len, JSON_REJECT_DUPLICATES, NULL);
  if (report == NULL) fail_msg("%s", buf_text(&log));
  buf_release(&log);
  return report;
}

static void nobody_goes_without_an_answer(void **state)
{
  struct house *h = *state;
  activity_make(h->s->sql, &(struct activity_terms){.code = "drain", .stock = CLAIM_STOCK_UNLIMITED, .limits = "[]"});
  struct process *crowd = start_crowd(h);
  for (int i = 0; i < STOPS; i++) stop_and_start(h, i % 2);
  assert_int_equal(process_wait(crowd, 60), 0);
  json_t *report = report_of(crowd), *cause_count;
  const char *cause;
  // A stopped scheduler cannot be reached; whoever reached one was answered, at the first try.
  json_object_foreach(json_object_get(report, "repeatCauses"), cause, cause_count)
  {
    if (strcmp(cause, "cannot connect") != 0)
      fail_msg("%lld times: %s", (long long)json_integer_value(cause_count), cause);
  }
  assert_int_equal(member(report, "unanswered"), 0);
  assert_int_equal(member(report, "refusedTotal"), 0);
  assert_int_equal(member(report, "accepted"), member(report, "clicks"));
  load_record(h);
  assert_int_equal(sql_int(h->s->sql, "select count(*) from record where status in (200, 201)"),
                   member(report, "clicks"));
  assert_int_equal(
      sql_int(
          h->s->sql,
          "select count(*) from record r full join largesse.claim c on c.biz_id = r.biz_id"
          " where r.claim_id is distinct from c.activity_id || '-' || c.id or r.user_id is distinct from c.user_id"),
      0);
  json_decref(report);
  process_free(crowd);
}

static bool takes_no_connection(int port)
{
  int fd = http_connect(port);
  if (fd >= 0) (void)close(fd);
  return fd < 0;
}

// A claim that waits for a row when SIGTERM comes is judged and answered before the scheduler ends.
static void a_claim_in_flight_is_answered(void **state)
{
  struct house *h = *state;
  struct stack *s = h->s;
  activity_make(s->sql, &(struct activity_terms){.code = "held", .stock = 5});
  struct sql *holder = server_open(s->server, s->database);
  sql_exec(holder,
           "begin; select 1 from largesse.stock t join largesse.activity a on a.id = t.activity_id where a.code = "
           "'held' for update of t");
  struct claim_click click = claim_click(s->scheduler_ports[0], "held", 1, "held");
  char *body = claim_body(&click);
  char *request = support_format(
      "POST /v1/claims HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
      strlen(body), body);
  int fd = http_connect(s->scheduler_ports[0]);
  assert_true(fd >= 0);
  assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
  WAIT_FOR(
      sql_int(s->sql,
              "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") >
          0,
      10);
  process_signal(s->schedulers[0], SIGTERM);
  assert_true(says_draining(s->scheduler_ports[0]));
  WAIT_FOR(takes_no_connection(s->scheduler_ports[0]), 5);  // nobody new comes in
  assert_true(process_is_alive(s->schedulers[0]));
  sql_exec(holder, "commit");
  char answer[4096];
  ssize_t n = recv(fd, answer, sizeof answer - 1, 0);
  assert_true(n > 0);
  answer[n] = '\0';
  if (strncmp(answer, "HTTP/1.1 201 ", 13) != 0) fail_msg("%s", answer);
  assert_non_null(strcasestr(answer, "\r\nconnection: close\r\n"));
  assert_int_equal(process_wait(s->schedulers[0], 20), 0);
  assert_int_equal(activity_claims(s->sql, "held"), 1);
  (void)close(fd);
  sql_close(holder);
  mem_free(request);
  mem_free(body);
  stack_start_scheduler(s, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_goes_without_an_answer),
      cmocka_unit_test(a_claim_in_flight_is_answered),
  };
  return cmocka_run_group_tests_name("drain", tests, set_up, tear_down);
}
