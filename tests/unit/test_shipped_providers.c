// SPDX-License-Identifier: Apache-2.0
// The examples of config/providers: each is accepted as it stands (with files of its own for the secrets), each of its
// requests can be made, and says what its comments promise. One thread; run from the top folder.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/text.h"
#include "fulfiller/callback_keys.h"
#include "tests/unit/provider_fixture.h"
#include "tests/unit/rsa_fixture.h"

#define SECRETS "/etc/largesse/secrets/"

struct shipped {
  struct rsa_fixture rsa;
  json_t *params;
};

static int setup(void **state)
{
  static const char params[] = "{\"template\":\"T1\",\"account\":\"acct_9\"}";
  struct shipped *s = MEM_NEW(struct shipped);
  s->rsa = rsa_fixture_new(2048);
  assert_int_equal(jsonx_parse(params, sizeof params - 1, &s->params, NULL), RESULT_OK);
  *state = s;
  return 0;
}

static int teardown(void **state)
{
  struct shipped *s = *state;
  rsa_fixture_free(&s->rsa);
  json_decref(s->params);
  mem_free(s);
  return 0;
}

static struct claim_facts facts_of(const struct shipped *s, const char *request_id)
{
  return (struct claim_facts){.has_hold = true,
                              .hold_until = {INT64_C(1795954500000000)},
                              .activity_id = 12,
                              .claim_id = 345,
                              .user_id = 77,
                              .quantity = 2,
                              .request_id = request_id,
                              .provider_ref = "ref_1",
                              .biz_id = "b:1",
                              .activity_code = "fest-2026",
                              .channel = "app",
                              .reward_code = "gold",
                              .currency = "CNY",
                              .has_amount = true,
                              .amount = 1050,
                              .params = s->params};
}

// What the file would hold in earnest.
static const char *content_of(const struct shipped *s, const char *name)
{
  if (strstr(name, "apiclient_key") != NULL || strstr(name, "private_key") != NULL) return s->rsa.private_pem;
  if (strstr(name, "platform") != NULL || strstr(name, "public_key") != NULL) return s->rsa.public_pem;
  if (strstr(name, "apiv3") != NULL) return "0123456789abcdef0123456789abcdef";
  return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
}

// The example with its secrets in a folder that exists.
static void make_files(struct provider_fixture *f, const struct shipped *s, char *text, struct buf *out)
{
  for (char *at = text; *at != '\0';) {
    char *found = strstr(at, SECRETS);
    if (found == NULL) {
      buf_puts(out, at);
      break;
    }
    buf_append(out, at, (size_t)(found - at));
    at = found + strlen(SECRETS);
    size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    char *name = mem_strndup(at, len);
    provider_fixture_file(f, name, content_of(s, name));
    buf_puts(out, "@/");
    mem_free(name);
  }
}

