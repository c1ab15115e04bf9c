// SPDX-License-Identifier: Apache-2.0
// What becomes of a claim after an attempt at each of its actions; and what is written down of a call. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "fulfiller/decision.h"
#include "fulfiller/transcript.h"

static struct decision decide(enum provider_action action, bool can_ask, const struct attempt_facts *facts)
{
  static struct span rungs[] = {{1000000}, {2000000}, {5000000}};
  const struct provider_conf conf = {.ladder = {rungs, ARRAY_LEN(rungs)},
                                     .attempts = 4,
                                     .not_found_after = {4000000},
                                     .pending_poll = {2000000},
                                     .pending_timeout = {60000000}};
  struct provider p = {.conf = &conf};
  struct attempt_facts f = *facts;
  f.action = action;
  p.actions[action].call.exists = true;
  p.actions[action].inquire.exists = can_ask;
  return decision_make(&p, &f);
}

#define DECIDE(action, can_ask, ...) decide((action), (can_ask), &(struct attempt_facts){__VA_ARGS__})

static void what_is_done_is_done(void **state)
{
  (void)state;
  for (int action = 0; action < ACTION_COUNT; action++) {
    struct decision d = DECIDE((enum provider_action)action, true, .outcome = OUTCOME_DONE, .tries = 9);
    assert_int_equal(d.outcome, OUTCOME_DONE);
    assert_null(d.review);
    assert_int_equal(d.rung.us, 0);
  }
}

// A delivery that is refused has failed; one that cannot be taken back is a matter for people, and so is money.
static void a_refusal_ends_deliveries_and_charges_only(void **state)
{
  static const char *const causes[] = {[ACTION_REFUND] = "refund_refused", [ACTION_REVERSE] = "reversal_refused"};
  (void)state;
  for (int action = 0; action < ACTION_COUNT; action++) {
    struct decision d = DECIDE((enum provider_action)action, true, .outcome = OUTCOME_REFUSED, .tries = 1);
    assert_int_equal(d.outcome, OUTCOME_REFUSED);
    if (causes[action] == NULL)
      assert_null(d.review);
    else
      assert_string_equal(d.review, causes[action]);
  }
}

// B11's other side: what was never charged, and is not wanted any more, never will be; while it is wanted it is made
// again.
static void what_was_never_made_and_is_not_wanted_is_known(void **state)
{
  (void)state;
  struct attempt_facts f = {
      .kind = CALL_INQUIRE, .outcome = OUTCOME_NOT_FOUND, .tries = 2, .is_again = true, .is_unwanted = true};
  struct decision d = decide(ACTION_CHARGE, true, &f);
  assert_int_equal(d.outcome, OUTCOME_NOT_FOUND);
  assert_null(d.review);
  assert_int_equal(d.due.us, 0);
  f.trust_left = span_s(3);  // the call may be under way still
  assert_int_equal(decide(ACTION_CHARGE, true, &f).outcome, OUTCOME_UNKNOWN);
  f.trust_left = span_s(0);
  f.is_unwanted = false;
  assert_int_equal(decide(ACTION_CHARGE, true, &f).outcome, OUTCOME_UNKNOWN);
}

