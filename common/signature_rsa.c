// SPDX-License-Identifier: Apache-2.0
// RSA keys out of PEM, and SHA256withRSA (PKCS #1 v1.5) over libcrypto: see signature.h.
// Owner: the thread of the context.
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/signature.h"
#include "common/text.h"

#define RSA_BITS_MIN  2048
#define RSA_BITS_MAX  8192
#define RSA_BYTES_MAX (RSA_BITS_MAX / 8)

struct signature_key {
  EVP_PKEY *pkey;
  EVP_PKEY_CTX *ctx;  // ready to sign or to verify a digest; the algorithms behind it are fetched once
  bool is_private;
};

// Without it OpenSSL would ask at the terminal.
static int no_password(char *bytes, int size, int is_writing, void *ctx)
{
  (void)bytes;
  (void)size;
  (void)is_writing;
  (void)ctx;
  return -1;
}

static BIO *memory_of(const char *pem, size_t len)
{
  if (len == 0 || len > INT_MAX) return NULL;
  BIO *bio = BIO_new_mem_buf(pem, (int)len);
  ENSURE(bio != NULL);
  return bio;
}

static EVP_PKEY *read_private(const char *pem, size_t len)
{
  BIO *bio = memory_of(pem, len);
  if (bio == NULL) return NULL;
  EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
  BIO_free(bio);
  return pkey;
}

// A public key, or the certificate that holds one.
static EVP_PKEY *read_public(const char *pem, size_t len)
{
  BIO *bio = memory_of(pem, len);
  if (bio == NULL) return NULL;
  EVP_PKEY *pkey = PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL);
  if (pkey == NULL && BIO_reset(bio) == 1) {
    X509 *certificate = PEM_read_bio_X509(bio, NULL, no_password, NULL);
    if (certificate != NULL) pkey = X509_get_pubkey(certificate);
    X509_free(certificate);
  }
  BIO_free(bio);
  return pkey;
}

// The base64 that some consoles hand out without its frame of PEM.
static bool put_frame(const char *text, size_t len, const char *label, struct buf *out)
{
  if (memchr(text, '-', len) != NULL) return false;
  buf_printf(out, "-----BEGIN %s-----\n", label);
  size_t column = 0;
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\n' || text[i] == '\r' || text[i] == ' ' || text[i] == '\t') continue;
    buf_putc(out, text[i]);
    if (++column % 64 == 0) buf_putc(out, '\n');
  }
  buf_printf(out, "\n-----END %s-----\n", label);
  return buf_result(out) == RESULT_OK;
}

static EVP_PKEY *read_key(const char *pem, size_t len, bool is_private)
{
  static const char *const private_labels[] = {"PRIVATE KEY", "RSA PRIVATE KEY"};
  static const char *const public_labels[] = {"PUBLIC KEY"};
  const char *const *labels = is_private ? private_labels : public_labels;
  size_t count = is_private ? ARRAY_LEN(private_labels) : ARRAY_LEN(public_labels);
  EVP_PKEY *pkey = is_private ? read_private(pem, len) : read_public(pem, len);
  for (size_t i = 0; pkey == NULL && i < count; i++) {
    struct buf framed;
    buf_init(&framed, 64 * 1024);
    if (put_frame(pem, len, labels[i], &framed))
      pkey = is_private ? read_private(framed.data, framed.len) : read_public(framed.data, framed.len);
    buf_wipe(&framed);
  }
  ERR_clear_error();
  return pkey;
}

static bool make_ready(struct signature_key *key)
{
  if (key->pkey == NULL || EVP_PKEY_is_a(key->pkey, "RSA") != 1) return false;
  int bits = EVP_PKEY_get_bits(key->pkey);
  if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) return false;
  key->ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key->pkey, NULL);
  if (key->ctx == NULL) return false;
  int started = key->is_private ? EVP_PKEY_sign_init(key->ctx) : EVP_PKEY_verify_init(key->ctx);
  return started == 1 && EVP_PKEY_CTX_set_rsa_padding(key->ctx, RSA_PKCS1_PADDING) == 1 &&
         EVP_PKEY_CTX_set_signature_md(key->ctx, EVP_sha256()) == 1;
}

static enum result key_from(const char *pem, size_t len, bool is_private, struct signature_key **out_key)
{
  struct signature_key *key = MEM_NEW(struct signature_key);
  key->is_private = is_private;
  key->pkey = read_key(pem, len, is_private);
  if (make_ready(key)) {
    *out_key = key;
    return RESULT_OK;
  }
  ERR_clear_error();
  signature_key_free(key);
  return RESULT_INVALID;
}

enum result signature_key_private(const char *pem, size_t len, struct signature_key **out_key)
{
  return key_from(pem, len, true, out_key);
}

enum result signature_key_public(const char *pem, size_t len, struct signature_key **out_key)
{
  return key_from(pem, len, false, out_key);
}

void signature_key_free(struct signature_key *key)
{
  if (key == NULL) return;
  EVP_PKEY_CTX_free(key->ctx);
  EVP_PKEY_free(key->pkey);
  mem_free(key);
}

enum result signature_rsa_sign(struct signature *s, struct signature_key *key, const void *bytes, size_t len,
                               struct buf *out_base64)
{
  uint8_t digest[SIGNATURE_SHA256_BYTES], made[RSA_BYTES_MAX];
  size_t made_len = sizeof made;
  REQUIRE(key->is_private);
  signature_sha256(s, bytes, len, digest);
  if (EVP_PKEY_sign(key->ctx, made, &made_len, digest, sizeof digest) != 1) {
    ERR_clear_error();
    return RESULT_INVALID;
  }
  text_base64(made, made_len, out_base64);
  return buf_result(out_base64);
}

enum result signature_rsa_verify(struct signature *s, struct signature_key *key, const void *bytes, size_t len,
                                 const char *base64, size_t base64_len)
{
  uint8_t digest[SIGNATURE_SHA256_BYTES];
  struct buf given;
  REQUIRE(!key->is_private);
  buf_init(&given, RSA_BYTES_MAX + 4);
  bool is_right = base64_len > 0 && text_from_base64(base64, base64_len, &given) == RESULT_OK && given.len > 0;
  if (is_right) {
    signature_sha256(s, bytes, len, digest);
    is_right = EVP_PKEY_verify(key->ctx, (const uint8_t *)given.data, given.len, digest, sizeof digest) == 1;
  }
  buf_release(&given);
  ERR_clear_error();
  return is_right ? RESULT_OK : RESULT_DENIED;
}
