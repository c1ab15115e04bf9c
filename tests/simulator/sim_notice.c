// SPDX-License-Identifier: Apache-2.0
// Writing callbacks in the form of each profile. A bad signature is made with another secret, or over other bytes.
#include "tests/simulator/sim_notice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"

#define BODY_BYTES_MAX 8192
#define TEXT_BYTES_MAX 16384
#define WECHAT_NONCE   "5K8264ILTKCH16CQ2502SI8ZNMTM67VS"
#define AES_NONCE      "sim-nonce-12"
#define AES_AAD        "transaction"
#define APP_ID         "2014072300007148"
#define BEIJING_US     (INT64_C(8) * 3600 * 1000000)

static const char wrong_secret[] = "not the secret of this provider";

const char *sim_profile_name(enum sim_profile profile)
{
  static const char *const names[] = {"plain", "stripe", "wechatpay", "alipay"};
  return names[profile];
}

bool sim_profile_from(const char *name, enum sim_profile *out_profile)
{
  for (int i = 0; i < SIM_PROFILE_COUNT; i++) {
    if (strcmp(name, sim_profile_name((enum sim_profile)i)) != 0) continue;
    *out_profile = (enum sim_profile)i;
    return true;
  }
  return false;
}

void sim_keys_release(struct sim_keys *keys)
{
  mem_free(keys->secret);
  signature_key_free(keys->rsa);
  *keys = (struct sim_keys){0};
}

void sim_message_init(struct sim_message *m)
{
  *m = (struct sim_message){0};
  buf_init(&m->body, TEXT_BYTES_MAX);
  buf_init(&m->signature, TEXT_BYTES_MAX);
}

void sim_message_release(struct sim_message *m)
{
  buf_release(&m->body);
  buf_release(&m->signature);
}

static void add_header(struct sim_message *m, const char *name, const char *value)
{
  m->headers[m->header_count++] = (struct http_header){name, value};
}

// --- plain and Stripe

static void write_plain(struct sim_message *m, const struct sim_keys *keys, struct signature *signature,
                        const struct sim_notice *n, enum sim_sign sign, int64_t now_s)
{
  char occurred[TEXT_TIME_BYTES];
  bool is_bad = sign == SIM_SIGN_BAD;
  text_from_time(n->occurred, occurred);
  buf_puts(&m->body, "{\"eventId\":");
  buf_put_json(&m->body, n->event_id, strlen(n->event_id));
  buf_printf(&m->body, ",\"requestId\":\"%s\",\"status\":\"%s\",\"ref\":\"%s\",\"occurredAt\":\"%s\"}", n->request_id,
             n->failed ? "FAILED" : "SUCCESS", n->ref, occurred);
  add_header(m, "Content-Type", "application/json");
  if (sign == SIM_SIGN_NONE || keys->secret == NULL) return;
  signature_webhook_sign(signature, is_bad ? wrong_secret : keys->secret,
                         is_bad ? sizeof wrong_secret - 1 : keys->secret_len, n->event_id, now_s, buf_text(&m->body),
                         m->body.len, &m->signature);
  add_header(m, "webhook-id", n->event_id);
  add_header(m, "webhook-timestamp", m->timestamp);
  add_header(m, "webhook-signature", buf_text(&m->signature));
}

static void write_stripe(struct sim_message *m, const struct sim_keys *keys, struct signature *signature,
                         const struct sim_notice *n, enum sim_sign sign, int64_t now_s)
{
  bool is_bad = sign == SIM_SIGN_BAD;
  buf_puts(&m->body, "{\n  \"id\": ");
  buf_put_json(&m->body, n->event_id, strlen(n->event_id));
  buf_printf(&m->body,
             ",\n  \"object\": \"event\",\n  \"type\": \"payment_intent.%s\",\n  \"created\": %" PRId64
             ",\n  \"data\": {\"object\": {\"id\": \"%s\", \"amount\": %" PRId64
             ", \"currency\": \"%s\", \"metadata\": {\"request_id\": \"%s\"}}}\n}",
             n->failed ? "canceled" : "succeeded", n->occurred.us / 1000000, n->ref, n->amount, n->currency,
             n->request_id);
  add_header(m, "Content-Type", "application/json; charset=utf-8");
  if (sign == SIM_SIGN_NONE || keys->secret == NULL) return;
  signature_stripe_sign(signature, is_bad ? wrong_secret : keys->secret,
                        is_bad ? sizeof wrong_secret - 1 : keys->secret_len, now_s, buf_text(&m->body), m->body.len,
                        &m->signature);
  add_header(m, "Stripe-Signature", buf_text(&m->signature));
}