static void every_action_climbs_the_ladder_and_ends_with_a_cause_of_its_own(void **state)
{
  static const char *const used_up[] = {"attempts_used_up", "charge_attempts_used_up", "refund_attempts_used_up",
                                        "reversal_attempts_used_up"};
  static const char *const unknown[] = {"outcome_unknown", "charge_unknown", "refund_unknown", "reversal_unknown"};
  (void)state;
  for (int i = 0; i < ACTION_COUNT; i++) {
    enum provider_action action = (enum provider_action)i;
    assert_int_equal(DECIDE(action, true, .outcome = OUTCOME_RETRY, .tries = 2).rung.us, 2000000);
    assert_string_equal(DECIDE(action, true, .outcome = OUTCOME_RETRY, .tries = 4).review, used_up[i]);
    assert_int_equal(DECIDE(action, true, .outcome = OUTCOME_UNKNOWN, .tries = 1).rung.us, 1000000);
    assert_string_equal(DECIDE(action, true, .outcome = OUTCOME_UNKNOWN, .tries = 4).review, unknown[i]);
    assert_string_equal(DECIDE(action, false, .outcome = OUTCOME_UNKNOWN, .tries = 1).review, unknown[i]);
    assert_int_equal(DECIDE(action, true, .outcome = OUTCOME_PENDING, .tries = 9, .age = {59000000}).due.us, 2000000);
    assert_non_null(DECIDE(action, true, .outcome = OUTCOME_PENDING, .tries = 1, .age = {61000000}).review);
  }
}

// "Not found" from an inquiry says that the reversal was never heard of; from the reversal, that nothing was delivered.
static void nothing_to_take_back_is_an_end_and_not_known_is_none(void **state)
{
  (void)state;
  struct decision nothing = DECIDE(ACTION_REVERSE, true, .kind = CALL_ACT, .outcome = OUTCOME_NOT_FOUND, .tries = 1);
  assert_int_equal(nothing.outcome, OUTCOME_NOT_FOUND);
  assert_null(nothing.review);
  struct decision early = DECIDE(ACTION_REVERSE, true, .kind = CALL_INQUIRE, .outcome = OUTCOME_NOT_FOUND, .tries = 1,
                                 .trust_left = {3000000});
  assert_int_equal(early.outcome, OUTCOME_UNKNOWN);
  assert_int_equal(early.rung.us, 5000000);
}

// A second reversal that is turned away says nothing of the first one.
static void a_repeat_that_is_turned_away_leaves_the_first_call_open(void **state)
{
  (void)state;
  assert_int_equal(DECIDE(ACTION_REVERSE, true, .outcome = OUTCOME_RETRY, .tries = 2, .is_again = true,
                          .is_repeat = true, .status = 429)
                       .outcome,
                   OUTCOME_UNKNOWN);
  assert_int_equal(DECIDE(ACTION_REVERSE, true, .outcome = OUTCOME_REFUSED, .tries = 2, .is_again = true,
                          .is_repeat = true, .status = 409)
                       .outcome,
                   OUTCOME_UNKNOWN);
  assert_int_equal(
      DECIDE(ACTION_REVERSE, true, .outcome = OUTCOME_NOT_FOUND, .tries = 2, .is_again = true, .is_repeat = true)
          .outcome,
      OUTCOME_NOT_FOUND);
}

// An inquiry had not found the first call; then the provider knows its request id after all.
static void a_conflict_behind_an_inquiry_is_no_refusal(void **state)
{
  (void)state;
  assert_int_equal(
      DECIDE(ACTION_DELIVER, true, .outcome = OUTCOME_REFUSED, .tries = 2, .is_again = true, .status = 409).outcome,
      OUTCOME_UNKNOWN);
  assert_int_equal(
      DECIDE(ACTION_DELIVER, true, .outcome = OUTCOME_REFUSED, .tries = 2, .is_again = true, .status = 422).outcome,
      OUTCOME_REFUSED);
  assert_int_equal(DECIDE(ACTION_DELIVER, true, .outcome = OUTCOME_REFUSED, .tries = 1, .status = 409).outcome,
                   OUTCOME_REFUSED);
}

static void what_cannot_be_done_has_its_cause(void **state)
{
  (void)state;
  assert_string_equal(decision_not_possible(ACTION_REVERSE), "reversal_not_possible");
  assert_string_equal(DECIDE(ACTION_REVERSE, false, .outcome = OUTCOME_RETRY, .review = "reversal_not_possible").review,
                      "reversal_not_possible");
}

// --- what is written down

static void assert_text(char *text, const char *expected)
{
  assert_string_equal(text, expected);
  mem_free(text);
}

