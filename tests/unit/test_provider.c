// SPDX-License-Identifier: Apache-2.0
// Profiles: templates land escaped in their place, faults name the key, requests are what the configuration says.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "fulfiller/provider.h"

static struct claim_facts sample_facts(void)
{
  return (struct claim_facts){.activity_id = 12,
                              .claim_id = 345,
                              .user_id = 9007199254740993,
                              .quantity = 2,
                              .request_id = "12-345",
                              .biz_id = "b:1",
                              .activity_code = "fest-2026",
                              .channel = NULL,
                              .reward_code = "voucher-100",
                              .currency = "CNY",
                              .has_amount = true,
                              .amount = 10000};
}

static const struct template_means means = {
    .moment = {.now = {INT64_C(1795953600123456)}, .nonce = "0123456789abcdef0123456789abcdef"}};

static void assert_renders(enum template_place place, const char *text, const struct claim_facts *facts,
                           const char *expected)
{
  struct conf_fault fault = {.text = ""};
  struct template t;
  struct buf out;
  buf_init(&out, 4096);
  if (template_compile(text, place, &t, &fault) != RESULT_OK) fail_msg("%s: %s", text, fault.text);
  if (expected == NULL) {
    assert_int_equal(template_render(&t, facts, &means, &out), RESULT_INVALID);
  } else {
    assert_int_equal(template_render(&t, facts, &means, &out), RESULT_OK);
    assert_string_equal(buf_text(&out), expected);
  }
  template_release(&t);
  buf_release(&out);
}

static void assert_no_template(enum template_place place, const char *text, const char *reason)
{
  struct conf_fault fault = {.text = ""};
  struct template t;
  assert_int_equal(template_compile(text, place, &t, &fault), RESULT_INVALID);
  if (strstr(fault.text, reason) == NULL) fail_msg("%s: %s", text, fault.text);
}

static void values_fit_their_place_in_json(void **state)
{
  (void)state;
  struct claim_facts f = sample_facts();
  f.biz_id = "a\"b\\c\n\xe4\xb8\xad";
  assert_renders(TEMPLATE_JSON, "{\"u\":\"${claim.userId}\",\"n\":${claim.userId},\"q\":${claim.quantity}}", &f,
                 "{\"u\":\"9007199254740993\",\"n\":9007199254740993,\"q\":2}");
  assert_renders(TEMPLATE_JSON, "{\"b\":\"x${claim.bizId}\"}", &f, "{\"b\":\"xa\\\"b\\\\c\\n\xe4\xb8\xad\"}");
  assert_renders(TEMPLATE_JSON, "{\"b\":${claim.bizId}}", &f, "{\"b\":\"a\\\"b\\\\c\\n\xe4\xb8\xad\"}");
  assert_renders(TEMPLATE_JSON, "{\"c\":${claim.channel},\"d\":\"${claim.channel}\"}", &f, "{\"c\":null,\"d\":\"\"}");
  assert_renders(TEMPLATE_JSON, "{\"a\":${reward.amount},\"c\":${reward.currency}}", &f, "{\"a\":10000,\"c\":\"CNY\"}");
  assert_renders(TEMPLATE_JSON, "{\"c\":${reward.currencyLower},\"d\":\"${reward.currencyLower}\"}", &f,
                 "{\"c\":\"cny\",\"d\":\"cny\"}");
  assert_renders(TEMPLATE_JSON, "{\"quote\\\"${claim.id}\":\"$${x}$\"}", &f, "{\"quote\\\"12-345\":\"${x}$\"}");
  f.request_id = "12-345-r";
  f.provider_ref = "w-9";
  assert_renders(TEMPLATE_JSON, "{\"i\":\"${claim.id}\",\"r\":\"${claim.requestId}\",\"p\":${claim.providerRef}}", &f,
                 "{\"i\":\"12-345\",\"r\":\"12-345-r\",\"p\":\"w-9\"}");
  assert_renders(TEMPLATE_FORM, "i=${claim.requestIdWord}", &f, "i=12_345_r");
  // What is to be done with a delivery that has no reference cannot be asked for by its reference.
  static const char *const nobodys[] = {NULL, ""};
  for (size_t i = 0; i < ARRAY_LEN(nobodys); i++) {
    f.provider_ref = nobodys[i];
    assert_renders(TEMPLATE_FORM, "p=${claim.providerRef}", &f, NULL);
    assert_renders(TEMPLATE_PATH, "/v1/transfers/${claim.providerRef}/reversals", &f, NULL);
    assert_renders(TEMPLATE_JSON, "{\"p\":${claim.providerRef}}", &f, NULL);
  }
  f.has_amount = false;
  f.currency = NULL;
  assert_renders(TEMPLATE_JSON, "{\"c\":${reward.currencyLower}}", &f, "{\"c\":null}");
  assert_renders(TEMPLATE_JSON, "{\"a\":${reward.amount}}", &f, "{\"a\":null}");
}

