// SPDX-License-Identifier: Apache-2.0
// Claims of all kinds over two schedulers: stock in segments to the last unit, one activity of a group for each user,
// one buyer for a number, and what people are told. Field cases B01, B12, B18.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLICKS_MAX 400

static int set_up(void **state)
{
  static struct stack_options options = {.schedulers = 2, .no_reconciler = true, .no_fulfiller = true};
  struct server *server = server_start();
  *state = stack_start(server, &options);
  return 0;
}

static int port_of(const struct stack *s, size_t i) { return s->scheduler_ports[i % (size_t)s->scheduler_count]; }

// An activity whose further members are columns, published and open.
static void make(struct stack *s, const char *code, int64_t stock, const char *limits, const char *columns)
{
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = stock, .limits = limits, .draft = true});
  sql_exec(s->sql, "update largesse.activity set %s where code = '%s'", columns, code);
  sql_exec(s->sql,
           "insert into largesse.stock (activity_id, segment, remaining) select a.id, n, 0 from largesse.activity a, "
           "generate_series(1, a.segments - 1) n where a.code = '%s'",
           code);
  sql_exec(s->sql,
           "update largesse.stock k set remaining = %lld / a.segments from largesse.activity a where a.id = "
           "k.activity_id and a.code = '%s'",
           (long long)stock, code);
  sql_exec(s->sql, "select largesse.activity_action('%s', 'publish', 'test', null, null)", code);
}

// B01, B18: as with one segment, whoever asks for the last units and however often he clicks.
static void the_last_units_are_found_in_any_segment(void **state)
{
  struct stack *s = *state;
  static struct claim_click clicks[CLICKS_MAX];
  static struct claim_answer answers[CLICKS_MAX];
  make(s, "split", 100, NULL, "segments = 4");
  for (size_t i = 0; i < CLICKS_MAX; i++) {
    // Each user clicks at both schedulers: every second one with the same click, the others with another.
    size_t user = i / 2;
    clicks[i] = user % 2 == 0 ? claim_click(port_of(s, i), "split", (int64_t)user + 1, "split-%zu", user)
                              : claim_click(port_of(s, i), "split", (int64_t)user + 1, "split-%zu-%zu", user, i % 2);
  }
  claim_send_all(clicks, CLICKS_MAX, answers);
  size_t accepted = claim_count(answers, CLICKS_MAX, 201, NULL), replayed = claim_count(answers, CLICKS_MAX, 200, NULL);
  size_t refused =
      claim_count(answers, CLICKS_MAX, 409, "SOLD_OUT") + claim_count(answers, CLICKS_MAX, 409, "LIMIT_REACHED");
  assert_int_equal(accepted, 100);
  assert_int_equal(accepted + replayed + refused, CLICKS_MAX);  // no 5xx
  for (size_t i = 0; i < CLICKS_MAX; i += 4)
    if (answers[i].status < 300 && answers[i + 1].status < 300)
      assert_string_equal(answers[i].claim_id, answers[i + 1].claim_id);
  assert_int_equal(activity_claims(s->sql, "split"), 100);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.stock k join largesse.activity a on a.id = k.activity_id "
                           "where a.code = 'split' and k.remaining = 0 and k.taken = 25"),
                   4);
  assert_int_equal(sql_int(s->sql,
                           "select count(distinct user_id) from largesse.claim c join largesse.activity a on a.id = "
                           "c.activity_id where a.code = 'split'"),
                   100);
}

// 64 clicks of few users at two activities of a group, through two schedulers: each user ends in one of the two.
static void check_group(struct stack *s, const char *prefix, size_t users)
{
  enum { CLICKS = 64 };
  struct claim_click clicks[CLICKS];
  struct claim_answer answers[CLICKS];
  char codes[2][32];
  for (size_t k = 0; k < 2; k++) {
    (void)snprintf(codes[k], sizeof codes[k], "%s-%zu", prefix, k);
    char *columns = support_format("exclusive_group = '%s'", prefix);
    make(s, codes[k], 1000, "[]", columns);
    mem_free(columns);
  }
  for (size_t i = 0; i < CLICKS; i++)
    clicks[i] = claim_click(port_of(s, i / 2), codes[i % 2], (int64_t)(i / 4 % users) + 1, "%s-%zu", prefix, i);
  claim_send_all(clicks, CLICKS, answers);
  size_t accepted = claim_count(answers, CLICKS, 201, NULL);
  assert_int_equal(accepted + claim_count(answers, CLICKS, 409, "EXCLUSIVE_GROUP"), CLICKS);
  assert_true(accepted >= users);
  char *of_prefix = support_format(
      "from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code like '%s-%%'", prefix);
  assert_int_equal(sql_int(s->sql, "select count(*) %s", of_prefix), (int64_t)accepted);
  assert_int_equal(
      sql_int(s->sql, "select max(n) from (select count(distinct c.activity_id) as n %s group by c.user_id) t",
              of_prefix),
      1);
  assert_int_equal(
      sql_int(s->sql, "select sum(live)::bigint from largesse.group_member where group_name = '%s'", prefix),
      (int64_t)accepted);
  mem_free(of_prefix);
}

