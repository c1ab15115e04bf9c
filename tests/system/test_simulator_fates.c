// SPDX-License-Identifier: Apache-2.0
// The simulator's fates, over HTTP: seeded misfortune per user, a failure that is paid after all, and what may be asked
// about reversals. What the fates are is tested in tests/unit/test_sim_chaos.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/process.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

struct bench {
  int port;
  struct process *simulator;
};

static int start(void **state)
{
  static struct bench b;
  char *bin = support_bin("simulator");
  int offset = 0;
  b.port = support_free_port(&offset);
  char *listen_at = support_format("127.0.0.1:%d", b.port);
  b.simulator = process_start(&(struct process_spec){.name = "simulator",
                                                     .argv = (const char *[]){bin, "--listen", listen_at, NULL},
                                                     .ready_port = b.port,
                                                     .ready_path = "/sim/stats"});
  mem_free(listen_at);
  mem_free(bin);
  *state = &b;
  return 0;
}

static int stop(void **state)
{
  struct bench *b = *state;
  process_free(b->simulator);
  return 0;
}

static int reset(void **state)
{
  const struct bench *b = *state;
  simulator_reset(b->port);
  return 0;
}

static void post(const struct bench *b, const char *path, const char *body, int expected_status)
{
  struct http_answer answer;
  http_post(b->port, path, body, &answer);
  if (answer.status != expected_status) fail_msg("POST %s %s: %d %s", path, body, answer.status, answer.body);
  http_answer_release(&answer);
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

static bool ledger_says(const struct bench *b, const char *request_id, const char *name, const char *expected)
{
  char *path = support_format("/sim/ledger?requestId=%s", request_id);
  json_t *list = NULL;
  assert_int_equal(http_json(b->port, "GET", path, NULL, &list), 200);
  const char *value = json_string_value(json_object_get(json_array_get(list, 0), name));
  bool same = value != NULL && strcmp(value, expected) == 0;
  json_decref(list);
  mem_free(path);
  return same;
}

static void a_seeded_provider_treats_users_by_their_fate(void **state)
{
  struct bench *b = *state;
  post(b, "/sim/config", "{\"dedupe\":false}", 200);
  post(b, "/sim/chaos", "{\"seed\":1,\"mix\":{\"lostAnswer\":1}}", 200);
  assert_int_equal(simulator_credit(b->port, "l-1", "1", 0), 0);  // no answer, but the effect
  assert_int_equal(simulator_ledger(b->port, "l-1", "effects"), 1);
  assert_true(ledger_says(b, "l-1", "fate", "lostAnswer") && ledger_says(b, "l-1", "end", "succeeded"));
  assert_int_equal(simulator_credit(b->port, "l-1", "1", 0), 200);  // it heals
  post(b, "/sim/chaos", "{\"seed\":1,\"mix\":{\"rateHuge\":1}}", 200);
  assert_int_equal(simulator_credit(b->port, "r-1", "1", 0), 429);
  assert_int_equal(simulator_ledger(b->port, "r-1", "effects"), 0);
  // A script for the user comes before the fate.
  simulator_script(b->port, "{\"match\":{\"userId\":2},\"steps\":[{\"status\":418,\"effect\":\"none\"}]}");
  assert_int_equal(simulator_credit(b->port, "r-2", "2", 0), 418);
  post(b, "/sim/chaos", "{\"seed\":1,\"mix\":{\"nothing\":1}}", 400);
  post(b, "/sim/reset", "{}", 200);
  assert_int_equal(simulator_credit(b->port, "r-3", "1", 0), 200);
}

// Failed by callback, paid by the next one: what owes a reversal.
static void a_failed_credit_may_be_paid_after_all(void **state)
{
  struct bench *b = *state;
  post(b, "/sim/chaos", "{\"seed\":1,\"mix\":{\"paidAfterAll\":1},\"callbackMs\":20,\"lateMs\":400}", 200);
  assert_int_equal(simulator_credit(b->port, "p-1", "1", 0), 202);
  WAIT_FOR(get_text_is(b, "/credits/p-1", 200, "status", "FAILED"), 5);
  WAIT_FOR(get_text_is(b, "/credits/p-1", 200, "status", "SUCCESS"), 5);
  assert_int_equal(simulator_ledger(b->port, "p-1", "effects"), 1);
}

static void a_reversal_can_be_asked_about(void **state)
{
  struct bench *b = *state;
  assert_int_equal(simulator_credit(b->port, "q-1", "1", 0), 200);
  assert_true(get_text_is(b, "/credits/q-1/reverse/q-1-r", 404, "code", "NOT_FOUND"));
  post(b, "/credits/q-1/reverse", "{\"refundId\":\"q-1-r\"}", 200);
  assert_true(get_text_is(b, "/credits/q-1/reverse/q-1-r", 200, "status", "SUCCESS"));
  assert_true(get_text_is(b, "/credits/q-1/reverse/other", 404, "code", "NOT_FOUND"));
  assert_true(get_text_is(b, "/credits/q-9/reverse/q-1-r", 404, "code", "NOT_FOUND"));
  // On its way, the effect still to come.
  assert_int_equal(simulator_credit(b->port, "q-2", "2", 0), 200);
  simulator_script(b->port, "{\"match\":{\"requestId\":\"q-2-r\"},\"steps\":[{\"delayMs\":600,\"effect\":\"after\"}]}");
  struct http_answer answer;
  const struct http_request request = {
      .port = b->port, .path = "/credits/q-2/reverse", .body = "{\"refundId\":\"q-2-r\"}", .timeout_ms = 100};
  http_call(&request, &answer);
  assert_int_equal(answer.status, 0);
  http_answer_release(&answer);
  assert_true(get_text_is(b, "/credits/q-2/reverse/q-2-r", 200, "status", "PENDING"));
  WAIT_FOR(get_text_is(b, "/credits/q-2/reverse/q-2-r", 200, "status", "SUCCESS"), 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_seeded_provider_treats_users_by_their_fate, reset),
      cmocka_unit_test_setup(a_failed_credit_may_be_paid_after_all, reset),
      cmocka_unit_test_setup(a_reversal_can_be_asked_about, reset),
  };
  return cmocka_run_group_tests_name("the simulator's fates", tests, start, stop);
}
