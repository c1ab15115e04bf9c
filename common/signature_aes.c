// SPDX-License-Identifier: Apache-2.0
// AES-256-GCM over libcrypto; see signature.h.
// Owner: the thread of the context.
#include <limits.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/signature_internal.h"

// Key, nonce and additional data of the next message.
static void begin(struct signature *s, const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_len,
                  int encrypt)
{
  int written = 0;
  ENSURE(aad_len <= INT_MAX);
  ENSURE(EVP_CIPHER_CTX_reset(s->cipher) == 1);
  ENSURE(EVP_CipherInit_ex2(s->cipher, s->aes, key, nonce, encrypt, NULL) == 1);
  ENSURE(aad_len == 0 || EVP_CipherUpdate(s->cipher, NULL, &written, aad, (int)aad_len) == 1);
}

void signature_aes_seal(struct signature *s, const uint8_t key[SIGNATURE_AES_KEY_BYTES],
                        const uint8_t nonce[SIGNATURE_AES_NONCE_BYTES], const void *aad, size_t aad_len,
                        const void *plain, size_t len, struct buf *out)
{
  int written = 0;
  uint8_t tag[SIGNATURE_AES_TAG_BYTES];
  REQUIRE(len <= INT_MAX);
  unsigned char *sealed = mem_zalloc(1, len + 1);
  begin(s, key, nonce, aad, aad_len, 1);
  ENSURE(len == 0 || (EVP_CipherUpdate(s->cipher, sealed, &written, plain, (int)len) == 1 && (size_t)written == len));
  ENSURE(EVP_CipherFinal_ex(s->cipher, sealed + written, &written) == 1 && written == 0);
  ENSURE(EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_GET_TAG, sizeof tag, tag) == 1);
  buf_append(out, sealed, len);
  buf_append(out, tag, sizeof tag);
  mem_free(sealed);
}

enum result signature_aes_open(struct signature *s, const uint8_t key[SIGNATURE_AES_KEY_BYTES],
                               const uint8_t nonce[SIGNATURE_AES_NONCE_BYTES], const void *aad, size_t aad_len,
                               const void *sealed, size_t len, struct buf *out)
{
  int written = 0, last = 0;
  if (len < SIGNATURE_AES_TAG_BYTES || len > INT_MAX || aad_len > INT_MAX) return RESULT_DENIED;
  size_t plain_len = len - SIGNATURE_AES_TAG_BYTES;
  uint8_t tag[SIGNATURE_AES_TAG_BYTES];
  memcpy(tag, (const uint8_t *)sealed + plain_len, sizeof tag);
  unsigned char *plain = mem_zalloc(1, plain_len + 1);
  begin(s, key, nonce, aad, aad_len, 0);
  ENSURE(EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1);
  bool is_whole = (plain_len == 0 || EVP_CipherUpdate(s->cipher, plain, &written, sealed, (int)plain_len) == 1) &&
                  EVP_CipherFinal_ex(s->cipher, plain + written, &last) == 1 &&
                  (size_t)written + (size_t)last == plain_len;
  enum result result = RESULT_DENIED;
  if (is_whole && (out->overflowed || plain_len > out->max - out->len)) result = RESULT_TOO_BIG;
  if (is_whole && result == RESULT_DENIED) {
    buf_append(out, plain, plain_len);
    result = RESULT_OK;
  }
  EVP_CIPHER_CTX_reset(s->cipher);  // keeps no key
  OPENSSL_cleanse(plain, plain_len);
  mem_free(plain);
  return result;
}
