// SPDX-License-Identifier: Apache-2.0
// Unit tests of the simulator's scripts: defaults, refused texts, matching, the order of scripts and steps, and order
// bodies.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/simulator/sim_order.c"
#include "tests/simulator/sim_script.c"
#include "tests/simulator/sim_script_parse.c"

static const struct sim_subject credit_42 = {SIM_CALL_CREDIT, "1-1", NULL, "42", "voucher-100"};
static const struct sim_subject credit_43 = {SIM_CALL_CREDIT, "1-2", NULL, "43", "voucher-10"};
static const struct sim_subject reverse_42 = {SIM_CALL_REVERSE, "1-1", "1-1-r", "42", "voucher-100"};

static enum result add(struct sim_scripts *s, const char *json, char why[JSONX_WHY_BYTES])
{
  json_t *object = NULL;
  assert_int_equal(jsonx_parse(json, strlen(json), &object, NULL), RESULT_OK);
  enum result result = sim_scripts_add(s, object, why);
  json_decref(object);
  return result;
}

static void add_good(struct sim_scripts *s, const char *json)
{
  char why[JSONX_WHY_BYTES] = "";
  if (add(s, json, why) != RESULT_OK) fail_msg("%s: %s", json, why);
}

// The status of the step that the subject meets; -1: none. Steps in these tests are told apart by their status.
static int take(struct sim_scripts *s, const struct sim_subject *subject)
{
  struct sim_script *script = NULL;
  const struct sim_step *step = sim_scripts_take(s, subject, &script);
  if (step == NULL) return -1;
  int status = step->status;
  sim_script_drop(script);
  return status;
}

static void a_step_has_the_documented_defaults(void **state)
{
  (void)state;
  struct sim_scripts s;
  sim_scripts_init(&s);
  add_good(&s, "{\"match\":{\"any\":true},\"steps\":[{\"callback\":{}}]}");
  struct sim_script *script = NULL;
  const struct sim_step *step = sim_scripts_take(&s, &credit_42, &script);
  assert_non_null(step);
  assert_int_equal(step->delay.us, 0);
  assert_int_equal(step->status, 0);
  assert_null(step->body);
  assert_int_equal(step->effect, SIM_BEFORE);
  assert_false(step->close);
  assert_true(step->callback.wanted);
  assert_int_equal(step->callback.copies, 1);
  assert_int_equal(step->callback.sign, SIM_SIGN_GOOD);
  assert_false(step->callback.failed);
  assert_int_equal(s.count, 0);  // times is 1: used up, but the step is still ours
  sim_script_drop(script);
}

static void every_member_of_a_step_is_read(void **state)
{
  (void)state;
  struct sim_scripts s;
  sim_scripts_init(&s);
  add_good(
      &s,
      "{\"match\":{\"any\":true},\"times\":2,\"steps\":[{\"delayMs\":250,\"status\":429,\"body\":{\"code\":\"SLOW\"},"
      "\"headers\":{\"Retry-After\":\"2\"},\"effect\":\"after\",\"close\":true,\"callback\":{\"delayMs\":70,\"status\":"
      "\"FAILED\","
      "\"copies\":3,\"eventId\":\"e1\",\"sign\":\"bad\"}},{\"body\":\"<html>\",\"effect\":\"none\"}]}");
  struct sim_script *script = NULL;
  const struct sim_step *step = sim_scripts_take(&s, &credit_42, &script);
  assert_int_equal(step->delay.us, 250000);
  assert_int_equal(step->status, 429);
  assert_string_equal(step->body, "{\"code\":\"SLOW\"}");
  assert_int_equal(step->header_count, 1);
  assert_string_equal(step->headers[0].name, "Retry-After");
  assert_string_equal(step->headers[0].value, "2");
  assert_int_equal(step->effect, SIM_AFTER);
  assert_true(step->close);
  assert_int_equal(step->callback.delay.us, 70000);
  assert_true(step->callback.failed);
  assert_int_equal(step->callback.copies, 3);
  assert_string_equal(step->callback.event_id, "e1");
  assert_int_equal(step->callback.sign, SIM_SIGN_BAD);
  sim_script_drop(script);
  step = sim_scripts_take(&s, &credit_42, &script);
  assert_string_equal(step->body, "<html>");  // a text goes out raw
  assert_int_equal(step->body_len, 6);
  assert_int_equal(step->effect, SIM_NEVER);
  sim_script_drop(script);
  sim_scripts_clear(&s);
}

