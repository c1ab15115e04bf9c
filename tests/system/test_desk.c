// SPDX-License-Identifier: Apache-2.0
// What the scheduler serves about activities, claims, rewards and users, served by the reconciler too: the same answers
// from the same database, and the schedulers hear of what is changed there. The trail of a claim.
#include "tests/system/activity_calls.h"

static int start_both(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  f->stack = stack_start(f->server, &(struct stack_options){.no_fulfiller = true, .no_simulator = true});
  f->port = f->stack->reconciler_port;
  *state = f;
  return 0;
}

static struct call call_at(struct fixture *f, int port, const char *method, const char *path, const char *body)
{
  struct fixture there = *f;
  there.port = port;
  return call_with(&there, method, path, body, NULL);
}

// --- the same answers

// What differs by the instant of the call only.
static void forget_instant(json_t *json)
{
  (void)json_object_del(json, "serverTime");
  (void)json_object_del(json, "at");
  json_t *items = json_object_get(json, "items");
  for (size_t i = 0; i < json_array_size(items); i++) (void)json_object_del(json_array_get(items, i), "serverTime");
}

static void assert_same(struct fixture *f, const char *method, const char *path, const char *body)
{
  struct call a = call_at(f, f->stack->scheduler_ports[0], method, path, body);
  struct call b = call_at(f, f->stack->reconciler_port, method, path, body);
  forget_instant(a.json);
  forget_instant(b.json);
  bool has_etag = a.etag != NULL && b.etag != NULL, is_etag = has_etag ? strcmp(a.etag, b.etag) == 0 : a.etag == b.etag;
  if (a.status != b.status || !json_equal(a.json, b.json) || !is_etag) {
    char *one = json_dumps(a.json, JSON_ENCODE_ANY), *two = json_dumps(b.json, JSON_ENCODE_ANY);
    fail_msg("%s %s: the scheduler says %d %s, the reconciler %d %s", method, path, a.status, one, b.status, two);
  }
  call_release(&a);
  call_release(&b);
}

static void make_open(struct fixture *f, const char *code, const char *more)
{
  char *path = support_format("/v1/activities/%s", code), *body = support_format("%s", more);
  put(f, path, body, 201);
  char *publish = support_format("%s/publish", path);
  assert_call(f, "POST", publish, "{\"reason\":\"at the desk\"}", 200, NULL);
  WAIT_FOR(sql_int(f->stack->sql, "select count(*) from largesse.activity where code = '%s' and status = 'ongoing'",
                   code) == 1,
           10);
  mem_free(path);
  mem_free(body);
  mem_free(publish);
}

static void every_read_is_answered_alike(void **state)
{
  struct fixture *f = *state;
  static const char *const paths[] = {
      "/v1/activities/seen",
      "/v1/activities/none",
      "/v1/activities/%FF",
      "/v1/activities?limit=2&sort=-startAt&kind=reward",
      "/v1/activities?limit=0",
      "/v1/activities?sort=name",
      "/v1/activities?after=%20",
      "/v1/activities/seen/history",
      "/v1/activities/none/history",
      "/v1/activities/seen/refusals?from=2020-01-01T00:00:00Z",
      "/v1/activities/seen/refusals?from=yesterday",
      "/v1/activities/seen/claims?status=succeeded",
      "/v1/activities/seen/claims?status=lost",
      "/v1/activities/seen/numbers?status=available",
      "/v1/activities/none/numbers?random=2",
      "/v1/activities/seen/numbers?random=2&limit=1",
      "/v1/activities/seen/qualifications?userId=7",
      "/v1/activities/seen/blocked-users",
      "/v1/claims/1-1",
      "/v1/claims/1",
      "/v1/claims/x-1",
      "/v1/claims/seen/c1",
      "/v1/claims/seen/none",
      "/v1/claims/seen/a%20b",
      "/v1/users/7/claims?limit=1",
      "/v1/users/0/claims",
      "/v1/users/7/points",
      "/v1/users/7/attributes",
      "/v1/users/7/progress",
      "/v1/users/7/progress/none",
      "/v1/rewards",
      "/v1/rewards/r",
      "/v1/rewards/none",
      "/v1/discount-rules",
      "/v1/discount-rules/none",
  };
  make_reward(f);
  make_open(f, "seen", RUNNING(STOCK));
  WITHIN(claim_is(&(struct fixture){.port = f->stack->scheduler_ports[0]}, "seen", "c1", 201) ||
             claim_is(&(struct fixture){.port = f->stack->scheduler_ports[0]}, "seen", "c1", 200),
         2);
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) assert_same(f, "GET", paths[i], NULL);
}

