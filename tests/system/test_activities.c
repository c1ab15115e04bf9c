// SPDX-License-Identifier: Apache-2.0
// Activities, rewards, stock and lists over HTTP: what is created, moved, refused, and how claims see it at once.
#include <stdlib.h>

#include "tests/system/activity_calls.h"

// --- tests

static void a_reward_has_versions(void **state)
{
  struct fixture *f = *state;
  static const char first[] =
      "{\"provider\":\"simulator\",\"amount\":{\"amount\":1299,\"currency\":\"CNY\"},\"params\":{\"a\":\"b\"}}";
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
  struct call c =
      call_with(f, "PUT", "/v1/activities/shown", COMING(STOCK ",\"venue\":\"Hall 1\",\"attributes\":{\"x\":1}"), NULL);
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

// What GET shows can be put as it is, without what is no configuration, and changes nothing.
static void what_is_shown_can_be_put_again(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *path, *body;
  } cases[] = {
      {"/v1/activities/again-reward",
       COMING(STOCK
              ",\"attributes\":{\"none\":null},\"eligibility\":\"$.user.level >= 5 && $.request.channel == "
              "\\\"APP\\\"\",\"channels\":[\"APP\"],\"exclusiveGroup\":\"mall\",\"needsQualification\":true,"
              "\"rateLimit\":{\"perUser\":{\"rate\":1,\"burst\":3}},\"intake\":\"queued\",\"onRefused\":\"review\","
              "\"limits\":[{\"count\":1,\"period\":\"day\"},{\"count\":3,\"period\":\"month\"}]")},
      {"/v1/activities/again-places",
       "{\"name\":\"n\",\"kind\":\"registration\",\"startAt\":\"2098-03-01T10:00:00Z\",\"endAt\":\"2098-04-01T10:00:"
       "00Z\","
       "\"timeZone\":\"UTC\",\"stock\":{\"total\":2},\"waitingList\":{\"max\":5,\"acceptWithin\":\"15m\"},"
       "\"signUpAgain\":false}"},
      {"/v1/activities/again-numbers",
       "{\"name\":\"n\",\"kind\":\"number\",\"startAt\":\"2098-03-01T10:00:00Z\",\"endAt\":\"2098-04-01T10:00:00Z\","
       "\"timeZone\":\"UTC\",\"holdFor\":\"90s\",\"latePayment\":\"refund\"}"},
      {"/v1/activities/again-points",
       "{\"name\":\"n\",\"kind\":\"exchange\",\"startAt\":\"2098-03-01T10:00:00Z\",\"endAt\":\"2098-04-01T10:00:00Z\","
       "\"timeZone\":\"UTC\",\"rewardCode\":\"r\",\"pointsCost\":299,\"stock\":{\"total\":null,\"segments\":4}}"},
  };
  make_reward(f);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    put(f, cases[i].path, cases[i].body, 201);
    struct call shown = call_with(f, "GET", cases[i].path, NULL, NULL);
    static const char *const others[] = {"status", "serverTime", "availability"};
    for (size_t k = 0; i == 0 && k < ARRAY_LEN(others); k++)
      assert_int_equal(json_object_del(shown.json, others[k]), 0);
    char *body = json_dumps(shown.json, JSON_COMPACT);
    struct call again = call_with(f, "PUT", cases[i].path, body, NULL);
    if (again.status != 200) fail_msg("%s: %d %s", body, again.status, text_at(&again, "/detail"));
    assert_string_equal(again.etag, "\"1\"");
    call_release(&again);
    (void)json_object_set_new(shown.json, "status", json_string("ongoing"));  // is no way to open it
    char *moved = json_dumps(shown.json, JSON_COMPACT);
    assert_call(f, "PUT", cases[i].path, moved, 409, "STATE_CONFLICT");
    free(moved);
    call_release(&shown);
    free(body);
  }
}