// The sum of all units; exact in minor units and as the text that other providers want.
static void amounts_are_exact_in_minor_units_and_as_decimals(void **state)
{
  static const struct {
    const char *currency;
    int64_t amount, quantity;
    const char *total, *decimal;
  } cases[] = {{"CNY", 10000, 2, "20000", "200.00"},
               {"CNY", 5, 1, "5", "0.05"},
               {"JPY", 500, 3, "1500", "1500"},
               {"KWD", 1, 1, "1", "0.001"},
               {"KWD", 12345, 1, "12345", "12.345"},
               {"CLF", 10001, 1, "10001", "1.0001"},
               {"CNY", INT64_MAX, 1, "9223372036854775807", "92233720368547758.07"},
               {"CNY", INT64_MAX / 2 + 1, 2, NULL, NULL},
               {"yuan", 5, 1, "5", NULL},
               {NULL, 5, 1, "5", NULL}};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct claim_facts f = sample_facts();
    f.currency = cases[i].currency;
    f.amount = cases[i].amount;
    f.quantity = cases[i].quantity;
    assert_renders(TEMPLATE_FORM, "${claim.amount}", &f, cases[i].total);
    assert_renders(TEMPLATE_FORM, "${claim.amountDecimal}", &f, cases[i].decimal);
  }
  struct claim_facts f = sample_facts();
  f.has_amount = false;
  assert_renders(TEMPLATE_JSON, "{\"a\":${claim.amount},\"d\":\"${claim.amountDecimal}\"}", &f,
                 "{\"a\":null,\"d\":\"\"}");
}

static void moments_are_rendered_as_providers_write_them(void **state)
{
  (void)state;
  struct claim_facts f = sample_facts();
  assert_renders(TEMPLATE_JSON, "{\"t\":\"${now.rfc3339}\",\"u\":${now.unix},\"n\":\"${nonce}\"}", &f,
                 "{\"t\":\"2026-11-29T12:00:00Z\",\"u\":1795953600,\"n\":\"0123456789abcdef0123456789abcdef\"}");
  assert_renders(TEMPLATE_FORM, "t=${now.beijing}", &f, "t=2026-11-29%2020%3A00%3A00");
  assert_renders(TEMPLATE_JSON,
                 "{\"t\":${claim.holdUntil},\"u\":${claim.holdUntilUnix},\"b\":${claim.holdUntilBeijing}}", &f,
                 "{\"t\":null,\"u\":null,\"b\":null}");
  f.has_hold = true;
  f.hold_until = (struct wall_time){INT64_C(1795953600000000)};
  assert_renders(TEMPLATE_JSON,
                 "{\"t\":\"${claim.holdUntil}\",\"u\":${claim.holdUntilUnix},\"b\":\"${claim.holdUntilBeijing}\"}", &f,
                 "{\"t\":\"2026-11-29T12:00:00Z\",\"u\":1795953600,\"b\":\"2026-11-29 20:00:00\"}");
}

