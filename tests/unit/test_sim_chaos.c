// SPDX-License-Identifier: Apache-2.0
// Unit tests of the simulator's fates: a function of seed and user alone, every fate as documented in its first calls,
// and faults of the settings named.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/simulator/sim_chaos.c"

#define USERS 4000

static const struct wall_time noon = {INT64_C(1767268800) * 1000000};  // 2026-01-01T12:00:00Z

static enum result parse(const char *text, struct sim_chaos *out, char why[JSONX_WHY_BYTES])
{
  json_t *object = NULL;
  assert_int_equal(jsonx_parse(text, strlen(text), &object, NULL), RESULT_OK);
  enum result result = sim_chaos_parse(object, out, why);
  json_decref(object);
  return result;
}

static struct sim_chaos chaos_of(const char *text)
{
  struct sim_chaos c;
  char why[JSONX_WHY_BYTES] = "";
  if (parse(text, &c, why) != RESULT_OK) fail_msg("%s: %s", text, why);
  return c;
}

// Only this fate, with short times that can be told apart.
static struct sim_chaos only(enum sim_fate fate)
{
  char text[160];
  (void)snprintf(text, sizeof text,
                 "{\"seed\":1,\"mix\":{\"%s\":1},\"slowMs\":1000,\"callbackMs\":100,\"lateMs\":3000}",
                 sim_fate_name(fate));
  return chaos_of(text);
}

static void name_user(char out[32], int n) { (void)snprintf(out, 32, "user-%d", n); }

static void a_fate_follows_from_seed_and_user_alone(void **state)
{
  (void)state;
  struct sim_chaos a = chaos_of("{\"seed\":7}"), b = chaos_of("{\"seed\":7}"), other = chaos_of("{\"seed\":8}");
  int different = 0;
  for (int n = USERS; n-- > 0;) {  // another order than any run's
    char user[32];
    struct sim_act x, y;
    name_user(user, n);
    assert_int_equal(sim_chaos_fate(&a, user), sim_chaos_fate(&b, user));
    bool meets = sim_chaos_credit(&a, user, 1, noon, &x);
    assert_int_equal(meets, sim_chaos_credit(&b, user, 1, noon, &y));
    if (meets) {
      assert_int_equal(x.step.status, y.step.status);
      assert_int_equal(x.step.effect, y.step.effect);
      assert_int_equal(x.step.delay.us, y.step.delay.us);
      assert_int_equal(x.news_count, y.news_count);
    }
    different += sim_chaos_fate(&a, user) != sim_chaos_fate(&other, user);
  }
  assert_true(different > USERS / 2);
}

static void every_fate_of_the_mix_happens_as_often_as_it_weighs(void **state)
{
  (void)state;
  struct sim_chaos c = chaos_of("{\"seed\":3}");
  int counts[SIM_FATES] = {0};
  for (int n = 0; n < USERS; n++) {
    char user[32];
    name_user(user, n);
    counts[sim_chaos_fate(&c, user)]++;
  }
  for (int fate = 0; fate < SIM_FATES; fate++) {
    double expected = (double)USERS * c.weights[fate] / (double)c.total;
    if (counts[fate] < expected * 0.5 || counts[fate] > expected * 1.5)
      fail_msg("%s: %d times, not about %.0f", sim_fate_name((enum sim_fate)fate), counts[fate], expected);
  }
  struct sim_chaos two = chaos_of("{\"seed\":3,\"mix\":{\"plain\":1,\"refused\":3}}");
  for (int n = 0; n < USERS; n++) {
    char user[32];
    name_user(user, n);
    enum sim_fate fate = sim_chaos_fate(&two, user);
    assert_true(fate == SIM_FATE_PLAIN || fate == SIM_FATE_REFUSED);
  }
}

// What a claim needs to reach its end stands in the first calls: an effect, news that moves money, or a refusal; and
// what heals does so within two calls.
static void assert_end_can_be_reached(enum sim_fate fate, const char *user)
{
  struct sim_chaos c = only(fate);
  int effects = 0, refusals = 0, calls = 0;
  struct sim_act act;
  while (calls < 4 && sim_chaos_credit(&c, user, (uint32_t)calls + 1, noon, &act)) {
    calls++;
    effects += act.step.effect != SIM_NEVER;
    refusals += act.step.status >= 400 && act.step.status < 429 && act.step.effect == SIM_NEVER;
    for (size_t i = 0; i < act.news_count; i++) {
      if (act.is_forged[i])
        assert_int_not_equal(act.news[i].sign, SIM_SIGN_GOOD);
      else if (act.news[i].failed)
        refusals++;
      else
        effects += effects == 0;  // news of what has happened already moves nothing
    }
    if (act.step.body != NULL) refusals += strstr(act.step.body, "\"status\":\"FAILED\",\"code\"") != NULL;
  }
  const char *name = sim_fate_name(fate);
  switch (sim_fate_end(fate)) {
    case SIM_END_SUCCEEDED:
      if (calls > 2 || effects > 1) fail_msg("%s: %d calls, %d effects", name, calls, effects);
      break;
    case SIM_END_FAILED:
      if (effects > 0 || refusals == 0) fail_msg("%s: %d effects, %d refusals", name, effects, refusals);
      break;
    case SIM_END_REVERSED:
      if (effects != 1 || refusals != 1) fail_msg("%s: %d effects, %d refusals", name, effects, refusals);
      break;
    case SIM_END_REVIEW:
      if (calls != 4 || effects > 0 || refusals > 0) fail_msg("%s: heals, pays or refuses", name);
      break;
  }
}

