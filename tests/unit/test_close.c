// SPDX-License-Identifier: Apache-2.0
// Closing orders that nobody paid: what is asked of the provider, what its answers mean, and what becomes of the
// payment. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fulfiller/decision.h"
#include "tests/unit/answer_fixture.h"
#include "tests/unit/provider_fixture.h"

#define HEAD "fulfiller:\n  providers:\n    p:\n      base_url: http://h:1/base\n"

static const struct claim_facts facts = {.activity_id = 12,
                                         .claim_id = 345,
                                         .user_id = 7,
                                         .quantity = 2,
                                         .request_id = "12-345-p",
                                         .provider_ref = "pi_1",
                                         .biz_id = "b:1",
                                         .activity_code = "fest",
                                         .reward_code = "fest",
                                         .currency = "CNY",
                                         .has_amount = true,
                                         .amount = 1050};

// --- the request

static void it_names_the_charge_and_has_no_request_id_of_its_own(void **state)
{
  struct provider_fixture f;
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_compile(
      &f, HEAD
      "      request_id_header: Idempotency-Key\n      request_id_field: id\n"
      "      charge: { path: /orders, body: '{\"amount\": ${claim.amount}}' }\n"
      "      close: { path: '/orders/${claim.requestId}/close', body: '{\"ref\": \"${claim.providerRef}\"}' }\n");
  assert_true(f.provider.actions[ACTION_CHARGE].close.exists);
  provider_fixture_render(&f, ACTION_CHARGE, CALL_CLOSE, &facts);
  assert_string_equal(f.call.request.method, "POST");
  assert_string_equal(f.call.request.url, "http://h:1/base/orders/12-345-p/close");
  // A provider that keeps the first answer of each key would give that of the charge.
  assert_null(provider_fixture_header(&f, "Idempotency-Key"));
  assert_string_equal(f.call.request.body, "{\"ref\": \"pi_1\"}");
  assert_true(f.call.request.never_resend);
  provider_fixture_render(&f, ACTION_CHARGE, CALL_ACT, &facts);
  assert_string_equal(provider_fixture_header(&f, "Idempotency-Key"), "12-345-p");
  provider_fixture_end(&f);
}

static void it_is_optional_and_nothing_else_can_be_closed(void **state)
{
  struct provider_fixture f;
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_compile(&f, HEAD "      deliver: { path: /d }\n      charge: { path: /orders }\n");
  for (int i = 0; i < ACTION_COUNT; i++) assert_false(f.provider.actions[i].close.exists);
  provider_fixture_end(&f);
}

