// SPDX-License-Identifier: Apache-2.0
// Every call of the scheduler while the database is away: 503 with Retry-After, soon, and nothing promised; afterwards
// its workers go on by themselves. And a list that is being imported when the scheduler has to end.
// Stops the server it shares, so:
// runs alone
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <pthread.h>
#include <cmocka.h>

#include "common/buf.h"
#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define ROWS 100000

static int set_up(void **state)
{
  static struct stack_options options = {.no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  *state = stack_start(server_start(), &options);
  return 0;
}

// An activity that is running; more: further members.
static void make(struct stack *s, const char *code, const char *more)
{
  char *path = support_format("/v1/activities/%s", code);
  char *body = support_format(
      "{\"name\":\"x\",\"kind\":\"registration\",\"timeZone\":\"UTC\",\"startAt\":\"2026-01-01T00:00:00Z\","
      "\"endAt\":\"2099-01-01T00:00:00Z\",\"stock\":{\"total\":10}%s}",
      more);
  char *publish = support_format("%s/publish", path);
  assert_int_equal(http_json(s->scheduler_ports[0], "PUT", path, body, NULL), 201);
  assert_int_equal(http_json(s->scheduler_ports[0], "POST", publish, "{}", NULL), 200);
  mem_free(publish);
  mem_free(body);
  mem_free(path);
}

#define CLAIM(code, biz) "{\"activityCode\":\"" code "\",\"userId\":1,\"bizId\":\"" biz "\"}"
#define ORDER            "{\"orderId\":\"o1\",\"lines\":[{\"lineId\":\"l1\",\"amount\":100}]}"
#define CSV              "Content-Type: text/csv\r\n"

static const struct http_request calls[] = {
    {.path = "/v1/claims", .body = CLAIM("direct", "a")},
    {.path = "/v1/claims", .body = CLAIM("queue", "a")},
    {.path = "/v1/claims", .body = CLAIM("unknown", "a")},
    {.path = "/v1/claims?dryRun=true", .body = CLAIM("direct", "a")},
    {.path = "/v1/claims/direct/a"},
    {.path = "/v1/claims/direct/a/cancel", .body = "{}"},
    {.path = "/v1/claims/direct/a/accept", .body = "{}"},
    {.path = "/v1/activities"},
    {.path = "/v1/activities/direct/warm-up", .body = "{}"},
    {.path = "/v1/activities/direct/refusals"},
    {.path = "/v1/activities/direct/numbers"},
    {.path = "/v1/activities/direct/numbers?random=3"},
    {.path = "/v1/activities/direct/numbers", .body = "{\"from\":1,\"to\":2}"},
    {.path = "/v1/activities/direct/qualifications"},
    {.path = "/v1/activities/direct/qualifications", .headers = CSV, .body = "userId\n1\n"},
    {.path = "/v1/activities/direct/blocked-users"},
    {.method = "PUT", .path = "/v1/activities/direct/blocked-users/1", .body = "{}"},
    {.method = "DELETE", .path = "/v1/activities/direct/blocked-users/1"},
    {.path = "/v1/users/1/attributes"},
    {.method = "PUT", .path = "/v1/users/1/attributes", .body = "{}"},
    {.path = "/v1/users/1/progress"},
    {.path = "/v1/users/1/progress/t"},
    {.method = "PUT", .path = "/v1/users/1/progress/t", .body = "{\"value\":1}"},
    {.path = "/v1/users/1/points"},
    {.path = "/v1/users/1/points", .body = "{\"bizId\":\"b\",\"amount\":1,\"reason\":\"r\"}"},
    {.path = "/v1/points", .headers = CSV, .body = "userId,amount,bizId\n1,1,b\n"},
    {.path = "/v1/discount-rules"},
    {.path = "/v1/discount-rules/r"},
    {.method = "PUT",
     .path = "/v1/discount-rules/r",
     .body = "{\"name\":\"r\",\"threshold\":1,\"discount\":{\"percent\":1},\"priority\":1}"},
    {.path = "/v1/discounts/quote", .body = ORDER},
    {.path = "/v1/orders/o1/redemption"},
    {.method = "PUT", .path = "/v1/orders/o1/redemption", .body = ORDER},
    {.method = "DELETE", .path = "/v1/orders/o1/redemption"},
};

static void ask_all(const struct stack *s, struct http_answer answers[ARRAY_LEN(calls)])
{
  struct http_request requests[ARRAY_LEN(calls)];
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    requests[i] = calls[i];
    requests[i].port = s->scheduler_ports[0];
  }
  http_call_all(requests, ARRAY_LEN(calls), answers);
}

