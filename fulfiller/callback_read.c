// SPDX-License-Identifier: Apache-2.0
// Verifying callbacks and turning their bodies into one JSON document, whatever their form. Pure.
#include "fulfiller/callback_read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/jsonx.h"
#include "common/text.h"

#define FORM_FIELDS_MAX  128
#define FORM_BYTES_MAX   (256 * 1024)
#define SIGNED_BYTES_MAX (2 * 1024 * 1024)
#define RESOURCE_AAD_MAX 256
#define WECHAT_NONCE_MAX 256
#define WECHAT_PROBE     "WECHATPAY/SIGNTEST/"

#define REFUSE(result, why) (*out_why = (why), (result))

static const char *header(const struct callback_request *r, const char *name)
{
  const char *value = r->header(r->ctx, name);
  return value == NULL ? "" : value;
}

// --- content types

// "type/subtype" with no charset but UTF-8.
static bool is_type(const char *given, const char *wanted)
{
  size_t len = strlen(wanted);
  if (given == NULL || strncasecmp(given, wanted, len) != 0) return false;
  const char *rest = given + len + strspn(given + len, " \t");
  if (*rest != '\0' && *rest != ';') return false;
  const char *charset = strcasestr(rest, "charset=");
  if (charset == NULL) return true;
  charset += strlen("charset=");
  charset += *charset == '"';
  return strncasecmp(charset, "utf-8", 5) == 0;
}

// --- JSON under a shared secret

static enum result read_json(const struct callback_request *r, json_t **out_document, const char **out_why)
{
  if (jsonx_parse(r->body, r->body_len, out_document, NULL) != RESULT_OK)
    return REFUSE(RESULT_INVALID, "the body is no valid JSON");
  return RESULT_OK;
}

static enum result read_standard(const struct callback_profile *p, const struct callback_keys *keys,
                                 struct signature *s, const struct callback_request *r, struct wall_time now,
                                 json_t **out_document, const char **out_why)
{
  const char *id = header(r, "webhook-id");
  if (id[0] == '\0') return REFUSE(RESULT_DENIED, "no webhook-id");
  if (!signature_is_recent(header(r, "webhook-timestamp"), now, p->tolerance))
    return REFUSE(RESULT_DENIED, "the timestamp is missing, malformed or out of tolerance");
  if (signature_webhook_verify(s, keys->secrets, keys->count, id, header(r, "webhook-timestamp"),
                               header(r, "webhook-signature"), r->body, r->body_len, now, p->tolerance) != RESULT_OK)
    return REFUSE(RESULT_DENIED, "no signature is right");
  return read_json(r, out_document, out_why);
}

static enum result read_stripe(const struct callback_profile *p, const struct callback_keys *keys, struct signature *s,
                               const struct callback_request *r, struct wall_time now, json_t **out_document,
                               const char **out_why)
{
  if (signature_stripe_verify(s, keys->secrets, keys->count, header(r, "Stripe-Signature"), r->body, r->body_len, now,
                              p->tolerance) != RESULT_OK)
    return REFUSE(RESULT_DENIED, "no signature is right, or the timestamp is out of tolerance");
  return read_json(r, out_document, out_why);
}

// --- WeChat Pay v3

static struct signature_key *key_of_serial(const struct callback_keys *keys, const char *serial)
{
  for (size_t i = 0; i < keys->count; i++) {
    if (strcasecmp(keys->items[i].name, serial) == 0) return keys->items[i].rsa;
  }
  return NULL;
}

// timestamp\nnonce\nbody\n
static enum result verify_wechat(const struct callback_profile *p, const struct callback_keys *keys,
                                 struct signature *s, const struct callback_request *r, struct wall_time now,
                                 const char **out_why)
{
  struct buf text;
  const char *timestamp = header(r, "Wechatpay-Timestamp"), *nonce = header(r, "Wechatpay-Nonce");
  const char *signature = header(r, "Wechatpay-Signature");
  struct signature_key *key = key_of_serial(keys, header(r, "Wechatpay-Serial"));
  if (key == NULL) return REFUSE(RESULT_DENIED, "no key of this Wechatpay-Serial");
  if (strncmp(signature, WECHAT_PROBE, strlen(WECHAT_PROBE)) == 0)
    return REFUSE(RESULT_DENIED, "a probe that must not be taken for signed");
  if (!signature_is_recent(timestamp, now, p->tolerance))
    return REFUSE(RESULT_DENIED, "the timestamp is missing, malformed or out of tolerance");
  if (strlen(nonce) > WECHAT_NONCE_MAX) return REFUSE(RESULT_DENIED, "the nonce is too long");
  buf_init(&text, SIGNED_BYTES_MAX);
  buf_printf(&text, "%s\n%s\n", timestamp, nonce);
  buf_append(&text, r->body, r->body_len);
  buf_putc(&text, '\n');
  enum result result = buf_result(&text);
  if (result == RESULT_OK) result = signature_rsa_verify(s, key, text.data, text.len, signature, strlen(signature));
  buf_release(&text);
  return result == RESULT_OK ? RESULT_OK : REFUSE(RESULT_DENIED, "the signature is wrong");
}

