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
void signature_hmac_sha256(struct signature *s, const void *key, size_t key_len, const void *bytes, size_t len,
                           uint8_t out[SIGNATURE_SHA256_BYTES]);

// Standard Webhooks 1.0.0: header value "v1,<base64>" over "{id}.{timestamp}.{body}". The secret is "whsec_" + base64,
// or raw bytes.
void signature_webhook_sign(struct signature *s, const char *secret, size_t secret_len, const char *id,
                            int64_t timestamp_s, const char *body, size_t body_len, struct buf *out_header);
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
