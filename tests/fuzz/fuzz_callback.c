// SPDX-License-Identifier: Apache-2.0
// Fuzzes callbacks: no input crashes, nothing unsigned is taken, and what a signed document is understood to say is
// short valid UTF-8. libFuzzer entry; one thread. The first byte chooses the profile, the rest is the body.
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/callback_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)
#define NOW_S 1764417600

static const char yaml_head[] = "fulfiller: {providers: {p: {base_url: http://a, deliver: {path: /x}, callback: ";
static const char *const callbacks[] = {
    "{profile: standard_webhooks, secrets: {a: b}, amount_pointer: /amount, amount_decimals: 2}}}}",
    "{profile: stripe, secrets: {a: b}}}}}",
    "{profile: wechatpay_v3, secrets: {a: b}, decrypt_key: c}}}}",
    "{profile: alipay, secrets: {a: b}}}}}",
};

struct input {
  const char *signature;
};

static const char *header(const void *ctx, const char *name)
{
  const struct input *in = ctx;
  if (strcmp(name, "webhook-id") == 0) return "e";
  if (strcmp(name, "webhook-timestamp") == 0 || strcmp(name, "Wechatpay-Timestamp") == 0) return "1764417600";
  if (strcmp(name, "Wechatpay-Serial") == 0) return "s";
  return in->signature;
}

static void check_text(const char *text) { CHECK(text_is_utf8(text, strlen(text))); }

static void check_event(const struct callback_event *e)
{
  check_text(e->event_id);
  check_text(e->request_id);
  check_text(e->ref);
  check_text(e->code);
  check_text(e->detail);
  check_text(e->body);
  CHECK(e->event_id[0] != '\0');
  CHECK(!e->has_amount || e->amount >= -1);
  CHECK(!e->has_claim || (e->activity_id > 0 && e->claim_id > 0));
  CHECK(!e->has_occurred || e->occurred_at.us >= 0);
}

static void try_document(const struct callback_profile *p, struct signature *s, const struct callback_request *r)
{
  struct callback_event event;
  const char *why = NULL;
  json_t *document = NULL;
  if (jsonx_parse(r->body, r->body_len, &document, NULL) == RESULT_OK &&
      callback_event_from(p, s, document, "e", r, &event, &why) == RESULT_OK)
    check_event(&event);
  json_decref(document);
}

static void try_callback(const struct callback_profile *p, struct callback_keys *keys, const char *body, size_t len)
{
  struct signature *s = signature_new();
  struct callback_event event;
  const char *why = NULL;
  struct buf signature;
  struct input in = {.signature = "v1,AAAA"};
  const struct callback_request r = {
      .content_type = p->scheme == CALLBACK_ALIPAY ? "application/x-www-form-urlencoded" : "application/json",
      .body = body,
      .body_len = len,
      .header = header,
      .ctx = &in};
  const struct wall_time now = {NOW_S * INT64_C(1000000)};
  CHECK(callback_read(p, keys, s, &r, now, &event, &why) != RESULT_OK && why != NULL);
  buf_init(&signature, 256);
  if (p->scheme == CALLBACK_STRIPE)
    signature_stripe_sign(s, "secret", 6, NOW_S, body, len, &signature);
  else
    signature_webhook_sign(s, "secret", 6, "e", NOW_S, body, len, &signature);
  in.signature = buf_text(&signature);
  if (callback_read(p, keys, s, &r, now, &event, &why) == RESULT_OK) {
    CHECK(p->scheme == CALLBACK_STANDARD_WEBHOOKS || p->scheme == CALLBACK_STRIPE);
    check_event(&event);
  }
  try_document(p, s, &r);
  buf_release(&signature);
  signature_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  void *conf = NULL;
  struct conf_fault fault;
  struct callback_profile profile;
  char yaml[1024];
  if (size == 0) return 0;
  int len = snprintf(yaml, sizeof yaml, "%s%s", yaml_head, callbacks[data[0] % ARRAY_LEN(callbacks)]);
  CHECK(conf_parse(fulfiller_conf_table(), "f", yaml, (size_t)len, &conf, &fault) == RESULT_OK);
  const struct fulfiller_conf *c = conf;
  CHECK(callback_profile_compile(c->providers.items[0].block, &profile, &fault) == RESULT_OK);
  bool is_hmac = profile.scheme == CALLBACK_STANDARD_WEBHOOKS || profile.scheme == CALLBACK_STRIPE;
  struct callback_keys keys = {.secrets = {{"secret", 6}}, .count = is_hmac ? 1 : 0};
  char *body = mem_strndup((const char *)data + 1, size - 1);
  try_callback(&profile, &keys, body, size - 1);
  mem_free(body);
  conf_free(fulfiller_conf_table(), conf);
  return 0;
}