static void assert_fault(const char *yaml, const char *expected)
{
  struct conf_fault fault = {.text = ""};
  void *conf = NULL;
  char text[1024];
  snprintf(text, sizeof text, "%s%s", HEAD, yaml);
  if (conf_parse(fulfiller_conf_table(), "x.yaml", text, strlen(text), &conf, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  assert_int_equal(provider_check_all(conf, "x.yaml", false, &fault), RESULT_INVALID);
  assert_string_equal(fault.text, expected);
  conf_free(fulfiller_conf_table(), conf);
}

static void its_faults_are_told_at_start(void **state)
{
  (void)state;
  assert_fault("      deliver: { path: /d }\n      close: { path: /c }\n",
               "x.yaml:6: fulfiller.providers.p.close: there is no charge.path");
  assert_fault("      charge: { path: /o }\n      close: { path: /c, method: PATCH }\n",
               "x.yaml:6: fulfiller.providers.p.close.method: must be GET, POST, PUT or DELETE");
  assert_fault("      charge: { path: /o }\n      close:\n        path: \"/c/${nope}\"\n",
               "x.yaml:7: fulfiller.providers.p.close.path: unknown variable ${nope}");
  assert_fault("      charge: { path: /o }\n      close:\n        path: /c\n        body: '{\"a\": ${secret.k}}'\n",
               "x.yaml:8: fulfiller.providers.p.close.body: ${secret.k} is not among secrets");
  assert_fault("      charge: { path: /o }\n      close:\n        path: /c\n        answers: { '204': pending }\n",
               "x.yaml:8: fulfiller.providers.p.close.answers: rule '204': the outcome must be done, retry, refused or "
               "unknown (found: pending)");
  assert_fault("      charge: { path: /o }\n      close:\n        path: /c\n        answers: { '404': not_found }\n",
               "x.yaml:8: fulfiller.providers.p.close.answers: rule '404': the outcome must be done, retry, refused or "
               "unknown (found: not_found)");
  assert_fault(
      "      sign: { scheme: alipay_rsa2, secret: k }\n      secrets: { k: /k }\n      charge: { path: /o }\n"
      "      close: { path: /c, body: '{}' }\n",
      "x.yaml:8: fulfiller.providers.p.close.body: alipay_rsa2 signs forms, not JSON");
}

// --- answers

// Only what certainly will not be paid is done. A paid order is refused, which means: ask.
static void done_is_what_certainly_will_not_be_paid(void **state)
{
  static const struct {
    int status;
    const char *body;
    enum outcome outcome;
  } cases[] = {{204, "", OUTCOME_DONE},
               {200, "{}", OUTCOME_DONE},
               {200, "{\"status\":\"CLOSED\"}", OUTCOME_DONE},
               {200, "{\"status\":\"SUCCESS\"}", OUTCOME_REFUSED},
               {200, "{\"status\":\"FAILED\"}", OUTCOME_REFUSED},
               {200, "{\"status\":\"PENDING\"}", OUTCOME_UNKNOWN},
               {202, "", OUTCOME_UNKNOWN},
               {200, "<html>closed</html>", OUTCOME_UNKNOWN},
               {200, "{\"status\":\"CLOSED\",\"status\":\"SUCCESS\"}", OUTCOME_UNKNOWN},
               {302, "", OUTCOME_UNKNOWN},
               {400, "{\"code\":\"ORDERPAID\"}", OUTCOME_REFUSED},
               {404, "", OUTCOME_REFUSED},
               {409, "", OUTCOME_REFUSED},
               {401, "", OUTCOME_RETRY},
               {429, "", OUTCOME_RETRY},
               {408, "", OUTCOME_UNKNOWN},
               {500, "", OUTCOME_UNKNOWN},
               {503, "", OUTCOME_UNKNOWN}};
  const struct conf_pairs own = {.count = 0};
  struct conf_fault fault = {.text = ""};
  struct answer_rules rules;
  (void)state;
  assert_int_equal(answer_rules_compile(&own, ACTION_CHARGE, CALL_CLOSE, &rules, &fault), RESULT_OK);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    enum outcome actual = classify(&rules, HTTP_ANSWERED, cases[i].status, cases[i].body).outcome;
    if (actual != cases[i].outcome) fail_msg("%d %s: %s", cases[i].status, cases[i].body, outcome_name(actual));
  }
  assert_int_equal(classify(&rules, HTTP_NEVER_SENT, 0, "").outcome, OUTCOME_RETRY);
  assert_int_equal(classify(&rules, HTTP_SENT_NO_ANSWER, 0, "").outcome, OUTCOME_UNKNOWN);
  answer_rules_release(&rules);
}

// --- decisions

static struct decision decide(bool can_ask, const struct attempt_facts *f)
{
  static struct span rungs[] = {{1000000}, {2000000}, {5000000}};
  static const struct provider_conf conf = {.ladder = {rungs, ARRAY_LEN(rungs)},
                                            .attempts = 4,
                                            .not_found_after = {4000000},
                                            .pending_poll = {2000000},
                                            .pending_timeout = {60000000}};
  struct provider p = {.conf = &conf};
  p.actions[ACTION_CHARGE].call.exists = p.actions[ACTION_CHARGE].close.exists = true;
  p.actions[ACTION_CHARGE].inquire.exists = can_ask;
  return decision_make(&p, f);
}

#define DECIDE(...)                                             \
  decide(true, &(struct attempt_facts){.action = ACTION_CHARGE, \
                                       .kind = CALL_CLOSE,      \
                                       .is_unwanted = true,     \
                                       .is_again = true,        \
                                       .is_closable = true,     \
                                       __VA_ARGS__})

static void what_is_closed_has_ended(void **state)
{
  (void)state;
  struct decision d = DECIDE(.outcome = OUTCOME_DONE, .tries = 9, .age = {61000000});
  assert_int_equal(d.outcome, OUTCOME_DONE);
  assert_null(d.review);
  assert_int_equal(d.rung.us, 0);
  assert_int_equal(d.due.us, 0);
}

// Refused, not tried, not known: the next turn asks, on the rung of its ladder; nobody need look until patience with
// open payments ends, however often it was tried.
static void what_is_not_closed_is_asked_about(void **state)
{
  static const enum outcome outcomes[] = {OUTCOME_REFUSED, OUTCOME_RETRY, OUTCOME_UNKNOWN};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
    for (int tries = 1; tries < 9; tries++) {
      struct decision d = DECIDE(.outcome = outcomes[i], .tries = tries, .age = {59000000}, .status = 409);
      assert_int_equal(d.outcome, outcomes[i]);
      assert_null(d.review);
      assert_int_equal(d.rung.us, tries == 1 ? 1000000 : tries == 2 ? 2000000 : 5000000);
    }
    struct decision late = DECIDE(.outcome = outcomes[i], .tries = 1, .age = {61000000});
    assert_int_equal(late.outcome, outcomes[i]);
    assert_string_equal(late.review, "charge_pending_too_long");
  }
  assert_int_equal(DECIDE(.outcome = OUTCOME_RETRY, .tries = 1, .retry_after = {4000000}).rung.us, 5000000);
  assert_int_equal(DECIDE(.outcome = OUTCOME_RETRY, .tries = 1, .retry_after = {90000000}).due.us, 90000000);
}

// Where nobody can be asked, a payment whose order can be closed is not left to a person at once.
static void where_nobody_can_be_asked_closing_is_a_way_on(void **state)
{
  struct attempt_facts f = {.action = ACTION_CHARGE,
                            .kind = CALL_INQUIRE,
                            .outcome = OUTCOME_UNKNOWN,
                            .tries = 1,
                            .is_unwanted = true,
                            .is_closable = true};
  (void)state;
  assert_int_equal(decide(false, &f).rung.us, 1000000);
  assert_null(decide(false, &f).review);
  f.tries = 4;
  assert_string_equal(decide(false, &f).review, "charge_unknown");
  f.tries = 1;
  f.is_closable = false;
  assert_string_equal(decide(false, &f).review, "charge_unknown");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_names_the_charge_and_has_no_request_id_of_its_own),
      cmocka_unit_test(it_is_optional_and_nothing_else_can_be_closed),
      cmocka_unit_test(its_faults_are_told_at_start),
      cmocka_unit_test(done_is_what_certainly_will_not_be_paid),
      cmocka_unit_test(what_is_closed_has_ended),
      cmocka_unit_test(what_is_not_closed_is_asked_about),
      cmocka_unit_test(where_nobody_can_be_asked_closing_is_a_way_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
