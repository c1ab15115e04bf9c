// SPDX-License-Identifier: Apache-2.0
// Tests of scheduler/claim_decode.c: what a claim body may hold, and that everything else is refused with a reason.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "scheduler/claim_decode.h"

static enum result decode(const char *body, struct claim_request *out, char why[CLAIM_WHY_BYTES])
{
  *out = (struct claim_request){0};
  why[0] = '\0';
  return claim_decode(body, strlen(body), out, why);
}

static void whole_claim_is_read(void **state)
{
  (void)state;
  struct claim_request r;
  char why[CLAIM_WHY_BYTES];
  assert_int_equal(decode("{\"activityCode\":\"festival-1\",\"userId\":\"9223372036854775807\",\"bizId\":\"a:b.c_d-1\","
                          "\"channel\":\"\xE5\xBE\xAE\xE4\xBF\xA1\",\"quantity\":3}",
                          &r, why),
                   RESULT_OK);
  assert_string_equal(r.search.code, "festival-1");
  assert_int_equal(r.user_id, INT64_MAX);
  assert_string_equal(r.biz_id, "a:b.c_d-1");
  assert_int_equal(r.biz_id_len, 9);
  assert_true(r.has_channel);
  assert_int_equal(r.channel_len, 6);
  assert_int_equal(r.quantity, 3);
}

static void what_may_be_left_out_has_defaults(void **state)
{
  (void)state;
  struct claim_request r;
  char why[CLAIM_WHY_BYTES];
  assert_int_equal(decode("{\"bizId\":\"x\",\"userId\":1,\"activityCode\":\"A\"}", &r, why), RESULT_OK);
  assert_int_equal(r.user_id, 1);
  assert_int_equal(r.quantity, 1);
  assert_false(r.has_channel);
}

static void everything_else_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *body, *named;
  } cases[] = {
      {"", ""},
      {"[]", ""},
      {"7", ""},
      {"{", ""},
      {"{} x", ""},
      {"null", ""},
      {"{}", "activityCode"},
      {"{\"userId\":1,\"bizId\":\"x\"}", "activityCode"},
      {"{\"activityCode\":\"a\",\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":1}", "bizId"},
      {"{\"activityCode\":\"\",\"userId\":1,\"bizId\":\"x\"}", "activityCode"},
      {"{\"activityCode\":\"-a\",\"userId\":1,\"bizId\":\"x\"}", "activityCode"},
      {"{\"activityCode\":\"a b\",\"userId\":1,\"bizId\":\"x\"}", "activityCode"},
      {"{\"activityCode\":7,\"userId\":1,\"bizId\":\"x\"}", "activityCode"},
      {"{\"activityCode\":\"a\",\"userId\":0,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":-1,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":1.5,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":1.0,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":\"01\",\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":\"+1\",\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":\" 1\",\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":\"9223372036854775808\",\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":9223372036854775808,\"bizId\":\"x\"}", ""},
      {"{\"activityCode\":\"a\",\"userId\":true,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":null,\"bizId\":\"x\"}", "userId"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"\"}", "bizId"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x y\"}", "bizId"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":"
       "\"12345678901234567890123456789012345678901234567890123456789012345\"}",
       "bizId"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"quantity\":0}", "quantity"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"quantity\":-1}", "quantity"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"quantity\":1.0}", "quantity"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"quantity\":\"1\"}", "quantity"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"quantity\":2147483648}", "quantity"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"channel\":\"\"}", "channel"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"channel\":1}", "channel"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[]}", "numbers: must be 1 to 100 numbers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":7}", "numbers: must be a list"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":null}", "numbers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[1,2,1]}", "numbers: must be distinct"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[7,\"7\"]}", "numbers: must be distinct"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[-1]}", "numbers: must be integers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[1.0]}", "numbers: must be integers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[1000000000000]}",
       "numbers: must be integers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[\"1e2\"]}", "numbers: must be integers"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[1,2],\"quantity\":1}",
       "quantity: must be the count"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"surprise\":1}", "surprise"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"bizId\":\"x\"}", "duplicate"},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\\u0000\"}", ""},
      {"{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"channel\":\"\xff\"}", ""},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct claim_request r;
    char why[CLAIM_WHY_BYTES];
    if (decode(cases[i].body, &r, why) != RESULT_INVALID) fail_msg("taken: %s", cases[i].body);
    if (why[0] == '\0' || !strstr(why, cases[i].named))
      fail_msg("%s: reason \"%s\" does not name %s", cases[i].body, why, cases[i].named);
  }
}

