// SPDX-License-Identifier: Apache-2.0
// Tests of reconciler/operation.c: which letters and claims an order names, and how its result is told.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "reconciler/operation.h"

static void ids_name_letters_or_claims(void **state)
{
  (void)state;
  static const char *const bad[] = {"",
                                    "0",
                                    "-1",
                                    "1-",
                                    "-",
                                    "1-0",
                                    "0-1",
                                    "1--1",
                                    "1-2-3",
                                    "x",
                                    "1x",
                                    " 1",
                                    "1.5",
                                    "1-x",
                                    "9223372036854775808",
                                    "1-9223372036854775808"};
  int64_t letter = 7;
  struct claim_ref claim = {7, 7};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    assert_int_equal(operation_target_parse(bad[i], &letter, &claim), RESULT_INVALID);
  assert_int_equal(letter, 7);  // untouched
  assert_int_equal(claim.number, 7);
  assert_int_equal(operation_target_parse("9223372036854775807", &letter, &claim), RESULT_OK);
  assert_true(letter == INT64_MAX && claim.activity_id == 0 && claim.number == 0);
  assert_int_equal(operation_target_parse("683000001-5", &letter, &claim), RESULT_OK);
  assert_true(letter == 0 && claim.activity_id == 683000001 && claim.number == 5);
}

static void an_order_takes_both_and_a_roll_back_only_claims(void **state)
{
  (void)state;
  struct operation_order o;
  operation_order_init(&o, OPERATION_REFUND);
  operation_order_make_room(&o, 2);
  assert_int_equal(operation_order_add(&o, "12"), RESULT_OK);
  assert_int_equal(operation_order_add(&o, "x"), RESULT_INVALID);
  assert_int_equal(operation_order_add(&o, "3-4"), RESULT_OK);
  assert_int_equal(operation_order_add(&o, "5"), RESULT_FULL);
  assert_true(o.letter_count == 1 && o.letters[0] == 12 && o.claim_count == 1 && o.claims[0].number == 4);
  operation_order_release(&o);
  operation_order_init(&o, OPERATION_ROLL_BACK);
  operation_order_make_room(&o, 1);
  assert_int_equal(operation_order_add(&o, "12"), RESULT_INVALID);
  assert_int_equal(operation_order_add(&o, "3-4"), RESULT_OK);
  operation_order_release(&o);
}

static void delivered_or_not(void **state)
{
  (void)state;
  struct operation_order o;
  operation_order_init(&o, OPERATION_RESOLVE);
  assert_false(o.is_not_delivered);
  assert_int_equal(operation_order_put_as(&o, "not-delivered"), RESULT_OK);
  assert_true(o.is_not_delivered);
  assert_int_equal(operation_order_put_as(&o, "lost"), RESULT_INVALID);
  assert_true(o.is_not_delivered);
  assert_int_equal(operation_order_put_as(&o, "delivered"), RESULT_OK);
  assert_false(o.is_not_delivered);
}

static void kinds_have_the_names_of_the_database(void **state)
{
  (void)state;
  assert_string_equal(operation_kind_name(OPERATION_RETRY), "retry");
  assert_string_equal(operation_kind_name(OPERATION_REFUND), "refund");
  assert_string_equal(operation_kind_name(OPERATION_RESOLVE), "resolve");
  assert_string_equal(operation_kind_name(OPERATION_ROLL_BACK), "roll_back");
}

