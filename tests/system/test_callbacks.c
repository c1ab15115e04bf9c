// SPDX-License-Identifier: Apache-2.0
// Callbacks as an endpoint: what is signed is taken once and moves a claim only where the table of states allows it;
// what is not signed, too old, too large or about nothing of ours changes nothing.
#include "tests/system/callback_calls.h"

#include <pthread.h>

// --- states

static int64_t events_of(struct callback_rig *rig, const char *claim_id)
{
  return sql_int(rig->stack->sql, "select count(*) from largesse.callback where activity_id || '-' || claim_id = '%s'",
                 claim_id);
}

// B37
static void the_news_may_come_before_the_answer(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  struct broker *broker = broker_open(s->broker_url);
  struct buf body;
  broker_bind_queue(broker, "b37", "largesse.events", "claim.succeeded");
  activity_make(s->sql, &(struct activity_terms){.code = "early", .stock = 10});
  delivery_script(s, 1,
                  "[{\"delayMs\":2000,\"callback\":{\"delayMs\":100,\"status\":\"SUCCESS\",\"eventId\":\"b37\"}}]");
  struct delivery_claim claim = delivery_claim(s, "early", 1);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 10);
  WAIT_FOR(sql_int(s->sql,
                   "select count(*) from largesse.attempt where activity_id || '-' || claim_id = '%s' and outcome = "
                   "'done'",
                   claim.id) == 1,
           10);
  assert_true(sql_bool(s->sql,
                       "select c.succeeded_at < t.started_at + t.duration_us * interval '1 microsecond' from "
                       "largesse.claim c join largesse.attempt t on t.activity_id = c.activity_id and t.claim_id = c.id"
                       " where c.activity_id || '-' || c.id = '%s'",
                       claim.id));
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(activity_remaining(s->sql, "early"), 9);
  assert_int_equal(delivery_effects(s, claim.id), 1);
  assert_int_equal(events_of(rig, claim.id), 1);
  WAIT_FOR(broker_count(broker, "b37") >= 1, 10);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.event_out") == 0, 10);
  int told = 0;
  for (buf_init(&body, 65536); broker_get(broker, "b37", &body); buf_clear(&body))
    told += strstr(buf_text(&body), claim.id) != NULL;
  assert_int_equal(told, 1);
  buf_release(&body);
  broker_close(broker);
}

struct sender {
  const struct callback_rig *rig;
  struct http_request request;
  int status;
};

static void *send_it(void *ctx)
{
  struct sender *sender = ctx;
  struct http_answer answer;
  http_call(&sender->request, &answer);
  sender->status = answer.status;
  http_answer_release(&answer);
  return NULL;
}

// B38
static void an_event_twice_within_70_ms_counts_once(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "twice", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "twice", 2);
  char *body = callback_body(claim.id, "SUCCESS", 0);
  char *headers = callback_headers(rig, &(struct callback_post){.id = "b38", .body = body});
  struct sender first =
                    {rig,
                     {.port = s->fulfiller_port, .path = "/v1/callbacks/simulator", .headers = headers, .body = body},
                     0},
                second = first;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, send_it, &first), 0);
  support_sleep(0.07);  // the distance is the case
  send_it(&second);
  pthread_join(thread, NULL);
  assert_int_equal(first.status, 204);
  assert_int_equal(second.status, 204);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(events_of(rig, claim.id), 1);
  assert_int_equal(activity_remaining(s->sql, "twice"), 9);
  mem_free(headers);
  mem_free(body);
}

#define COPIES 24