// --- WeChat Pay v3

static void write_resource(const struct sim_notice *n, struct buf *out)
{
  if (n->order_id != NULL)
    buf_printf(out,
               "{\"out_trade_no\":\"%s\",\"out_refund_no\":\"%s\",\"refund_id\":\"%s\",\"refund_status\":\"%s\","
               "\"amount\":{\"total\":%" PRId64 ",\"refund\":%" PRId64 "}}",
               n->order_id, n->request_id, n->ref, n->failed ? "ABNORMAL" : "SUCCESS", n->amount, n->amount);
  else
    buf_printf(out,
               "{\"out_trade_no\":\"%s\",\"transaction_id\":\"%s\",\"trade_state\":\"%s\",\"payer\":{\"openid\":"
               "\"oSimulated\"},\"amount\":{\"total\":%" PRId64 ",\"currency\":\"%s\"}}",
               n->request_id, n->ref, n->failed ? "PAYERROR" : "SUCCESS", n->amount, n->currency);
}

static void put_sealed(const struct sim_keys *keys, struct signature *signature, const struct sim_notice *n,
                       struct buf *out)
{
  struct buf plain, sealed;
  buf_init(&plain, BODY_BYTES_MAX);
  buf_init(&sealed, BODY_BYTES_MAX);
  write_resource(n, &plain);
  signature_aes_seal(signature, (const uint8_t *)keys->decrypt_key, (const uint8_t *)AES_NONCE, AES_AAD,
                     strlen(AES_AAD), buf_text(&plain), plain.len, &sealed);
  text_base64(sealed.data, sealed.len, out);
  buf_release(&sealed);
  buf_release(&plain);
}

static void rsa_sign(struct sim_message *m, const struct sim_keys *keys, struct signature *signature,
                     const struct buf *text, enum sim_sign sign)
{
  size_t less = sign == SIM_SIGN_BAD ? 1 : 0;  // a bad one is not of all the bytes
  if (signature_rsa_sign(signature, keys->rsa, buf_text(text), text->len - less, &m->signature) != RESULT_OK)
    buf_puts(&m->signature, "none");
}

static void write_wechat(struct sim_message *m, const struct sim_keys *keys, struct signature *signature,
                         const struct sim_notice *n, enum sim_sign sign)
{
  struct buf text;
  char created[TEXT_TIME_BYTES];
  text_from_time((struct wall_time){n->occurred.us + BEIJING_US}, created);
  buf_puts(&m->body, "{\"id\":");
  buf_put_json(&m->body, n->event_id, strlen(n->event_id));
  buf_printf(&m->body,
             ",\"create_time\":\"%.19s+08:00\",\"event_type\":\"TRANSACTION.SUCCESS\",\"resource_type\":"
             "\"encrypt-resource\",\"summary\":\"simulated\",\"resource\":{\"algorithm\":\"AEAD_AES_256_GCM\","
             "\"original_type\":\"transaction\",\"associated_data\":\"" AES_AAD "\",\"nonce\":\"" AES_NONCE
             "\",\"ciphertext\":\"",
             created);
  put_sealed(keys, signature, n, &m->body);
  buf_puts(&m->body, "\"}}");
  add_header(m, "Content-Type", "application/json");
  if (sign == SIM_SIGN_NONE || keys->rsa == NULL) return;
  buf_init(&text, TEXT_BYTES_MAX);
  buf_printf(&text, "%s\n" WECHAT_NONCE "\n%s\n", m->timestamp, buf_text(&m->body));
  rsa_sign(m, keys, signature, &text, sign);
  buf_release(&text);
  add_header(m, "Wechatpay-Serial", keys->serial);
  add_header(m, "Wechatpay-Timestamp", m->timestamp);
  add_header(m, "Wechatpay-Nonce", WECHAT_NONCE);
  add_header(m, "Wechatpay-Signature", buf_text(&m->signature));
}

