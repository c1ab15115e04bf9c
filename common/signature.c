// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC over libcrypto: see signature.h.
// Owner: the thread of the context.
#include <openssl/params.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/signature_internal.h"

struct signature *signature_new(void)
{
  struct signature *s = MEM_NEW(struct signature);
  char digest_name[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", digest_name, 0), OSSL_PARAM_construct_end()};
  s->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  s->digest = EVP_MD_CTX_new();
  s->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  s->aes = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
  s->cipher = EVP_CIPHER_CTX_new();
  ENSURE(s->sha256 != NULL && s->digest != NULL && s->hmac != NULL && s->aes != NULL && s->cipher != NULL);
  s->keyless = EVP_MAC_CTX_new(s->hmac);
  ENSURE(s->keyless != NULL && EVP_MAC_CTX_set_params(s->keyless, params) == 1);
  return s;
}

void signature_free(struct signature *s)
{
  if (!s) return;
  EVP_CIPHER_CTX_free(s->cipher);
  EVP_CIPHER_free(s->aes);
  EVP_MAC_CTX_free(s->keyless);
  EVP_MAC_free(s->hmac);
  EVP_MD_CTX_free(s->digest);
  EVP_MD_free(s->sha256);
  mem_free(s);
}

void signature_sha256_begin(struct signature *s) { ENSURE(EVP_DigestInit_ex2(s->digest, s->sha256, NULL) == 1); }

void signature_sha256_add(struct signature *s, const void *bytes, size_t len)
{
  ENSURE(EVP_DigestUpdate(s->digest, bytes, len) == 1);
}

void signature_sha256_end(struct signature *s, uint8_t out[SIGNATURE_SHA256_BYTES])
{
  unsigned out_len = 0;
  ENSURE(EVP_DigestFinal_ex(s->digest, out, &out_len) == 1 && out_len == SIGNATURE_SHA256_BYTES);
}

void signature_sha256(struct signature *s, const void *bytes, size_t len, uint8_t out[SIGNATURE_SHA256_BYTES])
{
  signature_sha256_begin(s);
  signature_sha256_add(s, bytes, len);
  signature_sha256_end(s, out);
}

void signature_hmac_two(struct signature *s, const void *key, size_t key_len, const void *head, size_t head_len,
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
  signature_hmac_two(s, key, key_len, bytes, len, NULL, 0, out);
}
