// SPDX-License-Identifier: Apache-2.0
// What answers mean: every stage, status class and body, built-in and configured rules; and what becomes of a claim
// then. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fulfiller/decision.h"
#include "fulfiller/outcome.h"
#include "tests/unit/answer_fixture.h"

#define NOW answer_fixture_now

static struct answer_rules rules_of(enum provider_action action, enum call_kind kind, struct conf_pair *pairs,
                                    size_t count)
{
  struct conf_pairs own = {.items = pairs, .count = count};
  struct conf_fault fault = {.text = ""};
  struct answer_rules rules;
  if (answer_rules_compile(&own, action, kind, &rules, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  rules.reference_pointer = "/ref";
  rules.code_pointer = "/code";
  rules.message_pointer = "/message";
  rules.retry_after_max = span_s(3600);
  return rules;
}

struct expected {
  int status;
  const char *body;
  enum outcome outcome;
};

static void assert_all(const struct answer_rules *rules, const struct expected *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    struct verdict v = classify(rules, HTTP_ANSWERED, cases[i].status, cases[i].body);
    if (v.outcome == cases[i].outcome) continue;
    fail_msg("%d %s: %s instead of %s", cases[i].status, cases[i].body, outcome_name(v.outcome),
             outcome_name(cases[i].outcome));
  }
}

static void deliveries_are_judged_by_built_in_rules(void **state)
{
  static const struct expected cases[] = {{200, "{\"status\":\"SUCCESS\"}", OUTCOME_DONE},
                                          {201, "", OUTCOME_DONE},
                                          {204, "", OUTCOME_DONE},
                                          {200, "[]", OUTCOME_DONE},
                                          {202, "", OUTCOME_PENDING},
                                          {200, "{\"status\":\"PENDING\"}", OUTCOME_PENDING},
                                          {202, "{\"status\":\"SUCCESS\"}", OUTCOME_PENDING},
                                          {400, "", OUTCOME_REFUSED},
                                          {404, "{}", OUTCOME_REFUSED},
                                          {409, "", OUTCOME_REFUSED},
                                          {422, "{\"code\":\"X\"}", OUTCOME_REFUSED},
                                          {401, "", OUTCOME_RETRY},
                                          {429, "", OUTCOME_RETRY},
                                          {425, "", OUTCOME_RETRY},
                                          {408, "", OUTCOME_UNKNOWN},
                                          {500, "", OUTCOME_UNKNOWN},
                                          {502, "<html>", OUTCOME_UNKNOWN},
                                          {503, "", OUTCOME_UNKNOWN},
                                          {504, "", OUTCOME_UNKNOWN},
                                          {302, "", OUTCOME_UNKNOWN},
                                          {100, "", OUTCOME_UNKNOWN},
                                          {422, "not json", OUTCOME_REFUSED},
                                          {200, "{\"status\":\"FAILED\"}", OUTCOME_REFUSED},
                                          {202, "{\"status\":\"FAILED\"}", OUTCOME_REFUSED}};
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  assert_all(&rules, cases, ARRAY_LEN(cases));
  answer_rules_release(&rules);
}

static void inquiries_never_say_more_than_they_know(void **state)
{
  static const struct expected cases[] = {{200, "{\"status\":\"SUCCESS\"}", OUTCOME_DONE},
                                          {200, "{\"status\":\"PENDING\"}", OUTCOME_PENDING},
                                          {200, "{\"status\":\"FAILED\"}", OUTCOME_REFUSED},
                                          {404, "", OUTCOME_NOT_FOUND},
                                          {200, "{}", OUTCOME_UNKNOWN},
                                          {200, "", OUTCOME_UNKNOWN},
                                          {400, "", OUTCOME_UNKNOWN},
                                          {401, "", OUTCOME_UNKNOWN},
                                          {429, "", OUTCOME_UNKNOWN},
                                          {500, "", OUTCOME_UNKNOWN},
                                          {200, "{\"status\":\"success\"}", OUTCOME_UNKNOWN},
                                          {404, "{\"code\":\"NOT_FOUND\"}", OUTCOME_NOT_FOUND},
                                          {404, "<html>404 Not Found</html>", OUTCOME_UNKNOWN},
                                          {404, "{\"a\":1,\"a\":2}", OUTCOME_UNKNOWN}};
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_INQUIRE, NULL, 0);
  assert_all(&rules, cases, ARRAY_LEN(cases));
  assert_int_equal(classify(&rules, HTTP_NEVER_SENT, 0, "").outcome, OUTCOME_UNKNOWN);
  assert_int_equal(classify(&rules, HTTP_SENT_NO_ANSWER, 0, "").outcome, OUTCOME_UNKNOWN);
  answer_rules_release(&rules);
}