static void a_new_activity_is_a_draft(void **state)
{
  static const char body[] =
      "{\"name\":\"n\",\"kind\":\"registration\",\"startAt\":\"2098-03-01T10:00:00Z\",\"endAt\":\"2098-04-01T10:00:"
      "00Z\","
      "\"timeZone\":\"UTC\",\"stock\":{\"total\":2},\"status\":\"%s\"}";
  struct fixture *f = *state;
  static const char *const refused[] = {"ongoing", "open"};
  for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
    char *asked = support_format(body, refused[i]);
    assert_call(f, "PUT", "/v1/activities/born-open", asked, 400, "INVALID_REQUEST");
    free(asked);
  }
  assert_call(f, "GET", "/v1/activities/born-open", NULL, 404, "ACTIVITY_NOT_FOUND");
}

static void a_stale_etag_is_412(void **state)
{
  struct fixture *f = *state;
  make_reward(f);
  put(f, "/v1/activities/tagged", COMING(STOCK), 201);
  static const struct {
    const char *header;
    int status;
  } cases[] = {
      {"If-Match: \"2\"\r\n", 412}, {"If-Match: W/\"1\"\r\n", 412}, {"If-Match: 1\r\n", 412},
      {"If-Match: \"x\"\r\n", 412}, {"If-Match: \"0\"\r\n", 412},   {"If-Match: *\r\n", 200},
      {"If-Match: \"1\"\r\n", 200},
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
  assert_call(f, "POST", "/v1/activities/tagged/stock-adjustments", "{\"key\":\"k\",\"by\":1,\"reason\":\"more\"}", 200,
              NULL);
  c = call_with(f, "PUT", "/v1/activities/tagged", COMING(STOCK), "If-Match: \"2\"\r\n");
  assert_int_equal(c.status, 412);
  call_release(&c);
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
  WITHIN(claim_is(f, "moved", "d", 201), 2);
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
  assert_true(json_is_null(jsonx_pointer(c.json, "/items/0/from")));
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
  WITHIN(claim_is(f, "stocked", "c", 409), 2);
  claim(f, "stocked", "d", 409, "SOLD_OUT");
  assert_call(f, "POST", "/v1/activities/none/stock-adjustments", "{\"key\":\"k\",\"by\":1,\"reason\":\"x\"}", 404,
              "ACTIVITY_NOT_FOUND");
  // Stock that ran out and was added to again can be claimed at once.
  assert_call(f, "POST", path, "{\"key\":\"k3\",\"by\":1,\"reason\":\"more\"}", 200, NULL);
  WITHIN(claim_is(f, "stocked", "e", 201), 2);
  assert_int_equal(sql_int(f->stack->sql,
                           "select remaining from largesse.stock s join largesse.activity a on a.id = s.activity_id "
                           "where a.code = 'stocked'"),
                   0);
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
    path = jsonx_pointer(c.json, "/next") != NULL && !json_is_null(jsonx_pointer(c.json, "/next"))
               ? support_format("%s%s", with, text_at(&c, "/next"))
               : NULL;
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
  assert_int_equal(
      pages_of(f, "/v1/activities/page-0/claims?limit=2", "/v1/activities/page-0/claims?limit=2&after=", &items), 3);
  assert_int_equal(items, 5);
  assert_int_equal(pages_of(f, "/v1/activities/page-0/claims?status=failed", "-", &items), 1);
  assert_int_equal(items, 0);
  assert_int_equal(
      pages_of(f, "/v1/activities/page-0/history?limit=1", "/v1/activities/page-0/history?limit=1&after=", &items),
      (size_t)sql_int(f->stack->sql,
                      "select count(*) from largesse.activity_history h join largesse.activity a on a.id = "
                      "h.activity_id where a.code = 'page-0'"));
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
  struct call made = call_with(
      f, "POST", "/v1/claims",
      "{\"activityCode\":\"read\",\"userId\":\"9007199254740993\",\"bizId\":\"b:1\",\"channel\":\"渠道\"}", NULL);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reward_has_versions),
      cmocka_unit_test(an_activity_is_created_changed_and_shown),
      cmocka_unit_test(what_is_shown_can_be_put_again),
      cmocka_unit_test(a_new_activity_is_a_draft),
      cmocka_unit_test(a_stale_etag_is_412),
      cmocka_unit_test(moves_are_felt_by_claims_and_kept_as_history),
      cmocka_unit_test(an_activity_that_is_over_cannot_be_published),
      cmocka_unit_test(stock_is_adjusted_once_per_key),
      cmocka_unit_test(lists_come_in_pages),
      cmocka_unit_test(claims_are_found_by_every_path),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