static void users_are_in_one_activity_of_a_group(void **state)
{
  check_group(*state, "pair", 1);
  check_group(*state, "pairs", 8);
}

// B12
static void a_number_has_one_buyer(void **state)
{
  struct stack *s = *state;
  enum { BUYERS = 50 };
  struct claim_click clicks[BUYERS];
  struct claim_answer answers[BUYERS];
  make(s, "lot", 3, "[]", "kind = 'number', reward_id = null");
  sql_exec(s->sql,
           "insert into largesse.activity_number (activity_id, number) select a.id, n from largesse.activity a, "
           "generate_series(7, 9) n where a.code = 'lot'");
  for (size_t i = 0; i < BUYERS; i++) {
    clicks[i] = claim_click(port_of(s, i), "lot", (int64_t)i + 1, "lot-%zu", i);
    clicks[i].numbers = "[\"8\",7]";
  }
  claim_send_all(clicks, BUYERS, answers);
  assert_int_equal(claim_count(answers, BUYERS, 201, NULL), 1);
  assert_int_equal(claim_count(answers, BUYERS, 409, "NUMBER_TAKEN"), BUYERS - 1);
  assert_int_equal(activity_remaining(s->sql, "lot"), 1);
  struct http_answer a;
  http_post(port_of(s, 0), "/v1/claims", "{\"activityCode\":\"lot\",\"userId\":60,\"bizId\":\"l9\",\"numbers\":[9]}",
            &a);
  assert_int_equal(a.status, 201);
  json_t *json = http_answer_json(&a), *shown = NULL;
  assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "numbers"), 0)), 9);
  assert_string_equal(json_string_value(json_object_get(json, "status")), "succeeded");
  assert_null(json_object_get(json, "delivery"));
  char *path = support_format("/v1/claims/%s", json_string_value(json_object_get(json, "claimId")));
  assert_int_equal(http_json(port_of(s, 1), "GET", path, NULL, &shown), 200);
  assert_true(json_equal(json, shown));
  mem_free(path);
  json_decref(json);
  json_decref(shown);
  http_answer_release(&a);
  // Sold out, and still it is the number that is told.
  http_post(port_of(s, 1), "/v1/claims", "{\"activityCode\":\"lot\",\"userId\":61,\"bizId\":\"l10\",\"numbers\":[7,9]}",
            &a);
  json = http_answer_json(&a);
  assert_string_equal(json_string_value(json_object_get(json, "code")), "NUMBER_TAKEN");
  assert_int_equal(json_array_size(json_object_get(json, "numbers")), 2);
  json_decref(json);
  http_answer_release(&a);
}

static void check_problem(int port, const char *body, int status, const char *code, const char *rule)
{
  json_t *json = NULL;
  assert_int_equal(http_json(port, "POST", "/v1/claims", body, &json), status);
  assert_string_equal(json_string_value(json_object_get(json, "code")), code);
  const json_t *found = json_object_get(json, "rule");
  if (rule)
    assert_string_equal(json_string_value(found), rule);
  else
    assert_null(found);
  json_decref(json);
}

static void numbers_fit_the_kind(void **state)
{
  struct stack *s = *state;
  make(s, "plain", 5, NULL, "kind = kind");
  check_problem(port_of(s, 0), "{\"activityCode\":\"plain\",\"userId\":1,\"bizId\":\"p1\",\"numbers\":[1]}", 400,
                "INVALID_REQUEST", NULL);
  check_problem(port_of(s, 0), "{\"activityCode\":\"lot\",\"userId\":1,\"bizId\":\"p1\"}", 400, "INVALID_REQUEST",
                NULL);
  check_problem(port_of(s, 0),
                "{\"activityCode\":\"lot\",\"userId\":1,\"bizId\":\"p1\",\"numbers\":[1],\"quantity\":2}", 400,
                "INVALID_REQUEST", NULL);
  assert_int_equal(activity_remaining(s->sql, "plain"), 5);
}