// The bytes of the member "resource", in the clear. RESULT_DENIED: not encrypted with our key.
static enum result open_resource(const struct callback_keys *keys, struct signature *s, const json_t *resource,
                                 struct buf *out_plain)
{
  const char *algorithm = json_string_value(json_object_get(resource, "algorithm"));
  const char *cipher = json_string_value(json_object_get(resource, "ciphertext"));
  const char *nonce = json_string_value(json_object_get(resource, "nonce"));
  const char *aad = json_string_value(json_object_get(resource, "associated_data"));
  struct buf sealed;
  if (aad == NULL) aad = "";
  if (algorithm == NULL || strcmp(algorithm, "AEAD_AES_256_GCM") != 0 || cipher == NULL || nonce == NULL ||
      strlen(nonce) != SIGNATURE_AES_NONCE_BYTES || strlen(aad) > RESOURCE_AAD_MAX)
    return RESULT_INVALID;
  buf_init(&sealed, SIGNED_BYTES_MAX);
  enum result result = text_from_base64(cipher, strlen(cipher), &sealed);
  if (result == RESULT_OK)
    result = signature_aes_open(s, keys->decrypt_key, (const uint8_t *)nonce, aad, strlen(aad), buf_text(&sealed),
                                sealed.len, out_plain);
  buf_release(&sealed);
  return result;
}

// In the document the resource stands decrypted where it stood encrypted.
static enum result read_wechat(const struct callback_profile *p, const struct callback_keys *keys, struct signature *s,
                               const struct callback_request *r, struct wall_time now, json_t **out_document,
                               const char **out_why)
{
  struct buf plain;
  json_t *document = NULL, *inner = NULL;
  enum result result = verify_wechat(p, keys, s, r, now, out_why);
  if (result == RESULT_OK) result = read_json(r, &document, out_why);
  if (result != RESULT_OK) return result;
  buf_init(&plain, SIGNED_BYTES_MAX);
  const json_t *resource = json_object_get(document, "resource");
  if (resource != NULL) {
    if (open_resource(keys, s, resource, &plain) != RESULT_OK)
      result = REFUSE(RESULT_DENIED, "the resource cannot be decrypted");
    else if (jsonx_parse(buf_text(&plain), plain.len, &inner, NULL) != RESULT_OK)
      result = REFUSE(RESULT_INVALID, "the decrypted resource is no valid JSON");
    else
      json_object_set_new(document, "resource", inner);
  }
  buf_wipe(&plain);
  if (result == RESULT_OK)
    *out_document = document;
  else
    json_decref(document);
  return result;
}

// --- Alipay

// One name=value of the form, decoded, into the object. A name twice would leave open which one counts.
static bool take_field(const char *text, size_t len, json_t *form)
{
  struct buf name, value;
  const char *equals = memchr(text, '=', len);
  size_t name_len = equals == NULL ? len : (size_t)(equals - text);
  bool is_good = false;
  buf_init(&name, FORM_BYTES_MAX);
  buf_init(&value, FORM_BYTES_MAX);
  if (name_len > 0 && text_url_decode(text, name_len, true, &name) == RESULT_OK &&
      (equals == NULL || text_url_decode(equals + 1, len - name_len - 1, true, &value) == RESULT_OK))
    is_good = text_is_utf8(buf_text(&name), name.len) && text_is_utf8(buf_text(&value), value.len) &&
              json_object_get(form, buf_text(&name)) == NULL && json_object_size(form) < FORM_FIELDS_MAX &&
              json_object_set_new(form, buf_text(&name), json_stringn(buf_text(&value), value.len)) == 0;
  buf_release(&value);
  buf_release(&name);
  return is_good;
}

