// SPDX-License-Identifier: Apache-2.0
// What the files of signature share: the algorithms, fetched once. For common/signature*.c only.
// Owner: the thread of the context.
#pragma once

#include <openssl/evp.h>

#include "common/signature.h"

struct signature {
  EVP_MD *sha256;
  EVP_MD_CTX *digest;
  EVP_MAC *hmac;
  EVP_MAC_CTX *keyless;  // digest chosen, key not; each use starts from a copy
  EVP_CIPHER *aes;       // AES-256-GCM
  EVP_CIPHER_CTX *cipher;
};

// HMAC over head and body, one after the other.
void signature_hmac_two(struct signature *s, const void *key, size_t key_len, const void *head, size_t head_len,
                        const void *body, size_t body_len, uint8_t out[SIGNATURE_SHA256_BYTES]);
