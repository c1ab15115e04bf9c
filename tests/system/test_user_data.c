// SPDX-License-Identifier: Apache-2.0
// What services tell of users: points, attributes, progress; and who is blocked.
#include "tests/system/import_calls.h"

// --- points and users

static void points_are_given_once_per_key(void **state)
{
  struct fixture *f = *state;
  struct call c = call_with(f, "GET", "/v1/users/501/points", NULL, NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/balance"), 0);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/entries")), 0);
  call_release(&c);
  for (int i = 0; i < 2; i++) {
    c = call_with(f, "POST", "/v1/users/501/points", "{\"bizId\":\"o-1\",\"amount\":100,\"reason\":\"order\"}", NULL);
    assert_int_equal(c.status, 200);
    assert_int_equal(number_at(&c, "/balance"), 100);
    assert_string_equal(text_at(&c, "/entries/0/bizId"), "o-1");
    assert_int_equal(c.replayed != NULL, i == 1);
    call_release(&c);
  }
  assert_call(f, "POST", "/v1/users/501/points", "{\"bizId\":\"o-1\",\"amount\":101,\"reason\":\"order\"}", 422,
              "BIZ_ID_REUSED");
  ASSERT_IMPORT(f, "/v1/points",
                "userId,amount,bizId,reason\n501,5,o-2,\"a, b\"\n9007199254740993,7,o-1,\n501,5,o-2,\"a, b\"\n",
                "200 2+1");
  ASSERT_IMPORT(f, "/v1/points", "userId,amount,bizId,reason\n501,5,o-2,\"a, b\"\n9007199254740993,7,o-1,\n",
                "200 0+2");
  ASSERT_IMPORT(f, "/v1/points", "userId,amount,bizId\n502,5,o-1\n501,6,o-1\n",
                "400 3: bizId: was used for another grant of this user;");
  ASSERT_IMPORT(f, "/v1/points", "userId,amount,bizId\n502,0,a\n502,1.5,b\n502,1,a b\n502,1,\n",
                "400 2: amount: must be an integer from 1 to 1000000000000;"
                " 3: amount: must be an integer from 1 to 1000000000000;"
                " 4: bizId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -; 5: bizId: is empty;");
  c = call_with(f, "GET", "/v1/users/9007199254740993/points", NULL, NULL);
  assert_int_equal(number_at(&c, "/balance"), 7);
  call_release(&c);
  c = call_with(f, "GET", "/v1/users/501/points?limit=1", NULL, NULL);
  assert_int_equal(number_at(&c, "/balance"), 105);
  assert_int_equal(number_at(&c, "/entries/0/amount"), 100);
  char *next = support_format("/v1/users/501/points?after=%s", text_at(&c, "/next"));
  call_release(&c);
  c = call_with(f, "GET", next, NULL, NULL);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/entries")), 1);
  assert_string_equal(text_at(&c, "/entries/0/reason"), "a, b");
  call_release(&c);
  mem_free(next);
}