// What is not there cannot be taken back: who asks for it learns that instead of a refusal.
static void a_404_to_a_reversal_or_refund_is_not_found(void **state)
{
  static const struct expected cases[] = {
      {200, "", OUTCOME_DONE},        {202, "", OUTCOME_PENDING},
      {404, "{}", OUTCOME_NOT_FOUND}, {200, "{\"status\":\"NOT_FOUND\"}", OUTCOME_NOT_FOUND},
      {409, "", OUTCOME_REFUSED},     {429, "", OUTCOME_RETRY},
      {500, "", OUTCOME_UNKNOWN}};
  static const enum provider_action actions[] = {ACTION_REVERSE, ACTION_REFUND};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
    struct answer_rules rules = rules_of(actions[i], CALL_ACT, NULL, 0);
    assert_all(&rules, cases, ARRAY_LEN(cases));
    answer_rules_release(&rules);
  }
  struct answer_rules rules = rules_of(ACTION_CHARGE, CALL_ACT, NULL, 0);
  assert_int_equal(classify(&rules, HTTP_ANSWERED, 404, "").outcome, OUTCOME_REFUSED);
  answer_rules_release(&rules);
}

static void only_a_request_that_never_left_is_a_plain_retry(void **state)
{
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  struct verdict v = classify(&rules, HTTP_NEVER_SENT, 0, "");
  assert_int_equal(v.outcome, OUTCOME_RETRY);
  assert_int_equal(v.status, 0);
  assert_string_equal(v.code, "NOT_REACHED");
  assert_string_equal(v.detail, "why");
  assert_int_equal(classify(&rules, HTTP_SENT_NO_ANSWER, 0, "").outcome, OUTCOME_UNKNOWN);  // B72
  answer_rules_release(&rules);
}

// B82: two values under one key, or no JSON at all, prove nothing.
static void an_unreadable_success_is_unknown(void **state)
{
  static const char *const bodies[] = {"{\"status\":\"SUCCESS\",\"status\":\"FAILED\"}",
                                       "{\"status\":",
                                       "OK",
                                       "{}{}",
                                       "\"SUCCESS\"",
                                       "{\"a\":\"\\u0000\"}"};
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
    struct verdict v = classify(&rules, HTTP_ANSWERED, 200, bodies[i]);
    assert_int_equal(v.outcome, OUTCOME_UNKNOWN);
    assert_string_equal(v.code, "UNREADABLE_ANSWER");
  }
  rules.format = ANSWER_ANY;
  assert_int_equal(classify(&rules, HTTP_ANSWERED, 200, "OK").outcome, OUTCOME_DONE);
  answer_rules_release(&rules);
}

static void the_profile_s_own_rules_come_first_and_in_order(void **state)
{
  struct conf_pair own[] = {{(char[]){"200 /result/code=0"}, (char[]){"done"}},
                            {(char[]){"200 /ok=true"}, (char[]){"done"}},
                            {(char[]){"200 /amount=1.5"}, (char[]){"pending"}},
                            {(char[]){"2xx"}, (char[]){"unknown"}},
                            {(char[]){"409"}, (char[]){"done"}}};
  static const struct expected cases[] = {{200, "{\"result\":{\"code\":0}}", OUTCOME_DONE},
                                          {200, "{\"result\":{\"code\":\"0\"}}", OUTCOME_DONE},
                                          {200, "{\"result\":{\"code\":40004}}", OUTCOME_UNKNOWN},
                                          {200, "{\"ok\":true}", OUTCOME_DONE},
                                          {200, "{\"ok\":false}", OUTCOME_UNKNOWN},
                                          {200, "{\"ok\":null}", OUTCOME_UNKNOWN},
                                          {200, "{\"result\":{\"code\":[0]}}", OUTCOME_UNKNOWN},
                                          {200, "{\"amount\":1.5}", OUTCOME_PENDING},
                                          {202, "", OUTCOME_UNKNOWN},
                                          {409, "", OUTCOME_DONE},
                                          {422, "", OUTCOME_REFUSED}};
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, own, ARRAY_LEN(own));
  assert_all(&rules, cases, ARRAY_LEN(cases));
  answer_rules_release(&rules);
}