static void a_dry_run_is_answered_alike_and_nothing_else_is_claimed_here(void **state)
{
  struct fixture *f = *state;
  static const char path[] = "/v1/claims?dryRun=true";
  static const char *const bodies[] = {
      "{\"activityCode\":\"seen\",\"userId\":8,\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":\"7\",\"bizId\":\"d\",\"channel\":\"APP\",\"quantity\":2}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"c1\"}",
      "{\"activityCode\":\"none\",\"userId\":7,\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"numbers\":[2,1]}",
      "{}",
      "{\"activityCode\":\"-\",\"userId\":7,\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":0,\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":1.0,\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":\"07\",\"bizId\":\"d\"}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"a b\"}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"channel\":\"\"}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"quantity\":0}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"numbers\":[]}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"numbers\":[1,1]}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"numbers\":[1],\"quantity\":2}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"numbers\":[1.5]}",
      "{\"activityCode\":\"seen\",\"userId\":7,\"bizId\":\"d\",\"colour\":1}",
      "{\"activityCode\":\"seen\",\"activityCode\":\"seen\"}",
      "[]",
  };
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) assert_same(f, "POST", path, bodies[i]);
  assert_same(f, "POST", "/v1/claims?dryRun=true&at=soon", bodies[0]);
  assert_call(f, "POST", "/v1/claims", bodies[0], 400, "INVALID_REQUEST");
  assert_call(f, "POST", "/v1/claims?dryRun=false", bodies[0], 400, "INVALID_REQUEST");
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.claim where user_id = 8"), 0);
}

// --- changes

