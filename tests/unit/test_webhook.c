// SPDX-License-Identifier: Apache-2.0
// Tests of fulfiller/webhook_decision and webhook_profile: what becomes of a delivery, and which endpoints are refused.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "fulfiller/webhook_decision.h"
#include "fulfiller/webhook_profile.h"

static struct webhook_decision decide(enum http_stage stage, int status, const char *retry_after, int64_t tries,
                                      uint64_t seed)
{
  static struct span rungs[] = {{5000000}, {300000000}};
  const struct webhook_conf conf = {.ladder = {rungs, 2}, .attempts = 4, .retry_after_max = {3600000000}};
  const struct http_answer answer = {.stage = stage, .status = status, .retry_after = retry_after, .fault = "it broke"};
  struct webhook_decision d;
  webhook_decide(&conf, &answer, tries, (struct wall_time){1700000000000000}, seed, &d);
  return d;
}

static void only_2xx_is_a_success(void **state)
{
  static const struct {
    int status;
    enum webhook_outcome outcome;
  } cases[] = {
      {200, WEBHOOK_DONE},  {204, WEBHOOK_DONE},  {299, WEBHOOK_DONE},  {300, WEBHOOK_RETRY},
      {302, WEBHOOK_RETRY}, {400, WEBHOOK_RETRY}, {404, WEBHOOK_RETRY}, {410, WEBHOOK_GONE},
      {429, WEBHOOK_RETRY}, {500, WEBHOOK_RETRY}, {503, WEBHOOK_RETRY},
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    assert_int_equal(decide(HTTP_ANSWERED, cases[i].status, "", 1, 1).outcome, cases[i].outcome);
  assert_int_equal(decide(HTTP_NEVER_SENT, 0, "", 1, 1).outcome, WEBHOOK_RETRY);
  assert_int_equal(decide(HTTP_SENT_NO_ANSWER, 0, "", 1, 1).outcome, WEBHOOK_RETRY);
  assert_string_equal(decide(HTTP_SENT_NO_ANSWER, 0, "", 1, 1).detail, "it broke");
  assert_string_equal(decide(HTTP_ANSWERED, 503, "", 1, 1).detail, "HTTP 503");
}

static void the_last_attempt_ends_it(void **state)
{
  (void)state;
  assert_int_equal(decide(HTTP_ANSWERED, 500, "", 3, 1).outcome, WEBHOOK_RETRY);
  assert_int_equal(decide(HTTP_ANSWERED, 500, "", 4, 1).outcome, WEBHOOK_DEAD);
  assert_int_equal(decide(HTTP_ANSWERED, 500, "", 9, 1).outcome, WEBHOOK_DEAD);
  assert_int_equal(decide(HTTP_ANSWERED, 200, "", 9, 1).outcome, WEBHOOK_DONE);
}

static void pauses_follow_the_ladder_with_jitter(void **state)
{
  int64_t least = INT64_MAX, most = 0;
  (void)state;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    int64_t us = decide(HTTP_ANSWERED, 500, "", 1, seed).due.us;
    assert_true(us >= 5000000 && us <= 5500000);
    if (us < least) least = us;
    if (us > most) most = us;
  }
  assert_true(least < 5050000 && most > 5450000);
  assert_true(decide(HTTP_ANSWERED, 500, "", 2, 7).due.us >= 300000000);
  assert_true(decide(HTTP_ANSWERED, 500, "", 3, 7).due.us >= 300000000);  // the last rung repeats
}

static void retry_after_is_honoured_up_to_its_cap(void **state)
{
  (void)state;
  assert_int_equal(decide(HTTP_ANSWERED, 429, "60", 1, 1).due.us, 60000000);
  assert_int_equal(decide(HTTP_ANSWERED, 503, "Tue, 14 Nov 2023 22:15:20 GMT", 1, 1).due.us, 120000000);
  assert_int_equal(decide(HTTP_ANSWERED, 429, "99999999", 1, 1).due.us, 3600000000);
  static const char *const nonsense[] = {"1", "soon", "-5", "Tue, 14 Nov 2022 22:15:20 GMT", ""};
  for (size_t i = 0; i < ARRAY_LEN(nonsense); i++)
    assert_in_range(decide(HTTP_ANSWERED, 429, nonsense[i], 1, 1).due.us, 5000000, 5500000);
}

