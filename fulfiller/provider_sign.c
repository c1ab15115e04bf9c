// SPDX-License-Identifier: Apache-2.0
// How providers want requests signed: see provider_sign.h for the exact bytes. Loop thread.
#include "fulfiller/provider_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "common/contract.h"
#include "common/text.h"

#define MESSAGE_BYTES_MAX (512 * 1024)
#define FIELDS_MAX        128

struct render_moment render_moment_now(void)
{
  uint8_t bytes[(NONCE_BYTES - 1) / 2];
  struct render_moment moment = {.now = clk_wall()};
  struct buf hex;
  ssize_t got = getrandom(bytes, sizeof bytes, 0);  // so few never come in parts once the system is up
  ENSURE(got == (ssize_t)sizeof bytes);
  buf_init(&hex, NONCE_BYTES);
  text_hex(bytes, sizeof bytes, &hex);
  memcpy(moment.nonce, buf_text(&hex), NONCE_BYTES);
  buf_release(&hex);
  return moment;
}

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

static bool is_secret(const struct provider_conf *conf, const char *name)
{
  for (size_t i = 0; i < conf->secrets.count; i++) {
    if (strcmp(conf->secrets.items[i].name, name) == 0) return true;
  }
  return false;
}

// These stand in quotes inside a header.
static enum result check_merchant(const char *key, const char *value, bool is_wanted, struct conf_fault *fault)
{
  if (!is_wanted) return value == NULL ? RESULT_OK : FAIL(fault, "sign.%s: only sign.scheme wechatpay_v3 has one", key);
  if (value == NULL) return FAIL(fault, "sign.%s: is missing: wechatpay_v3 needs it", key);
  return text_is_code(value, strlen(value)) ? RESULT_OK : FAIL(fault, "sign.%s: must be letters and digits", key);
}

static enum result check_secret(const struct provider_conf *conf, struct conf_fault *fault)
{
  const char *secret = conf->sign.secret;
  if (conf->sign.scheme == SIGN_NONE)
    return secret == NULL ? RESULT_OK : FAIL(fault, "sign.secret: sign.scheme is none");
  if (secret == NULL) return FAIL(fault, "sign.secret: is missing: the scheme needs a name out of secrets");
  return is_secret(conf, secret) ? RESULT_OK : FAIL(fault, "sign.secret: '%.60s' is not among secrets", secret);
}

enum result sign_profile_compile(const struct provider_conf *conf, struct sign_profile *out_profile,
                                 struct conf_fault *out_fault)
{
  enum result result;
  const struct sign_conf *c = &conf->sign;
  bool is_wechat = c->scheme == SIGN_WECHATPAY_V3, is_hmac = c->scheme == SIGN_HMAC;
  struct sign_profile p = {(enum sign_scheme)c->scheme, c->secret, c->header, c->timestamp_header, c->mchid, c->serial};
  TRY(check_secret(conf, out_fault));
  TRY(check_merchant("mchid", c->mchid, is_wechat, out_fault));
  TRY(check_merchant("serial", c->serial, is_wechat, out_fault));
  if (c->header != NULL && !is_hmac && c->scheme != SIGN_BEARER)
    TRY(FAIL(out_fault, "sign.header: only sign.scheme bearer and hmac have one"));
  if (c->timestamp_header != NULL && !is_hmac)
    TRY(FAIL(out_fault, "sign.timestamp_header: only sign.scheme hmac has one"));
  if (is_wechat || (c->scheme == SIGN_BEARER && p.header == NULL)) p.header = "Authorization";
  if (is_hmac && p.header == NULL) p.header = "X-Signature";
  if (is_hmac && p.timestamp_header == NULL) p.timestamp_header = "X-Timestamp";
  *out_profile = p;
cleanup:
  return result;
}

struct signing {
  struct signature *s;
  const struct sign_profile *profile;
  const struct provider_keys *keys;
  const struct render_moment *moment;
  const struct sign_request *request;
  struct buf *text;
  struct sign_header *headers;
  size_t header_count;
};

static void begin_header(struct signing *g, const char *name)
{
  g->headers[g->header_count++] = (struct sign_header){name, g->text->len};
}

static void end_header(struct signing *g) { buf_putc(g->text, '\0'); }

