// SPDX-License-Identifier: Apache-2.0
// What the claim calls answer: the new claim, the same by its id and by its bizId, a user's claims by page, the
// activity's figures; ids up to the largest are exact. Field cases B77, B81.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

static int set_up(void **state)
{
  static struct stack_options options = {.no_reconciler = true};
  struct server *server = server_start();
  *state = stack_start(server, &options);
  return 0;
}

static bool is_text(const json_t *object, const char *name, const char *expected)
{
  const char *value = json_string_value(json_object_get(object, name));
  if (value != NULL && strcmp(value, expected) == 0) return true;
  print_error("%s is %s, not %s\n", name, value != NULL ? value : "(no text)", expected);
  return false;
}

// Seconds between an RFC 3339 member and this machine's clock, which is the database's too.
static double age_of(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  struct wall_time t;
  assert_non_null(text);
  assert_int_equal(text_to_time(text, strlen(text), &t), RESULT_OK);
  return (double)(clk_wall().us - t.us) / 1e6;
}

static void assert_recent(const json_t *object, const char *name)
{
  double age = age_of(object, name);
  if (age < -0.5 || age > 30) fail_msg("%s is %.1f s ago", name, age);
}

static json_t *get(struct stack *s, int expected_status, const char *path)
{
  json_t *json = NULL;
  int status = http_json(s->scheduler_ports[0], "GET", path, NULL, &json);
  if (status != expected_status) fail_msg("GET %s: %d", path, status);
  return json;
}

static void a_new_claim_is_201_with_its_place(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql,
                &(struct activity_terms){.code = "shape", .stock = 10, .limits = "[{\"count\":2,\"period\":\"day\"}]"});
  struct claim_click click = claim_click(s->scheduler_ports[0], "shape", 42, "Shape.1:a_b-c");
  click.quantity = 2;
  click.channel = "APP \xe4\xb8\xad";
  char *body = claim_body(&click);
  struct http_answer a;
  http_post(click.port, "/v1/claims", body, &a);
  assert_int_equal(a.status, 201);
  assert_null(http_answer_header(&a, "Idempotent-Replayed"));
  json_t *claim = http_answer_json(&a);
  const char *id = json_string_value(json_object_get(claim, "claimId"));
  assert_non_null(id);
  char *place = support_format("/v1/claims/%s", id), *location = http_answer_header(&a, "Location");
  char *expected_id =
      sql_text(s->sql, "select activity_id || '-' || id from largesse.claim where biz_id = 'Shape.1:a_b-c'");
  assert_string_equal(id, expected_id);
  assert_non_null(location);
  assert_string_equal(location, place);
  assert_true(is_text(claim, "activityCode", "shape"));
  assert_true(is_text(claim, "userId", "42"));
  assert_true(is_text(claim, "bizId", "Shape.1:a_b-c"));
  assert_true(is_text(claim, "status", "issuing"));
  assert_true(is_text(claim, "rewardCode", "voucher-100"));
  assert_true(is_text(claim, "channel", "APP \xe4\xb8\xad"));
  assert_int_equal(json_integer_value(json_object_get(claim, "quantity")), 2);
  assert_recent(claim, "createdAt");
  assert_recent(claim, "updatedAt");
  const json_t *delivery = json_object_get(claim, "delivery");
  assert_int_equal(json_integer_value(json_object_get(delivery, "attempts")), 0);
  assert_true(age_of(delivery, "nextAttemptAt") < age_of(claim, "createdAt"));  // when the sweeper would look at it

  // The same claim by its place, by its click, and as a replay, in its present state.
  WAIT_FOR(sql_bool(s->sql, "select status = 'succeeded' from largesse.claim where biz_id = 'Shape.1:a_b-c'"), 20);
  json_t *by_place = get(s, 200, place), *by_click = get(s, 200, "/v1/claims/shape/Shape.1:a_b-c"), *replayed = NULL;
  assert_int_equal(http_json(click.port, "POST", "/v1/claims", body, &replayed), 200);
  assert_true(is_text(by_place, "status", "succeeded"));
  assert_true(json_equal(by_place, by_click));
  assert_true(json_equal(by_place, replayed));
  static const char *const same[] = {"claimId",    "activityCode", "userId",   "bizId",
                                     "rewardCode", "channel",      "quantity", "createdAt"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    assert_true(json_equal(json_object_get(by_place, same[i]), json_object_get(claim, same[i])));
  assert_true(is_text(json_object_get(by_place, "delivery"), "outcome", "done"));
  json_t *all[] = {claim, by_place, by_click, replayed};
  for (size_t i = 0; i < 4; i++) json_decref(all[i]);
  mem_free(expected_id);
  mem_free(location);
  mem_free(place);
  mem_free(body);
  http_answer_release(&a);
}