static void a_second_sign_up_is_shown_the_first(void **state)
{
  struct stack *s = *state;
  make(s, "run", 2, NULL, "kind = 'registration', reward_id = null");
  struct claim_click click = claim_click(port_of(s, 0), "run", 1, "r1");
  struct claim_answer first = claim_send(&click);
  assert_int_equal(first.status, 201);
  assert_string_equal(first.claim_status, "succeeded");
  click = claim_click(port_of(s, 1), "run", 2, "r2");
  assert_int_equal(claim_send(&click).status, 201);
  // Full, and still whoever has a place is told so, by the scheduler that knows from memory that nothing is left.
  for (size_t k = 0; k < 2; k++) {
    json_t *json = NULL;
    assert_int_equal(http_json(port_of(s, k), "POST", "/v1/claims",
                               "{\"activityCode\":\"run\",\"userId\":1,\"bizId\":\"r3\"}", &json),
                     409);
    assert_string_equal(json_string_value(json_object_get(json, "code")), "ALREADY_REGISTERED");
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "claim"), "claimId")), first.claim_id);
    json_decref(json);
  }
  check_problem(port_of(s, 1), "{\"activityCode\":\"run\",\"userId\":3,\"bizId\":\"r4\"}", 409, "SOLD_OUT", "stock");
  struct http_answer a;
  http_call(&(struct http_request){.port = port_of(s, 0),
                                   .path = "/v1/claims",
                                   .headers = "Accept-Language: zh-CN\r\n",
                                   .body = "{\"activityCode\":\"run\",\"userId\":2,\"bizId\":\"r5\"}"},
            &a);
  assert_non_null(strstr(a.body, "您已报名"));
  http_answer_release(&a);
}

// Where a list is kept, memory asks although no place is left.
static void who_comes_late_waits(void **state)
{
  struct stack *s = *state;
  make(s, "hall", 1, NULL, "kind = 'registration', waiting_max = 2");
  static const char *const expected[] = {"issuing", "waiting", "waiting"};
  for (size_t i = 0; i < 3; i++) {
    struct claim_click click = claim_click(port_of(s, i), "hall", (int64_t)i + 1, "hall-%zu", i);
    struct claim_answer a = claim_send(&click);
    assert_int_equal(a.status, 201);
    assert_string_equal(a.claim_status, expected[i]);
  }
  check_problem(port_of(s, 0), "{\"activityCode\":\"hall\",\"userId\":4,\"bizId\":\"hall-9\"}", 409, "SOLD_OUT",
                "stock");
  check_problem(port_of(s, 0), "{\"activityCode\":\"hall\",\"userId\":3,\"bizId\":\"hall-9\"}", 409,
                "ALREADY_REGISTERED", "registration");
}

static void rules_are_named(void **state)
{
  struct stack *s = *state;
  make(s, "shop", 5, "[]",
       "kind = 'exchange', points_cost = 10, channels = '{APP}', needs_qualification = true, eligibility = "
       "'$.user.level > 1'");
  const char *body = "{\"activityCode\":\"shop\",\"userId\":1,\"bizId\":\"s1\",\"channel\":\"APP\"}";
  sql_exec(
      s->sql,
      "insert into largesse.blocked_user select id, 1, 'x', 'test', now() from largesse.activity where code = 'shop'");
  check_problem(port_of(s, 0), body, 403, "BLOCKED", "blocked");
  sql_exec(s->sql, "delete from largesse.blocked_user");
  check_problem(port_of(s, 0), "{\"activityCode\":\"shop\",\"userId\":1,\"bizId\":\"s1\"}", 403, "CHANNEL_NOT_ALLOWED",
                "channel");
  check_problem(port_of(s, 1), body, 403, "NOT_QUALIFIED", "qualification");
  sql_exec(s->sql,
           "insert into largesse.qualification (activity_id, user_id, created_at) select id, 1, now() from "
           "largesse.activity where code = 'shop'");
  check_problem(port_of(s, 1), body, 403, "NOT_ELIGIBLE", "eligibility");
  sql_exec(s->sql, "insert into largesse.user_attribute values (1, '{\"level\": 2}', now())");
  check_problem(port_of(s, 1), body, 409, "INSUFFICIENT_POINTS", "points");
  sql_exec(s->sql, "insert into largesse.points_account values (1, 10)");
  json_t *json = NULL;
  assert_int_equal(http_json(port_of(s, 0), "POST", "/v1/claims", body, &json), 201);
  assert_int_equal(json_integer_value(json_object_get(json, "points")), 10);
  json_decref(json);
  check_problem(port_of(s, 1), "{\"activityCode\":\"shop\",\"userId\":1,\"bizId\":\"s2\",\"channel\":\"APP\"}", 403,
                "QUALIFICATION_USED", "qualification");
  // Refusals are counted by their codes.
  WAIT_FOR(sql_int(s->sql,
                   "select sum(r.refusals)::bigint from largesse.refusal_count r join largesse.activity a on a.id = "
                   "r.activity_id where a.code = 'shop' and r.code in "
                   "('BLOCKED', 'CHANNEL_NOT_ALLOWED', 'NOT_QUALIFIED', 'NOT_ELIGIBLE', 'INSUFFICIENT_POINTS', "
                   "'QUALIFICATION_USED')") == 6,
           5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_units_are_found_in_any_segment),
      cmocka_unit_test(users_are_in_one_activity_of_a_group),
      cmocka_unit_test(a_number_has_one_buyer),
      cmocka_unit_test(numbers_fit_the_kind),
      cmocka_unit_test(a_second_sign_up_is_shown_the_first),
      cmocka_unit_test(who_comes_late_waits),
      cmocka_unit_test(rules_are_named),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