static void calls_are_written_down_without_secrets(void **state)
{
  const struct http_header headers[] = {{"Content-Type", "application/json"},
                                        {"Authorization", "Bearer abcdefghijkl"},
                                        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  const struct http_request request = {.method = "POST",
                                       .url = "https://wallet.example/credits?api_key=s3cr3t",
                                       .headers = headers,
                                       .header_count = ARRAY_LEN(headers),
                                       .body = "{\"requestId\":\"12-345\",\"phone\":\"13812345678\"}",
                                       .body_len = 44};
  const struct http_answer answer = {.stage = HTTP_ANSWERED,
                                     .status = 503,
                                     .body = "{\"code\":\"BUSY\",\"token\":\"abc\"}",
                                     .body_len = 29,
                                     .content_type = "application/json",
                                     .retry_after = "3"};
  const struct http_answer none = {.stage = HTTP_SENT_NO_ANSWER, .body = "", .content_type = "", .retry_after = ""};
  (void)state;
  assert_text(transcript_request(NULL, &request),
              "POST https://wallet.example/credits?api_key=***\nContent-Type: application/json\nAuthorization: ***\n"
              "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n\n"
              "{\"requestId\":\"12-345\",\"phone\":\"***\"}");
  assert_text(transcript_answer(NULL, &answer),
              "HTTP 503\nContent-Type: application/json\nRetry-After: 3\n\n{\"code\":\"BUSY\",\"token\":\"***\"}");
  assert_null(transcript_answer(NULL, &none));
}

static void only_a_provider_of_its_own_ends_a_call(void **state)
{
  (void)state;
  assert_true(decision_has_call_ended(500) && decision_has_call_ended(501));
  for (int status = 0; status < 1000; status++)
    if (status != 500 && status != 501) assert_false(decision_has_call_ended(status));
}

static void words_of_a_provider_are_masked(void **state)
{
  (void)state;
  struct redact redact;
  redact_init(&redact, NULL);
  redact_add_secret(&redact, "sk_live_12345", 13);
  char words[64] = "bad key sk_live_12345 of 13812345678, li@example.com", empty[8] = "";
  transcript_mask(&redact, words, sizeof words);
  assert_string_equal(words, "bad key *** of ***, ***");
  transcript_mask(&redact, empty, sizeof empty);
  assert_string_equal(empty, "");
  redact_release(&redact);
}

static void long_answers_are_cut(void **state)
{
  char *body = mem_zalloc(1, 100001);
  memset(body, 'x', 100000);
  const struct http_answer answer = {
      .stage = HTTP_ANSWERED, .status = 200, .body = body, .body_len = 100000, .content_type = "", .retry_after = ""};
  (void)state;
  char *text = transcript_answer(NULL, &answer);
  assert_true(strlen(text) <= REDACT_TEXT_BYTES_MAX);
  assert_true(strlen(text) > REDACT_TEXT_BYTES_MAX / 2 || strstr(text, "***") != NULL);
  mem_free(text);
  mem_free(body);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_done_is_done),
      cmocka_unit_test(a_refusal_ends_deliveries_and_charges_only),
      cmocka_unit_test(what_was_never_made_and_is_not_wanted_is_known),
      cmocka_unit_test(every_action_climbs_the_ladder_and_ends_with_a_cause_of_its_own),
      cmocka_unit_test(nothing_to_take_back_is_an_end_and_not_known_is_none),
      cmocka_unit_test(a_repeat_that_is_turned_away_leaves_the_first_call_open),
      cmocka_unit_test(a_conflict_behind_an_inquiry_is_no_refusal),
      cmocka_unit_test(what_cannot_be_done_has_its_cause),
      cmocka_unit_test(calls_are_written_down_without_secrets),
      cmocka_unit_test(only_a_provider_of_its_own_ends_a_call),
      cmocka_unit_test(words_of_a_provider_are_masked),
      cmocka_unit_test(long_answers_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