// A limit's refusal names the rule, the limit, the count and when it resets.
static void a_refusal_explains_itself(void **state)
{
  struct stack *s = *state;
  activity_make(
      s->sql, &(struct activity_terms){.code = "explain", .stock = 10, .limits = "[{\"count\":2,\"period\":\"day\"}]"});
  struct claim_click first = claim_click(s->scheduler_ports[0], "explain", 1, "e1"),
                     second = claim_click(s->scheduler_ports[0], "explain", 1, "e2");
  first.quantity = second.quantity = 2;
  assert_int_equal(claim_send(&first).status, 201);
  char *body = claim_body(&second);
  json_t *problem = NULL;
  assert_int_equal(http_json(second.port, "POST", "/v1/claims", body, &problem), 409);
  assert_true(is_text(problem, "code", "LIMIT_REACHED"));
  assert_true(is_text(problem, "rule", "limit.day"));
  assert_int_equal(json_integer_value(json_object_get(problem, "status")), 409);
  assert_int_equal(json_integer_value(json_object_get(problem, "limit")), 2);
  assert_int_equal(json_integer_value(json_object_get(problem, "count")), 2);
  double resets_in = -age_of(problem, "resetsAt");
  assert_true(resets_in > 0 && resets_in <= 86400);
  assert_true(json_is_string(json_object_get(problem, "type")) && json_is_string(json_object_get(problem, "title")) &&
              json_is_string(json_object_get(problem, "detail")));
  json_decref(problem);
  mem_free(body);
}

static void an_activity_shows_its_figures_and_the_servers_time(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "figures", .stock = 10, .limits = "[]"});
  struct claim_click click = claim_click(s->scheduler_ports[0], "figures", 1, "f1");
  click.quantity = 3;
  assert_int_equal(claim_send(&click).status, 201);
  json_t *activity = get(s, 200, "/v1/activities/figures"), *list = get(s, 200, "/v1/activities?limit=1000");
  const json_t *availability = json_object_get(activity, "availability");
  static const struct {
    const char *name;
    int value;
  } figures[] = {{"total", 10}, {"issued", 3}, {"held", 0}, {"remaining", 7}, {"waiting", 0}};
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    assert_int_equal(json_integer_value(json_object_get(availability, figures[i].name)), figures[i].value);
  assert_true(is_text(activity, "code", "figures"));
  assert_recent(activity, "serverTime");
  size_t index;
  json_t *item;
  bool found = false;
  json_array_foreach(json_object_get(list, "items"), index, item)
  {
    if (!is_text(item, "kind", "reward")) fail();
    found = found || strcmp(json_string_value(json_object_get(item, "code")), "figures") == 0;
    assert_recent(item, "serverTime");
  }
  assert_true(found);
  json_decref(list);
  json_decref(activity);
}

// B81: ids beyond what a double holds, as number or as text.
static void large_user_ids_stay_exact(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "b81", .stock = 10});
  static const char *const users[] = {"9007199254740992", "9007199254740993", "9223372036854775807"};
  for (size_t i = 0; i < 3; i++) {
    for (int as_text = 0; as_text < 2; as_text++) {  // the second time it is a replay
      char body[200];
      (void)snprintf(body, sizeof body, "{\"activityCode\":\"b81\",\"userId\":%s%s%s,\"bizId\":\"u%zu\"}",
                     as_text ? "\"" : "", users[i], as_text ? "\"" : "", i);
      json_t *claim = NULL;
      assert_int_equal(http_json(s->scheduler_ports[0], "POST", "/v1/claims", body, &claim), as_text ? 200 : 201);
      assert_true(is_text(claim, "userId", users[i]));
      json_decref(claim);
    }
    char *path = support_format("/v1/users/%s/claims", users[i]);
    json_t *list = get(s, 200, path);
    assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
    assert_true(is_text(json_array_get(json_object_get(list, "items"), 0), "userId", users[i]));
    json_decref(list);
    mem_free(path);
  }
  static const char body[] = "{\"activityCode\":\"b81\",\"userId\":9223372036854775808,\"bizId\":\"u9\"}";
  assert_int_equal(http_json(s->scheduler_ports[0], "POST", "/v1/claims", body, NULL), 400);
  assert_int_equal(activity_claims(s->sql, "b81"), 3);
}