static void assert_rule_refused(enum call_kind kind, const char *when, const char *outcome, const char *reason)
{
  char when_copy[128], outcome_copy[64];
  snprintf(when_copy, sizeof when_copy, "%s", when);
  snprintf(outcome_copy, sizeof outcome_copy, "%s", outcome);
  struct conf_pair own[] = {
      {(char[]){"2xx /status=A"}, (char[]){"done"}}, {(char[]){"4xx"}, (char[]){"refused"}}, {when_copy, outcome_copy}};
  struct conf_pairs pairs = {.items = own, .count = ARRAY_LEN(own)};
  struct conf_fault fault = {.text = ""};
  struct answer_rules rules;
  assert_int_equal(answer_rules_compile(&pairs, ACTION_DELIVER, kind, &rules, &fault), RESULT_INVALID);
  if (strstr(fault.text, reason) == NULL) fail_msg("%s: %s", when, fault.text);
}

static void rules_that_make_no_sense_are_refused(void **state)
{
  (void)state;
  assert_rule_refused(CALL_ACT, "600", "done", "status");
  assert_rule_refused(CALL_ACT, "20", "done", "status");
  assert_rule_refused(CALL_ACT, "2x0", "done", "status");
  assert_rule_refused(CALL_ACT, "/status=A", "done", "status");
  assert_rule_refused(CALL_ACT, "200", "ok", "outcome");
  assert_rule_refused(CALL_ACT, "404", "not_found", "outcome");
  assert_rule_refused(CALL_ACT, "200 status=A", "done", "POINTER=VALUE");
  assert_rule_refused(CALL_ACT, "200 /status", "done", "POINTER=VALUE");
  assert_rule_refused(CALL_ACT, "422", "done", "can never match");
  assert_rule_refused(CALL_ACT, "4xx /a=b", "done", "can never match");
  assert_rule_refused(CALL_INQUIRE, "200 /status=A", "pending", "can never match");
  assert_rule_refused(CALL_INQUIRE, "500", "retry", "use unknown");
}

static void verdicts_carry_reference_code_and_text_safely(void **state)
{
  char long_ref[600];
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  struct verdict v = classify(&rules, HTTP_ANSWERED, 200, "{\"ref\":\"w-17\",\"code\":\"X\"}");
  assert_string_equal(v.ref, "w-17");
  assert_string_equal(v.code, "");
  v = classify(&rules, HTTP_ANSWERED, 422, "{\"code\":1234,\"message\":\"line\\nbreak \\u4e2d\"}");
  assert_string_equal(v.code, "1234");
  assert_string_equal(v.detail, "line?break \xe4\xb8\xad");
  v = classify(&rules, HTTP_ANSWERED, 500, "");
  assert_string_equal(v.code, "HTTP_500");
  assert_int_equal(v.status, 500);
  v = classify(&rules, HTTP_ANSWERED, 200, "{\"status\":\"FAILED\"}");
  assert_string_equal(v.code, "FAILED");  // by what it was known to be refused: HTTP_200 would tell people nothing
  v = classify(&rules, HTTP_ANSWERED, 200, "{\"status\":\"FAILED\",\"code\":\"NO_FUNDS\"}");
  assert_string_equal(v.code, "NO_FUNDS");
  v = classify(&rules, HTTP_ANSWERED, 200, "{\"ref\":null}");
  assert_string_equal(v.ref, "");  // a reversal would name it, and find nothing to take back
  v = classify(&rules, HTTP_ANSWERED, 422, "{\"code\":null,\"message\":null}");
  assert_string_equal(v.code, "HTTP_422");
  assert_string_equal(v.detail, "");
  snprintf(long_ref, sizeof long_ref, "{\"ref\":\"%0*d\xe4\xb8\xad\"}", VERDICT_REF_BYTES - 2, 0);
  v = classify(&rules, HTTP_ANSWERED, 200, long_ref);
  assert_int_equal(strlen(v.ref), VERDICT_REF_BYTES - 2);  // the character that does not fit is left out whole
  verdict_put(v.code, sizeof v.code,
              "a\xff"
              "b");
  assert_string_equal(v.code, "a?b");
  answer_rules_release(&rules);
}

