// SPDX-License-Identifier: Apache-2.0
// Callbacks under RSA: WeChat Pay v3 with its encrypted resource, and Alipay's form. Built as the providers describe
// them, with keys made here. Owner: unit tests.
#include "tests/unit/callback_fixture.h"
#include "tests/unit/rsa_fixture.h"

#define SERIAL    "PUB_KEY_ID_0114232134912410000000000000"
#define AES_KEY   "0123456789abcdef0123456789abcdef"
#define NONCE     "593BEC0C930BF1AFEB40B4A08C8FB242"
#define TIMESTAMP "1764417600"
#define PAID                                                                                                       \
  "{\"out_trade_no\":\"12-345\",\"transaction_id\":\"4200001\",\"trade_state\":\"SUCCESS\",\"amount\":{\"total\":" \
  "10000,"                                                                                                         \
  "\"currency\":\"CNY\"},\"payer\":{\"openid\":\"oUpF8uMuAJO_M2pxb1Q9zNjWeS6o\"}}"

struct rig {
  struct fixture f;
  struct rsa_fixture rsa, other;
  struct signature_key *ours, *theirs;
  struct buf body, signature;
};

static int end(void **state)
{
  fixture_free(&((struct rig *)*state)->f);
  return 0;
}

static struct signature_key *private_key(const struct rsa_fixture *rsa)
{
  struct signature_key *key = NULL;
  assert_int_equal(signature_key_private(rsa->private_pem, strlen(rsa->private_pem), &key), RESULT_OK);
  return key;
}

static int set_up(void **state)
{
  struct rig *rig = MEM_NEW(struct rig);
  rig->rsa = rsa_fixture_new(2048);
  rig->other = rsa_fixture_new(2048);
  rig->ours = private_key(&rig->rsa);
  rig->theirs = private_key(&rig->other);
  buf_init(&rig->body, 16384);
  buf_init(&rig->signature, 4096);
  *state = rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  buf_release(&rig->body);
  buf_release(&rig->signature);
  signature_key_free(rig->ours);
  signature_key_free(rig->theirs);
  rsa_fixture_free(&rig->rsa);
  rsa_fixture_free(&rig->other);
  mem_free(rig);
  return 0;
}

// --- WeChat Pay v3

static void begin_wechat(struct rig *rig, const char *more)
{
  char lines[512];
  snprintf(lines, sizeof lines, "      callback: {profile: wechatpay_v3, secrets: {a: b}, decrypt_key: c%s}\n", more);
  rig->f = fixture_new(lines);
  fixture_add_key(&rig->f, "other", rig->other.public_pem);
  fixture_add_key(&rig->f, SERIAL, rig->rsa.public_pem);
  memcpy(rig->f.keys.decrypt_key, AES_KEY, SIGNATURE_AES_KEY_BYTES);
}

static void wechat_body(struct rig *rig, const char *resource, const char *aad)
{
  struct buf sealed;
  buf_init(&sealed, 8192);
  signature_aes_seal(rig->f.signature, (const uint8_t *)AES_KEY, (const uint8_t *)"fdasflkja484", aad, strlen(aad),
                     resource, strlen(resource), &sealed);
  buf_clear(&rig->body);
  buf_puts(&rig->body,
           "{\"id\":\"EV-2018022511223320873\",\"create_time\":\"2025-11-29T19:59:00+08:00\",\"event_type\":"
           "\"TRANSACTION.SUCCESS\",\"resource_type\":\"encrypt-resource\",\"resource\":{\"algorithm\":"
           "\"AEAD_AES_256_GCM\",\"nonce\":\"fdasflkja484\",\"original_type\":\"transaction\",\"associated_data\":\"");
  buf_puts(&rig->body, aad);
  buf_puts(&rig->body, "\",\"ciphertext\":\"");
  text_base64(sealed.data, sealed.len, &rig->body);
  buf_puts(&rig->body, "\"}}");
  buf_release(&sealed);
}

static void wechat_sign(struct rig *rig, struct signature_key *key)
{
  struct buf text;
  buf_init(&text, 32768);
  buf_printf(&text, TIMESTAMP "\n" NONCE "\n%s\n", buf_text(&rig->body));
  buf_clear(&rig->signature);
  assert_int_equal(signature_rsa_sign(rig->f.signature, key, text.data, text.len, &rig->signature), RESULT_OK);
  buf_release(&text);
  fixture_header(&rig->f, "Wechatpay-Serial", SERIAL);
  fixture_header(&rig->f, "Wechatpay-Timestamp", TIMESTAMP);
  fixture_header(&rig->f, "Wechatpay-Nonce", NONCE);
  fixture_header(&rig->f, "Wechatpay-Signature", buf_text(&rig->signature));
}