static void times_passes_through_the_steps_in_order(void **state)
{
  (void)state;
  struct sim_scripts s;
  sim_scripts_init(&s);
  add_good(&s, "{\"match\":{\"any\":true},\"times\":2,\"steps\":[{\"status\":500},{\"status\":501},{\"status\":502}]}");
  const int expected[] = {500, 501, 502, 500, 501, 502, -1, -1};
  for (size_t i = 0; i < ARRAY_LEN(expected); i++) assert_int_equal(take(&s, &credit_42), expected[i]);
  assert_int_equal(s.count, 0);
  assert_int_equal(s.bytes, 0);
}

static void the_first_posted_matching_script_with_uses_left_is_used(void **state)
{
  (void)state;
  struct sim_scripts s;
  sim_scripts_init(&s);
  add_good(&s, "{\"match\":{\"userId\":43},\"steps\":[{\"status\":501}]}");
  add_good(&s, "{\"match\":{\"any\":true},\"steps\":[{\"status\":502}]}");
  add_good(&s, "{\"match\":{\"userId\":\"42\"},\"times\":2,\"steps\":[{\"status\":503}]}");
  assert_int_equal(take(&s, &credit_42), 502);
  assert_int_equal(take(&s, &credit_42), 503);
  assert_int_equal(take(&s, &credit_43), 501);
  assert_int_equal(take(&s, &credit_43), -1);
  assert_int_equal(take(&s, &credit_42), 503);
  assert_int_equal(take(&s, &credit_42), -1);
}

static void all_named_members_must_match(void **state)
{
  (void)state;
  struct sim_scripts s;
  sim_scripts_init(&s);
  add_good(&s, "{\"match\":{\"userId\":42,\"rewardCode\":\"voucher-10\"},\"steps\":[{\"status\":501}]}");
  assert_int_equal(take(&s, &credit_42), -1);
  add_good(&s, "{\"match\":{\"requestId\":\"1-1-r\"},\"steps\":[{\"status\":502}]}");
  assert_int_equal(take(&s, &credit_42), -1);
  assert_int_equal(take(&s, &reverse_42), 502);  // a reversal is known by its refund id too
  add_good(&s, "{\"match\":{\"any\":true,\"call\":\"reverse\"},\"steps\":[{\"status\":503}]}");
  assert_int_equal(take(&s, &credit_42), -1);
  assert_int_equal(take(&s, &reverse_42), 503);
  sim_scripts_clear(&s);
  assert_int_equal(s.count, 0);
}

static void faulty_scripts_are_refused_with_a_reason(void **state)
{
  (void)state;
  static const char *const bad[] = {
      "{}",
      "{\"steps\":[{}]}",
      "{\"match\":{},\"steps\":[{}]}",
      "{\"match\":{\"any\":true},\"steps\":[]}",
      "{\"match\":{\"any\":true},\"steps\":[1]}",
      "{\"match\":{\"any\":true,\"userId\":1},\"steps\":[{}]}",
      "{\"match\":{\"any\":true},\"times\":0,\"steps\":[{}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"delay\":5}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"status\":99}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"effect\":\"maybe\"}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"callback\":{\"sign\":\"ugly\"}}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"callback\":{\"eventId\":\"a b\"}}]}",
      "{\"match\":{\"any\":true},\"steps\":[{\"headers\":{\"X\":1}}]}",
  };
  struct sim_scripts s;
  sim_scripts_init(&s);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    char why[JSONX_WHY_BYTES] = "";
    if (add(&s, bad[i], why) != RESULT_INVALID) fail_msg("taken: %s", bad[i]);
    assert_int_not_equal(why[0], '\0');
  }
  assert_int_equal(s.count, 0);
}

