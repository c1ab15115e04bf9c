// SPDX-License-Identifier: Apache-2.0
// Tests of common/trace.c: what counts as a trace, and how it goes on.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/trace.h"

#define ID "0af7651916cd43dd8448eb211c80319c"

static void a_trace_goes_on_with_a_new_span(void **state)
{
  static const char *const bad[] = {"", "0af7651916cd43dd8448eb211c80319", "0af7651916cd43dd8448eb211c80319cc",
                                    "0AF7651916CD43DD8448EB211C80319C", "00000000000000000000000000000000"};
  char one[TRACE_PARENT_BYTES], two[TRACE_PARENT_BYTES];
  (void)state;
  trace_parent_make(ID, 1, one);
  trace_parent_make(ID, 2, two);
  assert_int_equal(strlen(one), 55);
  assert_memory_equal(one, "00-" ID "-", 36);
  assert_string_equal(one + 52, "-01");
  assert_memory_equal(one, two, 36);
  assert_memory_not_equal(one + 36, two + 36, 16);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    trace_parent_make(bad[i], 1, one);
    assert_string_equal(one, "");
  }
}

static void a_header_is_judged_as_the_standard_says(void **state)
{
  static const char *const good[] = {"00-" ID "-b7ad6b7169203331-01", "00-" ID "-b7ad6b7169203331-00",
                                     "cc-" ID "-b7ad6b7169203331-01", "cc-" ID "-b7ad6b7169203331-01-later"};
  static const char *const bad[] = {"",
                                    "00-" ID "-b7ad6b7169203331",
                                    "00-" ID "-b7ad6b7169203331-01-later",
                                    "cc-" ID "-b7ad6b7169203331-01later",
                                    "ff-" ID "-b7ad6b7169203331-01",
                                    "00-" ID "-0000000000000000-01",
                                    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                    "00_" ID "-b7ad6b7169203331-01",
                                    "00-" ID "-b7ad6b716920333g-01"};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(trace_parent_is_valid(good[i]));
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(trace_parent_is_valid(bad[i]));
}

static void every_trace_of_its_own_is_another_one(void **state)
{
  struct trace_source source;
  char one[TRACE_PARENT_BYTES], two[TRACE_PARENT_BYTES];
  (void)state;
  trace_source_init(&source);
  trace_parent_new(&source, one);
  trace_parent_new(&source, two);
  assert_true(trace_parent_is_valid(one) && trace_parent_is_valid(two));
  assert_memory_not_equal(one + TRACE_PARENT_ID_AT, two + TRACE_PARENT_ID_AT, TRACE_ID_DIGITS);
  assert_int_not_equal(trace_next(&source), trace_next(&source));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trace_goes_on_with_a_new_span),
      cmocka_unit_test(a_header_is_judged_as_the_standard_says),
      cmocka_unit_test(every_trace_of_its_own_is_another_one),
  };
  return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
