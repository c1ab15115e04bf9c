// SPDX-License-Identifier: Apache-2.0
// Our own requests as they leave: credentials from files, signatures of every scheme over the exact bytes, and what a
// reload of the files changes. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"
#include "tests/unit/provider_fixture.h"
#include "tests/unit/rsa_fixture.h"

#define HEAD "fulfiller:\n  providers:\n    p:\n      base_url: http://h:1/base\n"
#define CALLS                                                                                   \
  "      deliver: { path: \"/credits?b=${claim.bizId}\", body: '{\"q\":${claim.quantity}}' }\n" \
  "      inquire: { path: \"/credits/${claim.requestId}\" }\n      request_id_field: requestId\n"

static const struct claim_facts facts = {.activity_id = 12,
                                         .claim_id = 345,
                                         .user_id = 7,
                                         .quantity = 2,
                                         .request_id = "12-345",
                                         .biz_id = "b:1",
                                         .activity_code = "fest",
                                         .reward_code = "voucher",
                                         .currency = "CNY",
                                         .has_amount = true,
                                         .amount = 1050};

static void a_bearer_key_comes_from_its_file(void **state)
{
  struct provider_fixture f;
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", "sk-abc.def\n");
  provider_fixture_compile(
      &f, HEAD "      secrets: { key: \"@/key\" }\n      sign: { scheme: bearer, secret: key }\n" CALLS);
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_string_equal(provider_fixture_header(&f, "Authorization"), "Bearer sk-abc.def");
  provider_fixture_render(&f, ACTION_DELIVER, CALL_INQUIRE, &facts);
  assert_string_equal(provider_fixture_header(&f, "Authorization"), "Bearer sk-abc.def");
  provider_fixture_end(&f);
}

static void a_key_may_go_into_any_header_or_body(void **state)
{
  struct provider_fixture f;
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", "k\"1 &2345");
  provider_fixture_compile(
      &f, HEAD
      "      secrets: { key: \"@/key\" }\n      sign: { scheme: bearer, secret: key, header: X-Api-Key }\n"
      "      deliver: { path: /a, body: '{\"k\":\"${secret.key}\"}', headers: { X-B: \"b ${secret.key}\" } }\n"
      "      reverse: { path: /r, body: \"k=${secret.key}\" }\n");
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_string_equal(provider_fixture_header(&f, "X-Api-Key"), "k\"1 &2345");
  assert_string_equal(provider_fixture_header(&f, "X-B"), "b k\"1 &2345");
  assert_string_equal(f.call.request.body, "{\"k\":\"k\\\"1 &2345\"}");
  struct buf recorded;
  buf_init(&recorded, REDACT_TEXT_BYTES_MAX);
  redact_text(&f.provider.redact, f.call.request.body, f.call.request.body_len, &recorded);
  assert_string_equal(buf_text(&recorded), "{\"k\":\"***\"}");  // although nobody calls "k" a secret
  buf_release(&recorded);
  provider_fixture_render(&f, ACTION_REVERSE, CALL_ACT, &facts);
  assert_string_equal(f.call.request.body, "k=k%221%20%262345");
  provider_fixture_end(&f);
}

// The expected values were computed with another HMAC over the bytes that the README tells.
static void hmac_covers_method_path_time_and_body(void **state)
{
  struct provider_fixture f;
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", "s3cret-of-hmac\n");
  provider_fixture_compile(&f,
                           HEAD "      secrets: { key: \"@/key\" }\n      sign: { scheme: hmac, secret: key }\n" CALLS);
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_string_equal(f.call.request.url, "http://h:1/base/credits?b=b%3A1");
  assert_string_equal(f.call.request.body, "{\"requestId\":\"12-345\",\"q\":2}");
  assert_string_equal(provider_fixture_header(&f, "X-Signature"),
                      "7291453855b008487de4cebd0fb453f5ce37d6fd5a6a21c191078a0e083de982");
  assert_string_equal(provider_fixture_header(&f, "X-Timestamp"), "1795953600");
  provider_fixture_render(&f, ACTION_DELIVER, CALL_INQUIRE, &facts);
  assert_string_equal(provider_fixture_header(&f, "X-Signature"),
                      "ee2c181afeacc860bfc86edebe2c34a7e9defb5da3d2637e978a0c84d06224b9");
  provider_fixture_end(&f);
}