static enum result read_it(struct rig *rig, int64_t later_s)
{
  return fixture_read(&rig->f, buf_text(&rig->body), rig->body.len, FIXTURE_NOW_S + later_s);
}

static void a_payment_of_wechat_is_decrypted_and_understood(void **state)
{
  struct rig *rig = *state;
  begin_wechat(rig, "");
  wechat_body(rig, PAID, "transaction");
  wechat_sign(rig, rig->ours);
  assert_int_equal(read_it(rig, 299), RESULT_OK);
  const struct callback_event *e = &rig->f.event;
  assert_string_equal(e->event_id, "EV-2018022511223320873");
  assert_true(e->has_claim && e->activity_id == 12 && e->claim_id == 345);
  assert_int_equal(e->outcome, CALLBACK_DONE);
  assert_string_equal(e->ref, "4200001");
  assert_true(e->has_amount && e->amount == 10000);
  assert_true(e->has_occurred && e->occurred_at.us == (FIXTURE_NOW_S - 60) * INT64_C(1000000));
  assert_null(strstr(e->body, "oUpF8uMuAJO"));
  assert_int_equal(read_it(rig, 301), RESULT_DENIED);
  assert_int_equal(read_it(rig, -301), RESULT_DENIED);
}

static void news_of_a_refund_is_about_the_refund(void **state)
{
  struct rig *rig = *state;
  begin_wechat(rig, ", require: {/resource/mchid: '1900000100'}");
  wechat_body(
      rig,
      "{\"mchid\":\"1900000100\",\"out_trade_no\":\"12-345\",\"out_refund_no\":\"12-345-r\",\"refund_id\":\"5\","
      "\"refund_status\":\"SUCCESS\",\"amount\":{\"total\":10000,\"refund\":9999}}",
      "");
  wechat_sign(rig, rig->ours);
  assert_int_equal(read_it(rig, 0), RESULT_OK);
  assert_int_equal(rig->f.event.action, ACTION_REVERSE);
  assert_int_equal(rig->f.event.amount, 9999);
}

static void what_wechat_did_not_sign_is_refused(void **state)
{
  struct rig *rig = *state;
  begin_wechat(rig, "");
  wechat_body(rig, PAID, "transaction");
  wechat_sign(rig, rig->theirs);  // a key of ours, but not the one of the serial
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  wechat_sign(rig, rig->ours);
  fixture_header(&rig->f, "Wechatpay-Serial", "OTHER");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  fixture_header(&rig->f, "Wechatpay-Serial", "UNKNOWN");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  fixture_header(&rig->f, "Wechatpay-Serial", SERIAL);
  fixture_header(&rig->f, "Wechatpay-Signature", "WECHATPAY/SIGNTEST/MTc2NDQxNzYwMA==");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  assert_non_null(strstr(rig->f.why, "probe"));
  fixture_header(&rig->f, "Wechatpay-Signature", NULL);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
}

static void one_flipped_byte_of_wechat_is_refused(void **state)
{
  struct rig *rig = *state;
  begin_wechat(rig, "");
  wechat_body(rig, PAID, "transaction");
  wechat_sign(rig, rig->ours);
  for (size_t i = 0; i < rig->body.len; i += 7) {
    rig->body.data[i] ^= 1;
    assert_int_equal(read_it(rig, 0), RESULT_DENIED);
    rig->body.data[i] ^= 1;
  }
  for (size_t i = 0; i < rig->signature.len; i += 7) {
    rig->signature.data[i] ^= 1;
    assert_int_equal(read_it(rig, 0), RESULT_DENIED);
    rig->signature.data[i] ^= 1;
  }
  fixture_header(&rig->f, "Wechatpay-Nonce", "593BEC0C930BF1AFEB40B4A08C8FB243");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  fixture_header(&rig->f, "Wechatpay-Nonce", NONCE);
  fixture_header(&rig->f, "Wechatpay-Timestamp", "1764417601");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
}

