// SPDX-License-Identifier: Apache-2.0
// Which limit holds a claim back, for how long, and what is given back; shares of several schedulers; what an activity
// says about its limits. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/admission.h"
#include "scheduler/rate_limit.h"

#define RATE(n) ((n)*INT64_C(1000000))

// Instead of the heartbeat of schedulers.
struct peers {
  int64_t live;
};
int64_t peers_live(const struct peers *p) { return p->live; }

struct house {
  struct peers peers;
  struct scheduler_conf conf;
  struct activity activity;
  struct admission *admission;
};

static struct house *house(int64_t live, int64_t overall_rate, int64_t overall_burst)
{
  static struct house h;
  h = (struct house){.peers = {live}, .conf.admission = {overall_rate, overall_burst}, .activity = {.id = 7}};
  h.admission = admission_new(&h.conf, &h.peers);
  return &h;
}

static struct claim_request request(struct house *h, int64_t user)
{
  return (struct claim_request){.activity = &h->activity, .user_id = user, .quantity = 1};
}

static enum claim_limit ask(struct house *h, int64_t user)
{
  struct claim_request r = request(h, user);
  return admission_admit(h->admission, &r) ? CLAIM_NOT_LIMITED : r.mark.limited_by;
}

static void without_limits_everything_passes(void **state)
{
  (void)state;
  struct house *h = house(1, 0, 1);
  for (int i = 0; i < 1000; i++) assert_int_equal(ask(h, 1), CLAIM_NOT_LIMITED);
  admission_free(h->admission);
}

static void all_claims_together_are_limited_by_configuration(void **state)
{
  (void)state;
  struct house *h = house(1, 1, 3);
  for (int i = 1; i <= 3; i++) assert_int_equal(ask(h, i), CLAIM_NOT_LIMITED);
  struct claim_request r = request(h, 4);
  assert_false(admission_admit(h->admission, &r));
  assert_int_equal(r.mark.limited_by, CLAIM_LIMITED_OVERALL);
  assert_int_equal(r.mark.retry_after_s, 1);
  assert_false(r.mark.has_token);
  assert_string_equal(admission_rule(&r), "rateLimit.overall");
  struct buf b;
  buf_init(&b, 1000);
  admission_explain(h->admission, &r, &b);
  assert_string_equal(buf_text(&b), "\"limit\":3,\"window\":3,\"violated-policies\":[\"overall\"]");
  buf_release(&b);
  admission_free(h->admission);
}

static void answer(struct house *h, struct claim_request *r, enum verdict v, const char *status)
{
  admission_answered(h->admission, r, &(struct claim_answer){.verdict = v, .status = status, .detail = ""});
}

// What was known already, and what nobody judged, costs nothing; a refusal by a rule does.
static void tokens_that_were_not_needed_come_back(void **state)
{
  (void)state;
  static const struct {
    enum verdict verdict;
    const char *status;
    bool is_given_back;
  } cases[] = {
      {VERDICT_REPLAYED, "issuing", true},  {VERDICT_BIZ_ID_REUSED, "", true}, {VERDICT_UNAVAILABLE, "", true},
      {VERDICT_OVERLOADED, "", true},       {VERDICT_QUEUED, "known", true},   {VERDICT_QUEUED, "queued", false},
      {VERDICT_ACCEPTED, "issuing", false}, {VERDICT_SOLD_OUT, "", false},     {VERDICT_LIMIT_REACHED, "", false},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct house *h = house(1, 1, 1);
    struct claim_request r = request(h, 1);
    assert_true(admission_admit(h->admission, &r));
    answer(h, &r, cases[i].verdict, cases[i].status);
    if ((ask(h, 2) == CLAIM_NOT_LIMITED) != cases[i].is_given_back) fail_msg("case %zu", i);
    admission_free(h->admission);
  }
}

static void the_longest_wait_is_the_reason_and_nothing_is_spent(void **state)
{
  (void)state;
  struct house *h = house(1, 0, 1);
  h->activity.rate_limit = (struct rate_limit){.per_user = {RATE(1) / 10, 1}, .total = {RATE(100), 3}};
  assert_int_equal(ask(h, 1), CLAIM_NOT_LIMITED);
  struct claim_request r = request(h, 1);
  assert_false(admission_admit(h->admission, &r));
  assert_int_equal(r.mark.limited_by, CLAIM_LIMITED_USER);
  assert_int_equal(r.mark.retry_after_s, 10);
  for (int i = 0; i < 50; i++) (void)ask(h, 1);  // in vain, and at nobody else's cost
  assert_int_equal(ask(h, 2), CLAIM_NOT_LIMITED);
  assert_int_equal(ask(h, 3), CLAIM_NOT_LIMITED);
  admission_free(h->admission);
}

static void each_of_several_schedulers_gives_its_part(void **state)
{
  (void)state;
  struct house *h = house(4, 40, 8);
  int passed = 0;
  for (int i = 0; i < 100; i++) passed += ask(h, i + 1) == CLAIM_NOT_LIMITED;
  assert_in_range(passed, 2, 3);  // the rest of a refill, on a slow machine
  admission_free(h->admission);
}

static void limits_are_read_as_the_database_has_them(void **state)
{
  (void)state;
  static const char *const bad[] = {"{",
                                    "[]x",
                                    "{\"perUser\":{\"rate\":1}}",
                                    "{\"perUser\":{\"rate\":0,\"burst\":1}}",
                                    "{\"total\":{\"rate\":\"1\",\"burst\":1}}",
                                    "{\"total\":{\"rate\":1,\"burst\":0}}",
                                    "{\"total\":{\"rate\":1e9,\"burst\":1}}",
                                    "{\"total\":{\"rate\":1,\"burst\":1.5}}"};
  struct rate_limit l;
  assert_int_equal(rate_limit_parse("", &l), RESULT_OK);
  assert_false(rate_limit_is_set(&l));
  assert_int_equal(
      rate_limit_parse("{\"perUser\": {\"rate\": 0.5, \"burst\": 2}, \"total\": {\"rate\": 100, \"burst\": 50}}", &l),
      RESULT_OK);
  assert_int_equal(l.per_user.rate_micro, 500000);
  assert_int_equal(l.per_user.burst, 2);
  assert_int_equal(l.total.rate_micro, RATE(100));
  assert_int_equal(l.total.burst, 50);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    if (rate_limit_parse(bad[i], &l) == RESULT_OK) fail_msg("%s", bad[i]);
  assert_int_equal(l.total.burst, 50);  // untouched
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_limits_everything_passes),
      cmocka_unit_test(all_claims_together_are_limited_by_configuration),
      cmocka_unit_test(tokens_that_were_not_needed_come_back),
      cmocka_unit_test(the_longest_wait_is_the_reason_and_nothing_is_spent),
      cmocka_unit_test(each_of_several_schedulers_gives_its_part),
      cmocka_unit_test(limits_are_read_as_the_database_has_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
