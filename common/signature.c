// SPDX-License-Identifier: Apache-2.0
// SHA-256, HMAC and Standard Webhooks signatures over libcrypto: see signature.h.
// Owner: the thread of the context.
#include "common/signature.h"

#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

#include "common/contract.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"

#define SIGNATURES_MAX           32    // in one header
#define WEBHOOK_HEADER_BYTES_MAX 64    // "v1," and the base64 of 32 bytes
#define WEBHOOK_HEAD_BYTES_MAX   1024  // "{id}.{timestamp}."

struct signature {
  EVP_MD *sha256;
  EVP_MD_CTX *digest;
  EVP_MAC *hmac;
  EVP_MAC_CTX *keyless;  // digest chosen, key not; each use starts from a copy
};

struct signature *signature_new(void)
{
  struct signature *s = MEM_NEW(struct signature);
  char digest_name[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", digest_name, 0), OSSL_PARAM_construct_end()};
  s->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  s->digest = EVP_MD_CTX_new();
  s->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  ENSURE(s->sha256 != NULL && s->digest != NULL && s->hmac != NULL);
  s->keyless = EVP_MAC_CTX_new(s->hmac);
  ENSURE(s->keyless != NULL && EVP_MAC_CTX_set_params(s->keyless, params) == 1);
  return s;
}

void signature_free(struct signature *s)
{
  if (!s) return;
  EVP_MAC_CTX_free(s->keyless);
  EVP_MAC_free(s->hmac);
  EVP_MD_CTX_free(s->digest);
  EVP_MD_free(s->sha256);
  mem_free(s);
}

void signature_sha256(struct signature *s, const void *bytes, size_t len, uint8_t out[SIGNATURE_SHA256_BYTES])
{
  unsigned out_len = 0;
  ENSURE(EVP_DigestInit_ex2(s->digest, s->sha256, NULL) == 1);
  ENSURE(EVP_DigestUpdate(s->digest, bytes, len) == 1);
  ENSURE(EVP_DigestFinal_ex(s->digest, out, &out_len) == 1 && out_len == SIGNATURE_SHA256_BYTES);
}

// HMAC over head and body, one after the other.
static void hmac_two(struct signature *s, const void *key, size_t key_len, const void *head, size_t head_len,
                     const void *body, size_t body_len, uint8_t out[SIGNATURE_SHA256_BYTES])
{
  static const uint8_t nothing[1] = {0};
  size_t out_len = 0;
  EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(s->keyless);
  ENSURE(ctx != NULL);
  ENSURE(EVP_MAC_init(ctx, key_len > 0 ? key : nothing, key_len, NULL) == 1);  // a NULL key would mean "the one before"
  ENSURE(head_len == 0 || EVP_MAC_update(ctx, head, head_len) == 1);
  ENSURE(body_len == 0 || EVP_MAC_update(ctx, body, body_len) == 1);
  ENSURE(EVP_MAC_final(ctx, out, &out_len, SIGNATURE_SHA256_BYTES) == 1 && out_len == SIGNATURE_SHA256_BYTES);
  EVP_MAC_CTX_free(ctx);
}

void signature_hmac_sha256(struct signature *s, const void *key, size_t key_len, const void *bytes, size_t len,
                           uint8_t out[SIGNATURE_SHA256_BYTES])
{
  hmac_two(s, key, key_len, bytes, len, NULL, 0, out);
}

// --- Standard Webhooks

// The key of a secret: what "whsec_…" encodes, or else the bytes as they are.
static void secret_key(const char *secret, size_t len, struct buf *out)
{
  static const char prefix[] = "whsec_";
  size_t prefix_len = sizeof prefix - 1;
  buf_init(out, CONF_SECRET_BYTES_MAX);
  if (len > prefix_len && memcmp(secret, prefix, prefix_len) == 0 &&
      text_from_base64(secret + prefix_len, len - prefix_len, out) == RESULT_OK)
    return;
  buf_clear(out);
  buf_append(out, secret, len < CONF_SECRET_BYTES_MAX ? len : CONF_SECRET_BYTES_MAX);
}

// The base64 of the signature of "{id}.{timestamp}.{body}".
static void sign(struct signature *s, const char *secret, size_t secret_len, const struct buf *head, const char *body,
                 size_t body_len, struct buf *out)
{
  struct buf key;
  uint8_t mac[SIGNATURE_SHA256_BYTES];
  secret_key(secret, secret_len, &key);
  hmac_two(s, key.data, key.len, head->data, head->len, body, body_len, mac);
  text_base64(mac, sizeof mac, out);
  buf_release(&key);
}

void signature_webhook_sign(struct signature *s, const char *secret, size_t secret_len, const char *id,
                            int64_t timestamp_s, const char *body, size_t body_len, struct buf *out_header)
{
  struct buf head;
  buf_init(&head, strlen(id) + 32);
  buf_puts(&head, id);
  buf_putc(&head, '.');
  buf_put_i64(&head, timestamp_s);
  buf_putc(&head, '.');
  buf_puts(out_header, "v1,");
  sign(s, secret, secret_len, &head, body, body_len, out_header);
  buf_release(&head);
}

// Is one of the space-separated "v1,<base64>" this one? All are compared, so that time tells nothing.
static bool is_among(const char *signatures, const struct buf *expected)
{
  bool found = false;
  size_t seen = 0;
  for (const char *at = signatures; *at != '\0' && seen < SIGNATURES_MAX; seen++) {
    at += strspn(at, " ");
    size_t len = strcspn(at, " ");
    if (len > 3 && memcmp(at, "v1,", 3) == 0 && text_equals_secret(at + 3, len - 3, expected->data, expected->len))
      found = true;
    at += len;
  }
  return found;
}

static bool is_recent(const char *timestamp, struct wall_time now, struct span tolerance)
{
  int64_t seconds;
  if (text_to_i64(timestamp, strlen(timestamp), &seconds) != RESULT_OK || seconds < 0 || seconds > INT64_MAX / 1000000)
    return false;
  int64_t apart = now.us - seconds * 1000000;
  return apart <= tolerance.us && apart >= -tolerance.us;
}

enum result signature_webhook_verify(struct signature *s, const struct signature_secret *secrets, size_t secret_count,
                                     const char *id, const char *timestamp, const char *signatures, const char *body,
                                     size_t body_len, struct wall_time now, struct span tolerance)
{
  bool found = false;
  struct buf head, expected;
  if (!id || !timestamp || !signatures || strlen(id) > WEBHOOK_HEAD_BYTES_MAX - 32 ||
      !is_recent(timestamp, now, tolerance))
    return RESULT_DENIED;
  buf_init(&head, WEBHOOK_HEAD_BYTES_MAX);
  buf_init(&expected, WEBHOOK_HEADER_BYTES_MAX);
  buf_printf(&head, "%s.%s.", id, timestamp);
  for (size_t i = 0; i < secret_count; i++) {
    if (secrets[i].len == 0) continue;  // anybody can sign with no secret
    buf_clear(&expected);
    sign(s, secrets[i].bytes, secrets[i].len, &head, body, body_len, &expected);
    if (is_among(signatures, &expected)) found = true;
  }
  buf_release(&expected);
  buf_release(&head);
  return found ? RESULT_OK : RESULT_DENIED;
}
