// SPDX-License-Identifier: Apache-2.0
// The shape of activities and rewards: what is carried over, and each fault with its path.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/activity_doc.h"

#define HEAD                                                                                                          \
  "{\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2026-10-01T11:00:00+08:00\",\"endAt\":\"2026-10-01T12:00:00+08:" \
  "00\",\"timeZone\":\"Asia/Shanghai\""
#define REST ",\"rewardCode\":\"r\",\"stock\":{\"total\":10}}"

static json_t *parse(const char *text)
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES];
  if (jsonx_parse(text, strlen(text), &json, why) != RESULT_OK) fail_msg("%s: %s", text, why);
  return json;
}

static void assert_doc(const char *text, const char *path_code, const char *expected)
{
  json_t *body = parse(text), *doc = NULL, *wanted = parse(expected);
  char fault[JSONX_WHY_BYTES] = "";
  if (activity_doc_check(body, path_code, &doc, fault) != RESULT_OK) fail_msg("%s: %s", text, fault);
  if (!json_equal(doc, wanted)) fail_msg("%s became %s", text, json_dumps(doc, 0));
  json_decref(body);
  json_decref(doc);
  json_decref(wanted);
}

static void assert_fault(const char *text, const char *path_code, const char *expected)
{
  json_t *body = parse(text), *untouched = body, *doc = untouched;
  char fault[JSONX_WHY_BYTES] = "";
  assert_int_equal(activity_doc_check(body, path_code, &doc, fault), RESULT_INVALID);
  assert_string_equal(fault, expected);
  assert_ptr_equal(doc, untouched);
  json_decref(body);
}

static void a_document_is_carried_over_in_utc(void **state)
{
  (void)state;
  assert_doc(HEAD REST, "a",
             "{\"code\":\"a\",\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2026-10-01T03:00:00.000000Z\",\"endAt\":"
             "\"2026-10-01T04:00:00.000000Z\","
             "\"timeZone\":\"Asia/Shanghai\",\"rewardCode\":\"r\",\"stock\":{\"total\":10}}");
  assert_doc(HEAD
             ",\"code\":\"a\",\"eventCode\":\"e\",\"venue\":\"v\",\"attributes\":{\"x\":[1,null]},\"limits\":[{"
             "\"count\":2,\"period\":\"day\"}],"
             "\"rewardCode\":\"r\",\"stock\":{\"total\":null,\"segments\":1}}",
             NULL,
             "{\"code\":\"a\",\"name\":\"n\",\"kind\":\"reward\",\"startAt\":\"2026-10-01T03:00:00.000000Z\",\"endAt\":"
             "\"2026-10-01T04:00:00.000000Z\","
             "\"timeZone\":\"Asia/"
             "Shanghai\",\"eventCode\":\"e\",\"venue\":\"v\",\"attributes\":{\"x\":[1,null]},\"limits\":[{\"count\":2,"
             "\"period\":\"day\"}],"
             "\"rewardCode\":\"r\",\"stock\":{\"total\":null}}");
}

