// SPDX-License-Identifier: Apache-2.0
// The provider simulator as its users see it: started as a program, talked to over HTTP, with a listener of our own for
// its callbacks.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/signature.h"
#include "tests/support/http.h"
#include "tests/support/listener.h"
#include "tests/support/process.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

struct bench {
  int port, listener, listener_port;
  struct process *simulator;
};

static void post(const struct bench *b, const char *path, const char *body, int expected_status)
{
  struct http_answer answer;
  http_post(b->port, path, body, &answer);
  if (answer.status != expected_status) fail_msg("POST %s %s: %d %s", path, body, answer.status, answer.body);
  http_answer_release(&answer);
}

static int credit_status(const struct bench *b, const char *request_id, const char *user_id, int timeout_ms)
{
  return simulator_credit(b->port, request_id, user_id, timeout_ms);
}

static int64_t ledger(const struct bench *b, const char *request_id, const char *name)
{
  return simulator_ledger(b->port, request_id, name);
}

static int64_t stat_of(const struct bench *b, const char *name) { return simulator_stat(b->port, name); }
static void script(const struct bench *b, const char *json) { simulator_script(b->port, json); }

static json_t *get_json(const struct bench *b, const char *path, int expected_status)
{
  json_t *json = NULL;
  assert_int_equal(http_json(b->port, "GET", path, NULL, &json), expected_status);
  return json;
}

static bool get_text_is(const struct bench *b, const char *path, int status, const char *name, const char *expected)
{
  json_t *json = NULL;
  bool same = http_json(b->port, "GET", path, NULL, &json) == status;
  const char *value = json_string_value(json_object_get(json, name));
  same = same && value != NULL && strcmp(value, expected) == 0;
  json_decref(json);
  return same;
}

static bool take_callback(const struct bench *b, int timeout_ms, struct callback *out)
{
  return listener_take(b->listener, timeout_ms, out);
}

static enum result callback_verify(const struct callback *c)
{
  struct signature *s = signature_new();
  const struct signature_secret secret = {SECRET, strlen(SECRET)};
  char *id = callback_header(c, "webhook-id"), *at = callback_header(c, "webhook-timestamp"),
       *signatures = callback_header(c, "webhook-signature");
  enum result result = RESULT_DENIED;
  if (id != NULL && at != NULL && signatures != NULL) {
    result =
        signature_webhook_verify(s, &secret, 1, id, at, signatures, c->body, strlen(c->body), clk_wall(), span_s(300));
  }
  mem_free(id);
  mem_free(at);
  mem_free(signatures);
  signature_free(s);
  return result;
}

// --- set up ---

static int start(void **state)
{
  static struct bench b;
  char *bin = support_bin("simulator");
  int offset = 0;
  b.listener = listener_open(&b.listener_port);
  b.port = support_free_port(&offset);
  char *listen_at = support_format("127.0.0.1:%d", b.port),
       *url = support_format("http://127.0.0.1:%d/callbacks", b.listener_port);
  const char *const argv[] = {bin,        "--listen", listen_at,       "--callback-url", url,
                              "--secret", SECRET,     "--entries-max", "2000",           NULL};
  const struct process_spec spec = {
      .name = "simulator", .argv = argv, .ready_port = b.port, .ready_path = "/sim/stats"};
  b.simulator = process_start(&spec);
  mem_free(bin);
  mem_free(listen_at);
  mem_free(url);
  *state = &b;
  return 0;
}

static int reset(void **state)
{
  const struct bench *b = *state;
  post(b, "/sim/reset", "{}", 200);
  return 0;
}

static int stop(void **state)
{
  struct bench *b = *state;
  struct stopwatch watch = stopwatch_start();
  int status = process_stop(b->simulator, 5);
  double took = stopwatch_seconds(&watch);
  if (status != 0) process_show_log(b->simulator, 50);
  process_free(b->simulator);
  (void)close(b->listener);
  return status == 0 && took < 2 ? 0 : -1;  // SIGTERM ends it at once
}

// --- credits ---

