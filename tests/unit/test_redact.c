// SPDX-License-Identifier: Apache-2.0
// What is recorded of requests and answers: secrets and people are masked whatever the text is, ids stay readable, and
// nothing is longer than it may be. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/redact.h"

static void assert_masked_by(const struct redact *r, const char *text, const char *expected)
{
  struct buf out;
  buf_init(&out, REDACT_TEXT_BYTES_MAX);
  redact_text(r, text, strlen(text), &out);
  assert_int_equal(buf_result(&out), RESULT_OK);
  assert_string_equal(buf_text(&out), expected);
  buf_release(&out);
}

static void assert_masked(const char *text, const char *expected) { assert_masked_by(NULL, text, expected); }

static void assert_kept(const char *text) { assert_masked_by(NULL, text, text); }

static void members_of_json_are_masked_at_any_depth(void **state)
{
  (void)state;
  assert_masked("{\"token\":\"abc\",\"a\":{\"userPhone\": \"13812345678\",\"n\":1}}",
                "{\"token\":\"***\",\"a\":{\"userPhone\": \"***\",\"n\":1}}");
  assert_masked("{\"access_token\" : \"a\\\"b\",\"x\":2}", "{\"access_token\" : \"***\",\"x\":2}");
  assert_masked("{\"cvv\":123,\"ok\":true}", "{\"cvv\":\"***\",\"ok\":true}");
  assert_masked("{\"card\":{\"no\":\"4111\",\"x\":[1,{\"y\":\"}\"}]},\"z\":1}", "{\"card\":\"***\",\"z\":1}");
  assert_masked("{\"emails\":[\"a\",\"b\"],\"z\":1}", "{\"emails\":\"***\",\"z\":1}");
  assert_masked("{\"\\u0074oken\":\"abc\"}", "{\"\\u0074oken\":\"***\"}");
  assert_masked("{\"\xe6\x89\x8b\xe6\x9c\xba\xe5\x8f\xb7\":\"13812345678\"}",
                "{\"\xe6\x89\x8b\xe6\x9c\xba\xe5\x8f\xb7\":\"***\"}");
  assert_masked("{\"name\":\"\xe5\xbc\xa0\xe4\xb8\x89\",\"openid\":\"oUpF8\"}",
                "{\"name\":\"***\",\"openid\":\"***\"}");
}

static void texts_in_texts_are_masked_too(void **state)
{
  (void)state;
  assert_masked("{\"body\":\"{\\\"token\\\":\\\"a b\\\",\\\"n\\\":1}\"}",
                "{\"body\":\"{\\\"token\\\":\\\"***\\\",\\\"n\\\":1}\"}");
  assert_masked("biz_content=%7B%22out_trade_no%22%3A%2212-345%22%2C%22mobile%22%3A%22138%22%7D&sign=x",
                "biz_content=%7B%22out_trade_no%22%3A%2212-345%22%2C%22mobile%22%3A%22***%22%7D&sign=x");
}

static void fields_headers_and_elements_are_masked(void **state)
{
  (void)state;
  assert_masked("user=7&password=a%26b+c&x=1", "user=7&password=***&x=1");
  assert_masked("user%5Fphone=138&x=1", "user%5Fphone=***&x=1");
  assert_masked("card[number]=4242424242424242&a=b", "card[number]=***&a=b");
  assert_masked("https://h/p?api_key=abc&id=12-345", "https://h/p?api_key=***&id=12-345");
  assert_masked("Authorization: WECHATPAY2-SHA256-RSA2048 mchid=\"1\",signature=\"x\"\r\nX-Id: 12-345",
                "Authorization: ***\nX-Id: 12-345");
  assert_masked("<xml><openid>o1</openid><total>5</total></xml>", "<xml><openid>***</openid><total>5</total></xml>");
  assert_masked("refused: Bearer abcdefgh123 is old", "refused: Bearer *** is old");
  assert_masked("key was sk_live_0123456789abcdef", "key was ***");
}