static void a_field_of_a_form_may_be_json(void **state)
{
  (void)state;
  struct claim_facts f = sample_facts();
  f.biz_id = "a\"&b";
  assert_renders(TEMPLATE_FORM, "a=1\n  &biz={\"b\": \"${claim.bizId}\", \"u\":${claim.userId}}\n&c=2\n", &f,
                 "a=1&biz=%7B%22b%22%3A%20%22a%5C%22%26b%22%2C%20%22u%22%3A9007199254740993%7D&c=2");
  assert_renders(TEMPLATE_FORM, "biz={\"a\":{\"b\":\"}\"}}", &f, "biz=%7B%22a%22%3A%7B%22b%22%3A%22%7D%22%7D%7D");
  assert_no_template(TEMPLATE_FORM, "biz={\"a\":1", "not closed");
  assert_no_template(TEMPLATE_FORM, "biz={\"a\":}", "would not be JSON");
  assert_no_template(TEMPLATE_FORM, "biz={\"a\":1}x", "must come '&'");
  assert_no_template(TEMPLATE_FORM, "biz={\"a\":\"${nope}\"}", "unknown variable ${nope}");
  assert_no_template(TEMPLATE_FORM, "a=b c", "percent-encoded");
}

static void secrets_stand_in_headers_and_bodies_only(void **state)
{
  (void)state;
  assert_no_template(TEMPLATE_PATH, "/a/${secret.key}", "headers and bodies only");
  assert_no_template(TEMPLATE_FORM, "a=${secret.}", "unknown variable");
  assert_renders(TEMPLATE_FORM, "a=${secret.key}", &(struct claim_facts){.request_id = "1-1"}, "a=");
}

static void parameters_keep_their_type(void **state)
{
  (void)state;
  struct claim_facts f = sample_facts();
  json_t *params = NULL;
  const char *text = "{\"plan\":\"gold\",\"days\":30,\"gift\":true,\"tags\":[\"a\"],\"none\":null}";
  assert_int_equal(jsonx_parse(text, strlen(text), &params, NULL), RESULT_OK);
  f.params = params;
  assert_renders(TEMPLATE_JSON,
                 "{\"p\":\"${reward.params.plan}\",\"d\":${reward.params.days},\"g\":${reward.params.gift},\"t\":${"
                 "reward.params.tags},"
                 "\"n\":${reward.params.none},\"m\":${reward.params.missing}}",
                 &f, "{\"p\":\"gold\",\"d\":30,\"g\":true,\"t\":[\"a\"],\"n\":null,\"m\":null}");
  assert_renders(TEMPLATE_FORM, "plan=${reward.params.plan}&days=${reward.params.days}", &f, "plan=gold&days=30");
  assert_renders(TEMPLATE_JSON, "{\"t\":\"${reward.params.tags}\"}", &f, NULL);  // a list inside quotes
  json_decref(params);
}

static void values_fit_their_place_in_urls_forms_and_headers(void **state)
{
  (void)state;
  struct claim_facts f = sample_facts();
  f.biz_id = "a/b c&d=\xe4\xb8\xad";
  assert_renders(TEMPLATE_PATH, "/credits/${claim.requestId}?b=${claim.bizId}", &f,
                 "/credits/12-345?b=a%2Fb%20c%26d%3D%E4%B8%AD");
  assert_renders(TEMPLATE_FORM, "b=${claim.bizId}&u=${claim.userId}", &f,
                 "b=a%2Fb%20c%26d%3D%E4%B8%AD&u=9007199254740993");
  assert_renders(TEMPLATE_HEADER, "id=${claim.bizId}", &f, "id=a/b c&d=\xe4\xb8\xad");
  f.biz_id = "..";
  assert_renders(TEMPLATE_PATH, "/credits/${claim.bizId}", &f, NULL);
  f.biz_id = "a\r\nX-Evil: 1";
  assert_renders(TEMPLATE_HEADER, "${claim.bizId}", &f, NULL);
}

