// SPDX-License-Identifier: Apache-2.0
// The shape of discount rules and of orders: what is carried over, and each fault with its path.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "scheduler/discount_doc.h"

typedef enum result check_fn(const json_t *body, const char *path_id, json_t **out_doc,
                             char out_fault[JSONX_WHY_BYTES]);

static json_t *parse(const char *text)
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES];
  if (jsonx_parse(text, strlen(text), &json, why) != RESULT_OK) fail_msg("%s: %s", text, why);
  return json;
}

static void assert_doc(check_fn *check, const char *text, const char *path_id, const char *expected)
{
  json_t *body = parse(text), *doc = NULL, *wanted = parse(expected);
  char fault[JSONX_WHY_BYTES] = "";
  if (check(body, path_id, &doc, fault) != RESULT_OK) fail_msg("%s: %s", text, fault);
  if (!json_equal(doc, wanted)) fail_msg("%s became %s", text, json_dumps(doc, 0));
  json_decref(body);
  json_decref(doc);
  json_decref(wanted);
}

static void assert_fault(check_fn *check, const char *text, const char *path_id, const char *expected)
{
  json_t *body = parse(text), *untouched = body, *doc = untouched;
  char fault[JSONX_WHY_BYTES] = "";
  if (check(body, path_id, &doc, fault) != RESULT_INVALID) fail_msg("%s was taken", text);
  assert_string_equal(fault, expected);
  assert_ptr_equal(doc, untouched);
  json_decref(body);
}

#define RULE(more) "{\"name\":\"n\",\"priority\":1" more "}"
#define AMOUNT     ",\"threshold\":0,\"discount\":{\"amount\":1}"

static void a_rule_is_carried_over(void **state)
{
  (void)state;
  assert_doc(discount_doc_check, RULE(",\"id\":\"a\",\"threshold\":0,\"discount\":{\"percent\":100}"), NULL,
             "{\"id\":\"a\",\"name\":\"n\",\"threshold\":0,\"discount\":{\"percent\":100},\"priority\":1}");
  assert_doc(discount_doc_check,
             RULE(",\"threshold\":500000,\"discount\":{\"amount\":10000},\"maxPerOrder\":2,\"exclusiveGroup\":\"商场\","
                  "\"rewardCode\":\"voucher-100\",\"currency\":\"CNY\",\"startAt\":\"2026-10-01T00:00:00+08:00\","
                  "\"endAt\":\"2026-10-03T00:00:00+08:00\""),
             "hundred",
             "{\"id\":\"hundred\",\"name\":\"n\",\"threshold\":500000,\"discount\":{\"amount\":10000},\"maxPerOrder\":"
             "2,\"exclusiveGroup\":\"商场\",\"priority\":1,\"rewardCode\":\"voucher-100\",\"currency\":\"CNY\","
             "\"startAt\":\"2026-09-30T16:00:00.000000Z\",\"endAt\":\"2026-10-02T16:00:00.000000Z\"}");
}

