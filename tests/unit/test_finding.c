// SPDX-License-Identifier: Apache-2.0
// Tests of reconciler/finding.c: keys that stay, the order, what findings add up to and what the status says.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/daemon.h"
#include "reconciler/finding.h"

static void add(struct finding_set *set, const char *key, int64_t activity, enum finding_severity severity,
                enum finding_state state)
{
  char key_text[64];
  char empty[] = "", kind[] = "kind";
  (void)snprintf(key_text, sizeof key_text, "%s", key);
  finding_set_add(set, &(struct finding){.key = key_text,
                                         .kind = kind,
                                         .severity = severity,
                                         .state = state,
                                         .activity_id = activity,
                                         .activity_code = empty,
                                         .expected = empty,
                                         .actual = empty,
                                         .cause = empty,
                                         .next_step = empty});
}

static void key_names_kind_activity_and_subject(void **state)
{
  (void)state;
  struct buf key;
  buf_init(&key, 100);
  finding_key("stock_not_matching_claims", 683000001, "stock", &key);
  assert_string_equal(buf_text(&key), "stock_not_matching_claims:683000001:stock");
  buf_release(&key);
}

static void words_are_a_closed_set(void **state)
{
  (void)state;
  for (int i = 0; i < FINDING_STATE_COUNT; i++) {
    enum finding_state parsed = FINDING_STATE_COUNT;
    assert_int_equal(finding_state_parse(finding_state_name((enum finding_state)i), &parsed), RESULT_OK);
    assert_int_equal(parsed, i);
  }
  for (int i = 0; i < SEVERITY_COUNT; i++) {
    enum finding_severity parsed = SEVERITY_COUNT;
    assert_int_equal(finding_severity_parse(finding_severity_name((enum finding_severity)i), &parsed), RESULT_OK);
    assert_int_equal(parsed, i);
  }
  enum finding_state untouched = FINDING_OPEN;
  enum finding_severity severity = SEVERITY_HIGH;
  assert_int_equal(finding_state_parse("Open", &untouched), RESULT_INVALID);
  assert_int_equal(finding_severity_parse("", &severity), RESULT_INVALID);
  assert_int_equal(untouched, FINDING_OPEN);
  assert_int_equal(severity, SEVERITY_HIGH);
}

static void worst_comes_first_and_gone_last(void **state)
{
  (void)state;
  static const char *const expected[] = {"c1", "c2", "b", "a", "z", "gone"};
  struct finding_set set;
  finding_set_init(&set);
  add(&set, "gone", 1, SEVERITY_CRITICAL, FINDING_GONE);
  add(&set, "z", 2, SEVERITY_MEDIUM, FINDING_OPENED);
  add(&set, "c2", 7, SEVERITY_CRITICAL, FINDING_OPEN);
  add(&set, "a", 9, SEVERITY_HIGH, FINDING_OPENED);
  add(&set, "c1", 7, SEVERITY_CRITICAL, FINDING_OPENED);
  add(&set, "b", 8, SEVERITY_HIGH, FINDING_OPEN);
  finding_set_sort(&set);
  assert_int_equal(set.count, ARRAY_LEN(expected));
  for (size_t i = 0; i < set.count; i++) assert_string_equal(set.items[i].key, expected[i]);
  finding_set_release(&set);
  finding_set_sort(&set);
  assert_int_equal(set.count, 0);
}

static void what_is_gone_does_not_count(void **state)
{
  (void)state;
  struct finding_set set;
  finding_set_init(&set);
  struct finding_counts none = finding_set_count(&set);
  assert_int_equal(none.live, 0);
  assert_int_equal(finding_exit_status(&none, 0), EXIT_OK);
  add(&set, "gone", 1, SEVERITY_CRITICAL, FINDING_GONE);
  struct finding_counts gone = finding_set_count(&set);
  assert_int_equal(gone.live, 0);
  assert_int_equal(gone.by_state[FINDING_GONE], 1);
  assert_int_equal(gone.by_severity[SEVERITY_CRITICAL], 0);
  assert_int_equal(finding_exit_status(&gone, 0), EXIT_OK);
  add(&set, "new", 1, SEVERITY_HIGH, FINDING_OPENED);
  add(&set, "old", 1, SEVERITY_HIGH, FINDING_OPEN);
  struct finding_counts live = finding_set_count(&set);
  assert_int_equal(live.live, 2);
  assert_int_equal(live.by_severity[SEVERITY_HIGH], 2);
  assert_int_equal(finding_exit_status(&live, 0), EXIT_FINDINGS);
  assert_int_equal(finding_exit_status(&live, 3), EXIT_FINDINGS);
  finding_set_release(&set);
}

static void what_could_not_be_looked_at_is_not_clean(void **state)
{
  (void)state;
  const struct finding_counts none = {0};
  assert_int_equal(finding_exit_status(&none, 1), EXIT_TEMPORARY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(key_names_kind_activity_and_subject),      cmocka_unit_test(words_are_a_closed_set),
      cmocka_unit_test(worst_comes_first_and_gone_last),          cmocka_unit_test(what_is_gone_does_not_count),
      cmocka_unit_test(what_could_not_be_looked_at_is_not_clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