static void assert_signed(const struct rsa_fixture *rsa, const char *message, const char *base64, size_t base64_len)
{
  struct signature *s = signature_new();
  struct signature_key *key = NULL;
  assert_int_equal(signature_key_public(rsa->public_pem, strlen(rsa->public_pem), &key), RESULT_OK);
  if (signature_rsa_verify(s, key, message, strlen(message), base64, base64_len) != RESULT_OK)
    fail_msg("not the signature of: %s", message);
  signature_key_free(key);
  signature_free(s);
}

// 'head SIGNATURE tail'
static void assert_wechat(const struct provider_fixture *f, const struct rsa_fixture *rsa, const char *message)
{
  static const char head[] =
      "WECHATPAY2-SHA256-RSA2048 mchid=\"1900009191\",nonce_str=\"593bec0c930bf1afeb40b4a08c8fb242\",signature=\"";
  static const char tail[] = "\",timestamp=\"1795953600\",serial_no=\"1DDE55AD98ED71D6EDD4A4A16996DE7B47773A8C\"";
  const char *header = provider_fixture_header(f, "Authorization");
  assert_non_null(header);
  assert_memory_equal(header, head, sizeof head - 1);
  const char *signature = header + sizeof head - 1;
  size_t len = strcspn(signature, "\"");
  assert_string_equal(signature + len, tail);
  assert_signed(rsa, message, signature, len);
}

static void wechat_pay_signs_five_lines(void **state)
{
  struct provider_fixture f;
  struct rsa_fixture rsa = rsa_fixture_new(2048);
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", rsa.private_pem);
  provider_fixture_compile(&f, HEAD
                           "      secrets: { key: \"@/key\" }\n"
                           "      sign: { scheme: wechatpay_v3, secret: key, mchid: \"1900009191\", serial: "
                           "1DDE55AD98ED71D6EDD4A4A16996DE7B47773A8C }\n" CALLS);
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_wechat(&f, &rsa,
                "POST\n/base/credits?b=b%3A1\n1795953600\n593bec0c930bf1afeb40b4a08c8fb242\n"
                "{\"requestId\":\"12-345\",\"q\":2}\n");
  provider_fixture_render(&f, ACTION_DELIVER, CALL_INQUIRE, &facts);
  assert_wechat(&f, &rsa, "GET\n/base/credits/12-345\n1795953600\n593bec0c930bf1afeb40b4a08c8fb242\n\n");
  provider_fixture_end(&f);
  rsa_fixture_free(&rsa);
}

// The form must end in the signature of the message.
static void assert_alipay(const char *form, const char *fields, const struct rsa_fixture *rsa, const char *message)
{
  struct buf signature;
  buf_init(&signature, 1024);
  assert_memory_equal(form, fields, strlen(fields));
  const char *sign = form + strlen(fields);
  assert_memory_equal(sign, "&sign=", 6);
  assert_int_equal(text_url_decode(sign + 6, strlen(sign + 6), true, &signature), RESULT_OK);
  assert_signed(rsa, message, signature.data, signature.len);
  buf_release(&signature);
}

static void alipay_signs_sorted_decoded_fields(void **state)
{
  struct provider_fixture f;
  struct rsa_fixture rsa = rsa_fixture_new(2048);
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", rsa.private_pem);
  provider_fixture_compile(
      &f, HEAD
      "      secrets: { key: \"@/key\" }\n      sign: { scheme: alipay_rsa2, secret: key }\n"
      "      deliver:\n        path: /gateway.do?charset=utf-8\n        body: |\n"
      "          method=a.b\n          &timestamp=${now.beijing}\n          &empty=${claim.channel}\n"
      "          &biz_content={\"no\":\"${claim.requestId}\",\"amount\":\"${claim.amountDecimal}\"}\n"
      "      inquire: { path: \"/gateway.do?method=q&no=${claim.requestId}\" }\n");
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_alipay(
      f.call.request.body,
      "method=a.b&timestamp=2026-11-29%2020%3A00%3A00&empty=&biz_content=%7B%22no%22%3A%2212-345%22%2C%22amount%22"
      "%3A%2221.00%22%7D&sign_type=RSA2",
      &rsa,
      "biz_content={\"no\":\"12-345\",\"amount\":\"21.00\"}&charset=utf-8&method=a.b&sign_type=RSA2&timestamp="
      "2026-11-29 20:00:00");
  assert_int_equal(f.call.request.body_len, strlen(f.call.request.body));
  provider_fixture_render(&f, ACTION_DELIVER, CALL_INQUIRE, &facts);
  assert_alipay(f.call.request.url, "http://h:1/base/gateway.do?method=q&no=12-345&sign_type=RSA2", &rsa,
                "method=q&no=12-345&sign_type=RSA2");
  provider_fixture_end(&f);
  rsa_fixture_free(&rsa);
}