static void a_request_id_is_credited_once(void **state)
{
  const struct bench *b = *state;
  json_t *first = NULL, *second = NULL;
  const char *body =
      "{\"requestId\":\"7-1\",\"userId\":9223372036854775807,\"amount\":100,\"currency\":\"CNY\",\"quantity\":1}";
  struct http_answer answer;
  http_get(b->port, "/credits/7-1", &answer);
  assert_int_equal(answer.status, 404);
  http_answer_release(&answer);
  assert_int_equal(http_json(b->port, "POST", "/credits", body, &first), 200);
  assert_int_equal(http_json(b->port, "POST", "/credits", body, &second), 200);
  assert_true(json_equal(first, second));
  assert_string_equal(json_string_value(json_object_get(first, "status")), "SUCCESS");
  assert_true(get_text_is(b, "/credits/7-1", 200, "ref", json_string_value(json_object_get(first, "ref"))));
  assert_true(get_text_is(b, "/credits/7-1", 200, "status", "SUCCESS"));
  json_decref(first);
  json_decref(second);
  json_t *rows = get_json(b, "/sim/ledger", 200);
  assert_int_equal(json_array_size(rows), 1);
  assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "userId")), "9223372036854775807");
  json_decref(rows);
  assert_int_equal(ledger(b, "7-1", "hits"), 2);
  assert_int_equal(ledger(b, "7-1", "effects"), 1);
  assert_int_equal(stat_of(b, "requests"), 2);
  assert_int_equal(stat_of(b, "duplicates"), 1);
  assert_int_equal(stat_of(b, "effects"), 1);
  post(b, "/credits", "{\"requestId\":\"7-1\",\"userId\":5,\"amount\":100,\"currency\":\"CNY\",\"quantity\":1}", 422);
}

static void without_dedupe_every_post_is_an_effect(void **state)
{
  const struct bench *b = *state;
  post(b, "/sim/config", "{\"dedupe\":false}", 200);
  for (int i = 0; i < 3; i++) assert_int_equal(credit_status(b, "7-1", "42", 0), 200);
  assert_int_equal(ledger(b, "7-1", "effects"), 3);
  assert_int_equal(stat_of(b, "effects"), 3);
  assert_int_equal(reset(state), 0);
  for (int i = 0; i < 3; i++) assert_int_equal(credit_status(b, "7-1", "42", 0), 200);
  assert_int_equal(ledger(b, "7-1", "effects"), 1);  // the reset has switched dedupe on again
}

static void bad_requests_are_refused_and_leave_nothing(void **state)
{
  const struct bench *b = *state;
  post(b, "/credits", "{\"requestId\":\"7-1\"}", 400);
  post(b, "/credits", "{\"requestId\":\"7/1\",\"userId\":1}", 400);
  post(b, "/credits", "[1]", 400);
  post(b, "/credits/7-1/reverse", "{\"refundId\":\"7-1-r\"}", 404);
  post(b, "/payments/7-1/pay", "{}", 404);
  post(b, "/sim/script", "{\"match\":{\"any\":true},\"steps\":[{\"delay\":1}]}", 400);
  post(b, "/sim/config", "{\"dedup\":true}", 400);
  post(b, "/sim/config", "{\"callbackUrl\":\"ftp://x\"}", 400);
  struct http_answer answer;
  const struct http_request other_key = {.port = b->port,
                                         .path = "/credits",
                                         .headers = "Idempotency-Key: \"8\"\r\nContent-Type: application/json\r\n",
                                         .body = "{\"requestId\":\"7-1\",\"userId\":1}"};
  http_call(&other_key, &answer);
  assert_int_equal(answer.status, 400);
  http_answer_release(&answer);
  assert_int_equal(stat_of(b, "entries"), 0);
}