static void each_fault_names_its_path(void **state)
{
  (void)state;
  static const char CODE_RULE[] =
      "must be 1 to 64 letters, digits, dots, underscores or hyphens, beginning with a letter or digit";
  char expected[JSONX_WHY_BYTES];
  assert_fault("[]", "a", "must be an object");
  assert_fault(HEAD REST, NULL, "code: is missing");
  assert_fault(HEAD ",\"code\":\"b\"" REST, "a", "code: differs from the code in the path");
  assert_fault(HEAD REST, "-a", "code: is no valid code");
  assert_fault(HEAD ",\"code\":null" REST, "a", "code: must be a text");
  (void)snprintf(expected, sizeof expected, "code: %s", CODE_RULE);
  assert_fault(HEAD ",\"code\":\"a b\"" REST, NULL, expected);
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{\"total\":-1}}", "a",
               "stock.total: must be an integer from 0 to 1000000000000");
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{\"total\":1.0}}", "a",
               "stock.total: must be an integer from 0 to 1000000000000");
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{\"total\":\"10\"}}", "a",
               "stock.total: must be an integer from 0 to 1000000000000");
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{\"total\":true}}", "a",
               "stock.total: must be an integer from 0 to 1000000000000");
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{}}", "a", "stock.total: is missing");
  assert_fault(HEAD ",\"rewardCode\":\"r\",\"stock\":{\"total\":1,\"x\":1}}", "a", "stock.x: is not known here");
  assert_fault(HEAD ",\"rewardCode\":\"r\"}", "a", "stock: is missing");
  assert_fault(HEAD ",\"stock\":{\"total\":1}}", "a", "rewardCode: is missing");
  assert_fault(HEAD ",\"surprise\":1" REST, "a", "surprise: is not known here");
  assert_fault(HEAD ",\"limits\":[{\"count\":0,\"period\":\"day\"}]" REST, "a",
               "limits[0].count: must be an integer from 1 to 2147483647");
  assert_fault(HEAD ",\"limits\":[{\"count\":1,\"period\":\"day\"},{\"count\":1,\"period\":\"year\"}]" REST, "a",
               "limits[1].period: must be total, day, week, month or event");
  assert_fault(HEAD ",\"limits\":[1]" REST, "a", "limits[0]: must be an object");
  assert_fault(HEAD ",\"limits\":null" REST, "a", "limits: must be a list");
  assert_fault(HEAD ",\"venue\":null" REST, "a", "venue: must be a text");
  assert_fault(HEAD ",\"attributes\":[]" REST, "a", "attributes: must be an object");
}

static void a_window_must_exist_and_have_a_length(void **state)
{
  (void)state;
#define WINDOW(start, end) \
  "{\"name\":\"n\",\"kind\":\"reward\",\"timeZone\":\"UTC\",\"startAt\":\"" start "\",\"endAt\":\"" end "\"" REST
  static const char TIME_RULE[] = "must be an existing time such as \"2026-11-29T12:00:00+08:00\"";
  char start_fault[JSONX_WHY_BYTES], end_fault[JSONX_WHY_BYTES];
  (void)snprintf(start_fault, sizeof start_fault, "startAt: %s", TIME_RULE);
  (void)snprintf(end_fault, sizeof end_fault, "endAt: %s", TIME_RULE);
  assert_fault(WINDOW("2027-02-29T10:00:00Z", "2027-03-02T10:00:00Z"), "a", start_fault);
  assert_fault(WINDOW("2027-02-28T10:00:00Z", "2027-03-01"), "a", end_fault);
  assert_fault(WINDOW("2027-02-28T10:00:00", "2027-03-01T00:00:00Z"), "a", start_fault);
  assert_fault(WINDOW("2027-02-28T10:00:00Z", "2027-02-28T11:00:00+01:00"), "a", "endAt: must be after startAt");
#undef WINDOW
}

#define KIND(kind, more)             \
  "{\"name\":\"n\",\"kind\":\"" kind \
  "\",\"timeZone\":\"UTC\",\"startAt\":\"2027-01-01T00:00:00Z\",\"endAt\":\"2027-01-02T00:00:00Z\"" more "}"
#define TEN    ",\"stock\":{\"total\":10}"
#define CODE_R ",\"rewardCode\":\"r\""