static void open_example(struct provider_fixture *f, const struct shipped *s, const char *name)
{
  static char text[65536];
  char path[128];
  struct buf yaml;
  struct conf_fault fault = {.text = ""};
  snprintf(path, sizeof path, "config/providers/%s.yaml", name);
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  size_t len = fread(text, 1, sizeof text - 1, file);
  (void)fclose(file);
  text[len] = '\0';
  assert_null(strchr(text, '@'));
  provider_fixture_begin(f);
  buf_init(&yaml, sizeof text);
  make_files(f, s, text, &yaml);
  provider_fixture_compile(f, buf_text(&yaml));
  if (provider_check_all(f->conf, path, true, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  if (callback_check_all(f->conf, path, true, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  buf_release(&yaml);
}

static void assert_request(struct provider_fixture *f, const struct shipped *s, enum provider_action action,
                           enum call_kind kind, const char *method, const char *url, const char *body)
{
  char request_id[REQUEST_ID_BYTES];
  snprintf(request_id, sizeof request_id, "12-345%s", action_suffix(action));
  const struct claim_facts facts = facts_of(s, request_id);
  provider_fixture_render(f, action, kind, &facts);
  assert_string_equal(f->call.request.method, method);
  assert_string_equal(f->call.request.url, url);
  if (body == NULL)
    assert_null(f->call.request.body);
  else if (strncmp(f->call.request.body, body, strlen(body)) != 0)
    fail_msg("%s\ninstead of\n%s", f->call.request.body, body);
}

static void the_wallet_is_credited_asked_and_reversed(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "wallet");
  assert_request(&f, *state, ACTION_DELIVER, CALL_ACT, "POST", "https://wallet.example/api/credits",
                 "{\"requestId\":\"12-345\",\"userId\": \"77\", \"amount\": 2100, \"currency\": \"CNY\",\n "
                 "\"reason\": \"fest-2026/gold\"}");
  assert_string_equal(provider_fixture_header(&f, "Idempotency-Key"), "12-345");
  assert_string_equal(provider_fixture_header(&f, "Authorization"), "Bearer whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  assert_request(&f, *state, ACTION_DELIVER, CALL_INQUIRE, "GET", "https://wallet.example/api/credits/12-345", NULL);
  assert_request(&f, *state, ACTION_REVERSE, CALL_ACT, "POST", "https://wallet.example/api/credits/12-345/reverse",
                 "{\"requestId\":\"12-345-r\",\"reason\": \"rolled back\"}");
  assert_request(&f, *state, ACTION_REVERSE, CALL_INQUIRE, "GET", "https://wallet.example/api/reversals/12-345-r",
                 NULL);
  provider_fixture_end(&f);
}

static void the_coupon_service_is_called_with_a_signature(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "coupon");
  assert_request(
      &f, *state, ACTION_DELIVER, CALL_ACT, "POST", "https://coupon.example/v2/coupons/issue",
      "{\"serial\": \"12-345\", \"memberId\": \"77\", \"template\": \"T1\",\n \"count\": 2, \"channel\": \"app\"}");
  assert_int_equal(strlen(provider_fixture_header(&f, "X-Signature")), 64);
  assert_string_equal(provider_fixture_header(&f, "X-Timestamp"), "1795953600");
  assert_true(f.provider.actions[ACTION_DELIVER].repeat_is_safe);
  provider_fixture_end(&f);
}

static void the_payment_service_pays_out(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "payment");
  assert_request(&f, *state, ACTION_DELIVER, CALL_ACT, "POST", "https://pay.example/payouts",
                 "{\"id\": \"12-345\", \"userId\": \"77\", \"amount\": 2100, \"currency\": \"CNY\"}");
  assert_request(&f, *state, ACTION_REVERSE, CALL_INQUIRE, "GET",
                 "https://pay.example/payouts/12-345/reversals/12-345-r", NULL);
  provider_fixture_end(&f);
}

static void stripe_style_forms_carry_their_key(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "stripe_style");
  assert_request(&f, *state, ACTION_DELIVER, CALL_ACT, "POST", "https://api.stripe-style.example/v1/transfers",
                 "amount=2100&currency=cny&destination=acct_9&metadata[request_id]=12-345&metadata[user_id]=77");
  assert_string_equal(provider_fixture_header(&f, "Content-Type"), "application/x-www-form-urlencoded");
  assert_string_equal(provider_fixture_header(&f, "Idempotency-Key"), "12-345");
  assert_request(&f, *state, ACTION_REVERSE, CALL_ACT, "POST",
                 "https://api.stripe-style.example/v1/transfers/ref_1/reversals",
                 "amount=2100&metadata[request_id]=12-345-r");
  provider_fixture_end(&f);
}

static void wechat_pay_orders_and_refunds(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "wechatpay_v3");
  assert_request(&f, *state, ACTION_CHARGE, CALL_ACT, "POST",
                 "https://api.mch.weixin.qq.com/v3/pay/transactions/native",
                 "{\"appid\": \"wxd678efh567hg6787\", \"mchid\": \"1900009191\", \"description\": \"fest-2026\",\n "
                 "\"out_trade_no\": \"12-345-p\",");
  assert_non_null(
      strstr(provider_fixture_header(&f, "Authorization"), "WECHATPAY2-SHA256-RSA2048 mchid=\"1900009191\""));
  assert_request(&f, *state, ACTION_CHARGE, CALL_INQUIRE, "GET",
                 "https://api.mch.weixin.qq.com/v3/pay/transactions/out-trade-no/12-345-p?mchid=1900009191", NULL);
  assert_request(&f, *state, ACTION_CHARGE, CALL_CLOSE, "POST",
                 "https://api.mch.weixin.qq.com/v3/pay/transactions/out-trade-no/12-345-p/close",
                 "{\"mchid\": \"1900009191\"}");
  assert_request(&f, *state, ACTION_REFUND, CALL_ACT, "POST",
                 "https://api.mch.weixin.qq.com/v3/refund/domestic/refunds",
                 "{\"out_trade_no\": \"12-345-p\", \"out_refund_no\": \"12-345-f\",\n \"amount\": {\"refund\": 2100, "
                 "\"total\": 2100, \"currency\": \"CNY\"}}");
  assert_request(&f, *state, ACTION_REFUND, CALL_INQUIRE, "GET",
                 "https://api.mch.weixin.qq.com/v3/refund/domestic/refunds/12-345-f", NULL);
  provider_fixture_end(&f);
}

static void alipay_orders_in_yuan_and_refunds(void **state)
{
  struct provider_fixture f;
  open_example(&f, *state, "alipay");
  assert_request(
      &f, *state, ACTION_CHARGE, CALL_ACT, "POST", "https://openapi.alipay.com/gateway.do?charset=utf-8",
      "app_id=2021000000000000&method=alipay.trade.precreate&format=JSON&version=1.0&timestamp=2026-11-29%2020"
      "%3A00%3A00&notify_url=https%3A%2F%2Fshop.example%2Fv1%2Fcallbacks%2Falipay&biz_content=%7B%22out_trade_"
      "no%22%3A%20%2212_345_p%22%2C%20%22total_amount%22%3A%20%2221.00%22%2C%20%22subject%22%3A%20%22fest-"
      "2026%22%2C%20%22time_expire%22%3A%20%222026-11-29%2020%3A15%3A00%22%7D&sign_type=RSA2&sign=");
  assert_request(&f, *state, ACTION_CHARGE, CALL_CLOSE, "POST", "https://openapi.alipay.com/gateway.do?charset=utf-8",
                 "app_id=2021000000000000&method=alipay.trade.close&format=JSON&version=1.0&timestamp=2026-11-29%2020"
                 "%3A00%3A00&biz_content=%7B%22out_trade_no%22%3A%20%2212_345_p%22%7D&sign_type=RSA2&sign=");
  assert_request(&f, *state, ACTION_REFUND, CALL_INQUIRE, "POST", "https://openapi.alipay.com/gateway.do?charset=utf-8",
                 "app_id=2021000000000000&method=alipay.trade.fastpay.refund.query&");
  provider_fixture_end(&f);
}

