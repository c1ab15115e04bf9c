// SPDX-License-Identifier: Apache-2.0
// The four profiles from the provider's side to the claim and back to the answer that each wants, and secrets that
// rotate.
#include "tests/system/callback_calls.h"

#include <signal.h>

// --- the simulator in each profile

static char *read_text(const struct callback_rig *rig, const char *name)
{
  char *path = support_format("%s/%s", rig->dir, name);
  char text[8192];
  FILE *f = fopen(path, "re");
  size_t len = f == NULL ? 0 : fread(text, 1, sizeof text, f);
  if (len == 0) support_die("cannot read %s", path);
  (void)fclose(f);
  mem_free(path);
  return mem_strndup(text, len);
}

static void use_profile(struct callback_rig *rig, const char *profile, const char *provider)
{
  struct stack *s = rig->stack;
  char *pem = read_text(rig, "private.pem");
  struct buf json;
  buf_init(&json, 65536);
  buf_printf(&json,
             "{\"profile\":\"%s\",\"serial\":\"" CALLBACK_SERIAL "\",\"decryptKey\":\"" CALLBACK_DECRYPT_KEY
             "\",\"callbackUrl\":\"http://127.0.0.1:%d/v1/callbacks/%s\",\"secret\":",
             profile, s->fulfiller_port, provider);
  if (strcmp(provider, "simulator") == 0)
    buf_put_json(&json, rig->secret, strlen(rig->secret));
  else
    buf_put_json(&json, CALLBACK_NEW, strlen(CALLBACK_NEW));
  buf_puts(&json, ",\"privateKey\":");
  buf_put_json(&json, pem, strlen(pem));
  buf_putc(&json, '}');
  simulator_config(s->simulator_port, buf_text(&json));
  buf_release(&json);
  mem_free(pem);
}

static void assert_profile(struct callback_rig *rig, const char *profile, const char *provider, int64_t user)
{
  struct stack *s = rig->stack;
  char *code = support_format("profile-%s", provider);
  use_profile(rig, profile, provider);
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = 10, .provider = provider});
  int64_t accepted = simulator_stat(s->simulator_port, "callbacksAccepted"),
          failed = simulator_stat(s->simulator_port, "callbacksFailed");
  delivery_script(s, user,
                  "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":300,\"copies\":2,\"gapMs\":100}}]");
  delivery_script(s, user + 1,
                  "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":6000,\"status\":\"FAILED\"}}]");
  delivery_script(s, user + 2,
                  "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":300,\"sign\":\"bad\"}}]");
  delivery_script(s, user + 3,
                  "[{\"status\":202,\"effect\":\"none\",\"callback\":{\"delayMs\":300,\"sign\":\"none\"}}]");
  struct delivery_claim claims[4];
  for (int i = 0; i < 4; i++) claims[i] = delivery_claim(s, code, user + i);
  WAIT_FOR(delivery_is(s, claims[0].id, "succeeded"), 10);
  WAIT_FOR(delivery_is(s, claims[1].id, "failed"), 15);
  WAIT_FOR(simulator_stat(s->simulator_port, "callbacksAccepted") == accepted + 3, 10);  // success twice, failure once
  WAIT_FOR(simulator_stat(s->simulator_port, "callbacksFailed") == failed + 2, 10);
  assert_true(delivery_is(s, claims[2].id, "issuing"));
  assert_true(delivery_is(s, claims[3].id, "issuing"));
  assert_int_equal(activity_remaining(s->sql, code), 7);
  // The amount that the provider tells is the claim's; the event is there once.
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.callback where provider = '%s' and state = 'applied' and "
                           "occurred_at is not null and ref <> '' and coalesce(amount, 10000) = 10000 and (amount is "
                           "not null or '%s' = 'plain')",
                           provider, profile),
                   2);
  mem_free(code);
}

static void plain(void **state) { assert_profile(*state, "plain", "simulator", 100); }
static void stripe(void **state) { assert_profile(*state, "stripe", "stripe", 200); }
static void wechat(void **state) { assert_profile(*state, "wechatpay", "wechat", 300); }
static void alipay(void **state) { assert_profile(*state, "alipay", "alipay", 400); }

// --- answers

static struct http_answer ask(struct callback_rig *rig, const char *provider, const char *type, const char *body)
{
  struct http_answer answer;
  char *path = support_format("/v1/callbacks/%s", provider);
  char *headers = support_format("Content-Type: %s\r\n", type);
  http_call(&(struct http_request){.port = rig->stack->fulfiller_port, .path = path, .headers = headers, .body = body},
            &answer);
  mem_free(path);
  mem_free(headers);
  return answer;
}

// WeChat Pay looks at the status first: a refusal must not be 200. Alipay looks for seven bytes.
static void each_is_answered_in_its_own_way(void **state)
{
  struct callback_rig *rig = *state;
  struct http_answer answer = ask(rig, "wechat", "application/json", "{}");
  assert_int_equal(answer.status, 401);
  json_t *json = http_answer_json(&answer);
  assert_string_equal(json_string_value(json_object_get(json, "code")), "FAIL");
  assert_true(json_is_string(json_object_get(json, "message")));
  json_decref(json);
  http_answer_release(&answer);

  answer = ask(rig, "alipay", "application/x-www-form-urlencoded", "notify_id=1&sign=AAAA&sign_type=RSA2");
  assert_int_equal(answer.status, 401);
  assert_string_equal(answer.body, "failure");
  http_answer_release(&answer);

  answer = ask(rig, "stripe", "application/json", "{}");
  assert_int_equal(answer.status, 401);
  char *type = http_answer_header(&answer, "Content-Type");
  assert_string_equal(type, "application/problem+json");
  mem_free(type);
  http_answer_release(&answer);
}