static void each_fault_of_a_rule_has_its_path(void **state)
{
  (void)state;
  static const struct {
    const char *text, *fault;
  } cases[] = {
      {"{\"priority\":1" AMOUNT "}", "name: is missing"},
      {RULE(",\"discount\":{\"amount\":1}"), "threshold: is missing"},
      {"{\"name\":\"n\"" AMOUNT "}", "priority: is missing"},
      {RULE(",\"threshold\":0"), "discount: is missing"},
      {RULE(",\"threshold\":-1,\"discount\":{\"amount\":1}"), "threshold: must be an integer of at least 0"},
      {RULE(",\"threshold\":1.5,\"discount\":{\"amount\":1}"), "threshold: must be an integer of at least 0"},
      {RULE(",\"threshold\":0,\"discount\":{}"), "discount: must have either amount or percent"},
      {RULE(",\"threshold\":0,\"discount\":{\"amount\":1,\"percent\":1}"),
       "discount: must have either amount or percent"},
      {RULE(",\"threshold\":0,\"discount\":{\"amount\":0}"), "discount.amount: must be an integer of at least 1"},
      {RULE(",\"threshold\":0,\"discount\":{\"percent\":101}"), "discount.percent: must be an integer from 1 to 100"},
      {RULE(",\"threshold\":0,\"discount\":{\"percent\":12.5}"), "discount.percent: must be an integer from 1 to 100"},
      {RULE(",\"threshold\":0,\"discount\":{\"percent\":1,\"of\":2}"), "discount.of: is not known here"},
      {RULE(AMOUNT ",\"maxPerOrder\":0"), "maxPerOrder: must be an integer from 1 to 1000"},
      {RULE(AMOUNT ",\"exclusiveGroup\":\"\""), "exclusiveGroup: must not be empty"},
      {RULE(AMOUNT ",\"currency\":\"cny\""), "currency: must be a three-letter ISO 4217 code"},
      {RULE(AMOUNT ",\"id\":\"b\""), "id: differs from the id in the path"},
      {RULE(AMOUNT ",\"startAt\":\"2026-10-01T00:00:00Z\",\"endAt\":\"2026-10-01T00:00:00Z\""),
       "endAt: must be after startAt"},
      {RULE(AMOUNT ",\"note\":1"), "note: is not known here"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_fault(discount_doc_check, cases[i].text, "a", cases[i].fault);
  assert_fault(discount_doc_check, RULE(AMOUNT), NULL, "id: is missing");
  assert_fault(discount_doc_check, RULE(AMOUNT), "a b", "id: is no valid id");
}

#define LINE "\"lines\":[{\"lineId\":\"1\",\"amount\":5}]"

static void an_order_is_carried_over(void **state)
{
  (void)state;
  assert_doc(discount_order_check, "{\"orderId\":\"o:1\"," LINE "}", NULL,
             "{\"orderId\":\"o:1\"," LINE ",\"coupons\":[]}");
  assert_doc(discount_order_check, "{" LINE ",\"currency\":\"KWD\",\"coupons\":[\"683000001-17\",\"683000001-18\"]}",
             "o", "{\"orderId\":\"o\",\"currency\":\"KWD\"," LINE ",\"coupons\":[\"683000001-17\",\"683000001-18\"]}");
  assert_doc(discount_order_check,
             "{\"orderId\":\"o\",\"lines\":[{\"lineId\":\"a\",\"amount\":9223372036854775807},{\"lineId\":\"b\","
             "\"amount\":0}]}",
             "o",
             "{\"orderId\":\"o\",\"lines\":[{\"lineId\":\"a\",\"amount\":9223372036854775807},{\"lineId\":\"b\","
             "\"amount\":0}],\"coupons\":[]}");
}

static void each_fault_of_an_order_has_its_path(void **state)
{
  (void)state;
  static const struct {
    const char *text, *fault;
  } cases[] = {
      {"{}", "lines: is missing"},
      {"{\"lines\":[]}", "lines: must have 1 to 500 items"},
      {"{\"lines\":[1]}", "lines[0]: must be an object"},
      {"{\"lines\":[{\"amount\":1}]}", "lines[0].lineId: is missing"},
      {"{\"lines\":[{\"lineId\":\"\",\"amount\":1}]}", "lines[0].lineId: must not be empty"},
      {"{\"lines\":[{\"lineId\":\"a\",\"amount\":-1}]}", "lines[0].amount: must be an integer of at least 0"},
      {"{\"lines\":[{\"lineId\":\"a\",\"amount\":\"1\"}]}", "lines[0].amount: must be an integer of at least 0"},
      {"{\"lines\":[{\"lineId\":\"a\",\"amount\":1,\"quantity\":2}]}", "lines[0].quantity: is not known here"},
      {"{\"lines\":[{\"lineId\":\"a\",\"amount\":1},{\"lineId\":\"a\",\"amount\":1}]}",
       "lines[1].lineId: is the id of another line too"},
      {"{\"lines\":[{\"lineId\":\"a\",\"amount\":9223372036854775807},{\"lineId\":\"b\",\"amount\":1}]}",
       "lines[1].amount: makes the total too large"},
      {"{" LINE ",\"coupons\":[17]}", "coupons[0]: must be the id of a claim, such as 683000001-17"},
      {"{" LINE ",\"coupons\":[\"17\"]}", "coupons[0]: must be the id of a claim, such as 683000001-17"},
      {"{" LINE ",\"coupons\":[\"1-2\",\"1-3\",\"1-2\"]}", "coupons[2]: is there already"},
      {"{" LINE ",\"currency\":\"YEN1\"}", "currency: must have at most 3 characters"},
      {"{" LINE ",\"orderId\":\"p\"}", "orderId: differs from the order in the path"},
      {"{" LINE ",\"user\":1}", "user: is not known here"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_fault(discount_order_check, cases[i].text, "o", cases[i].fault);
  assert_fault(discount_order_check, "{" LINE "}", NULL, "orderId: is missing");
  assert_fault(discount_order_check, "{\"orderId\":\"a b\"," LINE "}", NULL,
               "orderId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rule_is_carried_over),
      cmocka_unit_test(each_fault_of_a_rule_has_its_path),
      cmocka_unit_test(an_order_is_carried_over),
      cmocka_unit_test(each_fault_of_an_order_has_its_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