static void a_users_claims_come_by_page(void **state)
{
  struct stack *s = *state;
  enum { CLAIMS = 7, PAGE = 3 };
  activity_make(s->sql, &(struct activity_terms){.code = "pages-a", .stock = 10, .limits = "[]"});
  activity_make(s->sql, &(struct activity_terms){.code = "pages-b", .stock = 10, .limits = "[]"});
  for (int i = 0; i < CLAIMS; i++) {
    struct claim_click click =
        claim_click(s->scheduler_ports[0], i % 2 == 0 ? "pages-a" : "pages-b", 555, "page-%d", i);
    assert_int_equal(claim_send(&click).status, 201);
  }
  int seen[CLAIMS] = {0}, pages = 0;
  char *path = support_format("/v1/users/555/claims?limit=%d", PAGE);
  while (path != NULL) {
    json_t *page = get(s, 200, path), *item;
    const char *next = json_string_value(json_object_get(page, "next"));
    size_t index, count = json_array_size(json_object_get(page, "items"));
    assert_true(count <= PAGE && pages++ < CLAIMS);
    if (next != NULL) assert_int_equal(count, PAGE);
    json_array_foreach(json_object_get(page, "items"), index, item)
    {
      const char *biz_id = json_string_value(json_object_get(item, "bizId"));
      assert_non_null(biz_id);
      int i = biz_id[5] - '0';
      assert_true(i >= 0 && i < CLAIMS);
      seen[i]++;
    }
    mem_free(path);
    path = next == NULL ? NULL : support_format("/v1/users/555/claims?limit=%d&after=%s", PAGE, next);
    json_decref(page);
  }
  for (int i = 0; i < CLAIMS; i++) assert_int_equal(seen[i], 1);
  json_t *nobody = get(s, 200, "/v1/users/556/claims");
  assert_int_equal(json_array_size(json_object_get(nobody, "items")), 0);
  json_decref(nobody);
}

// B77: ids beyond the range of a column are a client's error, never ours.
static void unknown_and_impossible_ids_are_told_apart(void **state)
{
  struct stack *s = *state;
  static const struct {
    const char *path;
    int status;
    const char *code;
  } rows[] = {{"/v1/claims/2147483648-1", 404, "CLAIM_NOT_FOUND"},
              {"/v1/claims/1-2147483648", 404, "CLAIM_NOT_FOUND"},
              {"/v1/claims/9223372036854775807-9223372036854775807", 404, "CLAIM_NOT_FOUND"},
              {"/v1/claims/9223372036854775808-1", 400, "INVALID_REQUEST"},
              {"/v1/claims/shape/never-sent", 404, "CLAIM_NOT_FOUND"},
              {"/v1/users/9223372036854775808/claims", 400, "INVALID_REQUEST"},
              {"/v1/users/0/claims", 400, "INVALID_REQUEST"},
              {"/v1/users/-1/claims", 400, "INVALID_REQUEST"},
              {"/v1/users/1e3/claims", 400, "INVALID_REQUEST"},
              {"/v1/users/1/claims?limit=0", 400, "INVALID_REQUEST"},
              {"/v1/users/1/claims?limit=x", 400, "INVALID_REQUEST"},
              {"/v1/users/1/claims?after=x", 400, "INVALID_REQUEST"},
              {"/v1/activities/none", 404, "ACTIVITY_NOT_FOUND"},
              {"/v1/nothing", 404, "NOT_FOUND"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *problem = get(s, rows[i].status, rows[i].path);
    if (!is_text(problem, "code", rows[i].code)) fail_msg("GET %s", rows[i].path);
    json_decref(problem);
  }
  struct claim_click click = claim_click(s->scheduler_ports[0], "none", 1, "n");
  struct claim_answer a = claim_send(&click);
  assert_int_equal(a.status, 404);
  assert_string_equal(a.code, "ACTIVITY_NOT_FOUND");
  activity_make(s->sql, &(struct activity_terms){.code = "draft", .stock = 1, .draft = true});
  click = claim_click(s->scheduler_ports[0], "draft", 1, "n");
  a = claim_send(&click);
  assert_int_equal(a.status, 404);
  assert_string_equal(a.code, "ACTIVITY_NOT_FOUND");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_claim_is_201_with_its_place),
      cmocka_unit_test(a_refusal_explains_itself),
      cmocka_unit_test(an_activity_shows_its_figures_and_the_servers_time),
      cmocka_unit_test(large_user_ids_stay_exact),
      cmocka_unit_test(a_users_claims_come_by_page),
      cmocka_unit_test(unknown_and_impossible_ids_are_told_apart),
  };
  return cmocka_run_group_tests_name("claim calls", tests, set_up, stack_tear_down);
}