// Rules that hold for a real answer of each, where success stands inside a 200.
static void answers_inside_a_200_are_judged(void **state)
{
  static const struct {
    const char *example;
    enum provider_action action;
    enum call_kind kind;
    const char *body;
    enum outcome outcome;
  } cases[] = {
      {"alipay", ACTION_CHARGE, CALL_ACT, "{\"alipay_trade_precreate_response\":{\"code\":\"10000\"},\"sign\":\"x\"}",
       OUTCOME_PENDING},
      {"alipay", ACTION_CHARGE, CALL_ACT, "{\"alipay_trade_precreate_response\":{\"code\":\"40004\"}}",
       OUTCOME_REFUSED},
      {"alipay", ACTION_CHARGE, CALL_ACT, "{\"error_response\":{\"code\":\"20000\"}}", OUTCOME_UNKNOWN},
      {"alipay", ACTION_CHARGE, CALL_INQUIRE,
       "{\"alipay_trade_query_response\":{\"code\":\"10000\",\"trade_status\":\"TRADE_SUCCESS\"}}", OUTCOME_DONE},
      {"alipay", ACTION_CHARGE, CALL_INQUIRE,
       "{\"alipay_trade_query_response\":{\"code\":\"40004\",\"sub_code\":\"ACQ.TRADE_NOT_EXIST\"}}",
       OUTCOME_NOT_FOUND},
      {"alipay", ACTION_CHARGE, CALL_CLOSE, "{\"alipay_trade_close_response\":{\"code\":\"10000\"}}", OUTCOME_DONE},
      {"alipay", ACTION_CHARGE, CALL_CLOSE,
       "{\"alipay_trade_close_response\":{\"code\":\"40004\",\"sub_code\":\"ACQ.TRADE_STATUS_ERROR\"}}",
       OUTCOME_REFUSED},
      {"alipay", ACTION_CHARGE, CALL_CLOSE,
       "{\"alipay_trade_close_response\":{\"code\":\"20000\",\"sub_code\":\"ACQ.SYSTEM_ERROR\"}}", OUTCOME_UNKNOWN},
      {"alipay", ACTION_REFUND, CALL_ACT,
       "{\"alipay_trade_refund_response\":{\"code\":\"10000\",\"fund_change\":\"N\"}}", OUTCOME_UNKNOWN},
      {"coupon", ACTION_DELIVER, CALL_ACT, "{\"code\":0,\"data\":{\"couponCode\":\"C1\"}}", OUTCOME_DONE},
      {"coupon", ACTION_DELIVER, CALL_ACT, "{\"code\":10099}", OUTCOME_RETRY},
      {"coupon", ACTION_REVERSE, CALL_ACT, "{\"code\":10404}", OUTCOME_NOT_FOUND},
      {"wechatpay_v3", ACTION_REFUND, CALL_ACT, "{\"status\":\"PROCESSING\"}", OUTCOME_PENDING},
      {"wechatpay_v3", ACTION_CHARGE, CALL_INQUIRE, "{\"trade_state\":\"NOTPAY\"}", OUTCOME_PENDING}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct provider_fixture f;
    struct verdict v;
    open_example(&f, *state, cases[i].example);
    const struct provider_request *request = provider_request_of(&f.provider, cases[i].action, cases[i].kind);
    struct http_answer answer = {.stage = HTTP_ANSWERED,
                                 .status = 200,
                                 .body = cases[i].body,
                                 .body_len = strlen(cases[i].body),
                                 .retry_after = "",
                                 .content_type = "",
                                 .fault = ""};
    outcome_classify(&request->rules, &answer, fixture_moment.now, &v);
    if (v.outcome != cases[i].outcome) fail_msg("%s: %s", cases[i].body, outcome_name(v.outcome));
    provider_fixture_end(&f);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_wallet_is_credited_asked_and_reversed),
      cmocka_unit_test(the_coupon_service_is_called_with_a_signature),
      cmocka_unit_test(the_payment_service_pays_out),
      cmocka_unit_test(stripe_style_forms_carry_their_key),
      cmocka_unit_test(wechat_pay_orders_and_refunds),
      cmocka_unit_test(alipay_orders_in_yuan_and_refunds),
      cmocka_unit_test(answers_inside_a_200_are_judged),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