static void every_fate_leads_to_its_end(void **state)
{
  (void)state;
  for (int fate = 0; fate < SIM_FATES; fate++) {
    for (int n = 0; n < 50; n++) {
      char user[32];
      name_user(user, n);
      assert_end_can_be_reached((enum sim_fate)fate, user);
    }
  }
}

static void first_call(enum sim_fate fate, struct sim_act *out)
{
  struct sim_chaos c = only(fate);
  if (!sim_chaos_credit(&c, "42", 1, noon, out)) fail_msg("%s: nothing happens", sim_fate_name(fate));
}

static void retry_after_comes_in_every_kind(void **state)
{
  (void)state;
  static const struct {
    enum sim_fate fate;
    const char *value;
  } kinds[] = {{SIM_FATE_RATE_SECONDS, "2"},
               {SIM_FATE_RATE_DATE, "Thu, 01 Jan 2026 12:00:03 GMT"},
               {SIM_FATE_RATE_PAST, "Thu, 01 Jan 2026 11:00:00 GMT"},
               {SIM_FATE_RATE_NONSENSE, "soon"},
               {SIM_FATE_RATE_HUGE, "99999999"}};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    struct sim_act act;
    first_call(kinds[i].fate, &act);
    assert_int_equal(act.step.status, 429);
    assert_int_equal(act.step.header_count, 1);
    assert_string_equal(act.step.headers[0].name, "Retry-After");
    assert_string_equal(act.step.headers[0].value, kinds[i].value);
  }
}

static void callbacks_are_early_late_double_forged_or_contradict(void **state)
{
  (void)state;
  struct sim_act act;
  first_call(SIM_FATE_PENDING_EARLY, &act);
  assert_true(act.news[0].delay.us < act.step.delay.us);
  first_call(SIM_FATE_PENDING_LATE, &act);
  assert_int_equal(act.news[0].delay.us, 3000000);
  first_call(SIM_FATE_PENDING_DOUBLE, &act);
  assert_int_equal(act.news[0].copies, 3);
  first_call(SIM_FATE_PENDING_MUTE, &act);
  assert_int_equal(act.news_count, 0);
  first_call(SIM_FATE_FORGED_FAILURE, &act);
  assert_int_equal(act.news[0].sign, SIM_SIGN_BAD);
  assert_int_equal(act.news[1].sign, SIM_SIGN_NONE);
  assert_true(act.news[0].failed && act.is_forged[0] && act.is_forged[1]);
  first_call(SIM_FATE_TAKEN_BACK, &act);
  assert_true(!act.news[0].failed && act.news[1].failed && act.news[0].delay.us < act.news[1].delay.us);
  first_call(SIM_FATE_PAID_AFTER_ALL, &act);
  assert_true(act.news[0].failed && !act.news[1].failed && act.news[0].delay.us < act.news[1].delay.us);
}

static void reversals_misbehave_too_and_heal(void **state)
{
  (void)state;
  struct sim_chaos c = chaos_of("{\"seed\":1}");
  int quiet = 0, lost = 0;
  for (int n = 0; n < USERS; n++) {
    char user[32];
    struct sim_act act;
    name_user(user, n);
    if (!sim_chaos_reversal(&c, user, 1, &act)) {
      quiet++;
      continue;
    }
    lost += act.step.close;
    assert_false(sim_chaos_reversal(&c, user, 3, &act));
  }
  assert_true(quiet > USERS / 3 && quiet < USERS * 2 / 3);
  assert_true(lost > USERS / 20);
}

static void settings_with_a_fault_are_refused(void **state)
{
  (void)state;
  static const char *const faulty[] = {
      "{}",
      "{\"seed\":-1}",
      "{\"seed\":1,\"mix\":{\"kind\":1}}",
      "{\"seed\":1,\"mix\":{}}",
      "{\"seed\":1,\"mix\":{\"plain\":0}}",
      "{\"seed\":1,\"mix\":{\"plain\":-1}}",
      "{\"seed\":1,\"slowMs\":-1}",
      "{\"seed\":1,\"more\":true}",
  };
  for (size_t i = 0; i < ARRAY_LEN(faulty); i++) {
    struct sim_chaos c = {.seed = 99};
    char why[JSONX_WHY_BYTES] = "";
    if (parse(faulty[i], &c, why) != RESULT_INVALID || why[0] == '\0') fail_msg("%s was taken", faulty[i]);
    assert_int_equal(c.seed, 99);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fate_follows_from_seed_and_user_alone),
      cmocka_unit_test(every_fate_of_the_mix_happens_as_often_as_it_weighs),
      cmocka_unit_test(every_fate_leads_to_its_end),
      cmocka_unit_test(retry_after_comes_in_every_kind),
      cmocka_unit_test(callbacks_are_early_late_double_forged_or_contradict),
      cmocka_unit_test(reversals_misbehave_too_and_heal),
      cmocka_unit_test(settings_with_a_fault_are_refused),
  };
  return cmocka_run_group_tests_name("simulator's fates", tests, NULL, NULL);
}