// B77, B81, B82, B83.
static void bad_amounts_and_ids_change_nothing(void **state)
{
  struct fixture *f = *state;
  static const char *const amounts[] = {
      "-1000",          "-1", "0", "1.5", "1e2", "\"1\"", "null", "true", "9223372036854775808", "1000000000001",
      "1,\"amount\":-1"};
  for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
    char *body = support_format("{\"bizId\":\"b%zu\",\"reason\":\"x\",\"amount\":%s}", i, amounts[i]);
    assert_call(f, "POST", "/v1/users/601/points", body, 400, "INVALID_REQUEST");
    mem_free(body);
  }
  static const struct {
    const char *method, *path, *body;
    int status;
  } cases[] = {
      {"POST", "/v1/users/601/points", "{\"amount\":1,\"reason\":\"x\"}", 400},
      {"POST", "/v1/users/601/points", "{\"bizId\":\"a\",\"bizId\":\"b\",\"amount\":1,\"reason\":\"x\"}", 400},
      {"POST", "/v1/users/601/points", "{\"bizId\":\"a b\",\"amount\":1,\"reason\":\"x\"}", 400},
      {"POST", "/v1/users/601/points", "{\"bizId\":\"a\",\"amount\":1}", 400},
      {"POST", "/v1/users/601/points", "{\"bizId\":\"a\",\"amount\":1,\"reason\":\"\\u0000\"}", 400},
      {"POST", "/v1/users/0/points", "{\"bizId\":\"a\",\"amount\":1,\"reason\":\"x\"}", 400},
      {"POST", "/v1/users/9223372036854775808/points", "{\"bizId\":\"a\",\"amount\":1,\"reason\":\"x\"}", 400},
      {"POST", "/v1/users/1.0/points", "{\"bizId\":\"a\",\"amount\":1,\"reason\":\"x\"}", 400},
      {"GET", "/v1/users/x/points", NULL, 400},
      {"GET", "/v1/users/601/points?after=x", NULL, 400},
      {"PUT", "/v1/users/601/attributes", "[]", 400},
      {"PUT", "/v1/users/601/attributes", "1", 400},
      {"PUT", "/v1/users/601/attributes", "{\"a\":1,\"a\":2}", 400},
      {"PUT", "/v1/users/601/attributes", "{\"a\":\"\\u0000\"}", 400},
      {"PUT", "/v1/users/601/attributes", "{\"a\":\"\xFF\"}", 400},
      {"PUT", "/v1/users/0/attributes", "{}", 400},
      {"PUT", "/v1/users/601/progress/t", "{}", 400},
      {"PUT", "/v1/users/601/progress/t", "{\"value\":\"1\"}", 400},
      {"PUT", "/v1/users/601/progress/t", "{\"value\":null}", 400},
      {"PUT", "/v1/users/601/progress/t", "{\"value\":true}", 400},
      {"PUT", "/v1/users/601/progress/t", "{\"value\":1,\"value\":2}", 400},
      {"PUT", "/v1/users/601/progress/t", "{\"value\":1,\"more\":2}", 400},
      {"PUT", "/v1/users/601/progress/a%20b", "{\"value\":1}", 400},
      {"PUT", "/v1/users/-1/progress/t", "{\"value\":1}", 400},
      {"PUT", "/v1/activities/blocks/blocked-users/0", "{}", 400},
      {"PUT", "/v1/activities/blocks/blocked-users/9223372036854775808", "{}", 400},
      {"PUT", "/v1/activities/blocks/blocked-users/7", "{\"reason\":1}", 400},
      {"PUT", "/v1/activities/nothing/blocked-users/7", "{}", 404},
      {"DELETE", "/v1/activities/nothing/blocked-users/7", NULL, 404},
      {"GET", "/v1/activities/nothing/blocked-users", NULL, 404},
      {"GET", "/v1/activities/nothing/qualifications", NULL, 404},
      {"GET", "/v1/activities/blocks/qualifications?status=new", NULL, 400},
      {"GET", "/v1/activities/blocks/qualifications?userId=0", NULL, 400},
      {"GET", "/v1/users/601/progress/t", NULL, 404},
  };
  make_activity(f, "blocks");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    assert_call(f, cases[i].method, cases[i].path, cases[i].body, cases[i].status, NULL);
  assert_int_equal(sql_int(f->stack->sql,
                           "select (select count(*) from largesse.points_account where user_id = 601) + (select "
                           "count(*) from largesse.user_attribute) + (select count(*) from largesse.user_progress) + "
                           "(select count(*) from largesse.blocked_user)"),
                   0);
}

static void what_is_known_of_users_is_put_and_read(void **state)
{
  struct fixture *f = *state;
  assert_call(f, "PUT", "/v1/users/9007199254740993/attributes", "{\"level\":5,\"big\":12345678901234567890.125}", 200,
              NULL);
  put(f, "/v1/users/9007199254740993/attributes", "{\"level\":6,\"exact\":0.1000}", 200);
  struct http_answer a;
  http_get(f->port, "/v1/users/9007199254740993/attributes", &a);
  assert_string_equal(a.body, "{\"exact\": 0.1000, \"level\": 6}");
  http_answer_release(&a);
  put(f, "/v1/users/701/progress/day.7", "{\"value\":3}", 200);
  put(f, "/v1/users/701/progress/day.7", "{\"value\":0}", 200);
  put(f, "/v1/users/701/progress/rate", "{\"value\":0.5}", 200);
  struct call c = call_with(f, "GET", "/v1/users/701/progress", NULL, NULL);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/items")), 2);
  call_release(&c);
  c = call_with(f, "GET", "/v1/users/701/progress/day.7", NULL, NULL);
  assert_int_equal(number_at(&c, "/value"), 0);
  call_release(&c);
  make_activity(f, "black");
  put(f, "/v1/activities/black/blocked-users/7", "{\"reason\":\"abuse\"}", 201);
  put(f, "/v1/activities/black/blocked-users/7", "{\"reason\":\"abuse\"}", 200);
  assert_call(f, "PUT", "/v1/activities/black/blocked-users/8", NULL, 201, NULL);
  c = call_with(f, "GET", "/v1/activities/black/blocked-users?limit=1", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/reason"), "abuse");
  assert_string_equal(text_at(&c, "/next"), "7");
  call_release(&c);
  for (int i = 0; i < 2; i++) assert_call(f, "DELETE", "/v1/activities/black/blocked-users/7", NULL, 204, NULL);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.blocked_user"), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_given_once_per_key),
      cmocka_unit_test(bad_amounts_and_ids_change_nothing),
      cmocka_unit_test(what_is_known_of_users_is_put_and_read),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