// --- decisions

static struct provider_conf patient_conf(void)
{
  static struct span rungs[] = {{1000000}, {2000000}, {5000000}};
  return (struct provider_conf){.ladder = {rungs, ARRAY_LEN(rungs)},
                                .attempts = 4,
                                .not_found_after = {4000000},
                                .pending_poll = {2000000},
                                .pending_timeout = {60000000}};
}

static struct decision decide(const struct provider_conf *conf, bool has_inquiry, enum outcome outcome, int64_t tries,
                              int64_t age_s, int64_t trust_s)
{
  struct provider p = {.conf = conf,
                       .actions[ACTION_DELIVER] = {.inquire = {.exists = has_inquiry},
                                                   .repeat_is_safe = conf->actions[ACTION_DELIVER].repeat_is_safe}};
  struct attempt_facts facts = {
      .outcome = outcome, .tries = tries, .age = span_s(age_s), .trust_left = span_s(trust_s)};
  return decision_make(&p, &facts);
}

static void retries_climb_the_ladder_and_end_in_review(void **state)
{
  static const int64_t rung_s[] = {1, 2, 5};
  (void)state;
  struct provider_conf conf = patient_conf();
  for (int64_t tries = 1; tries <= 3; tries++) {
    struct decision d = decide(&conf, true, OUTCOME_RETRY, tries, 0, 0);
    assert_null(d.review);
    assert_int_equal(d.rung.us, rung_s[tries - 1] * 1000000);
    assert_true(d.due.us > d.rung.us);
    assert_int_equal(d.outcome, OUTCOME_RETRY);
  }
  assert_string_equal(decide(&conf, true, OUTCOME_RETRY, 4, 0, 0).review, "attempts_used_up");
  assert_string_equal(decide(&conf, true, OUTCOME_UNKNOWN, 4, 0, 0).review, "outcome_unknown");
  conf.attempts = 100;
  assert_int_equal(decide(&conf, true, OUTCOME_RETRY, 50, 0, 0).rung.us, 5000000);
}

// B71
static void more_patience_than_the_rung_has_is_given(void **state)
{
  static const struct {
    const char *header;
    int64_t seconds;
  } headers[] = {{"", 0},
                 {"7", 7},
                 {"0", 0},
                 {"007", 7},
                 {"-3", 0},
                 {"+3", 0},
                 {"2.5", 0},
                 {"3 ", 0},
                 {"soon", 0},
                 {"Sun, 29 Nov 2026 12:00:10 GMT", 10},
                 {"Sunday, 29-Nov-26 12:00:10 GMT", 10},
                 {"Sun Nov 29 12:00:10 2026", 10},
                 {"Sun, 29 Nov 2026 11:59:59 GMT", 0},
                 {"Sun, 29 Nov 2026 12:00:00 GMT", 0},
                 {"Wed, 29 Nov 2028 12:00:00 GMT", 3600},
                 {"3600", 3600},
                 {"99999999", 3600},
                 {"99999999999999999999", 3600},
                 {"9223372036855", 3600}};
  static const struct {
    int64_t wish_s, rung_s, due_s;
  } cases[] = {{0, 1, 4}, {1, 1, 4}, {3, 5, 8}, {5, 5, 8}, {60, 0, 60}};
  (void)state;
  struct provider_conf conf = patient_conf();
  struct provider p = {.conf = &conf, .actions[ACTION_DELIVER].inquire.exists = true};
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
    struct http_answer answer = {.stage = HTTP_ANSWERED,
                                 .status = 429,
                                 .body = "",
                                 .retry_after = headers[i].header,
                                 .content_type = "",
                                 .fault = ""};
    struct verdict v;
    outcome_classify(&rules, &answer, NOW, &v);
    assert_int_equal(v.retry_after.us, headers[i].seconds * 1000000);
  }
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct attempt_facts facts = {
        .outcome = i % 2 == 0 ? OUTCOME_RETRY : OUTCOME_UNKNOWN, .tries = 1, .retry_after = span_s(cases[i].wish_s)};
    struct decision d = decision_make(&p, &facts);
    assert_int_equal(d.rung.us, cases[i].rung_s * 1000000);  // none: the due time alone brings it back
    assert_int_equal(d.due.us, cases[i].due_s * 1000000);
  }
  answer_rules_release(&rules);
}