static void faults_in_templates_are_told(void **state)
{
  (void)state;
  assert_no_template(TEMPLATE_JSON, "{\"a\":\"${claim.quantities}\"}", "unknown variable ${claim.quantities}");
  assert_no_template(TEMPLATE_JSON, "{\"a\":\"${}\"}", "unknown variable");
  assert_no_template(TEMPLATE_JSON, "{\"a\":\"${reward.params.}\"}", "unknown variable");
  assert_no_template(TEMPLATE_JSON, "{\"a\":\"${claim.id\"}x", "unknown variable");
  assert_no_template(TEMPLATE_FORM, "a=${claim.id", "not closed");
  assert_no_template(TEMPLATE_JSON, "{\"a\":${claim.id},}", "would not be JSON");
  assert_no_template(TEMPLATE_JSON, "{\"a\":1,\"a\":2}", "would not be JSON");
  assert_no_template(TEMPLATE_PATH, "credits", "must begin with");
  assert_no_template(TEMPLATE_PATH, "/a b", "percent-encoded");
  assert_no_template(TEMPLATE_HEADER, "a\nb", "control characters");
}

// --- whole profiles

#define HEAD "fulfiller:\n  providers:\n    p:\n      base_url: http://h:1/base\n"

static struct fulfiller_conf *parse(const char *yaml)
{
  struct conf_fault fault = {.text = ""};
  void *conf = NULL;
  if (conf_parse(fulfiller_conf_table(), "x.yaml", yaml, strlen(yaml), &conf, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  return conf;
}

static void assert_no_profile(const char *yaml, const char *reason)
{
  struct conf_fault fault = {.text = ""};
  struct fulfiller_conf *conf = parse(yaml);
  assert_int_equal(provider_check_all(conf, "x.yaml", true, &fault), RESULT_INVALID);
  if (strstr(fault.text, reason) == NULL) fail_msg("%s", fault.text);
  assert_memory_equal(fault.text, "x.yaml:", 7);
  assert_non_null(strstr(fault.text, ": fulfiller.providers.p."));
  conf_free(fulfiller_conf_table(), conf);
}

static const char *header(const struct http_request *r, const char *name)
{
  for (size_t i = 0; i < r->header_count; i++) {
    if (strcmp(r->headers[i].name, name) == 0) return r->headers[i].value;
  }
  return NULL;
}

static void a_profile_becomes_a_request(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct provider p;
  struct provider_call call;
  struct claim_facts f = sample_facts();
  struct fulfiller_conf *conf = parse(HEAD
                                      "      request_id_header: Idempotency-Key\n      request_id_field: requestId\n"
                                      "      deliver:\n        path: /credits\n        headers: { X-User: "
                                      "\"u${claim.userId}\" }\n        body: '{\"q\": ${claim.quantity}}'\n"
                                      "      inquire: { path: \"/credits/${claim.requestId}\" }\n");
  if (provider_compile("p", conf->providers.items[0].block, &p, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  provider_call_init(&call);
  assert_int_equal(provider_render(&p, ACTION_DELIVER, CALL_ACT, &f, "00-1-2-01", &call), RESULT_OK);
  assert_string_equal(call.request.method, "POST");
  assert_string_equal(call.request.url, "http://h:1/base/credits");
  assert_string_equal(call.request.body, "{\"requestId\":\"12-345\",\"q\": 2}");
  assert_string_equal(header(&call.request, "Idempotency-Key"), "12-345");
  assert_string_equal(header(&call.request, "X-User"), "u9007199254740993");
  assert_string_equal(header(&call.request, "Content-Type"), "application/json");
  assert_string_equal(header(&call.request, "traceparent"), "00-1-2-01");
  assert_true(call.request.never_resend);
  assert_false(call.request.fresh_connection);
  assert_int_equal(provider_render(&p, ACTION_DELIVER, CALL_INQUIRE, &f, "", &call), RESULT_OK);
  assert_string_equal(call.request.method, "GET");
  assert_string_equal(call.request.url, "http://h:1/base/credits/12-345");
  assert_null(call.request.body);
  assert_int_equal(call.request.header_count, 0);
  provider_call_release(&call);
  provider_release(&p);
  conf_free(fulfiller_conf_table(), conf);
}

static void a_form_takes_the_request_id_as_a_field(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct provider p;
  struct provider_call call;
  struct claim_facts f = sample_facts();
  struct fulfiller_conf *conf = parse(
      HEAD "      request_id_field: out_trade_no\n      deliver: { path: /pay, body: \"amount=${reward.amount}\" }\n");
  assert_int_equal(provider_compile("p", conf->providers.items[0].block, &p, &fault), RESULT_OK);
  provider_call_init(&call);
  assert_int_equal(provider_render(&p, ACTION_DELIVER, CALL_ACT, &f, "", &call), RESULT_OK);
  assert_string_equal(call.request.body, "out_trade_no=12-345&amount=10000");
  assert_string_equal(header(&call.request, "Content-Type"), "application/x-www-form-urlencoded");
  provider_call_release(&call);
  provider_release(&p);
  conf_free(fulfiller_conf_table(), conf);
}

// Each action has requests of its own; the request id goes where it always goes.
static void a_reversal_has_its_own_requests_and_request_id(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct provider p;
  struct provider_call call;
  struct claim_facts f = sample_facts();
  f.request_id = "12-345-r";
  struct fulfiller_conf *conf =
      parse(HEAD
            "      request_id_header: Idempotency-Key\n      request_id_field: refundId\n"
            "      deliver: { path: /credits, body: \"{}\" }\n"
            "      reverse: { path: \"/credits/${claim.id}/reverse\", body: \"{}\", repeat_is_safe: true }\n"
            "      inquire_reverse: { path: \"/refunds/${claim.requestId}\" }\n");
  if (provider_compile("p", conf->providers.items[0].block, &p, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  assert_true(p.actions[ACTION_REVERSE].repeat_is_safe);
  assert_false(p.actions[ACTION_DELIVER].repeat_is_safe);
  assert_false(p.actions[ACTION_CHARGE].call.exists);
  provider_call_init(&call);
  assert_int_equal(provider_render(&p, ACTION_REVERSE, CALL_ACT, &f, "", &call), RESULT_OK);
  assert_string_equal(call.request.url, "http://h:1/base/credits/12-345/reverse");
  assert_string_equal(call.request.body, "{\"refundId\":\"12-345-r\"}");
  assert_string_equal(header(&call.request, "Idempotency-Key"), "12-345-r");
  assert_true(call.request.never_resend);
  assert_int_equal(provider_render(&p, ACTION_REVERSE, CALL_INQUIRE, &f, "", &call), RESULT_OK);
  assert_string_equal(call.request.url, "http://h:1/base/refunds/12-345-r");
  provider_call_release(&call);
  provider_release(&p);
  conf_free(fulfiller_conf_table(), conf);
}

// libcurl resends on a kept connection, so a profile without a request id does not use one.
static void a_profile_without_request_id_uses_fresh_connections(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct provider p;
  struct provider_call call;
  struct claim_facts f = sample_facts();
  struct fulfiller_conf *conf = parse(HEAD "      deliver: { path: /give, body: \"user=${claim.userId}\" }\n");
  assert_int_equal(provider_compile("p", conf->providers.items[0].block, &p, &fault), RESULT_OK);
  provider_call_init(&call);
  assert_int_equal(provider_render(&p, ACTION_DELIVER, CALL_ACT, &f, "", &call), RESULT_OK);
  assert_true(call.request.fresh_connection);
  provider_call_release(&call);
  provider_release(&p);
  conf_free(fulfiller_conf_table(), conf);
}

static void faults_of_a_profile_name_file_line_and_key(void **state)
{
  (void)state;
  assert_no_profile(HEAD, "deliver.path: is missing");
  assert_no_profile(HEAD "      deliver: { path: \"/x/${claim.nope}\" }\n",
                    "deliver.path: unknown variable ${claim.nope}");
  assert_no_profile(HEAD "      deliver: { path: /x, body: \"{\\\"a\\\":}\" }\n", "deliver.body: would not be JSON");
  assert_no_profile(HEAD "      request_id_field: a\n      deliver: { path: /x, body: \"{\\\"a\\\":1}\" }\n",
                    "deliver.body: would not be JSON");
  assert_no_profile(HEAD "      request_id_field: a\n      deliver: { path: /x }\n",
                    "request_id_field: deliver.body is missing");
  assert_no_profile(HEAD "      deliver: { path: /x }\n      inquire_reverse: { path: /y }\n",
                    "inquire_reverse: there is no reverse.path");
  assert_no_profile(HEAD "      deliver: { path: /x }\n      reverse: { path: \"/${nope}\" }\n",
                    "reverse.path: unknown variable ${nope}");
  assert_no_profile(HEAD "      deliver: { path: /x, headers: { A: \"${secret.key}\" } }\n",
                    "deliver.headers: ${secret.key} is not among secrets");
  assert_no_profile(HEAD "      secrets: { key: /nowhere/at/all }\n      deliver: { path: /x }\n",
                    "secrets: 'key': /nowhere/at/all is not there");
  assert_no_profile(HEAD "      sign: { secret: key }\n      deliver: { path: /x }\n",
                    "sign.secret: sign.scheme is none");
  assert_no_profile(HEAD "      sign: { scheme: bearer }\n      deliver: { path: /x }\n", "sign.secret: is missing");
  assert_no_profile(HEAD "      sign: { scheme: hmac, secret: key }\n      deliver: { path: /x }\n",
                    "sign.secret: 'key' is not among secrets");
  assert_no_profile(HEAD
                    "      secrets: { key: /n }\n      sign: { scheme: hmac, secret: key, mchid: a }\n"
                    "      deliver: { path: /x }\n",
                    "sign.mchid: only");
  assert_no_profile(HEAD
                    "      secrets: { key: /n }\n      sign: { scheme: wechatpay_v3, secret: key, mchid: a }\n"
                    "      deliver: { path: /x }\n",
                    "sign.serial: is missing");
  assert_no_profile(HEAD
                    "      secrets: { key: /n }\n      sign: { scheme: bearer, secret: key, timestamp_header: a }\n"
                    "      deliver: { path: /x }\n",
                    "sign.timestamp_header: only");
  assert_no_profile(HEAD
                    "      secrets: { key: /n }\n      sign: { scheme: bearer, secret: key }\n"
                    "      deliver: { path: /x, headers: { authorization: a } }\n",
                    "deliver.headers: header 'Authorization' is set twice");
  assert_no_profile(HEAD
                    "      secrets: { key: /n }\n      sign: { scheme: alipay_rsa2, secret: key }\n"
                    "      deliver: { path: /x, body: \"{}\" }\n",
                    "deliver.body: alipay_rsa2 signs forms");
  assert_no_profile(HEAD "      deliver: { path: /x, method: PATCHY }\n", "deliver.method");
  assert_no_profile(HEAD "      deliver: { path: /x, headers: { \"a b\": c } }\n", "deliver.headers: 'a b' is no name");
  assert_no_profile(HEAD "      request_id_header: X-A\n      deliver: { path: /x, headers: { x-a: c } }\n",
                    "deliver.headers: header 'X-A' is set twice");
  assert_no_profile(HEAD "      deliver: { path: /x, answers: { \"2xx\": nice } }\n", "deliver.answers: rule '2xx'");
  assert_no_profile(HEAD "      ladder: []\n      deliver: { path: /x }\n", "ladder: must have");
  assert_no_profile(HEAD "      not_found_after: 1s\n      deliver: { path: /x }\n      inquire: { path: /y }\n",
                    "not_found_after: must be at least");
  assert_no_profile(
      HEAD "      not_found_after: 20m\n      ladder: [1s]\n      deliver: { path: /x }\n      inquire: { path: /y }\n",
      "not_found_after: must be at most");
  assert_no_profile("fulfiller:\n  providers:\n    p: { base_url: \"ftp://x\", deliver: { path: /x } }\n",
                    "base_url: must begin");
  assert_no_profile("fulfiller:\n  providers:\n    p: { base_url: \"http://x/\", deliver: { path: /x } }\n",
                    "base_url: must end");
}

static void faults_stand_at_the_line_of_their_key(void **state)
{
  (void)state;
  assert_no_profile(HEAD "      deliver:\n        path: /x\n        body: |\n          a=${nope}\n", "x.yaml:7: ");
  assert_no_profile(
      HEAD "      deliver:\n        path: /x\n        answers:\n          \"200\": done\n          \"20\": done\n",
      "x.yaml:9: ");
  assert_no_profile(HEAD
                    "      deliver:\n        path: /x\n        headers:\n          A: b\n          \"a b\": done\n",
                    "x.yaml:9: ");
  assert_no_profile(HEAD "      ladder: []\n      deliver:\n        path: /x\n", "x.yaml:5: ");
  assert_no_profile(HEAD "      deliver:\n        path: /x\n      inquire_charge:\n        path: /x\n", "x.yaml:8: ");
  assert_no_profile(HEAD "      attempts: 3\n", "x.yaml:3: ");  // what is missing has no line
}

static void the_lease_outlives_every_call_under_it(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct provider p;
  struct fulfiller_conf *conf = parse(
      HEAD
      "      total_timeout: 2s\n      not_found_after: 4s\n      deliver: { path: /x }\n      inquire: { path: /y }\n");
  assert_int_equal(provider_compile("p", conf->providers.items[0].block, &p, &fault), RESULT_OK);
  assert_true(p.second_call.us > 4000000);
  assert_true(p.lease.us >= p.second_call.us + 2000000);
  assert_int_equal(provider_rung(&p, 1).us, 5000000);
  assert_int_equal(provider_rung(&p, 99).us, 3600000000);
  assert_int_equal(provider_rung_at_least(&p, span_s(6)).us, 30000000);
  assert_int_equal(provider_rung_at_least(&p, span_s(100000)).us, 3600000000);
  provider_release(&p);
  conf_free(fulfiller_conf_table(), conf);
}

static void commands_do_without_secrets(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct fulfiller_conf *conf = parse(
      "fulfiller:\n  providers:\n    p:\n      base_url: http://127.0.0.1\n"
      "      secrets: {key: /no/such/file}\n      sign: {scheme: bearer, secret: key}\n"
      "      deliver: {path: /x, body: '{\"id\": \"${claim.requestId}\"}'}\n");
  if (provider_check_all(conf, "x.yaml", false, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  assert_int_equal(provider_check_all(conf, "x.yaml", true, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "/no/such/file"));
  conf_free(fulfiller_conf_table(), conf);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_do_without_secrets),
      cmocka_unit_test(values_fit_their_place_in_json),
      cmocka_unit_test(amounts_are_exact_in_minor_units_and_as_decimals),
      cmocka_unit_test(moments_are_rendered_as_providers_write_them),
      cmocka_unit_test(a_field_of_a_form_may_be_json),
      cmocka_unit_test(secrets_stand_in_headers_and_bodies_only),
      cmocka_unit_test(parameters_keep_their_type),
      cmocka_unit_test(values_fit_their_place_in_urls_forms_and_headers),
      cmocka_unit_test(faults_in_templates_are_told),
      cmocka_unit_test(a_profile_becomes_a_request),
      cmocka_unit_test(a_form_takes_the_request_id_as_a_field),
      cmocka_unit_test(a_reversal_has_its_own_requests_and_request_id),
      cmocka_unit_test(a_profile_without_request_id_uses_fresh_connections),
      cmocka_unit_test(faults_of_a_profile_name_file_line_and_key),
      cmocka_unit_test(faults_stand_at_the_line_of_their_key),
      cmocka_unit_test(the_lease_outlives_every_call_under_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
