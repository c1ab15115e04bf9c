// SPDX-License-Identifier: Apache-2.0
// Signatures and their encodings over libcrypto. Algorithms are fetched once and kept in the context (OpenSSL 3.0
// contends on per-call fetches). One context per thread. The only user of openssl headers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/result.h"

struct signature;
struct signature *signature_new(void);
void signature_free(struct signature *s);

#define SIGNATURE_SHA256_BYTES 32
void signature_sha256(struct signature *s, const void *bytes, size_t len, uint8_t out[SIGNATURE_SHA256_BYTES]);
// The same of bytes that come piece by piece; one at a time, and nothing else that hashes in between.
void signature_sha256_begin(struct signature *s);
void signature_sha256_add(struct signature *s, const void *bytes, size_t len);
void signature_sha256_end(struct signature *s, uint8_t out[SIGNATURE_SHA256_BYTES]);
void signature_hmac_sha256(struct signature *s, const void *key, size_t key_len, const void *bytes, size_t len,
                           uint8_t out[SIGNATURE_SHA256_BYTES]);

// Standard Webhooks 1.0.0: header value "v1,<base64>" over "{id}.{timestamp}.{body}". The secret is "whsec_" + base64,
// or raw bytes.
void signature_webhook_sign(struct signature *s, const char *secret, size_t secret_len, const char *id,
                            int64_t timestamp_s, const char *body, size_t body_len, struct buf *out_header);
// Of a secret that begins with "whsec_": it goes on with the base64 of 24 to 64 bytes. Others are raw bytes: true.
bool signature_webhook_is_whole(const char *secret, size_t len);
// Any of the space-separated signatures with any of the secrets; |now - timestamp| <= tolerance. RESULT_DENIED
// otherwise.
struct signature_secret {
  const char *bytes;
  size_t len;
};
MUST_CHECK enum result signature_webhook_verify(struct signature *s, const struct signature_secret *secrets,
                                                size_t secret_count, const char *id, const char *timestamp,
                                                const char *signatures, const char *body, size_t body_len,
                                                struct wall_time now, struct span tolerance);
// Is a timestamp in whole Unix seconds, as a header writes it, at most tolerance away from now? Not a number, missing
// (NULL): no.
bool signature_is_recent(const char *timestamp, struct wall_time now, struct span tolerance);

// Stripe style: the header "t=<unix>,v1=<hex>[,v1=<hex>]" over "{t}.{body}", keyed with the whole secret as text.
void signature_stripe_sign(struct signature *s, const char *secret, size_t secret_len, int64_t timestamp_s,
                           const char *body, size_t body_len, struct buf *out_header);
// Any of the v1 signatures with any of the secrets; |now - t| <= tolerance. RESULT_DENIED otherwise.
MUST_CHECK enum result signature_stripe_verify(struct signature *s, const struct signature_secret *secrets,
                                               size_t secret_count, const char *header, const char *body,
                                               size_t body_len, struct wall_time now, struct span tolerance);

// --- RSA: SHA256withRSA with PKCS #1 v1.5 padding, as WeChat Pay v3 and Alipay (RSA2) have it

// A key of 2048 to 8192 bits that can sign, or one that can verify. It is used by one thread.
struct signature_key;
// PEM (PKCS #8 or PKCS #1), or the base64 inside it without its frame. RESULT_INVALID: no such key, too short, or
// behind a password.
MUST_CHECK enum result signature_key_private(const char *pem, size_t len, struct signature_key **out_key);
// A public key as PEM or as base64 without its frame, or a certificate in PEM (its dates are not looked at).
MUST_CHECK enum result signature_key_public(const char *pem, size_t len, struct signature_key **out_key);
void signature_key_free(struct signature_key *key);
// Appends the base64 of the signature of bytes. Contract: a private key.
MUST_CHECK enum result signature_rsa_sign(struct signature *s, struct signature_key *key, const void *bytes, size_t len,
                                          struct buf *out_base64);
// RESULT_DENIED unless base64 is the signature of bytes. Contract: a public key.
MUST_CHECK enum result signature_rsa_verify(struct signature *s, struct signature_key *key, const void *bytes,
                                            size_t len, const char *base64, size_t base64_len);

// --- AES-256-GCM with a nonce of 12 bytes; the tag of 16 bytes stands behind the ciphertext

#define SIGNATURE_AES_KEY_BYTES   32
#define SIGNATURE_AES_NONCE_BYTES 12
#define SIGNATURE_AES_TAG_BYTES   16
void signature_aes_seal(struct signature *s, const uint8_t key[SIGNATURE_AES_KEY_BYTES],
                        const uint8_t nonce[SIGNATURE_AES_NONCE_BYTES], const void *aad, size_t aad_len,
                        const void *plain, size_t len, struct buf *out);
// Appends the plain text. RESULT_DENIED: anything differs; RESULT_TOO_BIG: out has no room. Nothing is appended then.
MUST_CHECK enum result signature_aes_open(struct signature *s, const uint8_t key[SIGNATURE_AES_KEY_BYTES],
                                          const uint8_t nonce[SIGNATURE_AES_NONCE_BYTES], const void *aad,
                                          size_t aad_len, const void *sealed, size_t len, struct buf *out);