// Signed, but encrypted with another key or with other additional data.
static void a_resource_that_does_not_open_is_refused(void **state)
{
  struct rig *rig = *state;
  begin_wechat(rig, "");
  wechat_body(rig, PAID, "transaction");
  wechat_sign(rig, rig->ours);
  rig->f.keys.decrypt_key[0] ^= 1;
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  rig->f.keys.decrypt_key[0] ^= 1;
  wechat_body(rig, "{\"a\":1,\"a\":2}", "transaction");
  wechat_sign(rig, rig->ours);
  assert_int_equal(read_it(rig, 0), RESULT_INVALID);
  buf_clear(&rig->body);
  buf_puts(&rig->body,
           "{\"id\":\"1\",\"resource\":{\"algorithm\":\"AEAD_AES_256_GCM\",\"ciphertext\":\"AAAA\",\"nonce\":"
           "\"123456789012\"}}");
  wechat_sign(rig, rig->ours);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  buf_clear(&rig->body);
  buf_puts(&rig->body, "{\"id\":\"1\",\"resource\":7}");
  wechat_sign(rig, rig->ours);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
}

// --- Alipay

static void begin_alipay(struct rig *rig)
{
  rig->f = fixture_new("      callback: {profile: alipay, secrets: {a: b}, require: {/app_id: '2014072300007148'}}\n");
  fixture_add_key(&rig->f, "old", rig->other.public_pem);
  fixture_add_key(&rig->f, "new", rig->rsa.public_pem);
  rig->f.content_type = "application/x-www-form-urlencoded; charset=utf-8";
}

// The text that is signed is written out here as the provider describes it; the form has its own order and escapes.
static void alipay_body(struct rig *rig, struct signature_key *key, const char *text, const char *form)
{
  buf_clear(&rig->signature);
  assert_int_equal(signature_rsa_sign(rig->f.signature, key, text, strlen(text), &rig->signature), RESULT_OK);
  buf_clear(&rig->body);
  buf_printf(&rig->body, "%s&sign=", form);
  text_url_encode(rig->signature.data, rig->signature.len, &rig->body);
}

#define ALIPAY_TEXT                                                                                \
  "app_id=2014072300007148&body=a "                                                                \
  "b&c=d&buyer_logon_id=someone@example.com&charset=utf-8&empty=&gmt_payment=2025-11-29 19:59:00&" \
  "notify_id=ac05099&notify_time=2025-11-29 20:00:00&out_trade_no=12-345&subject=\xe5\xbc\x80&"    \
  "total_amount=100.00&trade_no=2025112921&trade_status=TRADE_SUCCESS&version=1.0"
#define ALIPAY_FORM                                                                                                   \
  "trade_no=2025112921&total_amount=100.00&sign_type=RSA2&notify_time=2025-11-29+20%3A00%3A00&version=1.0&"           \
  "trade_status=TRADE_SUCCESS&subject=%E5%BC%80&charset=utf-8&body=a%20b%26c%3Dd&notify_id=ac05099&empty=&"           \
  "out_trade_no=12-345&gmt_payment=2025-11-29+19%3A59%3A00&app_id=2014072300007148&buyer_logon_id=someone%40example." \
  "com"

static void a_notice_of_alipay_is_understood(void **state)
{
  struct rig *rig = *state;
  begin_alipay(rig);
  alipay_body(rig, rig->ours, ALIPAY_TEXT, ALIPAY_FORM);
  assert_int_equal(read_it(rig, 0), RESULT_OK);
  const struct callback_event *e = &rig->f.event;
  assert_string_equal(e->event_id, "ac05099");
  assert_true(e->has_claim && e->activity_id == 12 && e->claim_id == 345 && e->action == ACTION_DELIVER);
  assert_int_equal(e->outcome, CALLBACK_DONE);
  assert_string_equal(e->ref, "2025112921");
  assert_true(e->has_amount && e->amount == 10000);
  assert_true(e->has_occurred && e->occurred_at.us == (FIXTURE_NOW_S - 60) * INT64_C(1000000));
  if (strstr(e->body, "someone") != NULL) fail_msg("%s", e->body);
  alipay_body(rig, rig->theirs, ALIPAY_TEXT, ALIPAY_FORM);  // the old key is in force too
  assert_int_equal(read_it(rig, 0), RESULT_OK);
  rig->f.content_type = "application/json";
  assert_int_equal(read_it(rig, 0), RESULT_UNEXPECTED);
}