// Where nobody can be asked the call is repeated; being turned away then does not say that the first one had no effect.
static void an_answer_to_a_repeat_leaves_the_first_call_open(void **state)
{
  (void)state;
  struct provider_conf conf = patient_conf();
  struct provider p = {.conf = &conf, .actions[ACTION_DELIVER].repeat_is_safe = true};
  static const struct {
    enum outcome answer;
    int status;
    enum outcome becomes;
  } cases[] = {{OUTCOME_RETRY, 429, OUTCOME_UNKNOWN},
               {OUTCOME_RETRY, 0, OUTCOME_UNKNOWN},
               {OUTCOME_REFUSED, 409, OUTCOME_UNKNOWN},
               {OUTCOME_REFUSED, 422, OUTCOME_REFUSED},
               {OUTCOME_DONE, 200, OUTCOME_DONE}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct attempt_facts facts = {
        .outcome = cases[i].answer, .status = cases[i].status, .tries = 2, .is_again = true, .is_repeat = true};
    assert_int_equal(decision_make(&p, &facts).outcome, cases[i].becomes);
    facts.is_again = facts.is_repeat = false;
    assert_int_equal(decision_make(&p, &facts).outcome, cases[i].answer);
  }
}

static void an_unknown_outcome_is_asked_about_repeated_or_reviewed(void **state)
{
  (void)state;
  struct provider_conf conf = patient_conf();
  assert_int_equal(decide(&conf, true, OUTCOME_UNKNOWN, 1, 0, 4).rung.us, 1000000);
  struct decision early = decide(&conf, true, OUTCOME_NOT_FOUND, 1, 0, 3);
  assert_int_equal(early.outcome, OUTCOME_UNKNOWN);
  assert_int_equal(early.rung.us, 5000000);  // the first rung that is long enough
  assert_string_equal(decide(&conf, false, OUTCOME_UNKNOWN, 1, 0, 0).review, "outcome_unknown");  // never a second call
  conf.actions[ACTION_DELIVER].repeat_is_safe = true;
  assert_null(decide(&conf, false, OUTCOME_UNKNOWN, 1, 0, 0).review);
}

// Where the person pays: whole or not at all, and only while there is something to pay.
static void a_pending_charge_says_where_to_pay(void **state)
{
  (void)state;
  struct answer_rules rules = rules_of(ACTION_CHARGE, CALL_ACT, NULL, 0);
  char body[VERDICT_URL_BYTES + 64], url[VERDICT_URL_BYTES + 1];
  rules.url_pointer = "/url";
  assert_string_equal(classify(&rules, HTTP_ANSWERED, 202, "{\"url\":\"weixin://pay?x=1&y=2\"}").url,
                      "weixin://pay?x=1&y=2");
  assert_string_equal(classify(&rules, HTTP_ANSWERED, 200, "{\"status\":\"SUCCESS\",\"url\":\"https://a\"}").url, "");
  assert_string_equal(classify(&rules, HTTP_ANSWERED, 202, "{\"url\":null}").url, "");
  memset(url, 'u', sizeof url);
  for (size_t len = VERDICT_URL_BYTES - 1; len <= VERDICT_URL_BYTES; len++) {
    url[len] = '\0';
    (void)snprintf(body, sizeof body, "{\"url\":\"%s\"}", url);
    assert_string_equal(classify(&rules, HTTP_ANSWERED, 202, body).url, len < VERDICT_URL_BYTES ? url : "");
    url[len] = 'u';
  }
  rules.url_pointer = NULL;
  assert_string_equal(classify(&rules, HTTP_ANSWERED, 202, "{\"url\":\"https://a\"}").url, "");
  answer_rules_release(&rules);
}