// The simulator's own words, posted by the test to see the answer to what is accepted.
static void alipay_hears_success_and_nothing_else(void **state)
{
  struct callback_rig *rig = *state;
  static const char text[] =
      "app_id=2014072300007148&notify_id=n1&out_trade_no=order 7&total_amount=1.00&trade_status=WAIT_BUYER_PAY";
  static const char form[] =
      "trade_status=WAIT_BUYER_PAY&total_amount=1.00&out_trade_no=order+7&notify_id=n1&app_id=2014072300007148";
  char *pem = read_text(rig, "private.pem");
  struct signature_key *key = NULL;
  struct buf sign, body;
  buf_init(&sign, 4096);
  buf_init(&body, 8192);
  assert_int_equal(signature_key_private(pem, strlen(pem), &key), RESULT_OK);
  assert_int_equal(signature_rsa_sign(rig->signature, key, text, strlen(text), &sign), RESULT_OK);
  buf_printf(&body, "%s&sign_type=RSA2&sign=", form);
  text_url_encode(sign.data, sign.len, &body);
  struct http_answer answer = ask(rig, "alipay", "application/x-www-form-urlencoded", buf_text(&body));
  assert_int_equal(answer.status, 200);
  assert_int_equal(answer.body_len, 7);
  assert_string_equal(answer.body, "success");
  http_answer_release(&answer);
  signature_key_free(key);
  buf_release(&sign);
  buf_release(&body);
  mem_free(pem);
}

// --- rotation

static int rotating(struct callback_rig *rig, const char *id, const char *secret, const char *signature)
{
  return callback_post(rig, &(struct callback_post){.provider = "rotating",
                                                    .id = id,
                                                    .secret = secret,
                                                    .signature = signature,
                                                    .body = "{\"requestId\":\"ping\",\"status\":\"PING\"}"});
}

static int with_a_wrong_one_before(struct callback_rig *rig)
{
  struct buf header;
  char timestamp[24];
  static const char body[] = "{\"requestId\":\"ping\",\"status\":\"PING\"}";
  int64_t at = clk_wall().us / 1000000;
  (void)snprintf(timestamp, sizeof timestamp, "%" PRId64, at);
  buf_init(&header, 512);
  signature_webhook_sign(rig->signature, "wrong", 5, "b46-3", at, body, strlen(body), &header);
  buf_putc(&header, ' ');
  signature_webhook_sign(rig->signature, CALLBACK_OLD, strlen(CALLBACK_OLD), "b46-3", at, body, strlen(body), &header);
  int status = callback_post(
      rig,
      &(struct callback_post){
          .provider = "rotating", .id = "b46-3", .timestamp = timestamp, .signature = buf_text(&header), .body = body});
  buf_release(&header);
  return status;
}

static void reload(struct callback_rig *rig, const char *secrets)
{
  rig_configure(rig, rig->stack->simulator_port, secrets);
  process_signal(rig->stack->fulfiller, SIGHUP);
}

// B46
static void old_and_new_secrets_are_in_force_until_the_old_one_goes(void **state)
{
  struct callback_rig *rig = *state;
  assert_int_equal(rotating(rig, "b46-1", CALLBACK_NEW, NULL), 204);
  assert_int_equal(rotating(rig, "b46-2", CALLBACK_OLD, NULL), 204);
  assert_int_equal(with_a_wrong_one_before(rig), 204);
  // A configuration with a fault keeps the old secrets, all of them.
  reload(rig, "new: '/nowhere/at/all'");
  WAIT_FOR(process_log_has(rig->stack->fulfiller, "config.rejected"), 10);
  assert_int_equal(rotating(rig, "b46-4", CALLBACK_OLD, NULL), 204);
  char *only_new = support_format(ROTATING_NEW, rig->dir);
  reload(rig, only_new);
  WAIT_FOR(process_log_has(rig->stack->fulfiller, "config.reloaded"), 10);
  assert_int_equal(rotating(rig, "b46-5", CALLBACK_OLD, NULL), 401);
  assert_int_equal(with_a_wrong_one_before(rig), 401);
  assert_int_equal(rotating(rig, "b46-6", CALLBACK_NEW, NULL), 204);
  // The same file with other content is read again too.
  mem_free(support_write("new", "a third secret"));
  process_signal(rig->stack->fulfiller, SIGHUP);
  WAIT_FOR(rotating(rig, "b46-7", "a third secret", NULL) == 204, 10);
  assert_int_equal(rotating(rig, "b46-8", CALLBACK_NEW, NULL), 401);
  mem_free(support_write("new", CALLBACK_NEW));
  mem_free(only_new);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain),
      cmocka_unit_test(stripe),
      cmocka_unit_test(wechat),
      cmocka_unit_test(alipay),
      cmocka_unit_test(each_is_answered_in_its_own_way),
      cmocka_unit_test(alipay_hears_success_and_nothing_else),
      cmocka_unit_test(old_and_new_secrets_are_in_force_until_the_old_one_goes),
  };
  return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down);
}
