// SPDX-License-Identifier: Apache-2.0
// Activities, rewards, stock and lists over HTTP: what is created, moved, refused, and how claims see it at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define BODY(start, end, more) "{\"name\":\"Test\",\"kind\":\"reward\",\"startAt\":\"" start "\",\"endAt\":\"" end "\",\"timeZone\":\"Asia/Shanghai\",\"rewardCode\":\"r\"" more "}"
#define RUNNING(more) BODY("2020-01-01T00:00:00Z", "2099-01-01T00:00:00+08:00", more)
#define COMING(more) BODY("2098-01-01T00:00:00Z", "2099-01-01T00:00:00+08:00", more)
#define STOCK ",\"stock\":{\"total\":10}"

struct fixture {
  struct server *server;
  struct stack *stack;
  int port;
};

static int start(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  f->stack = stack_start(f->server, &(struct stack_options){.no_fulfiller = true, .no_reconciler = true, .no_simulator = true});
  f->port = f->stack->scheduler_ports[0];
  *state = f;
  return 0;
}

static int stop(void **state)
{
  struct fixture *f = *state;
  stack_free(f->stack);
  server_free(f->server);
  mem_free(f);
  return 0;
}

// --- calling ----------------------------------------------------------------------------------------------------------

struct call { int status; json_t *json; char *etag, *location, *replayed; };

static struct call call_with(struct fixture *f, const char *method, const char *path, const char *body, const char *headers)
{
  struct http_answer a;
  http_call(&(struct http_request){.port = f->port, .method = method, .path = path, .body = body, .headers = headers}, &a);
  struct call c = {a.status, a.body_len > 0 ? http_answer_json(&a) : NULL, http_answer_header(&a, "ETag"), http_answer_header(&a, "Location"),
                   http_answer_header(&a, "Idempotent-Replayed")};
  http_answer_release(&a);
  return c;
}

static void call_release(struct call *c)
{
  json_decref(c->json);
  mem_free(c->etag);
  mem_free(c->location);
  mem_free(c->replayed);
}

static const char *text_at(const struct call *c, const char *pointer)
{
  const json_t *j = c->json != NULL ? jsonx_pointer(c->json, pointer) : NULL;
  return json_is_string(j) ? json_string_value(j) : "";
}

static int64_t number_at(const struct call *c, const char *pointer)
{
  const json_t *j = c->json != NULL ? jsonx_pointer(c->json, pointer) : NULL;
  return json_is_integer(j) ? json_integer_value(j) : -1;
}

static void assert_call(struct fixture *f, const char *method, const char *path, const char *body, int status, const char *code)
{
  struct call c = call_with(f, method, path, body, NULL);
  if (c.status != status || (code != NULL && strcmp(text_at(&c, "/code"), code) != 0)) {
    fail_msg("%s %s %s: %d %s %s, expected %d %s", method, path, body != NULL ? body : "", c.status, text_at(&c, "/code"), text_at(&c, "/detail"), status,
             code != NULL ? code : "");
  }
  call_release(&c);
}

static void put(struct fixture *f, const char *path, const char *body, int status) { assert_call(f, "PUT", path, body, status, NULL); }

static void make_reward(struct fixture *f)
{
  struct call c = call_with(f, "PUT", "/v1/rewards/r", "{\"provider\":\"simulator\",\"amount\":{\"amount\":100,\"currency\":\"CNY\"}}", NULL);
  assert_true(c.status == 201 || c.status == 200);
  call_release(&c);
}

// --- tests ------------------------------------------------------------------------------------------------------------