static void many_copies_at_the_same_moment_count_once(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  struct http_request requests[COPIES];
  struct http_answer answers[COPIES];
  activity_make(s->sql, &(struct activity_terms){.code = "crowd", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "crowd", 3);
  char *body = callback_body(claim.id, "SUCCESS", 0);
  char *headers = callback_headers(rig, &(struct callback_post){.id = "crowd", .body = body});
  for (int i = 0; i < COPIES; i++)
    requests[i] = (struct http_request){
        .port = s->fulfiller_port, .path = "/v1/callbacks/simulator", .headers = headers, .body = body};
  http_call_all(requests, COPIES, answers);
  for (int i = 0; i < COPIES; i++) {
    assert_int_equal(answers[i].status, 204);
    http_answer_release(&answers[i]);
  }
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(events_of(rig, claim.id), 1);
  mem_free(headers);
  mem_free(body);
}

#define QUARRELS 32

// Success and failure of each claim, all at the same moment: no request fails, and each claim ends in one of the two.
static void contradicting_news_at_the_same_moment_does_no_harm(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  static struct delivery_claim claims[QUARRELS];
  static struct http_request requests[2 * QUARRELS];
  static struct http_answer answers[2 * QUARRELS];
  activity_make(s->sql, &(struct activity_terms){.code = "quarrel", .stock = QUARRELS});
  for (int i = 0; i < QUARRELS; i++) claims[i] = callback_pending(rig, "quarrel", 1000 + i);
  for (int i = 0; i < 2 * QUARRELS; i++) {
    char *id = support_format("quarrel-%d", i);
    char *body = callback_body(claims[i / 2].id, i % 2 == 0 ? "FAILED" : "SUCCESS", 0);
    char *headers = callback_headers(rig, &(struct callback_post){.id = id, .body = body});
    requests[i] = (struct http_request){
        .port = s->fulfiller_port, .path = "/v1/callbacks/simulator", .headers = headers, .body = body};
    mem_free(id);
  }
  http_call_all(requests, 2 * QUARRELS, answers);
  for (int i = 0; i < 2 * QUARRELS; i++) {
    assert_int_equal(answers[i].status, 204);
    http_answer_release(&answers[i]);
    mem_free((char *)requests[i].headers);
    mem_free((char *)requests[i].body);
  }
  int64_t failed = 0;
  for (int i = 0; i < QUARRELS; i++) {
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded") || delivery_is(s, claims[i].id, "failed"), 20);
    // Where the failure was believed first, the success is owed a reversal.
    bool is_failed = delivery_is(s, claims[i].id, "failed");
    if (is_failed) assert_int_equal(delivery_int(s, claims[i].id, "(reversal is not null)::int"), 1);
    failed += is_failed;
  }
  assert_int_equal(activity_remaining(s->sql, "quarrel"), failed);
}

// B40
static void a_failure_after_a_success_is_only_kept(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "undo", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "undo", 4);
  assert_int_equal(callback_tell(rig, "b40-1", claim.id, "SUCCESS", 0), 204);
  assert_int_equal(callback_tell(rig, "b40-2", claim.id, "FAILED", 5), 204);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_true(callback_is(rig, "b40-2", "contradicts"));
  char *line = support_format("callback.contradicts provider=simulator event_id=b40-2 request_id=%s", claim.id);
  WAIT_FOR(process_log_has(s->fulfiller, line), 5);
  mem_free(line);
  struct http_answer answer;
  http_get(s->fulfiller_port, "/metrics", &answer);
  assert_non_null(strstr(answer.body, "largesse_callbacks_total{provider=\"simulator\",outcome=\"contradicts\"}"));
  http_answer_release(&answer);
  assert_int_equal(activity_remaining(s->sql, "undo"), 9);
}

// B41
static void older_news_changes_nothing(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "order", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "order", 5);
  // The failure is the newer news; with nothing running any more it is final.
  WAIT_FOR(delivery_int(s, claim.id, "(trust_after is null or trust_after <= largesse.clock_now())::int") == 1, 10);
  assert_int_equal(callback_tell(rig, "b41-2", claim.id, "FAILED", 20), 204);
  assert_true(delivery_is(s, claim.id, "failed"));
  assert_int_equal(callback_tell(rig, "b41-1", claim.id, "SUCCESS", 10), 204);
  assert_true(delivery_is(s, claim.id, "failed"));
  assert_true(callback_is(rig, "b41-1", "stale"));
  assert_int_equal(delivery_int(s, claim.id, "(reversal is not null)::int"), 0);
  assert_int_equal(activity_remaining(s->sql, "order"), 10);
}

