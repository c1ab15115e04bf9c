// SPDX-License-Identifier: Apache-2.0
// How the results of orders are told to a terminal: texts that came out of files can move no cursor.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/order_command.c"

static void findings_are_told_safely(void **state)
{
  (void)state;
  static const char doc[] =
      "{\"total\":1,\"repaired\":1,\"state\":\"done\",\"items\":[{\"key\":\"statement_missing_here/shop/\\u001b[2J\","
      "\"outcome\":\"repaired\",\"before\":\"\\u009b31m\",\"after\":\"5\"}]}";
  json_t *result = NULL;
  struct buf text;
  buf_init(&text, 4096);
  assert_int_equal(jsonx_parse(doc, sizeof doc - 1, &result, NULL), RESULT_OK);
  put_lines(result, &text);
  assert_non_null(strstr(buf_text(&text), "statement_missing_here/shop/?[2J\n  repaired: ?31m -> 5\n"));
  json_decref(result);
  buf_release(&text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(findings_are_told_safely)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
