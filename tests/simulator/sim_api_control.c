// SPDX-License-Identifier: Apache-2.0
// /sim/config, /sim/reset, /sim/script, /sim/chaos: how a test steers the provider. Loop thread.
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/simulator/sim.h"

static void refuse(struct web_request *req, int status, const char *code, const char *detail)
{
  const struct web_problem problem = {.code = code, .status = status, .detail = detail};
  web_reply_problem(req, &problem);
}

static json_t *read_object(struct web_request *req)
{
  size_t len = 0;
  const char *bytes = web_body(req, &len);
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  if (jsonx_parse(bytes, len, &json, why) != RESULT_OK) {
    refuse(req, 400, "INVALID_REQUEST", why);
    return NULL;
  }
  if (json_is_object(json)) return json;
  json_decref(json);
  refuse(req, 400, "INVALID_REQUEST", "an object is expected");
  return NULL;
}

static void reply_config(struct web_request *req)
{
  const struct sim *sim = web_context(req);
  struct buf out;
  buf_init(&out, 4096);
  buf_printf(&out, "{\"dedupe\":%s,\"autoPay\":%s,\"callbackUrl\":", sim->dedupe ? "true" : "false",
             sim->auto_pay ? "true" : "false");
  buf_put_json(&out, sim->callback_url, strlen(sim->callback_url));
  buf_printf(&out, ",\"profile\":\"%s\"}", sim_profile_name(sim->profile));
  web_reply_json(req, 200, buf_text(&out), out.len);
  buf_release(&out);
}

// Members that are left out stay; all or nothing.
static void read_keys(struct jsonx_reader *r, struct sim_keys *keys)
{
  const char *secret = jsonx_read_text(r, "secret", false, 1024);
  const char *pem = jsonx_read_text(r, "privateKey", false, 16384);
  const char *serial = jsonx_read_text(r, "serial", false, SIM_SERIAL_BYTES - 1);
  const char *decrypt_key = jsonx_read_text(r, "decryptKey", false, SIGNATURE_AES_KEY_BYTES);
  if (pem != NULL && signature_key_private(pem, strlen(pem), &keys->rsa) != RESULT_OK)
    jsonx_reader_fail(r, "privateKey", "is no private RSA key in PEM");
  if (decrypt_key != NULL && strlen(decrypt_key) != SIGNATURE_AES_KEY_BYTES)
    jsonx_reader_fail(r, "decryptKey", "must have 32 bytes");
  if (secret != NULL) {
    keys->secret = mem_strdup(secret);
    keys->secret_len = strlen(secret);
  }
  if (serial != NULL) (void)snprintf(keys->serial, sizeof keys->serial, "%s", serial);
  if (decrypt_key != NULL) (void)snprintf(keys->decrypt_key, sizeof keys->decrypt_key, "%s", decrypt_key);
}

static void take_keys(struct sim_keys *keys, struct sim_keys *fresh)
{
  if (fresh->secret == NULL) {
    fresh->secret = keys->secret;
    fresh->secret_len = keys->secret_len;
    keys->secret = NULL;
  }
  if (fresh->rsa == NULL) {
    fresh->rsa = keys->rsa;
    keys->rsa = NULL;
  }
  if (fresh->serial[0] == '\0') memcpy(fresh->serial, keys->serial, sizeof fresh->serial);
  if (fresh->decrypt_key[0] == '\0') memcpy(fresh->decrypt_key, keys->decrypt_key, sizeof fresh->decrypt_key);
  sim_keys_release(keys);
  *keys = *fresh;
}

static void apply_config(struct web_request *req, struct jsonx_reader *r)
{
  struct sim *sim = web_context(req);
  bool dedupe = sim->dedupe, auto_pay = sim->auto_pay;
  jsonx_read_bool(r, "dedupe", false, &dedupe);
  jsonx_read_bool(r, "autoPay", false, &auto_pay);
  const char *url = jsonx_read_text(r, "callbackUrl", false, SIM_URL_BYTES - 1);
  const char *profile = jsonx_read_text(r, "profile", false, 32);
  if (url != NULL && strlen(url) >= SIM_URL_BYTES) jsonx_reader_fail(r, "callbackUrl", "is too long");
  if (url != NULL && url[0] != '\0' && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
    jsonx_reader_fail(r, "callbackUrl", "must be http or https, or empty for no callbacks");
  }
  enum sim_profile wanted = sim->profile;
  struct sim_keys keys = {0};
  if (profile != NULL && !sim_profile_from(profile, &wanted))
    jsonx_reader_fail(r, "profile", "must be plain, stripe, wechatpay or alipay");
  read_keys(r, &keys);
  if (jsonx_reader_finish(r) != RESULT_OK) {
    sim_keys_release(&keys);
    refuse(req, 400, "INVALID_REQUEST", r->fault);
    return;
  }
  sim->dedupe = dedupe;
  sim->auto_pay = auto_pay;
  sim->profile = wanted;
  take_keys(&sim->keys, &keys);
  if (url != NULL) (void)snprintf(sim->callback_url, sizeof sim->callback_url, "%s", url);
  reply_config(req);
}

// Members that are left out stay as they are.
void sim_control_config(struct web_request *req)
{
  json_t *json = read_object(req);
  if (json == NULL) return;
  struct jsonx_reader r;
  jsonx_reader_init(&r, json, "");
  apply_config(req, &r);
  json_decref(json);
}

void sim_control_config_show(struct web_request *req) { reply_config(req); }

void sim_control_reset(struct web_request *req)
{
  struct sim *sim = web_context(req);
  sim_reset(sim);
  reply_config(req);
}

void sim_control_script(struct web_request *req)
{
  struct sim *sim = web_context(req);
  json_t *json = read_object(req);
  if (json == NULL) return;
  char why[JSONX_WHY_BYTES] = "";
  switch (sim_scripts_add(&sim->scripts, json, why)) {
    case RESULT_OK: web_reply_json(req, 200, "{}", 2); break;
    case RESULT_FULL: refuse(req, 503, "UNAVAILABLE", "too many scripts; POST /sim/reset forgets them"); break;
    default: refuse(req, 400, "INVALID_REQUEST", why); break;
  }
  json_decref(json);
}

void sim_control_chaos(struct web_request *req)
{
  struct sim *sim = web_context(req);
  json_t *json = read_object(req);
  if (json == NULL) return;
  char why[JSONX_WHY_BYTES] = "";
  if (sim_chaos_parse(json, &sim->chaos, why) == RESULT_OK)
    web_reply_json(req, 200, "{}", 2);
  else
    refuse(req, 400, "INVALID_REQUEST", why);
  json_decref(json);
}
