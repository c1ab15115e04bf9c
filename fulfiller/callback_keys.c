// SPDX-License-Identifier: Apache-2.0
// Reading the secrets of callbacks. Blocking file access, at start and on SIGHUP only.
#include "fulfiller/callback_keys.h"

#include <stdio.h>

#include "common/mem.h"
#include "fulfiller/provider.h"

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

static bool is_by_key(int profile) { return profile == CALLBACK_WECHATPAY_V3 || profile == CALLBACK_ALIPAY; }

static enum result read_file(const char *key, const char *path, struct buf *out, struct conf_fault *fault)
{
  enum result result = conf_read_secret(path, out);
  if (result == RESULT_OK) return RESULT_OK;
  return FAIL(fault, "callback.%s: %.200s %s", key, path, conf_secret_why(result));
}

static enum result add_key(const struct callback_conf *conf, size_t index, struct callback_keys *keys,
                           struct conf_fault *fault)
{
  const struct conf_pair *secret = &conf->secrets.items[index];
  int profile = conf->profile;
  struct buf text;
  struct callback_key key = {0};
  buf_init(&text, CONF_SECRET_BYTES_MAX);
  enum result result = read_file("secrets", secret->value, &text, fault);
  if (result == RESULT_OK && is_by_key(profile) && signature_key_public(text.data, text.len, &key.rsa) != RESULT_OK)
    result = FAIL(fault, "callback.secrets: %.200s is no public RSA key and no certificate", secret->value);
  if (result == RESULT_OK && profile == CALLBACK_STANDARD_WEBHOOKS && !signature_webhook_is_whole(text.data, text.len))
    result = FAIL(fault, "callback.secrets: %.200s is not whsec_ and the base64 of 24 to 64 bytes", secret->value);
  if (result == RESULT_OK) {
    key.name = mem_strdup(secret->name);
    keys->items[keys->count] = key;
    if (!is_by_key(profile)) {
      size_t len = text.len;
      keys->secrets[keys->count] = (struct signature_secret){buf_take(&text), len};
    }
    keys->count++;
  }
  if (result != RESULT_OK) fault->line = conf_pair_line(&conf->secrets, index);
  buf_wipe(&text);
  return result;
}

static enum result add_decrypt_key(const char *path, struct callback_keys *keys, struct conf_fault *fault)
{
  struct buf text;
  buf_init(&text, CONF_SECRET_BYTES_MAX);
  enum result result = read_file("decrypt_key", path, &text, fault);
  if (result == RESULT_OK && text.len != sizeof keys->decrypt_key)
    result = FAIL(fault, "callback.decrypt_key: %.200s must hold exactly %zu bytes", path, sizeof keys->decrypt_key);
  if (result == RESULT_OK) memcpy(keys->decrypt_key, text.data, sizeof keys->decrypt_key);
  buf_wipe(&text);
  return result;
}

enum result callback_keys_load(const struct callback_conf *conf, struct callback_keys *out_keys,
                               struct conf_fault *out_fault)
{
  enum result result = RESULT_OK;
  struct callback_keys keys = {0};
  for (size_t i = 0; result == RESULT_OK && i < conf->secrets.count && i < CALLBACK_SECRETS_MAX; i++)
    result = add_key(conf, i, &keys, out_fault);
  if (result == RESULT_OK && conf->profile == CALLBACK_WECHATPAY_V3)
    result = add_decrypt_key(conf->decrypt_key, &keys, out_fault);
  if (result == RESULT_OK)
    *out_keys = keys;
  else
    callback_keys_release(&keys);
  return result;
}

void callback_keys_release(struct callback_keys *keys)
{
  for (size_t i = 0; i < keys->count; i++) {
    mem_free(keys->items[i].name);
    signature_key_free(keys->items[i].rsa);
    if (keys->secrets[i].bytes != NULL) {
      char *bytes = (char *)keys->secrets[i].bytes;
      explicit_bzero(bytes, keys->secrets[i].len);
      mem_free(bytes);
    }
  }
  explicit_bzero(keys, sizeof *keys);
}

static enum result check(const struct provider_conf *block, bool reads_files, struct conf_fault *fault)
{
  struct callback_profile profile;
  struct callback_keys keys = {0};
  enum result result = callback_profile_compile(block, &profile, fault);
  if (result == RESULT_OK && reads_files) result = callback_keys_load(&block->callback, &keys, fault);
  callback_keys_release(&keys);
  return result;
}

enum result callback_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                               struct conf_fault *out_fault)
{
  for (size_t i = 0; i < conf->providers.count; i++) {
    const struct conf_entry *entry = &conf->providers.items[i];
    const struct provider_conf *block = entry->block;
    struct conf_fault inner = {.text = ""};
    if (block->callback.profile != CALLBACK_NONE && check(block, reads_files, &inner) != RESULT_OK)
      return provider_fault(file, entry, &inner, out_fault);
  }
  return RESULT_OK;
}