// The provider did deliver after all: that is taken back, and given back once.
static void a_success_after_a_failure_is_taken_back(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "late", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "late", 6);
  WAIT_FOR(delivery_int(s, claim.id, "(trust_after is null or trust_after <= largesse.clock_now())::int") == 1, 10);
  assert_int_equal(callback_tell(rig, "late-1", claim.id, "FAILED", 1), 204);
  assert_true(delivery_is(s, claim.id, "failed"));
  assert_int_equal(activity_remaining(s->sql, "late"), 10);
  char *credit = support_format(
      "{\"requestId\":\"%s\",\"userId\":\"6\",\"rewardCode\":\"voucher-100\",\"amount\":10000,\"currency\":\"CNY\","
      "\"quantity\":1}",
      claim.id);
  struct http_answer answer;  // the provider does at last what it was asked for
  http_post(s->simulator_port, "/credits", credit, &answer);
  assert_int_equal(answer.status, 200);
  http_answer_release(&answer);
  mem_free(credit);
  assert_int_equal(callback_tell(rig, "late-2", claim.id, "SUCCESS", 2), 204);
  WAIT_FOR(delivery_int(s, claim.id, "(reversed_at is not null)::int") == 1, 20);
  assert_true(delivery_is(s, claim.id, "failed"));
  assert_int_equal(simulator_ledger(s->simulator_port, claim.id, "reversals"), 1);
  assert_int_equal(activity_remaining(s->sql, "late"), 10);
}

// A failure that is told while the call is under way only makes somebody ask; the provider knows better.
static void a_failure_during_the_call_only_asks(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "doubt", .stock = 10});
  delivery_script(s, 7,
                  "[{\"delayMs\":6000,\"effect\":\"before\",\"callback\":{\"delayMs\":200,\"status\":\"FAILED\"}}]");
  struct delivery_claim claim = delivery_claim(s, "doubt", 7);
  WAIT_FOR(events_of(rig, claim.id) == 1, 10);
  assert_true(delivery_is(s, claim.id, "issuing"));
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 20);
  assert_int_equal(delivery_effects(s, claim.id), 1);
  assert_int_equal(activity_remaining(s->sql, "doubt"), 9);
}

static void news_of_a_reversal_ends_it(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "back", .stock = 10});
  struct delivery_claim claim = delivery_claim(s, "back", 8);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 10);
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":8,\"call\":\"reverse\"},\"steps\":[{\"status\":202,\"body\":{\"status\":"
                   "\"PENDING\"},\"callback\":{\"delayMs\":700,\"eventId\":\"back\"}}]}");
  sql_exec(s->sql,
           "select largesse.claim_reverse(array[split_part('%s', '-', 1)::bigint], array[split_part('%s', '-', "
           "2)::bigint])",
           claim.id, claim.id);
  WAIT_FOR(delivery_is(s, claim.id, "rolled_back"), 15);
  assert_true(callback_is(rig, "back", "applied"));
  assert_int_equal(activity_remaining(s->sql, "back"), 10);
  assert_int_equal(simulator_ledger(s->simulator_port, claim.id, "reversals"), 1);
}

// --- signatures

// B42
static void the_raw_bytes_are_signed(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "raw", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "raw", 10);
  char *odd = support_format("\r\n{ \"status\":  \"SUCC\\u0045SS\" ,\t\"x\": 1.0, \"requestId\" : \"%s\" } ", claim.id);
  char *same = support_format("{\"requestId\":\"%s\",\"status\":\"SUCCESS\",\"x\":1}", claim.id);
  struct buf signature;
  int64_t at = clk_wall().us / 1000000;
  char timestamp[24];
  (void)snprintf(timestamp, sizeof timestamp, "%" PRId64, at);
  buf_init(&signature, 200);
  signature_webhook_sign(rig->signature, rig->secret, strlen(rig->secret), "b42", at, odd, strlen(odd), &signature);
  struct callback_post post = {.id = "b42", .timestamp = timestamp, .signature = buf_text(&signature), .body = same};
  assert_int_equal(callback_post(rig, &post), 401);
  assert_true(delivery_is(s, claim.id, "issuing"));
  post.body = odd;
  assert_int_equal(callback_post(rig, &post), 204);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  buf_release(&signature);
  mem_free(odd);
  mem_free(same);
}