static int64_t unix_seconds(const struct signing *g) { return g->moment->now.us / 1000000; }

// The path and query as they are sent.
static const char *path_of(const struct sign_request *request)
{
  const char *url = buf_text(request->url), *host = strstr(url, "://");
  const char *path = strpbrk(host == NULL ? url : host + 3, "/?");
  return path == NULL ? "/" : path;
}

// What curl puts in front of a query without a path.
static const char *root_of(const struct sign_request *request) { return path_of(request)[0] == '?' ? "/" : ""; }

static void put_body(const struct sign_request *request, struct buf *out)
{
  if (request->has_body) buf_append(out, buf_text(request->body), request->body->len);
}

static enum result sign_bearer(struct signing *g)
{
  const struct provider_secret *secret = provider_keys_find(g->keys, g->profile->secret);
  if (secret == NULL || strpbrk(secret->bytes, "\r\n") != NULL) return RESULT_INVALID;
  begin_header(g, g->profile->header);
  if (strcasecmp(g->profile->header, "Authorization") == 0) buf_puts(g->text, "Bearer ");
  buf_append(g->text, secret->bytes, secret->len);
  end_header(g);
  return RESULT_OK;
}

static enum result sign_hmac(struct signing *g)
{
  uint8_t mac[SIGNATURE_SHA256_BYTES];
  struct buf message;
  const struct provider_secret *secret = provider_keys_find(g->keys, g->profile->secret);
  if (secret == NULL) return RESULT_INVALID;
  buf_init(&message, MESSAGE_BYTES_MAX);
  buf_printf(&message, "%s\n%s%s\n%lld\n", g->request->method, root_of(g->request), path_of(g->request),
             (long long)unix_seconds(g));
  put_body(g->request, &message);
  enum result result = buf_result(&message);
  if (result == RESULT_OK) {
    signature_hmac_sha256(g->s, secret->bytes, secret->len, buf_text(&message), message.len, mac);
    begin_header(g, g->profile->header);
    text_hex(mac, sizeof mac, g->text);
    end_header(g);
    begin_header(g, g->profile->timestamp_header);
    buf_put_i64(g->text, unix_seconds(g));
    end_header(g);
  }
  buf_release(&message);
  return result;
}

static enum result sign_wechatpay(struct signing *g)
{
  enum result result;
  struct buf message;
  buf_init(&message, MESSAGE_BYTES_MAX);
  buf_printf(&message, "%s\n%s%s\n%lld\n%s\n", g->request->method, root_of(g->request), path_of(g->request),
             (long long)unix_seconds(g), g->moment->nonce);
  put_body(g->request, &message);
  buf_putc(&message, '\n');
  TRY(buf_result(&message));
  begin_header(g, g->profile->header);
  buf_printf(g->text, "WECHATPAY2-SHA256-RSA2048 mchid=\"%s\",nonce_str=\"%s\",signature=\"", g->profile->mchid,
             g->moment->nonce);
  TRY(signature_rsa_sign(g->s, g->keys->rsa, buf_text(&message), message.len, g->text));
  buf_printf(g->text, "\",timestamp=\"%lld\",serial_no=\"%s\"", (long long)unix_seconds(g), g->profile->serial);
  end_header(g);
cleanup:
  buf_release(&message);
  return result;
}

// --- forms

// Decoded texts one behind the other in one buffer, each with its NUL.
struct form_field {
  size_t name_at, value_at;
};
struct form {
  struct buf text;
  struct form_field fields[FIELDS_MAX];
  size_t count;
};

static enum result add_field(struct form *form, const char *text, size_t len)
{
  const char *equals = memchr(text, '=', len);
  size_t name_len = equals == NULL ? len : (size_t)(equals - text);
  if (len == 0) return RESULT_OK;
  if (form->count == FIELDS_MAX) return RESULT_TOO_BIG;
  struct form_field *field = &form->fields[form->count++];
  field->name_at = form->text.len;
  enum result result = text_url_decode(text, name_len, true, &form->text);
  buf_putc(&form->text, '\0');
  field->value_at = form->text.len;
  if (result == RESULT_OK && equals != NULL)
    result = text_url_decode(equals + 1, len - name_len - 1, true, &form->text);
  buf_putc(&form->text, '\0');
  return result == RESULT_OK ? buf_result(&form->text) : result;
}