static void the_ledger_is_bounded(void **state)
{
  const struct bench *b = *state;
  struct http_conn conn;
  http_conn_init(&conn, b->port);
  int taken = 0, status = 200;
  for (int i = 0; i <= 2000 && status == 200; i++) {
    char *body = support_format("{\"requestId\":\"9-%d\",\"userId\":1}", i);
    struct http_answer answer;
    http_conn_call(&conn, &(struct http_request){.path = "/credits", .body = body}, &answer);
    status = answer.status;
    taken += status == 200;
    http_answer_release(&answer);
    mem_free(body);
  }
  http_conn_release(&conn);
  assert_int_equal(taken, 2000);
  assert_int_equal(status, 503);
  assert_int_equal(credit_status(b, "9-0", "1", 0), 422);  // known: not a question of room
}

// --- scripts ---

static void an_answer_can_be_lost_after_the_effect(void **state)
{
  const struct bench *b = *state;
  script(b,
         "{\"match\":{\"userId\":42},\"steps\":[{\"close\":true},{\"status\":500},{\"status\":503,\"effect\":\"none\","
         "\"headers\":{\"Retry-After\":\"2\"}}]}");
  assert_int_equal(credit_status(b, "7-9", "43", 0), 200);  // another user
  assert_int_equal(credit_status(b, "7-1", "42", 0), 0);
  assert_int_equal(ledger(b, "7-1", "effects"), 1);
  assert_int_equal(credit_status(b, "7-2", "42", 0), 500);
  assert_int_equal(ledger(b, "7-2", "effects"), 1);
  assert_int_equal(credit_status(b, "7-3", "42", 0), 503);
  assert_int_equal(ledger(b, "7-3", "effects"), 0);
  assert_int_equal(ledger(b, "7-3", "hits"), 1);
  assert_int_equal(credit_status(b, "7-3", "42", 0), 200);
  assert_int_equal(stat_of(b, "scripts"), 0);
}

static void headers_and_raw_bodies_go_out_as_written(void **state)
{
  const struct bench *b = *state;
  script(b,
         "{\"match\":{\"any\":true},\"times\":2,\"steps\":[{\"status\":429,\"headers\":{\"Retry-After\":\"7\","
         "\"Content-Type\":\"text/html\"},"
         "\"body\":\"<h1>no</h1>\",\"effect\":\"none\"}]}");
  struct http_answer answer;
  http_post(b->port, "/credits", "{\"requestId\":\"7-1\",\"userId\":1}", &answer);
  assert_int_equal(answer.status, 429);
  assert_string_equal(answer.body, "<h1>no</h1>");
  char *retry = http_answer_header(&answer, "Retry-After"), *type = http_answer_header(&answer, "Content-Type");
  assert_string_equal(retry, "7");
  assert_string_equal(type, "text/html");
  mem_free(retry);
  mem_free(type);
  http_answer_release(&answer);
  assert_int_equal(credit_status(b, "7-2", "1", 0), 429);
  assert_int_equal(credit_status(b, "7-2", "1", 0), 200);  // used up
}

static void a_delay_times_out_after_the_effect_or_before_it(void **state)
{
  const struct bench *b = *state;
  script(b, "{\"match\":{\"any\":true},\"steps\":[{\"delayMs\":600},{\"delayMs\":600,\"effect\":\"after\"}]}");
  assert_int_equal(credit_status(b, "7-1", "1", 200), 0);
  assert_int_equal(ledger(b, "7-1", "effects"), 1);
  assert_int_equal(credit_status(b, "7-2", "1", 200), 0);
  assert_int_equal(ledger(b, "7-2", "effects"), 0);
  assert_true(get_text_is(b, "/credits/7-2", 200, "status", "PENDING"));  // known to be under way
  WAIT_FOR(ledger(b, "7-2", "effects") == 1, 5);
  assert_true(get_text_is(b, "/credits/7-2", 200, "status", "SUCCESS"));
}