static void the_id_has_no_dot(void **state)
{
  char id[32];
  (void)state;
  webhook_id_of("12-345.rolled_back", id, sizeof id);
  assert_string_equal(id, "12-345_rolled_back");
}

// --- profiles

struct terms {
  const char *name, *url, *type, *allow;
};

static enum result compile(const struct terms *t, struct webhook_profile *out, struct conf_fault *fault)
{
  static char secret[] = "/a/file";
  static char *secrets[] = {secret};
  static struct span rung = {1000000};
  char *types[] = {(char *)(uintptr_t)t->type}, *allow[] = {(char *)(uintptr_t)t->allow};
  struct webhook_conf conf = {.url = (char *)(uintptr_t)t->url,
                              .types = {types, 1},
                              .secrets = {secrets, 1},
                              .allow = {allow, t->allow != NULL},
                              .ladder = {&rung, 1},
                              .connect_timeout = {1},
                              .total_timeout = {2}};
  const struct conf_entry entry = {.name = (char *)(uintptr_t)t->name, .block = &conf, .line = 1};
  return webhook_profile_compile(&entry, out, fault);
}

static void sound_endpoints_are_taken(void **state)
{
  static const struct {
    struct terms terms;
    const char *origin;
  } cases[] = {
      {{"crm", "https://example.com/hook?key=secret", "claim.succeeded", NULL}, "https://example.com"},
      {{"a.b_c-9", "http://[2600::1]:8080", "claim.*", "10.0.0.0/8"}, "http://[2600::1]:8080"},
      {{"x", "https://example.com?x=1", "*", "::1"}, "https://example.com"},
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct webhook_profile p;
    struct conf_fault fault = {.text = ""};
    if (compile(&cases[i].terms, &p, &fault) != RESULT_OK) fail_msg("%s", fault.text);
    assert_string_equal(p.origin, cases[i].origin);
    assert_string_equal(p.types, cases[i].terms.type);
    assert_int_equal(p.guard.allowed_count, cases[i].terms.allow != NULL);
    webhook_profile_release(&p);
  }
}

static void faults_name_the_key(void **state)
{
  static const struct {
    struct terms terms;
    const char *key;
  } cases[] = {
      {{"a b", "https://example.com/", "claim.*", NULL}, "a name has"},
      {{"x", "ftp://example.com/", "claim.*", NULL}, "url:"},
      {{"x", "https://", "claim.*", NULL}, "url:"},
      {{"x", "https:///path", "claim.*", NULL}, "url:"},
      {{"x", "https://me:secret@example.com/", "claim.*", NULL}, "url:"},
      {{"x", "https://example.com/#part", "claim.*", NULL}, "url:"},
      {{"x", "https://example.com/", "claim.", NULL}, "types:"},
      {{"x", "https://example.com/", "claim.*.x", NULL}, "types:"},
      {{"x", "https://example.com/", "claim-x", NULL}, "types:"},
      {{"x", "https://example.com/", "", NULL}, "types:"},
      {{"x", "https://example.com/", "claim.*", "10.0.0.1/8"}, "allow:"},
      {{"x", "https://example.com/", "claim.*", "localhost"}, "allow:"},
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct webhook_profile p;
    struct conf_fault fault = {.text = ""};
    assert_int_equal(compile(&cases[i].terms, &p, &fault), RESULT_INVALID);
    assert_memory_equal(fault.text, cases[i].key, strlen(cases[i].key));
    assert_null(strstr(fault.text, "secret"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_2xx_is_a_success),
      cmocka_unit_test(the_last_attempt_ends_it),
      cmocka_unit_test(pauses_follow_the_ladder_with_jitter),
      cmocka_unit_test(retry_after_is_honoured_up_to_its_cap),
      cmocka_unit_test(the_id_has_no_dot),
      cmocka_unit_test(sound_endpoints_are_taken),
      cmocka_unit_test(faults_name_the_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
