// SPDX-License-Identifier: Apache-2.0
// Every result has a text.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/result.h"

static enum result chain(enum result first, int *steps)
{
  enum result result = RESULT_OK;
  TRY(first);
  (*steps)++;
  TRY(RESULT_OK);
  (*steps)++;
cleanup:
  (*steps) += 10;
  return result;
}

static void every_result_has_its_own_text(void **state)
{
  (void)state;
  for (int a = RESULT_OK; a <= RESULT_UNEXPECTED; a++) {
    assert_true(strlen(result_text((enum result)a)) > 0);
    for (int b = RESULT_OK; b < a; b++)
      assert_string_not_equal(result_text((enum result)a), result_text((enum result)b));
  }
}

static void a_number_out_of_range_is_unknown(void **state)
{
  (void)state;
  assert_string_equal(result_text((enum result)(RESULT_UNEXPECTED + 1)), "unknown result");
  assert_string_equal(result_text((enum result) - 1), "unknown result");
}

static void try_leaves_at_the_first_failure(void **state)
{
  (void)state;
  int steps = 0;
  assert_int_equal(chain(RESULT_OK, &steps), RESULT_OK);
  assert_int_equal(steps, 12);
  steps = 0;
  assert_int_equal(chain(RESULT_FULL, &steps), RESULT_FULL);
  assert_int_equal(steps, 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_result_has_its_own_text),
      cmocka_unit_test(a_number_out_of_range_is_unknown),
      cmocka_unit_test(try_leaves_at_the_first_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