static void delayed_calls_do_not_hold_up_others(void **state)
{
  const struct bench *b = *state;
  enum { COUNT = 20 };
  struct http_request requests[COUNT];
  struct http_answer answers[COUNT];
  script(b, "{\"match\":{\"any\":true},\"times\":20,\"steps\":[{\"delayMs\":400}]}");
  for (int i = 0; i < COUNT; i++) {
    char *body = support_format("{\"requestId\":\"7-%d\",\"userId\":1}", i % 10);
    requests[i] = (struct http_request){.port = b->port, .path = "/credits", .body = body};
  }
  struct stopwatch watch = stopwatch_start();
  http_call_all(requests, COUNT, answers);
  double took = support_now() - watch.begin, counted = stopwatch_seconds(&watch);
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(answers[i].status, 200);
    http_answer_release(&answers[i]);
    mem_free((char *)(uintptr_t)requests[i].body);
  }
  assert_true(took >= 0.39 && counted < 3);
  assert_int_equal(stat_of(b, "maxInFlight"), COUNT);
  assert_int_equal(stat_of(b, "maxInFlightPerRequestId"), 2);
  assert_int_equal(stat_of(b, "inFlight"), 0);
  assert_int_equal(stat_of(b, "effects"), 10);
}

static void a_reset_ends_calls_that_wait(void **state)
{
  const struct bench *b = *state;
  script(b, "{\"match\":{\"any\":true},\"steps\":[{\"delayMs\":300,\"effect\":\"after\"}]}");
  assert_int_equal(credit_status(b, "7-1", "1", 50), 0);
  post(b, "/sim/reset", "{}", 200);
  support_sleep(0.5);
  assert_int_equal(stat_of(b, "entries"), 0);
  assert_int_equal(stat_of(b, "inFlight"), 0);
  assert_int_equal(credit_status(b, "7-1", "1", 0), 200);
}

// --- reversals, payments, callbacks ---

static void a_credit_is_reversed_once_per_refund_id(void **state)
{
  const struct bench *b = *state;
  assert_int_equal(credit_status(b, "7-1", "42", 0), 200);
  script(b, "{\"match\":{\"requestId\":\"7-1-r\"},\"steps\":[{\"close\":true}]}");
  struct http_answer lost;
  http_post(b->port, "/credits/7-1/reverse", "{\"refundId\":\"7-1-r\"}", &lost);
  assert_int_equal(lost.status, 0);
  http_answer_release(&lost);
  post(b, "/credits/7-1/reverse", "{\"refundId\":\"7-1-r\"}", 200);
  assert_int_equal(ledger(b, "7-1", "reversals"), 1);
  json_t *rows = get_json(b, "/sim/ledger?requestId=7-1", 200);
  assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "reversed")));
  json_decref(rows);
}

static void a_payment_is_made_by_the_person(void **state)
{
  const struct bench *b = *state;
  struct callback news;
  const char *body = "{\"requestId\":\"7-1-p\",\"userId\":42,\"amount\":2999,\"currency\":\"CNY\",\"quantity\":3}";
  json_t *order = NULL;
  assert_int_equal(http_json(b->port, "POST", "/payments", body, &order), 202);
  assert_string_equal(json_string_value(json_object_get(order, "status")), "PENDING");
  assert_non_null(json_object_get(order, "url"));
  json_decref(order);
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "PENDING"));
  post(b, "/payments/7-1-p/refund", "{\"refundId\":\"7-1-f\"}", 404);  // nothing to give back yet
  post(b, "/payments/7-1-p/pay", "{}", 200);
  assert_true(take_callback(b, 5000, &news));
  assert_true(callback_is(&news, "requestId", "7-1-p"));
  assert_true(callback_is(&news, "status", "SUCCESS"));
  assert_int_equal(callback_verify(&news), RESULT_OK);
  callback_release(&news);
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "SUCCESS"));
  post(b, "/payments", body, 200);             // a replay tells the present state
  post(b, "/payments/7-1-p/fail", "{}", 200);  // news that contradict; the books do not follow
  assert_true(take_callback(b, 5000, &news));
  assert_true(callback_is(&news, "status", "FAILED"));
  callback_release(&news);
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "SUCCESS"));
  post(b, "/payments/7-1-p/refund", "{\"refundId\":\"7-1-f\"}", 200);
  WAIT_FOR(stat_of(b, "callbacksAccepted") == 2, 5);
}

