// SPDX-License-Identifier: Apache-2.0
// Callbacks while the database is away: 503 and nothing promised; what is sent again counts once. B47.
// Stops the server it shares, so:
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
  mem_free(headers);
  mem_free(body);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_promised_that_is_not_kept)};
  return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