// B44. 299 s are a second from the limit: on a busy machine the answer to a late arrival does not count.
static void the_age_of_the_signature_counts(void **state)
{
  struct callback_rig *rig = *state;
  static const char body[] = "{\"requestId\":\"nothing-of-ours\",\"status\":\"PING\"}";
  int status = 0;
  double begun = 0;
  for (int i = 0; i < 10 && (status == 0 || support_now() - begun > 0.5); i++) {
    begun = support_now();
    status = callback_post(rig, &(struct callback_post){.id = "b44", .age_s = 299, .body = body});
  }
  assert_int_equal(status, 204);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "b44", .age_s = 301, .body = body}), 401);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "b44", .age_s = -302, .body = body}), 401);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "b44", .timestamp = "", .body = body}), 401);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "b44", .timestamp = "soon", .body = body}), 401);
  char *headers = callback_headers(rig, &(struct callback_post){.id = "b44", .body = body});
  char *at = strstr(headers, "webhook-timestamp");
  memcpy(at, "x", 1);  // another header's name: ours is missing
  struct http_answer answer;
  http_call(
      &(struct http_request){
          .port = rig->stack->fulfiller_port, .path = "/v1/callbacks/simulator", .headers = headers, .body = body},
      &answer);
  assert_int_equal(answer.status, 401);
  json_t *problem = http_answer_json(&answer);
  assert_string_equal(json_string_value(json_object_get(problem, "code")), "UNAUTHENTICATED");
  json_decref(problem);
  http_answer_release(&answer);
  mem_free(headers);
}

static void forgeries_and_replays_change_nothing(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "forged", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "forged", 11);
  char *body = callback_body(claim.id, "SUCCESS", 0);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "forged", .secret = "guess", .body = body}), 401);
  assert_int_equal(callback_post(rig, &(struct callback_post){.id = "forged", .signature = "v1,", .body = body}), 401);
  assert_int_equal(callback_post(rig, &(struct callback_post){.provider = "rotating", .id = "forged", .body = body}),
                   401);
  assert_true(delivery_is(s, claim.id, "issuing"));
  assert_true(callback_is(rig, "forged", ""));
  for (int i = 0; i < 3; i++)
    assert_int_equal(callback_post(rig, &(struct callback_post){.id = "replayed", .body = body}), 204);
  assert_true(delivery_is(s, claim.id, "succeeded"));
  assert_int_equal(events_of(rig, claim.id), 1);
  char *line = support_format("request_id=%s claim_id=%s biz_id=forged-11 activity=forged", claim.id, claim.id);
  WAIT_FOR(process_log_has(s->fulfiller, line), 5);  // with the trace that the claim has
  mem_free(line);
  struct http_answer answer;
  http_get(s->fulfiller_port, "/metrics", &answer);
  assert_non_null(strstr(answer.body, "largesse_callbacks_total{provider=\"simulator\",outcome=\"forged\"}"));
  assert_non_null(strstr(answer.body, "largesse_callbacks_total{provider=\"simulator\",outcome=\"duplicate\"}"));
  http_answer_release(&answer);
  mem_free(body);
}

// --- what is not about a claim