// As activity_put takes them: durations in their shortest form, one segment left out.
static void rules_are_carried_over(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {KIND("registration", TEN ",\"waitingList\":{\"max\":5,\"acceptWithin\":\"120s\"},\"signUpAgain\":false"),
       "{\"stock\":{\"total\":10},\"waitingList\":{\"max\":5,\"acceptWithin\":\"2m\"},\"signUpAgain\":false}"},
      {KIND("number",
            ",\"price\":{\"amount\":200,\"currency\":\"CNY\"},\"paymentProvider\":\"p\",\"holdFor\":\"15m\","
            "\"latePayment\":\"refund\""),
       "{\"price\":{\"amount\":200,\"currency\":\"CNY\"},\"paymentProvider\":\"p\",\"holdFor\":\"15m\",\"latePayment\":"
       "\"refund\"}"},
      {KIND("number", ",\"stock\":{}"), "{\"stock\":{\"total\":null}}"},
      {KIND("number", TEN), "{\"stock\":{\"total\":10}}"},
      {KIND("exchange", CODE_R ",\"pointsCost\":299,\"stock\":{\"total\":null,\"segments\":4}"),
       "{\"rewardCode\":\"r\",\"pointsCost\":299,\"stock\":{\"total\":null,\"segments\":4}}"},
      {KIND("reward", CODE_R TEN ",\"eventCode\":\"e\",\"limits\":[{\"count\":2,\"period\":\"event\"}],"
                                 "\"needsQualification\":true,\"eligibility\":\"$.user.a > 1\",\"channels\":[\"APP\","
                                 "\"no\"],\"exclusiveGroup\":\"mall 1\",\"onRefused\":\"review\",\"intake\":\"queued\","
                                 "\"rateLimit\":{\"perUser\":{\"rate\":1,\"burst\":2}}"),
       "{\"rewardCode\":\"r\",\"stock\":{\"total\":10},\"eventCode\":\"e\",\"limits\":[{\"count\":2,\"period\":"
       "\"event\"}"
       "],\"needsQualification\":true,\"eligibility\":\"$.user.a > "
       "1\",\"channels\":[\"APP\",\"no\"],\"exclusiveGroup\":"
       "\"mall "
       "1\",\"onRefused\":\"review\",\"intake\":\"queued\",\"rateLimit\":{\"perUser\":{\"rate\":1,\"burst\":2}}}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    json_t *body = parse(cases[i][0]), *doc = NULL, *wanted = parse(cases[i][1]);
    char fault[JSONX_WHY_BYTES] = "";
    if (activity_doc_check(body, "a", &doc, fault) != RESULT_OK) fail_msg("%s: %s", cases[i][0], fault);
    static const char *const common[] = {"code", "name", "kind", "startAt", "endAt", "timeZone"};
    for (size_t k = 0; k < ARRAY_LEN(common); k++) (void)json_object_del(doc, common[k]);
    if (!json_equal(doc, wanted)) fail_msg("%s became %s", cases[i][0], json_dumps(doc, 0));
    json_decref(body);
    json_decref(doc);
    json_decref(wanted);
  }
}