static void pending_waits_without_using_up_attempts(void **state)
{
  (void)state;
  struct provider_conf conf = patient_conf();
  struct decision d = decide(&conf, true, OUTCOME_PENDING, 50, 10, 0);
  assert_null(d.review);
  assert_int_equal(d.rung.us, 0);
  assert_int_equal(d.due.us, 2000000);
  assert_string_equal(decide(&conf, true, OUTCOME_PENDING, 1, 61, 0).review, "pending_too_long");
  assert_int_equal(decide(&conf, false, OUTCOME_PENDING, 1, 10, 0).due.us,
                   60000000);  // nobody can be asked: wait for news
}

static void done_and_refused_end_everything(void **state)
{
  (void)state;
  struct provider_conf conf = patient_conf();
  for (int64_t tries = 1; tries < 9; tries += 4) {
    assert_int_equal(decide(&conf, true, OUTCOME_DONE, tries, 0, 0).outcome, OUTCOME_DONE);
    assert_null(decide(&conf, true, OUTCOME_DONE, tries, 0, 0).review);
    assert_int_equal(decide(&conf, true, OUTCOME_REFUSED, tries, 0, 0).outcome, OUTCOME_REFUSED);
    assert_null(decide(&conf, true, OUTCOME_REFUSED, tries, 0, 0).review);
  }
}

static void an_answer_about_another_request_proves_nothing(void **state)
{
  static const struct {
    const char *body, *request_id;
    enum outcome outcome;
  } cases[] = {{"{\"status\":\"SUCCESS\",\"requestId\":\"12-345\"}", "12-345", OUTCOME_DONE},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12_345\"}", "12-345", OUTCOME_DONE},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12-345\"}", "12-345-r", OUTCOME_DONE},
               {"{\"status\":\"SUCCESS\"}", "12-345", OUTCOME_DONE},
               {"{\"status\":\"SUCCESS\",\"requestId\":null}", "12-345", OUTCOME_DONE},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12-34\"}", "12-345", OUTCOME_UNKNOWN},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12\"}", "12-345", OUTCOME_UNKNOWN},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12-\"}", "12-345", OUTCOME_UNKNOWN},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"\"}", "12-345", OUTCOME_UNKNOWN},
               {"{\"status\":\"SUCCESS\",\"requestId\":\"12-345-r\"}", "12-345", OUTCOME_UNKNOWN},
               {"{\"status\":\"FAILED\",\"requestId\":\"12-346\"}", "12-345", OUTCOME_UNKNOWN}};
  (void)state;
  struct answer_rules rules = rules_of(ACTION_DELIVER, CALL_ACT, NULL, 0);
  rules.request_id_pointer = "/requestId";
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    const struct http_answer answer = {.stage = HTTP_ANSWERED,
                                       .status = 200,
                                       .body = cases[i].body,
                                       .body_len = strlen(cases[i].body),
                                       .retry_after = "",
                                       .content_type = "",
                                       .fault = ""};
    struct verdict v;
    outcome_classify(&rules, &answer, NOW, &v);
    outcome_check_request(&rules, &answer, cases[i].request_id, &v);
    if (v.outcome != cases[i].outcome) fail_msg("%s of %s", cases[i].body, cases[i].request_id);
  }
  answer_rules_release(&rules);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_about_another_request_proves_nothing),
      cmocka_unit_test(deliveries_are_judged_by_built_in_rules),
      cmocka_unit_test(inquiries_never_say_more_than_they_know),
      cmocka_unit_test(a_404_to_a_reversal_or_refund_is_not_found),
      cmocka_unit_test(only_a_request_that_never_left_is_a_plain_retry),
      cmocka_unit_test(an_unreadable_success_is_unknown),
      cmocka_unit_test(the_profile_s_own_rules_come_first_and_in_order),
      cmocka_unit_test(rules_that_make_no_sense_are_refused),
      cmocka_unit_test(verdicts_carry_reference_code_and_text_safely),
      cmocka_unit_test(retries_climb_the_ladder_and_end_in_review),
      cmocka_unit_test(more_patience_than_the_rung_has_is_given),
      cmocka_unit_test(an_answer_to_a_repeat_leaves_the_first_call_open),
      cmocka_unit_test(an_unknown_outcome_is_asked_about_repeated_or_reviewed),
      cmocka_unit_test(a_pending_charge_says_where_to_pay),
      cmocka_unit_test(pending_waits_without_using_up_attempts),
      cmocka_unit_test(done_and_refused_end_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