static void the_schedulers_hear_of_what_is_changed_here(void **state)
{
  struct fixture *f = *state, scheduler = {.port = f->stack->scheduler_ports[0]};
  make_reward(f);
  make_open(f, "desk", RUNNING(",\"stock\":{\"total\":2},\"limits\":[]"));
  WITHIN(claim_is(&scheduler, "desk", "a", 201), 1);
  struct call c = call_with(f, "POST", "/v1/activities/desk/pause", "{}", "If-Match: \"7\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
  assert_call(f, "POST", "/v1/activities/desk/pause", "{\"reason\":\"stop\"}", 200, NULL);
  claim(&scheduler, "desk", "b", 409, "PAUSED");
  assert_call(f, "POST", "/v1/activities/desk/resume", "{}", 200, NULL);
  WITHIN(claim_is(&scheduler, "desk", "b", 201), 1);
  WITHIN(claim_is(&scheduler, "desk", "c", 409), 2);
  static const char more[] = "{\"key\":\"k\",\"by\":3,\"reason\":\"more\"}";
  c = call_with(f, "POST", "/v1/activities/desk/stock-adjustments", more, NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/remaining"), 3);
  call_release(&c);
  c = call_with(f, "POST", "/v1/activities/desk/stock-adjustments", more, NULL);
  assert_string_equal(c.replayed, "true");
  call_release(&c);
  assert_call(f, "POST", "/v1/activities/desk/stock-adjustments", "{\"key\":\"l\",\"by\":-4,\"reason\":\"less\"}", 409,
              "STOCK_IN_USE");
  WITHIN(claim_is(&scheduler, "desk", "c", 201), 1);
  assert_call(f, "PUT", "/v1/activities/desk/blocked-users/7", "{\"reason\":\"fraud\"}", 201, NULL);
  claim(&scheduler, "desk", "d", 403, "BLOCKED");
  assert_call(f, "DELETE", "/v1/activities/desk/blocked-users/7?reason=mistaken", NULL, 204, NULL);
  assert_int_equal(sql_int(f->stack->sql,
                           "select count(*) from largesse.activity_history h join largesse.activity a on "
                           "a.id = h.activity_id where a.code = 'desk'"),
                   5);
}

static void what_is_put_twice_is_one_and_a_stale_version_is_told(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  struct call c = call_with(f, "PUT", "/v1/activities/twice?reason=new", COMING(STOCK), NULL);
  assert_int_equal(c.status, 201);
  assert_string_equal(c.location, "/v1/activities/twice");
  assert_string_equal(c.etag, "\"1\"");
  call_release(&c);
  put(f, "/v1/activities/twice", COMING(STOCK), 200);
  assert_same(f, "PUT", "/v1/activities/twice", COMING(STOCK));  // what one has put is no change to the other
  c = call_with(f, "PUT", "/v1/activities/twice", COMING(",\"stock\":{\"total\":11}"), "If-Match: \"9\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
  put(f, "/v1/discount-rules/ten", "{\"name\":\"n\",\"threshold\":100,\"discount\":{\"amount\":10},\"priority\":1}",
      201);
  assert_same(f, "GET", "/v1/discount-rules/ten", NULL);
  assert_same(f, "PUT", "/v1/discount-rules/ten", "{\"name\":\"n\",\"threshold\":100,\"discount\":{},\"priority\":1}");
  assert_call(f, "POST", "/v1/activities/twice/warm-up", "{}", 200, NULL);
  assert_call(f, "POST", "/v1/activities/none/warm-up", "{}", 404, "ACTIVITY_NOT_FOUND");
}

static void lists_in_csv_are_taken_here(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/invited", COMING(STOCK ",\"needsQualification\":true"), 201);
  static const char csv[] = "Content-Type: text/csv\r\n";
  static const char path[] = "/v1/activities/invited/qualifications?reason=vip";
  struct call c = call_with(f, "POST", path, "userId,source\n1,a\n2,b\n2,b\n", csv);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/inserted"), 2);
  assert_int_equal(number_at(&c, "/duplicates"), 1);
  call_release(&c);
  c = call_with(f, "POST", path, "userId\n3\nx\n", csv);
  assert_int_equal(c.status, 400);
  assert_int_equal(number_at(&c, "/rejected/0/line"), 3);
  call_release(&c);
  assert_same(f, "GET", "/v1/activities/invited/qualifications", NULL);
  put(f, "/v1/activities/lottery",
      "{\"name\":\"n\",\"kind\":\"number\",\"startAt\":\"2098-01-01T00:00:00Z\",\"endAt\":\"2099-01-01T00:00:00Z\","
      "\"timeZone\":\"UTC\",\"limits\":[]}",
      201);
  assert_call(f, "POST", "/v1/activities/lottery/numbers", "{\"from\":1,\"to\":\"9\"}", 200, NULL);
  assert_call(f, "POST", "/v1/activities/lottery/numbers", "{\"from\":9,\"to\":1}", 400, "INVALID_REQUEST");
  c = call_with(f, "POST", "/v1/activities/lottery/numbers", "number\n9\n10\n", csv);
  assert_int_equal(number_at(&c, "/inserted"), 1);
  call_release(&c);
  assert_same(f, "GET", "/v1/activities/lottery/numbers?limit=5&after=3", NULL);
}

// --- looking for activities

static char *codes_of(struct fixture *f, const char *query)
{
  char *path = support_format("/v1/activities?eventCode=hunt%s", query);
  struct call c = call_with(f, "GET", path, NULL, NULL);
  assert_int_equal(c.status, 200);
  struct buf codes;
  buf_init(&codes, 4096);
  const json_t *items = jsonx_pointer(c.json, "/items");
  for (size_t i = 0; i < json_array_size(items); i++)
    buf_printf(&codes, "%s%s", i > 0 ? " " : "", json_string_value(json_object_get(json_array_get(items, i), "code")));
  if (text_at(&c, "/next")[0] != '\0') buf_printf(&codes, " … %s", text_at(&c, "/next"));
  char *text = mem_strdup(buf_text(&codes));
  buf_release(&codes);
  call_release(&c);
  mem_free(path);
  return text;
}

static void assert_codes(struct fixture *f, const char *query, const char *expected)
{
  char *codes = codes_of(f, query);
  if (strcmp(codes, expected) != 0) fail_msg("%s: %s, expected %s", query, codes, expected);
  mem_free(codes);
}

static void activities_are_found_and_sorted(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  sql_exec(f->stack->sql, "select largesse.event_put('hunt', 'Hunt', 'UTC')");
#define SESSION(start, name)                                        \
  "{\"name\":\"" name "\",\"kind\":\"reward\",\"startAt\":\"" start \
  "T00:00:00Z\",\"endAt\":\"2099-01-01T00:00:00Z\","                \
  "\"timeZone\":\"UTC\",\"rewardCode\":\"r\",\"eventCode\":\"hunt\"" STOCK "}"
  put(f, "/v1/activities/hunt-a", SESSION("2031-01-03", "Eggs 100%"), 201);
  put(f, "/v1/activities/hunt-b", SESSION("2031-01-01", "More EGGS"), 201);
  put(f, "/v1/activities/hunt-c", SESSION("2031-01-01", "Hares"), 201);
  assert_codes(f, "", "hunt-a hunt-b hunt-c");
  assert_codes(f, "&sort=startAt", "hunt-b hunt-c hunt-a");
  assert_codes(f, "&sort=-startAt&limit=2", "hunt-a hunt-c … 2031-01-01T00:00:00.000000Z/hunt-c");
  assert_codes(f, "&sort=-startAt&after=2031-01-01T00:00:00.000000Z/hunt-c", "hunt-b");
  assert_codes(f, "&sort=startAt&after=2031-01-01T00:00:00.000000Z/hunt-b&limit=1",
               "hunt-c … 2031-01-01T00:00:00.000000Z/hunt-c");
  assert_codes(f, "&q=eggs", "hunt-a hunt-b");
  assert_codes(f, "&q=0%25", "hunt-a");
  assert_codes(f, "&q=HUNT-C", "hunt-c");
  assert_codes(f, "&q=_", "");
  assert_codes(f, "&kind=number", "");
  assert_codes(f, "&status=draft&limit=1", "hunt-a … hunt-a");
  assert_call(f, "GET", "/v1/activities?sort=startAt&after=hunt-a", NULL, 400, "INVALID_REQUEST");
  assert_same(f, "GET", "/v1/activities?eventCode=hunt&sort=startAt&q=e", NULL);
}

// --- everything about one click

static void a_claim_tells_its_story(void **state)
{
  struct fixture *f = *state, scheduler = {.port = f->stack->scheduler_ports[0]};
  make_reward(f);
  make_open(f, "story", RUNNING(STOCK));
  WITHIN(claim_is(&scheduler, "story", "s", 201), 2);
  char *id = sql_text(f->stack->sql, "select c.activity_id || '-' || c.id from largesse.claim c where c.biz_id = 's'");
  sql_exec(f->stack->sql,
           "insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, "
           "outcome, detail, answer) select activity_id, id, 1, 'deliver', 'simulator', largesse.clock_now(), 1500, "
           "'retry', 'time-out', '<script>' from largesse.claim where biz_id = 's'");
  char *path = support_format("/v1/claims/%s/trail", id);
  struct call c = call_with(f, "GET", path, NULL, NULL);
  assert_int_equal(c.status, 200);
  assert_string_equal(text_at(&c, "/claim/claimId"), id);
  assert_string_equal(text_at(&c, "/activity/code"), "story");
  assert_string_equal(text_at(&c, "/items/0/what"), "claim");
  assert_string_equal(text_at(&c, "/items/1/what"), "call");
  assert_string_equal(text_at(&c, "/items/1/text"), "simulator was asked to deliver: retry");
  assert_string_equal(text_at(&c, "/items/1/detail/answer"), "<script>");
  call_release(&c);
  c = call_with(f, "GET", path, NULL, "Accept-Language: zh\r\n");
  assert_string_equal(text_at(&c, "/items/0/text"), "生成领取记录");
  call_release(&c);
  assert_call(f, "GET", "/v1/claims/1-1/trail", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/claims/x/trail", NULL, 400, "INVALID_REQUEST");
  mem_free(id);
  mem_free(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_read_is_answered_alike),
      cmocka_unit_test(a_dry_run_is_answered_alike_and_nothing_else_is_claimed_here),
      cmocka_unit_test(the_schedulers_hear_of_what_is_changed_here),
      cmocka_unit_test(what_is_put_twice_is_one_and_a_stale_version_is_told),
      cmocka_unit_test(lists_in_csv_are_taken_here),
      cmocka_unit_test(activities_are_found_and_sorted),
      cmocka_unit_test(a_claim_tells_its_story),
  };
  return cmocka_run_group_tests(tests, start_both, stop);
}