static void rules_are_refused_with_their_path(void **state)
{
  (void)state;
#define REWARD(more) KIND("reward", CODE_R TEN more)
  static const char *const cases[][2] = {
      {KIND("lottery", CODE_R TEN), "kind: must be reward, registration, number or exchange"},
      {KIND("reward", TEN), "rewardCode: is missing"},
      {KIND("exchange", TEN ",\"pointsCost\":1"), "rewardCode: is missing"},
      {KIND("exchange", CODE_R TEN), "pointsCost: is missing"},
      {REWARD(",\"pointsCost\":1"), "pointsCost: goes with kind exchange only"},
      {KIND("exchange", CODE_R TEN ",\"pointsCost\":0"), "pointsCost: must be an integer from 1 to 1000000000"},
      {REWARD(",\"price\":{\"amount\":1,\"currency\":\"CNY\"}"), "price: goes with kind number only"},
      {REWARD(",\"holdFor\":\"1m\""), "holdFor: goes with kind number only"},
      {REWARD(",\"latePayment\":\"refund\""), "latePayment: goes with kind number only"},
      {REWARD(",\"signUpAgain\":true"), "signUpAgain: goes with kind registration only"},
      {REWARD(",\"waitingList\":{\"max\":1}"), "waitingList: goes with kind registration only"},
      {KIND("number", ",\"price\":{\"amount\":1,\"currency\":\"CNY\"}"),
       "paymentProvider: is missing: a price has to be paid somewhere"},
      {KIND("number", ",\"paymentProvider\":\"p\""), "price: is missing: there is nothing to be paid"},
      {KIND("number", ",\"price\":{\"amount\":0,\"currency\":\"CNY\"},\"paymentProvider\":\"p\""),
       "price.amount: must be an integer of at least 1"},
      {KIND("number", ",\"price\":{\"amount\":1,\"currency\":\"cny\"},\"paymentProvider\":\"p\""),
       "price.currency: must be a three-letter ISO 4217 code"},
      {KIND("number", ",\"holdFor\":\"0s\""), "holdFor: must be more than 0 and at most 366 days"},
      {KIND("number", ",\"holdFor\":\"15\""), "holdFor: must be a duration with its unit, such as \"15m\""},
      {KIND("number", ",\"holdFor\":15"), "holdFor: must be a duration with its unit, such as \"15m\""},
      {KIND("number", ",\"latePayment\":\"keep\""), "latePayment: must be reallocate, refund or review"},
      {KIND("number", ",\"stock\":{\"total\":5,\"segments\":2}"), "stock.segments: must be 1 for numbers"},
      {KIND("registration", ""), "stock: is missing"},
      {KIND("registration", TEN ",\"waitingList\":{}"), "waitingList.max: is missing"},
      {KIND("registration", TEN ",\"waitingList\":{\"max\":0}"),
       "waitingList.max: must be an integer from 1 to 1000000"},
      {KIND("registration", TEN ",\"waitingList\":{\"max\":1,\"acceptWithin\":\"1\"}"),
       "waitingList.acceptWithin: must be a duration with its unit, such as \"15m\""},
      {KIND("registration", TEN ",\"waitingList\":{\"max\":1,\"order\":1}"), "waitingList.order: is not known here"},
      {KIND("registration", ",\"stock\":{\"total\":null},\"waitingList\":{\"max\":1}"),
       "waitingList: goes with limited stock only"},
      {KIND("registration", ",\"stock\":{\"total\":9,\"segments\":2},\"waitingList\":{\"max\":1}"),
       "stock.segments: must be 1 where there is a waiting list"},
      {KIND("reward", CODE_R ",\"stock\":{\"total\":1,\"segments\":65}"),
       "stock.segments: must be an integer from 1 to 64"},
      {REWARD(",\"limits\":[{\"count\":1,\"period\":\"event\"}]"), "limits[0].period: event needs eventCode"},
      {REWARD(",\"needsQualification\":1"), "needsQualification: must be true or false"},
      {REWARD(",\"needsQualification\":null"), "needsQualification: must be true or false"},
      {REWARD(",\"eligibility\":{}"), "eligibility: must be a text"},
      {REWARD(",\"eligibility\":\"\""), "eligibility: must not be empty"},
      {REWARD(",\"channels\":[]"), "channels: must name 1 to 64 channels"},
      {REWARD(",\"channels\":\"APP\""), "channels: must be a list"},
      {REWARD(",\"channels\":[\"APP\",1]"), "channels[1]: must be a text"},
      {REWARD(",\"channels\":[\"APP\",\"APP\"]"), "channels[1]: is named twice"},
      {REWARD(",\"channels\":[\"\"]"), "channels[0]: must be 1 to 64 characters"},
      {REWARD(",\"exclusiveGroup\":\"\""), "exclusiveGroup: must not be empty"},
      {REWARD(",\"onRefused\":\"retry\""), "onRefused: must be fail or review"},
      {REWARD(",\"intake\":\"slow\""), "intake: must be direct or queued"},
      {REWARD(",\"rateLimit\":{}"), "rateLimit: must have perUser, total or both"},
      {REWARD(",\"rateLimit\":{\"total\":{\"rate\":1}}"), "rateLimit.total.burst: is missing"},
      {REWARD(",\"rateLimit\":{\"perUser\":{\"rate\":0,\"burst\":1}}"),
       "rateLimit.perUser.rate: must be an integer from 1 to 1000000"},
      {REWARD(",\"rateLimit\":{\"everybody\":{\"rate\":1,\"burst\":1}}"), "rateLimit.everybody: is not known here"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_fault(cases[i][0], "a", cases[i][1]);
#undef REWARD
}

static void payments_are_taken_by_who_can(void **state)
{
  (void)state;
  char *known[] = {(char[]){"wallet"}, (char[]){"cashier"}};
  const struct conf_texts all = {known, 2}, charging = {known + 1, 1}, none = {NULL, 0};
  static const char *const cases[][2] = {
      {"cashier", ""},
      {"wallet", "paymentProvider: takes no payments: it has no charge under fulfiller.providers"},
      {"bank", "paymentProvider: is not configured under fulfiller.providers"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    json_t *doc = json_pack("{s:s}", "paymentProvider", cases[i][0]);
    char fault[JSONX_WHY_BYTES] = "";
    enum result result = activity_doc_check_provider(doc, &all, &charging, fault);
    assert_int_equal(result, cases[i][1][0] == '\0' ? RESULT_OK : RESULT_INVALID);
    assert_string_equal(fault, cases[i][1]);
    assert_int_equal(activity_doc_check_provider(doc, &none, &none, fault), RESULT_OK);
    json_decref(doc);
  }
}

static void a_reward_is_taken_apart(void **state)
{
  (void)state;
  char *providers[] = {(char[]){"simulator"}, (char[]){"simulator-b"}};
  struct reward_terms terms = {0};
  char fault[JSONX_WHY_BYTES];
  json_t *body =
      parse("{\"provider\":\"simulator-b\",\"amount\":{\"amount\":1299,\"currency\":\"CNY\"},\"params\":{\"a\":1}}");
  assert_int_equal(reward_doc_check(body, "r", providers, 2, &terms, fault), RESULT_OK);
  assert_string_equal(terms.code, "r");
  assert_string_equal(terms.provider, "simulator-b");
  assert_true(terms.has_amount);
  assert_int_equal(terms.amount, 1299);
  assert_string_equal(terms.currency, "CNY");
  assert_int_equal(json_integer_value(json_object_get(terms.params, "a")), 1);
  json_decref(body);
}

static void rewards_are_refused_with_their_path(void **state)
{
  (void)state;
  char *providers[] = {(char[]){"simulator"}};
  static const char *const cases[][2] = {
      {"{}", "provider: is missing"},
      {"{\"provider\":\"elsewhere\"}", "provider: is not configured under fulfiller.providers"},
      {"{\"provider\":\"simulator\",\"amount\":{\"amount\":-1,\"currency\":\"CNY\"}}",
       "amount.amount: must be an integer of at least 0"},
      {"{\"provider\":\"simulator\",\"amount\":{\"amount\":1.5,\"currency\":\"CNY\"}}",
       "amount.amount: must be an integer of at least 0"},
      {"{\"provider\":\"simulator\",\"amount\":{\"amount\":1,\"currency\":\"yuan\"}}",
       "amount.currency: must have at most 3 characters"},
      {"{\"provider\":\"simulator\",\"amount\":{\"amount\":1,\"currency\":\"cny\"}}",
       "amount.currency: must be a three-letter ISO 4217 code"},
      {"{\"provider\":\"simulator\",\"amount\":{\"amount\":1}}", "amount.currency: is missing"},
      {"{\"provider\":\"simulator\",\"amount\":5}", "amount: must be an object"},
      {"{\"provider\":\"simulator\",\"params\":[]}", "params: must be an object"},
      {"{\"provider\":\"simulator\",\"price\":1}", "price: is not known here"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct reward_terms terms = {.provider = "untouched"};
    char fault[JSONX_WHY_BYTES] = "";
    json_t *body = parse(cases[i][0]);
    assert_int_equal(reward_doc_check(body, "r", providers, 1, &terms, fault), RESULT_INVALID);
    assert_string_equal(fault, cases[i][1]);
    assert_string_equal(terms.provider, "untouched");
    json_decref(body);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_document_is_carried_over_in_utc),
      cmocka_unit_test(each_fault_names_its_path),
      cmocka_unit_test(a_window_must_exist_and_have_a_length),
      cmocka_unit_test(rules_are_carried_over),
      cmocka_unit_test(rules_are_refused_with_their_path),
      cmocka_unit_test(payments_are_taken_by_who_can),
      cmocka_unit_test(a_reward_is_taken_apart),
      cmocka_unit_test(rewards_are_refused_with_their_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