static void a_repeat_has_a_new_moment_and_the_same_request_id(void **state)
{
  struct provider_fixture f;
  char first[256];
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_compile(
      &f, HEAD "      deliver: { path: /a, body: '{\"i\":\"${claim.requestId}\",\"n\":\"${nonce}\"}' }\n");
  assert_int_equal(provider_render(&f.provider, ACTION_DELIVER, CALL_ACT, &facts, "", &f.call), RESULT_OK);
  snprintf(first, sizeof first, "%s", f.call.request.body);
  assert_int_equal(provider_render(&f.provider, ACTION_DELIVER, CALL_ACT, &facts, "", &f.call), RESULT_OK);
  assert_memory_equal(first, f.call.request.body, strlen("{\"i\":\"12-345\",\"n\":\""));
  assert_string_not_equal(first, f.call.request.body);
  assert_int_equal(strlen(first), strlen(f.call.request.body));
  provider_fixture_end(&f);
}

static void a_reload_takes_all_files_or_none(void **state)
{
  struct provider_fixture f;
  struct conf_fault fault = {.text = ""};
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", "the first");
  provider_fixture_compile(
      &f, HEAD "      secrets: { key: \"@/key\" }\n      sign: { scheme: bearer, secret: key }\n" CALLS);
  provider_fixture_file(&f, "key", "the second");
  assert_int_equal(provider_load_keys(&f.provider, &f.provider.conf->secrets, &fault), RESULT_OK);
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_string_equal(provider_fixture_header(&f, "Authorization"), "Bearer the second");
  const struct conf_pairs none = {.count = 0};
  assert_int_equal(provider_load_keys(&f.provider, &none, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "secrets: 'key' is still in use"));
  provider_fixture_file(&f, "key", "two\nlines\n");
  assert_int_equal(provider_load_keys(&f.provider, &f.provider.conf->secrets, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "must be one line"));
  provider_fixture_file(&f, "key", "the third");
  assert_int_equal(chmod(f.paths[0], 0644), 0);
  assert_int_equal(provider_load_keys(&f.provider, &f.provider.conf->secrets, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "may be read by everybody"));
  assert_null(strstr(fault.text, "the second"));
  provider_fixture_render(&f, ACTION_DELIVER, CALL_ACT, &facts);
  assert_string_equal(provider_fixture_header(&f, "Authorization"), "Bearer the second");
  provider_fixture_end(&f);
}

static void a_key_that_cannot_sign_is_refused_at_start(void **state)
{
  struct provider_fixture f;
  struct conf_fault fault = {.text = ""};
  struct rsa_fixture rsa = rsa_fixture_new(2048);
  (void)state;
  provider_fixture_begin(&f);
  provider_fixture_file(&f, "key", rsa.private_pem);
  provider_fixture_compile(&f, HEAD
                           "      secrets: { key: \"@/key\" }\n      sign: { scheme: alipay_rsa2, secret: key }\n"
                           "      deliver: { path: /a, body: \"a=b\" }\n");
  provider_fixture_file(&f, "key", rsa.public_pem);
  assert_int_equal(provider_load_keys(&f.provider, &f.provider.conf->secrets, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "sign.secret: 'key' is no private RSA key"));
  provider_fixture_end(&f);
  rsa_fixture_free(&rsa);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bearer_key_comes_from_its_file),
      cmocka_unit_test(a_key_may_go_into_any_header_or_body),
      cmocka_unit_test(hmac_covers_method_path_time_and_body),
      cmocka_unit_test(wechat_pay_signs_five_lines),
      cmocka_unit_test(alipay_signs_sorted_decoded_fields),
      cmocka_unit_test(a_repeat_has_a_new_moment_and_the_same_request_id),
      cmocka_unit_test(a_reload_takes_all_files_or_none),
      cmocka_unit_test(a_key_that_cannot_sign_is_refused_at_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
