// SPDX-License-Identifier: Apache-2.0
// Callbacks while the database is away: 503 and nothing promised; what is sent again counts once. B47. And while many
// of them wait in it. Stops the server it shares, so:
// runs alone
#include "tests/system/callback_calls.h"

static struct http_answer tell(struct callback_rig *rig, const char *headers, const char *body)
{
  struct http_answer answer;
  http_call(
      &(struct http_request){
          .port = rig->stack->fulfiller_port, .path = "/v1/callbacks/simulator", .headers = headers, .body = body},
      &answer);
  return answer;
}

// B47
static void nothing_is_promised_that_is_not_kept(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "outage", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "outage", 1);
  char *body = callback_body(claim.id, "SUCCESS", 0);
  char *headers = callback_headers(rig, &(struct callback_post){.id = "b47", .body = body});
  sql_close(s->sql);
  s->sql = NULL;
  server_postgres_stop(rig->server, true);
  for (int i = 0; i < 3; i++) {
    struct http_answer answer = tell(rig, headers, body);
    assert_int_equal(answer.status, 503);
    char *after = http_answer_header(&answer, "Retry-After");
    assert_non_null(after);
    mem_free(after);
    http_answer_release(&answer);
  }
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "b47", .secret = "guess", .body = body}), 401);
  server_postgres_start(rig->server);
  s->sql = server_open(rig->server, s->database);
  assert_true(delivery_is(s, claim.id, "issuing"));
  int status = 0;
  for (struct waiting w = waiting_start(30); status != 204 && waiting_more(&w);) {
    struct http_answer answer = tell(rig, headers, body);
    status = answer.status;
    if (status != 503) assert_int_equal(status, 204);
    http_answer_release(&answer);
  }
  assert_int_equal(status, 204);
  struct http_answer again = tell(rig, headers, body);
  assert_int_equal(again.status, 204);
  http_answer_release(&again);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.callback where event_id = 'b47'"), 1);
  assert_int_equal(activity_remaining(s->sql, "outage"), 9);
  // The scheduler comes back to the database in its own time.
  struct claim_click click = claim_click(s->scheduler_ports[0], "outage", 2, "afterwards");
  WAIT_FOR(claim_send(&click).status == 201, 20);
  mem_free(headers);
  mem_free(body);
}

// --- a rush of callbacks that wait for one activity

#define RUSH 60

static int send_rushed(const struct callback_rig *rig, const char *request_id, int i)
{
  char id[32];
  (void)snprintf(id, sizeof id, "rush-%d", i);
  char *body = callback_body(request_id, "FAILED", 0);
  char *headers = callback_headers(rig, &(struct callback_post){.id = id, .body = body});
  char *request = support_format(
      "POST /v1/callbacks/simulator HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%sContent-Length: "
      "%zu\r\n\r\n%s",
      headers, strlen(body), body);
  int fd = http_connect(rig->stack->fulfiller_port);
  if (fd < 0 || write(fd, request, strlen(request)) != (ssize_t)strlen(request)) support_die("cannot send a callback");
  mem_free(request);
  mem_free(headers);
  mem_free(body);
  return fd;
}

// The status of the answer: 204 or 503; 0 for any other, or none.
static int answer_of(int fd)
{
  char text[64] = "";
  size_t len = 0;
  for (ssize_t got = 1; got > 0 && len<sizeof text - 1; len += got> 0 ? (size_t)got : 0)
    got = read(fd, text + len, sizeof text - 1 - len);
  (void)close(fd);
  for (int status = 204; status < 600; status += 503 - 204) {
    char line[16];
    (void)snprintf(line, sizeof line, "HTTP/1.1 %d", status);
    if (strncmp(text, line, strlen(line)) == 0) return status;
  }
  return 0;
}

static int64_t waiting_in_database(struct sql *sql)
{
  return sql_int(sql,
                 "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = "
                 "'Lock' and application_name = 'largesse fulfiller'");
}

// They may not take all connections: others' deliveries go on. Half of the pool of eight waits, the rest in line.
static void deliveries_go_on_while_callbacks_wait(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "hot", .stock = 10});
  activity_make(s->sql, &(struct activity_terms){.code = "beside", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "hot", 901);
  struct sql *holder = server_open(rig->server, s->database);
  sql_exec(holder,
           "begin; select from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'hot' "
           "for update of s");
  int fds[RUSH], answers[2] = {0};
  for (int i = 0; i < RUSH; i++) fds[i] = send_rushed(rig, claim.id, i);
  WAIT_FOR(waiting_in_database(s->sql) == 4, 10);
  struct delivery_claim other = delivery_claim(s, "beside", 902);
  WAIT_FOR(delivery_is(s, other.id, "succeeded") || waiting_in_database(s->sql) > 4, 10);
  assert_true(waiting_in_database(s->sql) <= 4);
  assert_true(delivery_is(s, other.id, "succeeded"));
  sql_exec(holder, "rollback");
  sql_close(holder);
  for (int i = 0; i < RUSH; i++) {
    int status = answer_of(fds[i]);
    assert_true(status == 204 || status == 503);
    answers[status == 204]++;
  }
  // Who was told 503 sends again.
  for (int i = 0; answers[1] == 0 && i < RUSH; i++) answers[1] += answer_of(send_rushed(rig, claim.id, i)) == 204;
  assert_true(answers[1] > 0);
  assert_true(sql_int(s->sql, "select count(*) from largesse.callback where event_id like 'rush-%%'") >= answers[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_promised_that_is_not_kept),
                                     cmocka_unit_test(deliveries_go_on_while_callbacks_wait)};
  return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