static void a_reward_has_versions(void **state)
{
  struct fixture *f = *state;
  static const char first[] = "{\"provider\":\"simulator\",\"amount\":{\"amount\":1299,\"currency\":\"CNY\"},\"params\":{\"a\":\"b\"}}";
  struct call c = call_with(f, "PUT", "/v1/rewards/versions", first, NULL);
  assert_int_equal(c.status, 201);
  assert_string_equal(c.location, "/v1/rewards/versions");
  assert_int_equal(number_at(&c, "/amount/amount"), 1299);
  call_release(&c);
  put(f, "/v1/rewards/versions", first, 200);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.reward where code = 'versions'"), 1);
  put(f, "/v1/rewards/versions", "{\"code\":\"versions\",\"provider\":\"simulator-b\"}", 200);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.reward where code = 'versions'"), 2);
  c = call_with(f, "GET", "/v1/rewards/versions", NULL, NULL);
  assert_string_equal(text_at(&c, "/provider"), "simulator-b");
  assert_null(jsonx_pointer(c.json, "/amount"));
  call_release(&c);
  assert_call(f, "GET", "/v1/rewards/none", NULL, 404, "NOT_FOUND");
}

static void an_activity_is_created_changed_and_shown(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  struct call c = call_with(f, "PUT", "/v1/activities/shown", COMING(STOCK ",\"venue\":\"Hall 1\",\"attributes\":{\"x\":1}"), NULL);
  assert_int_equal(c.status, 201);
  assert_string_equal(c.location, "/v1/activities/shown");
  assert_string_equal(c.etag, "\"1\"");
  assert_string_equal(text_at(&c, "/status"), "draft");
  assert_string_equal(text_at(&c, "/endAt"), "2098-12-31T16:00:00.000000Z");
  assert_string_equal(text_at(&c, "/venue"), "Hall 1");
  assert_int_equal(number_at(&c, "/stock/total"), 10);
  assert_int_equal(number_at(&c, "/limits/0/count"), 1);
  assert_string_equal(text_at(&c, "/limits/0/period"), "total");
  assert_int_equal(number_at(&c, "/availability/remaining"), 10);
  assert_int_equal(number_at(&c, "/availability/issued"), 0);
  assert_true(strlen(text_at(&c, "/serverTime")) == 27);
  call_release(&c);

  c = call_with(f, "PUT", "/v1/activities/shown", COMING(STOCK ",\"venue\":\"Hall 1\",\"attributes\":{\"x\":1}"), NULL);
  assert_int_equal(c.status, 200);
  assert_string_equal(c.etag, "\"1\"");
  call_release(&c);
  c = call_with(f, "PUT", "/v1/activities/shown", COMING(",\"stock\":{\"total\":null},\"limits\":[]"), NULL);
  assert_int_equal(c.status, 200);
  assert_string_equal(c.etag, "\"2\"");
  assert_true(json_is_null(jsonx_pointer(c.json, "/stock/total")));
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/limits")), 0);
  assert_null(jsonx_pointer(c.json, "/venue"));
  call_release(&c);
  c = call_with(f, "GET", "/v1/activities/shown?unknown=parameter", NULL, NULL);
  assert_int_equal(c.status, 200);
  assert_string_equal(c.etag, "\"2\"");
  call_release(&c);
  assert_call(f, "GET", "/v1/activities/nothing", NULL, 404, "ACTIVITY_NOT_FOUND");
}