static void an_order_is_closed_while_it_is_not_paid(void **state)
{
  const struct bench *b = *state;
  struct callback news;
  post(b, "/payments/7-1-p/close", "", 404);
  post(b, "/payments", "{\"requestId\":\"7-1-p\",\"userId\":42,\"amount\":2999}", 202);
  post(b, "/sim/script",
       "{\"match\":{\"userId\":42,\"call\":\"close\"},\"steps\":[{\"status\":503,\"effect\":\"none\"},{\"status\":500}]"
       "}",
       200);
  post(b, "/payments/7-1-p/close", "", 503);
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "PENDING"));
  post(b, "/payments/7-1-p/close", "", 500);  // it took effect, and said that it had failed
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "CLOSED"));
  post(b, "/payments/7-1-p/close", "", 200);
  post(b, "/payments/7-1-p/pay", "{}", 409);
  post(b, "/payments/7-1-p/fail", "{}", 409);
  assert_int_equal(stat_of(b, "callbacksWaiting") + stat_of(b, "callbacksSent"), 0);
  assert_int_equal(ledger(b, "7-1-p", "closes"), 3);
  post(b, "/payments", "{\"requestId\":\"7-2-p\",\"userId\":43,\"amount\":2999}", 202);
  post(b, "/payments/7-2-p/pay", "{}", 200);
  assert_true(take_callback(b, 5000, &news));
  callback_release(&news);
  post(b, "/payments/7-2-p/close", "", 409);
}

// Several providers of one fulfiller may share a simulator: each gets its news at an address of its own.
static void a_merchant_has_its_own_address(void **state)
{
  const struct bench *b = *state;
  struct callback news;
  post(b, "/sim/config", "{\"autoPay\":true}", 200);
  post(b, "/payments", "{\"requestId\":\"7-1\",\"userId\":42,\"amount\":1,\"merchant\":\"../up\"}", 400);
  post(b, "/payments", "{\"requestId\":\"7-1\",\"userId\":42,\"amount\":1,\"merchant\":\"shop-b\"}", 202);
  assert_true(take_callback(b, 5000, &news));
  assert_non_null(strstr(buf_text(&news.bytes), "POST /shop-b HTTP/1.1"));
  callback_release(&news);
}

static void auto_pay_pays_by_itself(void **state)
{
  const struct bench *b = *state;
  struct callback news;
  post(b, "/sim/config", "{\"autoPay\":true}", 200);
  post(b, "/payments", "{\"requestId\":\"7-1-p\",\"userId\":42,\"amount\":2999,\"currency\":\"CNY\"}", 202);
  assert_true(take_callback(b, 5000, &news));
  assert_true(callback_is(&news, "status", "SUCCESS"));
  callback_release(&news);
  assert_true(get_text_is(b, "/payments/7-1-p", 200, "status", "SUCCESS"));
}

static void callbacks_come_early_twice_or_badly_signed(void **state)
{
  const struct bench *b = *state;
  struct callback news;
  script(b,
         "{\"match\":{\"any\":true},\"steps\":[{\"delayMs\":500,\"callback\":{\"copies\":2,\"eventId\":\"evt-1\"}},"
         "{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":300,\"sign\":\"bad\"}},{\"status\":202,"
         "\"callback\":{\"status\":\"FAILED\",\"sign\":\"none\"}}]}");
  assert_int_equal(credit_status(b, "7-1", "1", 100), 0);  // the answer is still to come
  for (int i = 0; i < 2; i++) {
    assert_true(take_callback(b, 2000, &news));
    assert_true(callback_is(&news, "eventId", "evt-1"));
    assert_int_equal(callback_verify(&news), RESULT_OK);
    callback_release(&news);
  }
  assert_int_equal(credit_status(b, "7-2", "1", 0), 202);
  assert_true(get_text_is(b, "/credits/7-2", 200, "status", "PENDING"));
  assert_int_equal(ledger(b, "7-2", "effects"), 0);
  assert_true(take_callback(b, 2000, &news));
  assert_int_equal(callback_verify(&news), RESULT_DENIED);
  callback_release(&news);
  assert_int_equal(ledger(b, "7-2", "effects"), 1);  // it was pending, and the news is that it is done
  assert_int_equal(credit_status(b, "7-3", "1", 0), 202);
  assert_true(take_callback(b, 2000, &news));
  char *signature = callback_header(&news, "webhook-signature");
  assert_null(signature);
  assert_true(callback_is(&news, "status", "FAILED"));
  callback_release(&news);
  assert_false(take_callback(b, 200, &news));
}