static bool read_form(const char *body, size_t len, json_t *form)
{
  for (size_t at = 0; at < len;) {
    const char *end = memchr(body + at, '&', len - at);
    size_t part = end == NULL ? len - at : (size_t)(end - body) - at;
    if (part > 0 && !take_field(body + at, part, form)) return false;
    at += part + 1;
  }
  return json_object_size(form) > 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

// name=value of every field but sign and sign_type, sorted by name, joined by &.
static void alipay_text(json_t *form, struct buf *out)
{
  const char *names[FORM_FIELDS_MAX], *name = NULL;
  json_t *value = NULL;
  size_t count = 0;
  json_object_foreach(form, name, value)
  {
    if (strcmp(name, "sign") != 0 && strcmp(name, "sign_type") != 0) names[count++] = name;
  }
  qsort(names, count, sizeof names[0], by_name);
  for (size_t i = 0; i < count; i++) {
    buf_printf(out, "%s%s=", i == 0 ? "" : "&", names[i]);
    const json_t *text = json_object_get(form, names[i]);
    buf_append(out, json_string_value(text), json_string_length(text));
  }
}

static enum result verify_alipay(const struct callback_keys *keys, struct signature *s, json_t *form,
                                 const char **out_why)
{
  const char *sign = json_string_value(json_object_get(form, "sign"));
  const char *type = json_string_value(json_object_get(form, "sign_type"));
  struct buf text;
  if (sign == NULL || type == NULL || strcmp(type, "RSA2") != 0)
    return REFUSE(RESULT_DENIED, "no sign, or its sign_type is not RSA2");
  buf_init(&text, SIGNED_BYTES_MAX);
  alipay_text(form, &text);
  enum result result = RESULT_DENIED;
  for (size_t i = 0; buf_result(&text) == RESULT_OK && i < keys->count; i++) {
    if (signature_rsa_verify(s, keys->items[i].rsa, buf_text(&text), text.len, sign, strlen(sign)) == RESULT_OK)
      result = RESULT_OK;
  }
  buf_release(&text);
  return result == RESULT_OK ? RESULT_OK : REFUSE(RESULT_DENIED, "the signature is wrong");
}

// The fields as members of one object; what was signed is what they decode to, in any order.
static enum result read_alipay(const struct callback_keys *keys, struct signature *s, const struct callback_request *r,
                               json_t **out_document, const char **out_why)
{
  json_t *form = json_object();
  enum result result = RESULT_OK;
  if (!read_form(r->body, r->body_len, form))
    result = REFUSE(RESULT_INVALID, "the body is no valid form");
  else
    result = verify_alipay(keys, s, form, out_why);
  if (result == RESULT_OK) {
    json_object_del(form, "sign");
    *out_document = form;
  } else {
    json_decref(form);
  }
  return result;
}

// --- all of them

static enum result read_document(const struct callback_profile *p, const struct callback_keys *keys,
                                 struct signature *s, const struct callback_request *r, struct wall_time now,
                                 json_t **out_document, const char **out_why)
{
  const char *type = p->scheme == CALLBACK_ALIPAY ? "application/x-www-form-urlencoded" : "application/json";
  if (!is_type(r->content_type, type)) return REFUSE(RESULT_UNEXPECTED, "wrong content type");
  switch (p->scheme) {
    case CALLBACK_STANDARD_WEBHOOKS: return read_standard(p, keys, s, r, now, out_document, out_why);
    case CALLBACK_STRIPE: return read_stripe(p, keys, s, r, now, out_document, out_why);
    case CALLBACK_WECHATPAY_V3: return read_wechat(p, keys, s, r, now, out_document, out_why);
    case CALLBACK_ALIPAY: return read_alipay(keys, s, r, out_document, out_why);
    case CALLBACK_NONE: break;
  }
  return REFUSE(RESULT_DENIED, "this provider sends no callbacks");
}

enum result callback_read(const struct callback_profile *p, const struct callback_keys *keys, struct signature *s,
                          const struct callback_request *r, struct wall_time now, struct callback_event *out_event,
                          const char **out_why)
{
  json_t *document = NULL;
  enum result result = read_document(p, keys, s, r, now, &document, out_why);
  if (result != RESULT_OK) return result;
  const char *id = p->scheme == CALLBACK_STANDARD_WEBHOOKS ? header(r, "webhook-id") : NULL;
  result = callback_event_from(p, s, document, id, r, out_event, out_why);
  json_decref(document);
  return result;
}