// Alipay takes letters, digits and underscores; the books have hyphens.
static void an_id_with_underscores_is_ours(void **state)
{
  static const char fields[] = "app_id=2014072300007148&out_trade_no=12_345_p&trade_status=TRADE_SUCCESS";
  static const char form[] = "app_id=2014072300007148&out_trade_no=12_345_p&trade_status=TRADE_SUCCESS&sign_type=RSA2";
  struct rig *rig = *state;
  begin_alipay(rig);
  alipay_body(rig, rig->ours, fields, form);
  assert_int_equal(read_it(rig, 0), RESULT_OK);
  const struct callback_event *e = &rig->f.event;
  assert_true(e->has_claim && e->activity_id == 12 && e->claim_id == 345 && e->action == ACTION_CHARGE);
  assert_string_equal(e->request_id, "12-345-p");
}

static void another_app_is_not_us(void **state)
{
  struct rig *rig = *state;
  begin_alipay(rig);
  alipay_body(rig, rig->ours, "app_id=1&out_trade_no=12-345&trade_status=TRADE_SUCCESS",
              "app_id=1&out_trade_no=12-345&trade_status=TRADE_SUCCESS&sign_type=RSA2");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  assert_non_null(strstr(rig->f.why, "require"));
}

static void what_alipay_did_not_sign_is_refused(void **state)
{
  struct rig *rig = *state;
  struct rsa_fixture third = rsa_fixture_new(2048);
  struct signature_key *stranger = private_key(&third);
  begin_alipay(rig);
  alipay_body(rig, stranger, ALIPAY_TEXT, ALIPAY_FORM);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  alipay_body(rig, rig->ours, ALIPAY_TEXT "&z=1", ALIPAY_FORM);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  alipay_body(rig, rig->ours, "trade_status=TRADE_SUCCESS&app_id=2014072300007148",
              "trade_status=TRADE_SUCCESS&app_id=2014072300007148&sign_type=RSA2");  // unsorted
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  alipay_body(rig, rig->ours, "a=1", "a=1&sign_type=RSA");
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  buf_clear(&rig->body);
  buf_puts(&rig->body, ALIPAY_FORM);
  assert_int_equal(read_it(rig, 0), RESULT_DENIED);
  signature_key_free(stranger);
  rsa_fixture_free(&third);
}

static void one_flipped_byte_of_alipay_is_refused(void **state)
{
  struct rig *rig = *state;
  begin_alipay(rig);
  alipay_body(rig, rig->ours, ALIPAY_TEXT, ALIPAY_FORM);
  for (size_t i = 0; i < rig->body.len; i += 5) {
    rig->body.data[i] ^= 1;
    if (read_it(rig, 0) == RESULT_OK) fail_msg("byte %zu", i);
    rig->body.data[i] ^= 1;
  }
}

static void forms_that_mean_two_things_are_invalid(void **state)
{
  struct rig *rig = *state;
  static const char *const forms[] = {"a=1&a=2", "a=%00", "a=%ff", "a=%4", "=1", "&&", "%61=1&a=1"};
  begin_alipay(rig);
  for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
    if (fixture_read(&rig->f, forms[i], strlen(forms[i]), FIXTURE_NOW_S) != RESULT_INVALID) fail_msg("%s", forms[i]);
  }
  buf_clear(&rig->body);
  for (int i = 0; i < 200; i++) buf_printf(&rig->body, "f%d=1&", i);
  assert_int_equal(read_it(rig, 0), RESULT_INVALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_payment_of_wechat_is_decrypted_and_understood, end),
      cmocka_unit_test_teardown(news_of_a_refund_is_about_the_refund, end),
      cmocka_unit_test_teardown(what_wechat_did_not_sign_is_refused, end),
      cmocka_unit_test_teardown(one_flipped_byte_of_wechat_is_refused, end),
      cmocka_unit_test_teardown(a_resource_that_does_not_open_is_refused, end),
      cmocka_unit_test_teardown(a_notice_of_alipay_is_understood, end),
      cmocka_unit_test_teardown(an_id_with_underscores_is_ours, end),
      cmocka_unit_test_teardown(another_app_is_not_us, end),
      cmocka_unit_test_teardown(what_alipay_did_not_sign_is_refused, end),
      cmocka_unit_test_teardown(one_flipped_byte_of_alipay_is_refused, end),
      cmocka_unit_test_teardown(forms_that_mean_two_things_are_invalid, end),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