// --- the statement ---

static void the_statement_has_a_line_per_movement(void **state)
{
  const struct bench *b = *state;
  char today[16];
  time_t now = time(NULL);
  struct tm utc;
  assert_non_null(gmtime_r(&now, &utc));
  assert_int_equal(strftime(today, sizeof today, "%Y-%m-%d", &utc), 10);
  assert_int_equal(credit_status(b, "7-1", "42", 0), 200);
  post(b, "/credits/7-1/reverse", "{\"refundId\":\"7-1-r\"}", 200);
  post(b, "/payments", "{\"requestId\":\"7-2-p\",\"userId\":42,\"amount\":2999,\"currency\":\"CNY\"}",
       202);  // not paid: no movement
  struct http_answer answer;
  char *path = support_format("/sim/statement.csv?date=%s", today);
  http_get(b->port, path, &answer);
  mem_free(path);
  assert_int_equal(answer.status, 200);
  int lines = 0;
  for (const char *at = answer.body; *at != '\0'; at++) lines += *at == '\n';
  assert_int_equal(lines, 3);
  assert_memory_equal(answer.body, "requestId,userId,type,amount,currency,at,ref\n", 45);
  char *credit = support_format("7-1,42,credit,100,CNY,%sT", today),
       *reverse = support_format("7-1,42,reverse,100,CNY,%sT", today);
  assert_non_null(strstr(answer.body, credit));
  assert_non_null(strstr(answer.body, reverse));
  mem_free(credit);
  mem_free(reverse);
  http_answer_release(&answer);
  http_get(b->port, "/sim/statement.csv?date=2001-01-01", &answer);
  assert_string_equal(answer.body, "requestId,userId,type,amount,currency,at,ref\n");
  http_answer_release(&answer);
  http_get(b->port, "/sim/statement.csv?date=2001-02-30", &answer);
  assert_int_equal(answer.status, 400);
  http_answer_release(&answer);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_request_id_is_credited_once, reset),
      cmocka_unit_test_setup(without_dedupe_every_post_is_an_effect, reset),
      cmocka_unit_test_setup(bad_requests_are_refused_and_leave_nothing, reset),
      cmocka_unit_test_setup(the_ledger_is_bounded, reset),
      cmocka_unit_test_setup(an_answer_can_be_lost_after_the_effect, reset),
      cmocka_unit_test_setup(headers_and_raw_bodies_go_out_as_written, reset),
      cmocka_unit_test_setup(a_delay_times_out_after_the_effect_or_before_it, reset),
      cmocka_unit_test_setup(delayed_calls_do_not_hold_up_others, reset),
      cmocka_unit_test_setup(a_reset_ends_calls_that_wait, reset),
      cmocka_unit_test_setup(a_credit_is_reversed_once_per_refund_id, reset),
      cmocka_unit_test_setup(a_payment_is_made_by_the_person, reset),
      cmocka_unit_test_setup(an_order_is_closed_while_it_is_not_paid, reset),
      cmocka_unit_test_setup(a_merchant_has_its_own_address, reset),
      cmocka_unit_test_setup(auto_pay_pays_by_itself, reset),
      cmocka_unit_test_setup(callbacks_come_early_twice_or_badly_signed, reset),
      cmocka_unit_test_setup(the_statement_has_a_line_per_movement, reset),
  };
  return cmocka_run_group_tests_name("simulator", tests, start, stop);
}