static void scripts_are_bounded(void **state)
{
  (void)state;
  struct sim_scripts s;
  char why[JSONX_WHY_BYTES] = "";
  sim_scripts_init(&s);
  for (int i = 0; i < SIM_SCRIPTS_MAX; i++) add_good(&s, "{\"match\":{\"userId\":1},\"steps\":[{}]}");
  assert_int_equal(add(&s, "{\"match\":{\"userId\":1},\"steps\":[{}]}", why), RESULT_FULL);
  sim_scripts_clear(&s);
  assert_int_equal(s.bytes, 0);
}

static const char *read_order(const char *body, const char *key, struct sim_order_body *out)
{
  const char *code = NULL;
  return sim_order_read(body, strlen(body), key, out, &code) == RESULT_OK ? NULL : code;
}

static void an_order_is_read_with_user_ids_of_both_kinds(void **state)
{
  (void)state;
  struct sim_order_body b;
  assert_null(read_order(
      "{\"requestId\":\"1-1\",\"userId\":9223372036854775807,\"amount\":100,\"currency\":\"CNY\",\"quantity\":2}", NULL,
      &b));
  assert_memory_equal(b.order.user_id.bytes, "9223372036854775807", 19);
  assert_int_equal(b.order.amount, 100);
  assert_int_equal(b.order.quantity, 2);
  assert_int_equal(b.order.reward_code.len, 0);
  sim_order_release(&b);
  assert_null(read_order("{\"userId\":\"42\",\"amount\":\"7\",\"rewardCode\":null,\"more\":[]}", "\"1-2\"", &b));
  assert_memory_equal(b.order.request_id.bytes, "1-2", 3);
  assert_int_equal(b.order.amount, 7);
  assert_int_equal(b.order.quantity, 1);
  sim_order_release(&b);
}

static void faulty_orders_are_refused(void **state)
{
  (void)state;
  static const char *const bad[] = {
      "[]",
      "{",
      "{}",
      "{\"requestId\":\"1-1\"}",
      "{\"userId\":1}",
      "{\"requestId\":\"a b\",\"userId\":1}",
      "{\"requestId\":\"1\",\"userId\":1,\"amount\":-1}",
      "{\"requestId\":\"1\",\"userId\":1,\"amount\":1.5}",
      "{\"requestId\":\"1\",\"userId\":1,\"amount\":\"x\"}",
      "{\"requestId\":\"1\",\"userId\":\"\"}",
      "{\"requestId\":\"1\",\"userId\":1,\"userId\":2}",
      "{\"requestId\":\"1\",\"userId\":1,\"currency\":\"TOOLONGX\"}",
  };
  struct sim_order_body b;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    const char *code = read_order(bad[i], NULL, &b);
    if (code == NULL) fail_msg("taken: %s", bad[i]);
    assert_string_equal(code, "INVALID_REQUEST");
  }
  assert_string_equal(read_order("{\"requestId\":\"1\",\"userId\":1}", "2", &b), "REQUEST_ID_MISMATCH");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_has_the_documented_defaults),
      cmocka_unit_test(every_member_of_a_step_is_read),
      cmocka_unit_test(times_passes_through_the_steps_in_order),
      cmocka_unit_test(the_first_posted_matching_script_with_uses_left_is_used),
      cmocka_unit_test(all_named_members_must_match),
      cmocka_unit_test(faulty_scripts_are_refused_with_a_reason),
      cmocka_unit_test(scripts_are_bounded),
      cmocka_unit_test(an_order_is_read_with_user_ids_of_both_kinds),
      cmocka_unit_test(faulty_orders_are_refused),
  };
  return cmocka_run_group_tests_name("sim_script", tests, NULL, NULL);
}
