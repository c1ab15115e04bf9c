// SPDX-License-Identifier: Apache-2.0
// Bad input at the activity API of the scheduler and of the reconciler, which say the same, and the commands that do
// the same as its calls.
#include "tests/system/activity_calls.h"

static const struct {
  const char *method, *path, *body;
  int status;
  const char *code;
} cases[] = {
    {"PUT", "/v1/activities/bad", "", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", "[]", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", "{}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"name\":\"twice\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"colour\":1"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"venue\":null"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"code\":\"other\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(",\"stock\":{\"total\":-1}"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(",\"stock\":{\"total\":1.5}"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(",\"stock\":{\"total\":9223372036854775808}"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"attributes\":{\"a\":\"\\u0000\"}"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"venue\":\"\xff\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     RUNNING(STOCK ",\"limits\":[{\"count\":1,\"period\":\"day\"},{\"count\":2,\"period\":\"day\"}]"), 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-02-29T10:00:00Z", "2027-03-29T10:00:00Z", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-03-01T10:00:00Z", "2027-03-01T10:00:00Z", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-03-01T10:00:00Z", "2027-03-02", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     "{\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2027-03-01T10:00:00Z\",\"endAt\":\"2027-04-01T10:00:00Z\","
     "\"timeZone\":\"Mars/Base\",\"rewardCode\":\"r\"" STOCK "}",
     400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     "{\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2027-03-01T10:00:00Z\",\"endAt\":\"2027-04-01T10:00:00Z\","
     "\"timeZone\":\"UTC\",\"rewardCode\":\"none\"" STOCK "}",
     400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"eventCode\":\"none\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"eligibility\":\"$.user.level\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"eligibility\":\"$.user.level >\""), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"pointsCost\":299"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"limits\":[{\"count\":1,\"period\":\"event\"}]"), 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"waitingList\":{\"max\":5}"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     "{\"name\":\"n\",\"kind\":\"number\",\"startAt\":\"2027-03-01T10:00:00Z\",\"endAt\":\"2027-04-01T10:00:00Z\","
     "\"timeZone\":\"UTC\",\"price\":{\"amount\":200,\"currency\":\"CNY\"},\"paymentProvider\":\"elsewhere\"}",
     400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/%3Cb%3E", RUNNING(STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/-bad", RUNNING(STOCK), 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities/%3Cb%3E", NULL, 404, "ACTIVITY_NOT_FOUND"},
    {"GET", "/v1/activities/%FF", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities/a%00", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities?limit=0", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities?limit=1001", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities?limit=1e2", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities?status=open", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities?after=%20", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/activities/none/history", NULL, 404, "ACTIVITY_NOT_FOUND"},
    {"GET", "/v1/activities/none/claims", NULL, 404, "ACTIVITY_NOT_FOUND"},
    {"GET", "/v1/users/7/claims?after=-1", NULL, 400, "INVALID_REQUEST"},
    {"GET", "/v1/users/7/claims?after=9223372036854775808", NULL, 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/publish", "{\"reason\":1}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/publish", "{\"reason\":null}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/publish", "{\"because\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/publish", "[]", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":0,\"reason\":\"x\"}", 400,
     "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":1.0,\"reason\":\"x\"}", 400,
     "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":\"1\",\"reason\":\"x\"}", 400,
     "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":9223372036854775807,\"reason\":\"x\"}",
     400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"a b\",\"by\":1,\"reason\":\"x\"}", 400,
     "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"by\":1,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":1}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"elsewhere\"}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"simulator\",\"amount\":{\"amount\":-1000,\"currency\":\"CNY\"}}", 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"simulator\",\"amount\":{\"amount\":1e2,\"currency\":\"CNY\"}}", 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad",
     "{\"provider\":\"simulator\",\"amount\":{\"amount\":9223372036854775808,\"currency\":\"CNY\"}}", 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/b%20d", "{\"provider\":\"simulator\"}", 400, "INVALID_REQUEST"},
    {"DELETE", "/v1/activities/good", NULL, 405, "METHOD_NOT_ALLOWED"},
    {"POST", "/v1/activities/good/launch", "{}", 404, "NOT_FOUND"},
};

static int start_both(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  f->stack = stack_start(f->server, &(struct stack_options){.no_fulfiller = true, .no_simulator = true});
  f->port = f->stack->scheduler_ports[0];
  *state = f;
  return 0;
}

// The other daemon checks the same input by the same words.
static void assert_same_there(struct fixture *f, size_t i)
{
  struct fixture there = *f;
  there.port = f->stack->reconciler_port;
  struct call a = call_with(f, cases[i].method, cases[i].path, cases[i].body, NULL);
  struct call b = call_with(&there, cases[i].method, cases[i].path, cases[i].body, NULL);
  if (a.status != b.status || !json_equal(a.json, b.json))
    fail_msg("%s %s %s: %d %s at the scheduler, %d %s at the reconciler", cases[i].method, cases[i].path,
             cases[i].body != NULL ? cases[i].body : "", a.status, text_at(&a, "/detail"), b.status,
             text_at(&b, "/detail"));
  call_release(&a);
  call_release(&b);
}

static void bad_input_is_a_clear_4xx_and_changes_nothing(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/good", RUNNING(STOCK), 201);
  static const char tables[] =
      "select (select count(*) from largesse.activity), (select count(*) from largesse.reward), (select count(*) from "
      "largesse.activity_history),"
      " (select count(*) from largesse.stock_adjustment), (select max(version) from largesse.activity where code = "
      "'good')";
  char *before = sql_table(f->stack->sql, "%s", tables);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    assert_call(f, cases[i].method, cases[i].path, cases[i].body, cases[i].status, cases[i].code);
    assert_same_there(f, i);
  }
  char *after = sql_table(f->stack->sql, "%s", tables);
  assert_string_equal(before, after);
  mem_free(before);
  mem_free(after);
  struct call c = call_with(f, "PUT", "/v1/activities/good", RUNNING(STOCK), "Content-Type: text/plain\r\n");
  assert_int_equal(c.status, 415);
  call_release(&c);
}

// The same as the commands show it.
static void commands_work_beside_the_daemon(void **state)
{
  struct fixture *f = *state;
  struct buf out;
  buf_init(&out, 1 << 20);
  make_reward(f);
  put(f, "/v1/activities/by-hand", RUNNING(STOCK ",\"limits\":[]"), 201);
  assert_int_equal(stack_command(f->stack, "scheduler",
                                 (const char *[]){"activity", "publish", "by-hand", "--reason", "go", NULL}, &out),
                   0);
  assert_non_null(strstr(buf_text(&out), "by-hand is published"));
  WITHIN(claim_is(f, "by-hand", "a", 201), 2);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "pause", "by-hand", NULL}, &out),
                   64);
  assert_int_equal(stack_command(f->stack, "scheduler",
                                 (const char *[]){"activity", "pause", "by-hand", "--reason", "stop", NULL}, &out),
                   0);
  // From its commit no claim is accepted, whatever memory believes.
  claim(f, "by-hand", "b", 409, "PAUSED");
  assert_int_equal(stack_command(f->stack, "scheduler",
                                 (const char *[]){"activity", "publish", "by-hand", "--reason", "again", NULL}, &out),
                   65);
  assert_int_equal(stack_command(f->stack, "scheduler",
                                 (const char *[]){"activity", "pause", "nothing", "--reason", "x", NULL}, &out),
                   65);
  buf_clear(&out);
  assert_int_equal(
      stack_command(f->stack, "scheduler",
                    (const char *[]){"stock", "adjust", "by-hand", "--by", "-3", "--key", "k", "--reason", "x", NULL},
                    &out),
      0);
  assert_non_null(strstr(buf_text(&out), "total 7, remaining 6"));
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler",
                                 (const char *[]){"activity", "history", "by-hand", "--format", "json", NULL}, &out),
                   0);
  assert_non_null(strstr(buf_text(&out), "\"actor\":\"cli:"));
  assert_non_null(strstr(buf_text(&out), "\"reason\":\"stop\""));
  json_t *json = NULL;
  buf_clear(&out);
  assert_int_equal(
      stack_command(f->stack, "scheduler",
                    (const char *[]){"claims", "list", "--activity", "by-hand", "--format", "json", NULL}, &out),
      0);
  assert_int_equal(jsonx_parse(buf_text(&out), out.len, &json, NULL), RESULT_OK);
  assert_int_equal(json_array_size(jsonx_pointer(json, "/items")), 1);
  const char *claim_id = json_string_value(jsonx_pointer(json, "/items/0/claimId"));
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"claims", "show", claim_id, NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "\"bizId\":\"a\""));
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"claims", "show", "1-1", NULL}, &out), 65);
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "list", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "by-hand                           paused"));
  assert_int_equal(
      stack_command(f->stack, "scheduler", (const char *[]){"activity", "list", "--formt", "json", NULL}, &out), 64);
  json_decref(json);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_input_is_a_clear_4xx_and_changes_nothing),
      cmocka_unit_test(commands_work_beside_the_daemon),
  };
  return cmocka_run_group_tests(tests, start_both, stop);
}
