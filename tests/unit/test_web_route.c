// SPDX-License-Identifier: Apache-2.0
// Tests of common/web_route: which route a path finds, its parameters, and the methods that a refusal lists.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/web_route.h"

static void handle(struct web_request *req) { (void)req; }

static const struct web_route items[] = {
    {"GET", "/", WEB_OPEN, WEB_BODY_NONE, 0, handle, "home"},
    {"POST", "/v1/claims", WEB_CLAIMS, WEB_BODY_JSON, 0, handle, "claims_create"},
    {"GET", "/v1/claims/{claimId}", WEB_READ, WEB_BODY_NONE, 0, handle, "claim_by_id"},
    {"GET", "/v1/claims/{activityCode}/{bizId}", WEB_READ, WEB_BODY_NONE, 0, handle, "claim_by_biz"},
    {"GET", "/v1/claims/{activityCode}/latest", WEB_READ, WEB_BODY_NONE, 0, handle, "claim_latest"},
    {"POST", "/v1/claims/{activityCode}/{bizId}/cancel", WEB_CLAIMS, WEB_BODY_JSON_OPTIONAL, 0, handle, "claim_cancel"},
    {"GET", "/v1/claims/search", WEB_READ, WEB_BODY_NONE, 0, handle, "claim_search"},
    {"PUT", "/v1/activities/{code}", WEB_ACTIVITIES, WEB_BODY_JSON, 0, handle, "activity_put"},
    {"GET", "/v1/activities/{code}", WEB_READ, WEB_BODY_NONE, 0, handle, "activity_get"},
    {"DELETE", "/v1/activities/{code}", WEB_ACTIVITIES, WEB_BODY_NONE, 0, handle, "activity_delete"},
};
static const struct web_routes routes = {items, ARRAY_LEN(items)};

static void find(const char *method, const char *path, struct web_match *m)
{
  web_route_find(&routes, method, path, strlen(path), m);
}

static void finds_by_method_and_path(void **state)
{
  (void)state;
  static const struct {
    const char *method, *path, *label;
  } cases[] = {
      {"GET", "/", "home"},
      {"POST", "/v1/claims", "claims_create"},
      {"GET", "/v1/claims/12-345", "claim_by_id"},
      {"GET", "/v1/claims/search", "claim_search"},  // a literal wins over a parameter
      {"GET", "/v1/claims/a/b", "claim_by_biz"},
      {"GET", "/v1/claims/a/latest", "claim_latest"},
      {"GET", "/v1/claims/search/b", "claim_by_biz"},
      {"POST", "/v1/claims/a/b/cancel", "claim_cancel"},
      {"HEAD", "/v1/activities/a", "activity_get"},
      {"PUT", "/v1/activities/a%2Fb", "activity_put"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct web_match m;
    find(cases[i].method, cases[i].path, &m);
    assert_non_null(m.route);
    assert_string_equal(m.route->label, cases[i].label);
    assert_string_equal(m.allowed, "");
  }
}

static void gives_parameters_as_pieces_of_the_path(void **state)
{
  (void)state;
  struct web_match m;
  find("POST", "/v1/claims/festival/click-1/cancel", &m);
  assert_int_equal(m.param_count, 2);
  assert_int_equal(m.params[0].name_len, strlen("activityCode"));
  assert_memory_equal(m.params[0].name, "activityCode", m.params[0].name_len);
  assert_int_equal(m.params[0].value_len, strlen("festival"));
  assert_memory_equal(m.params[0].value, "festival", m.params[0].value_len);
  assert_memory_equal(m.params[1].name, "bizId", m.params[1].name_len);
  assert_int_equal(m.params[1].value_len, strlen("click-1"));
}

static void finds_nothing_at_unknown_paths(void **state)
{
  (void)state;
  static const char *const paths[] = {"",
                                      "x",
                                      "//",
                                      "/v1",
                                      "/v1/",
                                      "/v1/claims/",
                                      "/v1/claims//b",
                                      "/v1/claims/a/",
                                      "/v1/claims/a/b/c",
                                      "/V1/claims",
                                      "/v1/claimsx",
                                      "/v1/claim",
                                      "/v1/claims/a/b/cancel/",
                                      "/v1/activities/",
                                      "/v1/activities"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    struct web_match m;
    find("GET", paths[i], &m);
    assert_null(m.route);
    assert_string_equal(m.allowed, "");
  }
}

static void lists_methods_of_paths_that_exist(void **state)
{
  (void)state;
  static const struct {
    const char *method, *path, *allowed;
  } cases[] = {
      {"DELETE", "/v1/claims", "POST, OPTIONS"},
      {"GET", "/v1/claims", "POST, OPTIONS"},
      {"HEAD", "/v1/claims", "POST, OPTIONS"},
      {"POST", "/v1/activities/a", "PUT, GET, HEAD, DELETE, OPTIONS"},
      {"OPTIONS", "/v1/activities/a", "PUT, GET, HEAD, DELETE, OPTIONS"},
      {"get", "/v1/activities/a", "PUT, GET, HEAD, DELETE, OPTIONS"},
      {"DELETE", "/v1/claims/search", "GET, HEAD, OPTIONS"},  // two routes fit; each method once
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct web_match m;
    find(cases[i].method, cases[i].path, &m);
    assert_null(m.route);
    assert_string_equal(m.allowed, cases[i].allowed);
  }
}

static void the_path_need_not_be_a_string(void **state)
{
  (void)state;
  struct web_match m;
  web_route_find(&routes, "GET", "/v1/claims/12xyz", strlen("/v1/claims/12"), &m);
  assert_non_null(m.route);
  assert_int_equal(m.params[0].value_len, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_by_method_and_path),       cmocka_unit_test(gives_parameters_as_pieces_of_the_path),
      cmocka_unit_test(finds_nothing_at_unknown_paths), cmocka_unit_test(lists_methods_of_paths_that_exist),
      cmocka_unit_test(the_path_need_not_be_a_string),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