static void every_call_says_when_to_try_again(void **state)
{
  struct stack *s = *state;
  struct http_answer answers[ARRAY_LEN(calls)];
  make(s, "direct", "");
  make(s, "queue", ",\"intake\":\"queued\"");
  WAIT_FOR(http_json(s->scheduler_ports[0], "POST", "/v1/claims", CLAIM("queue", "before"), NULL) == 202, 5);
  sql_close(s->sql);
  s->sql = NULL;
  server_postgres_stop(s->server, true);
  for (int round = 0; round < 2; round++) {  // while it is noticed, and after
    ask_all(s, answers);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
      char *after = http_answer_header(&answers[i], "Retry-After");
      if (answers[i].status != 503 || after == NULL)
        fail_msg("%s: %d %s", calls[i].path, answers[i].status, answers[i].body);
      assert_non_null(strstr(answers[i].body, "\"retryable\":true"));
      mem_free(after);
      http_answer_release(&answers[i]);
    }
  }
  server_postgres_start(s->server);
  s->sql = server_open(s->server, s->database);
  WAIT_FOR(http_json(s->scheduler_ports[0], "POST", "/v1/claims", CLAIM("direct", "b"), NULL) == 201, 10);
  int status = http_json(s->scheduler_ports[0], "POST", "/v1/claims", CLAIM("queue", "b"), NULL);
  assert_true(status == 202 || status == 409);  // the first round may have been queued after all
  WAIT_FOR(activity_claims(s->sql, "queue") == 1, 10);
}

struct import {
  struct stack *s;
  struct buf list;
  struct http_answer answer;
};

static void *send_list(void *ctx)
{
  struct import *i = ctx;
  http_call(&(struct http_request){.port = i->s->scheduler_ports[0],
                                   .path = "/v1/activities/list/qualifications",
                                   .headers = CSV,
                                   .body = i->list.data,
                                   .body_len = i->list.len,
                                   .timeout_ms = 60000},
            &i->answer);
  return NULL;
}

// SIGTERM while the list is with the database: it is taken whole, and its sender hears it.
static void an_import_under_way_is_finished(void **state)
{
  struct stack *s = *state;
  struct import import = {.s = s};
  pthread_t thread;
  make(s, "list", "");
  buf_init(&import.list, 16 * 1024 * 1024);
  buf_puts(&import.list, "userId,source\n");
  for (int i = 1; i <= ROWS; i++) buf_printf(&import.list, "%d,somewhere\n", i);
  assert_int_equal(pthread_create(&thread, NULL, send_list, &import), 0);
  WAIT_FOR(sql_int(s->sql,
                   "select count(*) from pg_stat_activity where datname = current_database() and state = 'active' "
                   "and query like '%%qualification_import%%' and pid <> pg_backend_pid()") > 0,
           20);
  process_signal(s->schedulers[0], SIGTERM);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(process_wait(s->schedulers[0], 60), 0);
  assert_int_equal(import.answer.status, 200);
  http_answer_release(&import.answer);
  buf_release(&import.list);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.qualification"), ROWS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_says_when_to_try_again),
      cmocka_unit_test(an_import_under_way_is_finished),
  };
  return cmocka_run_group_tests_name("scheduler outage", tests, set_up, stack_tear_down);
}