static enum result add_fields(struct form *form, const char *text)
{
  enum result result = RESULT_OK;
  while (result == RESULT_OK && *text != '\0') {
    size_t len = strcspn(text, "&");
    result = add_field(form, text, len);
    text += len + (text[len] == '&');
  }
  return result;
}

static int by_name(const void *a, const void *b, void *text)
{
  const struct form_field *left = a, *right = b;
  return strcmp((const char *)text + left->name_at, (const char *)text + right->name_at);
}

static const char *value_of(const struct form *form, const char *name)
{
  for (size_t i = 0; i < form->count; i++) {
    if (strcmp(form->text.data + form->fields[i].name_at, name) == 0) return form->text.data + form->fields[i].value_at;
  }
  return NULL;
}

// "a=1&b=2" of what has a value.
static void put_message(struct form *form, struct buf *out)
{
  qsort_r(form->fields, form->count, sizeof form->fields[0], by_name, form->text.data);
  for (size_t i = 0; i < form->count; i++) {
    const char *name = form->text.data + form->fields[i].name_at, *value = form->text.data + form->fields[i].value_at;
    if (value[0] == '\0' || strcmp(name, "sign") == 0) continue;
    buf_printf(out, "%s%s=%s", out->len == 0 ? "" : "&", name, value);
  }
}

static void append_to_form(struct buf *form, bool is_first, const char *field)
{
  if (!is_first) buf_putc(form, '&');
  buf_puts(form, field);
}

static enum result put_signature(struct signing *g, const struct buf *message, struct buf *target)
{
  struct buf base64;
  buf_init(&base64, 2048);
  enum result result = signature_rsa_sign(g->s, g->keys->rsa, buf_text(message), message->len, &base64);
  if (result == RESULT_OK) {
    append_to_form(target, false, "sign=");
    text_url_encode(base64.data, base64.len, target);
    result = buf_result(target);
  }
  buf_release(&base64);
  return result;
}

static enum result sign_alipay(struct signing *g)
{
  enum result result;
  struct form form = {.count = 0};
  struct buf message;
  struct buf *target = g->request->has_body ? g->request->body : g->request->url;
  const char *query = strchr(buf_text(g->request->url), '?');
  buf_init(&form.text, MESSAGE_BYTES_MAX);
  buf_init(&message, MESSAGE_BYTES_MAX);
  if (query != NULL) TRY(add_fields(&form, query + 1));
  if (g->request->has_body) TRY(add_fields(&form, buf_text(g->request->body)));
  if (value_of(&form, "sign_type") == NULL) {
    bool is_first = g->request->has_body ? target->len == 0 : query == NULL;
    if (!g->request->has_body && query == NULL) buf_putc(target, '?');
    append_to_form(target, is_first, "sign_type=RSA2");
    TRY(add_field(&form, "sign_type=RSA2", strlen("sign_type=RSA2")));
  }
  put_message(&form, &message);
  TRY(buf_result(&message));
  TRY(put_signature(g, &message, target));
cleanup:
  buf_release(&message);
  buf_release(&form.text);
  return result;
}

enum result provider_sign(struct signature *s, const struct sign_profile *profile, const struct provider_keys *keys,
                          const struct render_moment *moment, const struct sign_request *request, struct buf *text,
                          struct sign_header headers[SIGN_HEADERS_MAX], size_t *out_count)
{
  struct signing g = {s, profile, keys, moment, request, text, headers, 0};
  enum result result = RESULT_OK;
  bool is_rsa = profile->scheme == SIGN_WECHATPAY_V3 || profile->scheme == SIGN_ALIPAY_RSA2;
  if (is_rsa && (keys == NULL || keys->rsa == NULL)) return RESULT_INVALID;
  switch (profile->scheme) {
    case SIGN_NONE: break;
    case SIGN_BEARER: result = sign_bearer(&g); break;
    case SIGN_HMAC: result = sign_hmac(&g); break;
    case SIGN_WECHATPAY_V3: result = sign_wechatpay(&g); break;
    case SIGN_ALIPAY_RSA2: result = sign_alipay(&g); break;
  }
  if (result == RESULT_OK) result = buf_result(text);
  if (result == RESULT_OK) *out_count = g.header_count;
  return result;
}