static void numbers_and_addresses_of_people_are_masked_in_free_text(void **state)
{
  (void)state;
  assert_masked("no user 13812345678 here", "no user *** here");
  assert_masked("call +86 138 1234 5678!", "call ***!");
  assert_masked("138-1234-5678", "***");
  assert_masked("card 4111 1111 1111 1111 declined", "card *** declined");
  assert_masked("4111111111111111", "***");
  assert_masked("id 11010519491231002X ok", "id *** ok");
  assert_masked("mail jo.doe+x@example.com now", "mail *** now");
  assert_masked(
      "\xe6\x89\x8b\xe6\x9c\xba"
      "13812345678",
      "\xe6\x89\x8b\xe6\x9c\xba"
      "***");
}

static void ids_times_and_names_of_things_stay_readable(void **state)
{
  (void)state;
  assert_kept("{\"requestId\":\"12-13812345678-r\",\"claimId\":\"12-345\",\"idempotency_key\":\"12-345\"}");
  assert_kept("{\"userId\":13812345678,\"ref\":\"4111111111111111\",\"amount\":13812345678}");
  assert_kept("no claim 12-13812345678 at 2026-11-29T20:00:00+08:00");
  assert_kept("{\"rewardName\":\"gold\",\"code\":\"SOLD_OUT\",\"message\":\"try again in 1795953600 s\"}");
  assert_kept("out_trade_no=12-345&trade_no=2026112922001413812345678&total_amount=100.00");
  assert_kept("4111111111111112");  // no card: the last digit is wrong
  assert_kept("");
  assert_kept("a 100% sure @ tokens");
}

static void what_is_cut_off_shows_nothing_of_a_secret(void **state)
{
  (void)state;
  assert_masked("{\"token\":\"abc", "{\"token\":\"***");
  assert_masked("{\"card\":{\"no\":\"41", "{\"card\":\"***\"");
  assert_masked("password=abc", "password=***");
  assert_masked("{\"token\":", "{\"token\":");
}

static void configured_names_and_secrets_are_masked(void **state)
{
  char *names[] = {(char[]){"Member-No"}};
  const struct conf_texts extra = {names, 1};
  struct redact r;
  (void)state;
  redact_init(&r, &extra);
  redact_add_secret(&r, "pa/ss\"word1", 11);
  redact_add_secret(&r, "short", 5);
  assert_masked_by(&r, "{\"memberNo\":\"77\",\"x\":\"pa/ss\\\"word1\",\"short\":1}",
                   "{\"memberNo\":\"***\",\"x\":\"***\",\"short\":1}");
  assert_masked_by(&r, "app=pa%2Fss%22word1&b=xxpa/ss\"word1yy", "app=***&b=xx***yy");
  redact_release(&r);
}

static void texts_are_cut_between_characters_and_cleaned(void **state)
{
  (void)state;
  char long_text[REDACT_TEXT_BYTES_MAX * 3];
  struct buf out;
  for (size_t shift = 0; shift < 3; shift++) {
    memset(long_text, 'a', sizeof long_text);
    for (size_t i = shift; i + 3 <= sizeof long_text; i += 3) memcpy(long_text + i, "\xe4\xb8\xad", 3);
    buf_init(&out, REDACT_TEXT_BYTES_MAX);
    redact_text(NULL, long_text, sizeof long_text, &out);
    assert_int_equal(buf_result(&out), RESULT_OK);
    assert_true(out.len > REDACT_TEXT_BYTES_MAX - 8);
    assert_true(text_is_utf8(out.data, out.len));
    assert_memory_equal(out.data + out.len - 3, "\xe2\x80\xa6", 3);
    buf_release(&out);
  }
  buf_init(&out, REDACT_TEXT_BYTES_MAX);
  redact_text(NULL, "a\0b\xff\x1b\xc3", 6, &out);
  assert_string_equal(buf_text(&out), "a?b???");
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_of_json_are_masked_at_any_depth),
      cmocka_unit_test(texts_in_texts_are_masked_too),
      cmocka_unit_test(fields_headers_and_elements_are_masked),
      cmocka_unit_test(numbers_and_addresses_of_people_are_masked_in_free_text),
      cmocka_unit_test(ids_times_and_names_of_things_stay_readable),
      cmocka_unit_test(what_is_cut_off_shows_nothing_of_a_secret),
      cmocka_unit_test(configured_names_and_secrets_are_masked),
      cmocka_unit_test(texts_are_cut_between_characters_and_cleaned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
