// SPDX-License-Identifier: Apache-2.0
// Reading the credentials of providers. Blocking file access, at start and on SIGHUP only.
#include "fulfiller/provider_keys.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"

#define MASKED_BYTES_MAX 4096  // longer ones are keys in PEM

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

static enum result read_file(const struct conf_pair *secret, struct buf *out, struct conf_fault *fault)
{
  enum result result = conf_read_secret(secret->value, out);
  if (result != RESULT_OK)
    return FAIL(fault, "secrets: '%.60s': %.200s %s", secret->name, secret->value, conf_secret_why(result));
  if (!text_is_utf8(out->data, out->len))
    return FAIL(fault, "secrets: '%.60s': %.200s is not text", secret->name, secret->value);
  return RESULT_OK;
}

static bool has_private_key(const struct sign_conf *sign)
{
  return sign->scheme == SIGN_WECHATPAY_V3 || sign->scheme == SIGN_ALIPAY_RSA2;
}

// A line break in a header would make every request impossible: better known at once.
static enum result check_line(const struct provider_conf *conf, const struct conf_pair *secret, const struct buf *text,
                              struct conf_fault *fault)
{
  if (has_private_key(&conf->sign) && strcmp(conf->sign.secret, secret->name) == 0) return RESULT_OK;
  for (size_t i = 0; i < text->len; i++) {
    if ((unsigned char)text->data[i] < 0x20 || text->data[i] == 0x7f)
      return FAIL(fault, "secrets: '%.60s': %.200s must be one line", secret->name, secret->value);
  }
  return RESULT_OK;
}

static enum result add(const struct provider_conf *conf, const struct conf_pair *secret, struct provider_keys *keys,
                       struct conf_fault *fault)
{
  struct buf text;
  buf_init(&text, CONF_SECRET_BYTES_MAX);
  enum result result = read_file(secret, &text, fault);
  if (result == RESULT_OK) result = check_line(conf, secret, &text, fault);
  if (result == RESULT_OK) {
    size_t len = text.len;
    keys->items[keys->count++] = (struct provider_secret){mem_strdup(secret->name), buf_take(&text), len};
  }
  buf_wipe(&text);
  return result;
}

static enum result add_private_key(const struct provider_conf *conf, struct provider_keys *keys,
                                   struct conf_fault *fault)
{
  bool has_key = has_private_key(&conf->sign);
  const struct provider_secret *secret = has_key ? provider_keys_find(keys, conf->sign.secret) : NULL;
  if (secret == NULL) return RESULT_OK;
  if (signature_key_private(secret->bytes, secret->len, &keys->rsa) == RESULT_OK) return RESULT_OK;
  return FAIL(fault, "sign.secret: '%.60s' is no private RSA key of 2048 bits or more without a password",
              conf->sign.secret);
}

enum result provider_keys_load(const struct provider_conf *conf, struct provider_keys *out_keys,
                               struct conf_fault *out_fault)
{
  enum result result;
  struct provider_keys keys = {.count = 0};
  if (conf->secrets.count > PROVIDER_SECRETS_MAX) return FAIL(out_fault, "secrets: more than %d", PROVIDER_SECRETS_MAX);
  for (size_t i = 0; i < conf->secrets.count; i++) {
    out_fault->line = conf_pair_line(&conf->secrets, i);
    TRY(add(conf, &conf->secrets.items[i], &keys, out_fault));
  }
  out_fault->line = 0;
  TRY(add_private_key(conf, &keys, out_fault));
  *out_keys = keys;
  keys = (struct provider_keys){.count = 0};
cleanup:
  provider_keys_release(&keys);
  return result;
}

void provider_keys_release(struct provider_keys *keys)
{
  for (size_t i = 0; i < keys->count; i++) {
    explicit_bzero(keys->items[i].bytes, keys->items[i].len);
    mem_free(keys->items[i].bytes);
    mem_free(keys->items[i].name);
  }
  signature_key_free(keys->rsa);
  *keys = (struct provider_keys){.count = 0};
}

const struct provider_secret *provider_keys_find(const struct provider_keys *keys, const char *name)
{
  for (size_t i = 0; keys != NULL && i < keys->count; i++) {
    if (strcmp(keys->items[i].name, name) == 0) return &keys->items[i];
  }
  return NULL;
}

void provider_keys_mask(const struct provider_keys *keys, struct redact *redact)
{
  for (size_t i = 0; i < keys->count; i++) {
    if (keys->items[i].len <= MASKED_BYTES_MAX) redact_add_secret(redact, keys->items[i].bytes, keys->items[i].len);
  }
}