static void a_stale_etag_is_412(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/tagged", COMING(STOCK), 201);
  static const struct { const char *header; int status; } cases[] = {
    {"If-Match: \"2\"\r\n", 412}, {"If-Match: W/\"1\"\r\n", 412}, {"If-Match: 1\r\n", 412}, {"If-Match: \"x\"\r\n", 412}, {"If-Match: \"0\"\r\n", 412},
    {"If-Match: *\r\n", 200}, {"If-Match: \"1\"\r\n", 200},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct call c = call_with(f, "PUT", "/v1/activities/tagged", COMING(STOCK), cases[i].header);
    if (c.status != cases[i].status) fail_msg("%s: %d", cases[i].header, c.status);
    if (c.status == 412) assert_string_equal(text_at(&c, "/code"), "STALE");
    call_release(&c);
  }
  struct call c = call_with(f, "PUT", "/v1/activities/not-there", COMING(STOCK), "If-Match: \"1\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
  c = call_with(f, "POST", "/v1/activities/tagged/publish", "{}", "If-Match: \"7\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
  c = call_with(f, "POST", "/v1/activities/tagged/publish", "{}", "If-Match: \"1\"\r\n");
  assert_int_equal(c.status, 200);
  assert_string_equal(c.etag, "\"2\"");
  call_release(&c);
  // A changed total is a change too: who read the old one may not put it back.
  assert_call(f, "POST", "/v1/activities/tagged/stock-adjustments", "{\"key\":\"k\",\"by\":1,\"reason\":\"more\"}", 200, NULL);
  c = call_with(f, "PUT", "/v1/activities/tagged", COMING(STOCK), "If-Match: \"2\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
}

static void claim(struct fixture *f, const char *activity, const char *biz_id, int status, const char *code)
{
  char *body = support_format("{\"activityCode\":\"%s\",\"userId\":7,\"bizId\":\"%s\"}", activity, biz_id);
  assert_call(f, "POST", "/v1/claims", body, status, code);
  mem_free(body);
}

static bool claim_is(struct fixture *f, const char *activity, const char *biz_id, int status)
{
  char *body = support_format("{\"activityCode\":\"%s\",\"userId\":7,\"bizId\":\"%s\"}", activity, biz_id);
  struct call c = call_with(f, "POST", "/v1/claims", body, NULL);
  bool is_it = c.status == status;
  call_release(&c);
  mem_free(body);
  return is_it;
}

static void moves_are_felt_by_claims_and_kept_as_history(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/moved", RUNNING(STOCK ",\"limits\":[]"), 201);
  claim(f, "moved", "a", 404, "ACTIVITY_NOT_FOUND");  // a draft is nobody's business
  struct call c = call_with(f, "POST", "/v1/activities/moved/publish", NULL, NULL);
  assert_int_equal(c.status, 200);
  call_release(&c);
  claim(f, "moved", "b", 201, NULL);
  WAIT_FOR(sql_bool(f->stack->sql, "select status = 'ongoing' from largesse.activity where code = 'moved'"), 5);
  assert_call(f, "POST", "/v1/activities/moved/pause", "{\"reason\":\"too many complaints\"}", 200, NULL);
  claim(f, "moved", "c", 409, "PAUSED");
  claim(f, "moved", "b", 200, NULL);
  assert_call(f, "POST", "/v1/activities/moved/resume", "{}", 200, NULL);
  WAIT_FOR(claim_is(f, "moved", "d", 201), 2);
  assert_call(f, "POST", "/v1/activities/moved/publish", "{}", 409, "STATE_CONFLICT");
  assert_call(f, "POST", "/v1/activities/moved/archive", "{}", 409, "STATE_CONFLICT");
  assert_call(f, "POST", "/v1/activities/moved/finish", "{\"reason\":\"enough\"}", 200, NULL);
  claim(f, "moved", "e", 410, "ENDED");
  assert_call(f, "POST", "/v1/activities/moved/resume", "{}", 409, "STATE_CONFLICT");
  assert_call(f, "PUT", "/v1/activities/moved", RUNNING(",\"stock\":{\"total\":20}"), 409, "STATE_CONFLICT");
  assert_call(f, "POST", "/v1/activities/moved/archive", "{}", 200, NULL);
  assert_call(f, "POST", "/v1/activities/none/pause", "{}", 404, "ACTIVITY_NOT_FOUND");

  c = call_with(f, "GET", "/v1/activities/moved/history", NULL, NULL);
  static const char *const to[] = {"draft", "published", "ongoing", "paused", "ongoing", "finished", "archived"};
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/items")), ARRAY_LEN(to));
  for (size_t i = 0; i < ARRAY_LEN(to); i++) {
    char pointer[24];
    (void)snprintf(pointer, sizeof pointer, "/items/%zu/to", i);
    assert_string_equal(text_at(&c, pointer), to[i]);
  }
  assert_null(jsonx_pointer(c.json, "/items/0/from"));
  assert_string_equal(text_at(&c, "/items/3/reason"), "too many complaints");
  assert_string_equal(text_at(&c, "/items/3/actor"), "anonymous");
  call_release(&c);
}

static void an_activity_that_is_over_cannot_be_published(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/over", BODY("2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", STOCK), 201);
  assert_call(f, "POST", "/v1/activities/over/publish", "{}", 409, "STATE_CONFLICT");
}

static void stock_is_adjusted_once_per_key(void **state)
{
  struct fixture *f = *state;
  static const char path[] = "/v1/activities/stocked/stock-adjustments";
  make_reward(f);
  put(f, "/v1/activities/stocked", RUNNING(STOCK ",\"limits\":[]"), 201);
  assert_call(f, "POST", "/v1/activities/stocked/publish", "{}", 200, NULL);
  claim(f, "stocked", "a", 201, NULL);
  struct call c = call_with(f, "POST", path, "{\"key\":\"k1\",\"by\":5,\"reason\":\"more\"}", NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/total"), 15);
  assert_int_equal(number_at(&c, "/remaining"), 14);
  assert_null(c.replayed);
  call_release(&c);
  claim(f, "stocked", "b", 201, NULL);
  c = call_with(f, "POST", path, "{\"key\":\"k1\",\"by\":5,\"reason\":\"more\"}", NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/remaining"), 14);  // the first answer
  assert_string_equal(c.replayed, "true");
  call_release(&c);
  assert_call(f, "POST", path, "{\"key\":\"k1\",\"by\":6,\"reason\":\"more\"}", 422, "BIZ_ID_REUSED");
  c = call_with(f, "POST", path, "{\"key\":\"k2\",\"by\":-14,\"reason\":\"less\"}", NULL);
  assert_int_equal(c.status, 409);
  assert_string_equal(text_at(&c, "/code"), "STOCK_IN_USE");
  assert_int_equal(number_at(&c, "/remaining"), 13);
  call_release(&c);
  assert_call(f, "POST", path, "{\"key\":\"k2\",\"by\":-13,\"reason\":\"less\"}", 200, NULL);
  WAIT_FOR(claim_is(f, "stocked", "c", 409), 2);
  claim(f, "stocked", "d", 409, "SOLD_OUT");
  assert_call(f, "POST", "/v1/activities/none/stock-adjustments", "{\"key\":\"k\",\"by\":1,\"reason\":\"x\"}", 404, "ACTIVITY_NOT_FOUND");
  // Stock that ran out and was added to again can be claimed at once.
  assert_call(f, "POST", path, "{\"key\":\"k3\",\"by\":1,\"reason\":\"more\"}", 200, NULL);
  WAIT_FOR(claim_is(f, "stocked", "e", 201), 2);
  assert_int_equal(sql_int(f->stack->sql, "select remaining from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'stocked'"), 0);
}

static size_t pages_of(struct fixture *f, const char *first, const char *with, size_t *out_items)
{
  size_t pages = 0;
  char *path = support_format("%s", first);
  *out_items = 0;
  while (path != NULL) {
    struct call c = call_with(f, "GET", path, NULL, NULL);
    assert_int_equal(c.status, 200);
    *out_items += json_array_size(jsonx_pointer(c.json, "/items"));
    pages++;
    mem_free(path);
    path = jsonx_pointer(c.json, "/next") != NULL && !json_is_null(jsonx_pointer(c.json, "/next")) ? support_format("%s%s", with, text_at(&c, "/next")) : NULL;
    call_release(&c);
  }
  return pages;
}

static void lists_come_in_pages(void **state)
{
  struct fixture *f = *state;
  size_t items = 0;
  make_reward(f);
  for (int i = 0; i < 7; i++) {
    char path[40];
    (void)snprintf(path, sizeof path, "/v1/activities/page-%d", i);
    put(f, path, RUNNING(STOCK ",\"limits\":[]"), 201);
  }
  size_t total = (size_t)sql_int(f->stack->sql, "select count(*) from largesse.activity");
  assert_int_equal(pages_of(f, "/v1/activities?limit=3", "/v1/activities?limit=3&after=", &items), (total + 2) / 3);
  assert_int_equal(items, total);
  struct call c = call_with(f, "GET", "/v1/activities?after=page-2&limit=2", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/code"), "page-3");
  assert_string_equal(text_at(&c, "/next"), "page-4");
  call_release(&c);
  assert_call(f, "POST", "/v1/activities/page-0/publish", "{}", 200, NULL);
  for (int i = 0; i < 5; i++) {
    char biz_id[8];
    (void)snprintf(biz_id, sizeof biz_id, "p%d", i);
    claim(f, "page-0", biz_id, 201, NULL);
  }
  assert_int_equal(pages_of(f, "/v1/activities/page-0/claims?limit=2", "/v1/activities/page-0/claims?limit=2&after=", &items), 3);
  assert_int_equal(items, 5);
  assert_int_equal(pages_of(f, "/v1/activities/page-0/claims?status=failed", "-", &items), 1);
  assert_int_equal(items, 0);
  assert_int_equal(pages_of(f, "/v1/activities/page-0/history?limit=1", "/v1/activities/page-0/history?limit=1&after=", &items),
                   (size_t)sql_int(f->stack->sql, "select count(*) from largesse.activity_history h join largesse.activity a on a.id = h.activity_id where a.code = 'page-0'"));
  size_t of_user = (size_t)sql_int(f->stack->sql, "select count(*) from largesse.claim where user_id = 7");
  (void)pages_of(f, "/v1/users/7/claims?limit=2", "/v1/users/7/claims?limit=2&after=", &items);
  assert_int_equal(items, of_user);
}

// B77: an id above the column's range is the client's mistake, not ours.
static void claims_are_found_by_every_path(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/read", RUNNING(STOCK), 201);
  assert_call(f, "POST", "/v1/activities/read/publish", "{}", 200, NULL);
  struct call made = call_with(f, "POST", "/v1/claims", "{\"activityCode\":\"read\",\"userId\":\"9007199254740993\",\"bizId\":\"b:1\",\"channel\":\"渠道\"}", NULL);
  assert_int_equal(made.status, 201);
  static const char *const paths[] = {"/v1/claims/read/b:1", "/v1/users/9007199254740993/claims"};
  struct call by_id = call_with(f, "GET", made.location, NULL, NULL);
  struct call by_biz = call_with(f, "GET", paths[0], NULL, NULL);
  struct call of_user = call_with(f, "GET", paths[1], NULL, NULL);
  if (!json_equal(by_id.json, made.json)) fail_msg("%s\n%s", json_dumps(by_id.json, 0), json_dumps(made.json, 0));
  assert_true(json_equal(by_biz.json, made.json));
  assert_true(json_equal(jsonx_pointer(of_user.json, "/items/0"), made.json));
  assert_string_equal(text_at(&by_id, "/userId"), "9007199254740993");
  call_release(&made);
  call_release(&by_id);
  call_release(&by_biz);
  call_release(&of_user);
  assert_call(f, "GET", "/v1/claims/2147483648", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/claims/9223372036854775807", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/claims/9223372036854775807-9223372036854775807", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/claims/9223372036854775808", NULL, 400, "INVALID_REQUEST");
  assert_call(f, "GET", "/v1/claims/1-9223372036854775808", NULL, 400, "INVALID_REQUEST");
  assert_call(f, "GET", "/v1/claims/read/unknown", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/claims/nothing/b:1", NULL, 404, "CLAIM_NOT_FOUND");
  assert_call(f, "GET", "/v1/users/2147483648/claims", NULL, 200, NULL);
  assert_call(f, "GET", "/v1/users/9223372036854775807/claims", NULL, 200, NULL);
  assert_call(f, "GET", "/v1/users/9223372036854775808/claims", NULL, 400, "INVALID_REQUEST");
  assert_call(f, "GET", "/v1/users/0/claims", NULL, 400, "INVALID_REQUEST");
}

static void bad_input_is_a_clear_4xx_and_changes_nothing(void **state)
{
  struct fixture *f = *state;
  static const struct { const char *method, *path, *body; int status; const char *code; } cases[] = {
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
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"limits\":[{\"count\":1,\"period\":\"day\"},{\"count\":2,\"period\":\"day\"}]"), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-02-29T10:00:00Z", "2027-03-29T10:00:00Z", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-03-01T10:00:00Z", "2027-03-01T10:00:00Z", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", BODY("2027-03-01T10:00:00Z", "2027-03-02", STOCK), 400, "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     "{\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2027-03-01T10:00:00Z\",\"endAt\":\"2027-04-01T10:00:00Z\",\"timeZone\":\"Mars/Base\",\"rewardCode\":\"r\"" STOCK "}", 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad",
     "{\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2027-03-01T10:00:00Z\",\"endAt\":\"2027-04-01T10:00:00Z\",\"timeZone\":\"UTC\",\"rewardCode\":\"none\"" STOCK "}", 400,
     "INVALID_REQUEST"},
    {"PUT", "/v1/activities/bad", RUNNING(STOCK ",\"eventCode\":\"none\""), 400, "INVALID_REQUEST"},
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
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":0,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":1.0,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":\"1\",\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":9223372036854775807,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"a b\",\"by\":1,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"by\":1,\"reason\":\"x\"}", 400, "INVALID_REQUEST"},
    {"POST", "/v1/activities/good/stock-adjustments", "{\"key\":\"k\",\"by\":1}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"elsewhere\"}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"simulator\",\"amount\":{\"amount\":-1000,\"currency\":\"CNY\"}}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"simulator\",\"amount\":{\"amount\":1e2,\"currency\":\"CNY\"}}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/bad", "{\"provider\":\"simulator\",\"amount\":{\"amount\":9223372036854775808,\"currency\":\"CNY\"}}", 400, "INVALID_REQUEST"},
    {"PUT", "/v1/rewards/b%20d", "{\"provider\":\"simulator\"}", 400, "INVALID_REQUEST"},
    {"DELETE", "/v1/activities/good", NULL, 405, "METHOD_NOT_ALLOWED"},
    {"POST", "/v1/activities/good/launch", "{}", 404, "NOT_FOUND"},
  };
  make_reward(f);
  put(f, "/v1/activities/good", RUNNING(STOCK), 201);
  static const char tables[] = "select (select count(*) from largesse.activity), (select count(*) from largesse.reward), (select count(*) from largesse.activity_history),"
                               " (select count(*) from largesse.stock_adjustment), (select max(version) from largesse.activity where code = 'good')";
  char *before = sql_table(f->stack->sql, "%s", tables);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_call(f, cases[i].method, cases[i].path, cases[i].body, cases[i].status, cases[i].code);
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
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "publish", "by-hand", "--reason", "go", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "by-hand is published"));
  WAIT_FOR(claim_is(f, "by-hand", "a", 201), 2);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "pause", "by-hand", NULL}, &out), 64);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "pause", "by-hand", "--reason", "stop", NULL}, &out), 0);
  // From its commit no claim is accepted, whatever memory believes.
  claim(f, "by-hand", "b", 409, "PAUSED");
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "publish", "by-hand", "--reason", "again", NULL}, &out), 65);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "pause", "nothing", "--reason", "x", NULL}, &out), 65);
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"stock", "adjust", "by-hand", "--by", "-3", "--key", "k", "--reason", "x", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "total 7, remaining 6"));
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "history", "by-hand", "--format", "json", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "\"actor\":\"cli:"));
  assert_non_null(strstr(buf_text(&out), "\"reason\":\"stop\""));
  json_t *json = NULL;
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"claims", "list", "--activity", "by-hand", "--format", "json", NULL}, &out), 0);
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
  assert_int_equal(stack_command(f->stack, "scheduler", (const char *[]){"activity", "list", "--formt", "json", NULL}, &out), 64);
  json_decref(json);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_reward_has_versions),
    cmocka_unit_test(an_activity_is_created_changed_and_shown),
    cmocka_unit_test(a_stale_etag_is_412),
    cmocka_unit_test(moves_are_felt_by_claims_and_kept_as_history),
    cmocka_unit_test(an_activity_that_is_over_cannot_be_published),
    cmocka_unit_test(stock_is_adjusted_once_per_key),
    cmocka_unit_test(lists_come_in_pages),
    cmocka_unit_test(claims_are_found_by_every_path),
    cmocka_unit_test(bad_input_is_a_clear_4xx_and_changes_nothing),
    cmocka_unit_test(commands_work_beside_the_daemon),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