// --- Alipay

struct field {
  const char *name;
  char value[160];
};
#define ALIPAY_FIELDS 12

static void beijing(struct wall_time t, char out[160])
{
  char text[TEXT_TIME_BYTES];
  text_from_time((struct wall_time){t.us + BEIJING_US}, text);
  (void)snprintf(out, 160, "%.10s %.8s", text, text + 11);
}

static void fill_fields(const struct sim_notice *n, struct wall_time now, struct field f[ALIPAY_FIELDS])
{
  static const char *const names[ALIPAY_FIELDS] = {"app_id",       "buyer_logon_id", "charset",      "gmt_payment",
                                                   "notify_id",    "notify_time",    "notify_type",  "out_trade_no",
                                                   "total_amount", "trade_no",       "trade_status", "version"};
  for (size_t i = 0; i < ALIPAY_FIELDS; i++) f[i].name = names[i];
  (void)snprintf(f[0].value, sizeof f[0].value, APP_ID);
  (void)snprintf(f[1].value, sizeof f[1].value, "someone@example.com");
  (void)snprintf(f[2].value, sizeof f[2].value, "utf-8");
  beijing(n->occurred, f[3].value);
  (void)snprintf(f[4].value, sizeof f[4].value, "%s", n->event_id);
  beijing(now, f[5].value);
  (void)snprintf(f[6].value, sizeof f[6].value, "trade_status_sync");
  (void)snprintf(f[7].value, sizeof f[7].value, "%s", n->request_id);
  (void)snprintf(f[8].value, sizeof f[8].value, "%" PRId64 ".%02" PRId64, n->amount / 100, n->amount % 100);
  (void)snprintf(f[9].value, sizeof f[9].value, "%s", n->ref);
  (void)snprintf(f[10].value, sizeof f[10].value, "%s", n->failed ? "TRADE_CLOSED" : "TRADE_SUCCESS");
  (void)snprintf(f[11].value, sizeof f[11].value, "1.0");
}

static void write_alipay(struct sim_message *m, const struct sim_keys *keys, struct signature *signature,
                         const struct sim_notice *n, enum sim_sign sign, struct wall_time now)
{
  struct field fields[ALIPAY_FIELDS];
  struct buf text;
  fill_fields(n, now, fields);
  buf_init(&text, TEXT_BYTES_MAX);
  for (size_t i = 0; i < ALIPAY_FIELDS; i++) {
    buf_printf(&text, "%s%s=%s", i == 0 ? "" : "&", fields[i].name, fields[i].value);
    buf_printf(&m->body, "%s%s=", i == 0 ? "" : "&", fields[i].name);
    text_url_encode(fields[i].value, strlen(fields[i].value), &m->body);
  }
  if (sign != SIM_SIGN_NONE && keys->rsa != NULL) {
    rsa_sign(m, keys, signature, &text, sign);
    buf_puts(&m->body, "&sign_type=RSA2&sign=");
    text_url_encode(buf_text(&m->signature), m->signature.len, &m->body);
  }
  add_header(m, "Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
  buf_release(&text);
}

void sim_message_write(struct sim_message *m, enum sim_profile profile, const struct sim_keys *keys,
                       struct signature *signature, const struct sim_notice *notice, enum sim_sign sign,
                       struct wall_time now)
{
  int64_t now_s = now.us / 1000000;
  (void)snprintf(m->timestamp, sizeof m->timestamp, "%" PRId64, now_s);
  switch (profile) {
    case SIM_STRIPE: write_stripe(m, keys, signature, notice, sign, now_s); break;
    case SIM_WECHATPAY: write_wechat(m, keys, signature, notice, sign); break;
    case SIM_ALIPAY: write_alipay(m, keys, signature, notice, sign, now); break;
    default: write_plain(m, keys, signature, notice, sign, now_s); break;
  }
}