static void a_result_is_one_line_and_its_failures_count(void **state)
{
  (void)state;
  static const struct {
    const char *doc, *text;
    int64_t failures;
  } cases[] = {
      {"{\"dryRun\":false,\"total\":0,\"retried\":0}", "no open dead letter is meant", 0},
      {"{\"dryRun\":false,\"total\":0,\"repaired\":0}", "no finding is meant", 0},
      {"{\"dryRun\":true,\"total\":0,\"explained\":0}", "no finding is meant", 0},
      {"{\"dryRun\":true,\"total\":5,\"repaired\":2,\"alreadyRight\":1,\"notRepairable\":1,\"gone\":1}",
       "would repair 2; right already: 1; gone already: 1; for a person to repair, left as they are: 1", 1},
      {"{\"dryRun\":true,\"total\":5000,\"previewed\":1000,\"repaired\":999,\"gone\":1}",
       "would repair 999; gone already: 1; of 5000 the first 1000 were looked at", 0},
      {"{\"dryRun\":false,\"total\":2,\"explained\":1,\"gone\":0,\"notFound\":1}", "explained 1; not found: 1", 1},
      {"{\"dryRun\":false,\"total\":10,\"retried\":6,\"alreadyDone\":4,\"notRetryable\":0,\"notFound\":0}",
       "retried 6; already done and skipped: 4", 0},
      {"{\"dryRun\":true,\"total\":2,\"retried\":1,\"alreadyDone\":1,\"notRetryable\":0,\"notFound\":0}",
       "would retry 1; already done and skipped: 1", 0},
      {"{\"dryRun\":false,\"total\":1,\"retried\":0,\"alreadyDone\":0,\"notRetryable\":1,\"notFound\":0}",
       "retried 0; cannot be retried (no claim): 1", 0},
      {"{\"dryRun\":false,\"total\":9,\"refunded\":2,\"reversing\":3,\"alreadyDone\":0,\"notRefundable\":1,"
       "\"notReversible\":2,\"notFound\":1}",
       "refunded 2; first reversed at the provider: 3; cannot be refunded (no claim): 1; cannot be reversed at their "
       "provider, left as they are: 2; not found: 1",
       4},
      {"{\"dryRun\":true,\"total\":3,\"resolved\":1,\"alreadyDone\":0,\"proofNeeded\":2,\"notFound\":0}",
       "would resolve 1; need a proof of delivery, left as they are: 2", 2},
      {"{\"dryRun\":false,\"total\":2,\"rolledBack\":0,\"reversing\":1,\"alreadyDone\":0,\"notDelivered\":1,"
       "\"notReversible\":0,\"notFound\":0}",
       "rolled back 0; first reversed at the provider: 1; not delivered, nothing to roll back: 1", 1},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    json_t *doc = json_loads(cases[i].doc, 0, NULL);
    struct buf text;
    assert_non_null(doc);
    buf_init(&text, 1000);
    operation_put_summary(doc, &text);
    assert_string_equal(buf_text(&text), cases[i].text);
    assert_int_equal(operation_failures(doc), cases[i].failures);
    buf_release(&text);
    json_decref(doc);
  }
}

static void findings_are_named_by_keys_of_any_kind(void **state)
{
  (void)state;
  struct operation_order o;
  char longest[FINDING_KEY_BYTES_MAX + 2];
  memset(longest, 'k', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  operation_order_init(&o, OPERATION_REPAIR);
  operation_order_make_room(&o, 3);
  assert_int_equal(operation_order_add(&o, ""), RESULT_INVALID);
  assert_int_equal(operation_order_add(&o, "\xff"), RESULT_INVALID);
  assert_int_equal(operation_order_add(&o, longest), RESULT_INVALID);
  assert_int_equal(operation_order_add(&o, longest + 1), RESULT_OK);
  assert_int_equal(operation_order_add(&o, "usage_not_matching_claims:1:usage user 7 day 2026-11-29"), RESULT_OK);
  assert_int_equal(operation_order_add(&o, "12"), RESULT_OK);
  assert_int_equal(operation_order_add(&o, "one too many"), RESULT_FULL);
  assert_true(o.key_count == 3 && o.letter_count == 0 && o.claim_count == 0);
  operation_order_release(&o);
}

static void filters_of_findings_are_looked_at(void **state)
{
  (void)state;
  assert_null(finding_filter_fault(&(struct finding_filter){.state = NULL}));
  assert_null(finding_filter_fault(
      &(struct finding_filter){.state = "all", .severity = "high", .source = "statement", .kind = "anything"}));
  assert_string_equal(finding_filter_fault(&(struct finding_filter){.state = "lost"}),
                      "state: must be opened, open, gone or all");
  assert_string_equal(finding_filter_fault(&(struct finding_filter){.severity = "low"}),
                      "severity: must be critical, high or medium");
  assert_string_equal(finding_filter_fault(&(struct finding_filter){.source = "rumour"}),
                      "source: must be audit or statement");
  assert_null(finding_order_fault(&(struct finding_filter){.state = "open", .severity = "high"}));
  assert_string_equal(finding_order_fault(&(struct finding_filter){.state = "gone"}), "state: must be opened or open");
  assert_string_equal(finding_order_fault(&(struct finding_filter){.state = "all"}), "state: must be opened or open");
  assert_string_equal(finding_order_fault(&(struct finding_filter){.source = "rumour"}),
                      "source: must be audit or statement");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findings_are_named_by_keys_of_any_kind),
      cmocka_unit_test(filters_of_findings_are_looked_at),
      cmocka_unit_test(ids_name_letters_or_claims),
      cmocka_unit_test(an_order_takes_both_and_a_roll_back_only_claims),
      cmocka_unit_test(delivered_or_not),
      cmocka_unit_test(kinds_have_the_names_of_the_database),
      cmocka_unit_test(a_result_is_one_line_and_its_failures_count),
  };
  return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