static void what_nobody_asked_for_is_kept_for_review(void **state)
{
  struct callback_rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "other", .stock = 10});
  struct delivery_claim claim = callback_pending(rig, "other", 12);
  int64_t before = sql_int(s->sql, "select count(*) from largesse.dead_letter where cause = 'callback_unmatched'");
  assert_int_equal(callback_tell(rig, "unknown-1", "999999999-7", "SUCCESS", 0), 204);
  assert_int_equal(callback_tell(rig, "unknown-2", "order 7", "FAILED", 0), 204);
  assert_int_equal(callback_tell(rig, "unknown-2", "order 7", "FAILED", 0), 204);
  char *body = callback_body(claim.id, "SUCCESS", 0);
  assert_int_equal(
      callback_post(rig,
                    &(struct callback_post){.provider = "rotating", .secret = CALLBACK_NEW, .id = "u3", .body = body}),
      204);
  mem_free(body);
  assert_true(callback_is(rig, "unknown-1", "unmatched") && callback_is(rig, "u3", "unmatched"));
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.dead_letter where cause = 'callback_unmatched' and closed_at is null"),
      before + 3);
  assert_true(delivery_is(s, claim.id, "issuing"));
  struct broker *broker = broker_open(s->broker_url);
  json_t *dead = NULL;
  bool found = false;
  WAIT_FOR(broker_count(broker, DELIVERY_DEAD) >= 3, 10);
  while ((dead = delivery_take_dead(broker)) != NULL) {
    const char *cause = json_string_value(json_object_get(dead, "cause"));
    found = found || (cause != NULL && strcmp(cause, "callback_unmatched") == 0);
    json_decref(dead);
  }
  assert_true(found);
  broker_close(broker);
}

static int status_of(const struct callback_rig *rig, const char *method, const char *path, const char *headers,
                     const char *body)
{
  struct http_answer answer;
  http_call(
      &(struct http_request){
          .port = rig->stack->fulfiller_port, .method = method, .path = path, .headers = headers, .body = body},
      &answer);
  int status = answer.status;
  http_answer_release(&answer);
  return status;
}

static void other_requests_are_refused(void **state)
{
  struct callback_rig *rig = *state;
  char large[20000];
  memset(large, ' ', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  assert_int_equal(status_of(rig, "POST", "/v1/callbacks/nobody", NULL, "{}"), 404);
  assert_int_equal(status_of(rig, "POST", "/v1/callbacks/silent", NULL, "{}"), 404);
  assert_int_equal(status_of(rig, "GET", "/v1/callbacks/simulator", NULL, NULL), 405);
  assert_int_equal(status_of(rig, "POST", "/v1/callbacks/simulator", NULL, large), 413);
  assert_int_equal(status_of(rig, "POST", "/v1/callbacks/simulator", "Content-Type: text/plain\r\n", "{}"), 415);
  assert_int_equal(status_of(rig, "POST", "/v1/callbacks/simulator", NULL, "{}"), 401);
  // Signed, but no document (B75, B82).
  static const char *const bodies[] = {"{\"a\":1,\"a\":2}", "{\"a\":\"\\u0000\"}", "{\"a\":\"\xff\"}", "{"};
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
    assert_int_equal(callback_post(rig, &(struct callback_post){.id = "rubbish", .body = bodies[i]}), 400);
  assert_true(callback_is(rig, "rubbish", ""));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_news_may_come_before_the_answer),
      cmocka_unit_test(an_event_twice_within_70_ms_counts_once),
      cmocka_unit_test(many_copies_at_the_same_moment_count_once),
      cmocka_unit_test(contradicting_news_at_the_same_moment_does_no_harm),
      cmocka_unit_test(a_failure_after_a_success_is_only_kept),
      cmocka_unit_test(older_news_changes_nothing),
      cmocka_unit_test(a_success_after_a_failure_is_taken_back),
      cmocka_unit_test(a_failure_during_the_call_only_asks),
      cmocka_unit_test(news_of_a_reversal_ends_it),
      cmocka_unit_test(the_raw_bytes_are_signed),
      cmocka_unit_test(the_age_of_the_signature_counts),
      cmocka_unit_test(forgeries_and_replays_change_nothing),
      cmocka_unit_test(what_nobody_asked_for_is_kept_for_review),
      cmocka_unit_test(other_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