static void numbers_are_units_in_order(void **state)
{
  (void)state;
  struct claim_request r;
  char why[CLAIM_WHY_BYTES];
  const char *body = "{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[\"999999999999\",0,17]}";
  assert_int_equal(decode(body, &r, why), RESULT_OK);
  assert_int_equal(r.quantity, 3);
  assert_int_equal(r.number_count, 3);
  static const int64_t expected[] = {0, 17, 999999999999};
  assert_memory_equal(r.numbers, expected, sizeof expected);
  mem_free(r.numbers);
  body = "{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"numbers\":[5],\"quantity\":1,\"surprise\":1}";
  assert_int_equal(decode(body, &r, why), RESULT_INVALID);
  assert_null(r.numbers);  // nothing to free
}

static void long_channel_is_counted_in_characters(void **state)
{
  (void)state;
  char body[600];
  struct claim_request r;
  char why[CLAIM_WHY_BYTES], channel[4 * 65 + 1];
  for (int n = 64; n <= 65; n++) {
    channel[0] = '\0';
    for (int i = 0; i < n; i++) memcpy(channel + 4 * i, "\xF0\x9F\x8E\x81", 5);
    (void)snprintf(body, sizeof body, "{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\",\"channel\":\"%s\"}",
                   channel);
    assert_int_equal(decode(body, &r, why), n == 64 ? RESULT_OK : RESULT_INVALID);
  }
}

static void assert_same(const char *body)
{
  struct claim_request quick = {0}, any = {0};
  char why[CLAIM_WHY_BYTES] = "";
  bool taken = claim_decode_quickly(body, strlen(body), &quick);
  enum result r = claim_decode_any(body, strlen(body), &any, why);
  if (!taken) return;
  if (r != RESULT_OK) fail_msg("only the quick way takes: %s", body);
  if (memcmp(&quick, &any, sizeof quick) != 0) fail_msg("read differently: %s", body);
}

static void quick_way_takes_ordinary_claims(void **state)
{
  (void)state;
  static const char *const bodies[] = {
      "{\"activityCode\":\"a\",\"userId\":1,\"bizId\":\"x\"}",
      ("{\"activityCode\":\"a\",\"userId\":\"9223372036854775807\",\"bizId\":\"x\",\"channel\":\"APP\",\"quantity\":"
       "2147483647}"),
      " {\t\"bizId\" : \"x:1\" ,\r\n\"userId\" : 7 , \"activityCode\" : \"A-1.b_c\" } \n",
  };
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
    struct claim_request r = {0};
    assert_true(claim_decode_quickly(bodies[i], strlen(bodies[i]), &r));
    assert_same(bodies[i]);
  }
}

// Whatever one byte does to a good body: what the quick way takes, the other takes too, and reads the same.
static void both_ways_agree(void **state)
{
  (void)state;
  static const char *const seeds[] = {
      "{\"activityCode\":\"a\",\"userId\":10,\"bizId\":\"x\",\"channel\":\"APP\",\"quantity\":2}",
      "{ \"activityCode\":\"a\", \"userId\":\"10\", \"bizId\":\"x\" }",
  };
  for (size_t n = 0; n < ARRAY_LEN(seeds); n++) {
    size_t len = strlen(seeds[n]);
    char body[256];
    for (size_t at = 0; at <= len; at++) {
      for (int byte = 1; byte < 256; byte++) {  // replaced, inserted
        memcpy(body, seeds[n], len + 1);
        if (at < len) body[at] = (char)byte;
        assert_same(body);
        memcpy(body, seeds[n], at);
        body[at] = (char)byte;
        memcpy(body + at + 1, seeds[n] + at, len - at + 1);
        assert_same(body);
      }
      memcpy(body, seeds[n], at);  // cut short
      body[at] = '\0';
      assert_same(body);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_claim_is_read),
      cmocka_unit_test(what_may_be_left_out_has_defaults),
      cmocka_unit_test(everything_else_is_refused),
      cmocka_unit_test(numbers_are_units_in_order),
      cmocka_unit_test(long_channel_is_counted_in_characters),
      cmocka_unit_test(quick_way_takes_ordinary_claims),
      cmocka_unit_test(both_ways_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
