// SPDX-License-Identifier: Apache-2.0
// RSA keys and signatures: what one side signs the other verifies and nothing else, and OpenSSL's own one-shot
// verification agrees. Owner: unit tests.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/signature.h"
#include "common/text.h"
#include "tests/unit/rsa_fixture.h"

#define TEXT "GET\n/v3/certificates\n1554208460\n593BEC0C930BF1AFEB40B4A08C8FB242\n\n"

struct fixture {
  struct signature *s;
  struct rsa_fixture pem;
  struct signature_key *private_key, *public_key;
};

static int setup(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->s = signature_new();
  f->pem = rsa_fixture_new(2048);
  assert_int_equal(signature_key_private(f->pem.private_pem, strlen(f->pem.private_pem), &f->private_key), RESULT_OK);
  assert_int_equal(signature_key_public(f->pem.public_pem, strlen(f->pem.public_pem), &f->public_key), RESULT_OK);
  *state = f;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *f = *state;
  signature_key_free(f->private_key);
  signature_key_free(f->public_key);
  rsa_fixture_free(&f->pem);
  signature_free(f->s);
  mem_free(f);
  return 0;
}

static void sign(struct fixture *f, struct signature_key *key, struct buf *out)
{
  buf_init(out, 4096);
  assert_int_equal(signature_rsa_sign(f->s, key, TEXT, strlen(TEXT), out), RESULT_OK);
}

static enum result verify(struct fixture *f, const char *text, const char *base64)
{
  return signature_rsa_verify(f->s, f->public_key, text, strlen(text), base64, strlen(base64));
}

// The verification that everybody else would write.
static void openssl_agrees(void **state)
{
  struct fixture *f = *state;
  struct buf base64, raw;
  sign(f, f->private_key, &base64);
  buf_init(&raw, 1024);
  assert_int_equal(text_from_base64(base64.data, base64.len, &raw), RESULT_OK);
  assert_int_equal(raw.len, 256);
  BIO *bio = BIO_new_mem_buf(f->pem.public_pem, -1);
  EVP_PKEY *pkey = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  assert_int_equal(EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, pkey), 1);
  assert_int_equal(EVP_DigestVerify(ctx, (const uint8_t *)raw.data, raw.len, (const uint8_t *)TEXT, strlen(TEXT)), 1);
  EVP_MD_CTX_free(ctx);
  EVP_PKEY_free(pkey);
  BIO_free(bio);
  buf_release(&raw);
  buf_release(&base64);
}

static void what_was_signed_is_verified_and_nothing_else(void **state)
{
  struct fixture *f = *state;
  struct buf signature;
  sign(f, f->private_key, &signature);
  for (int i = 0; i < 3; i++) assert_int_equal(verify(f, TEXT, buf_text(&signature)), RESULT_OK);
  assert_int_equal(verify(f, TEXT "x", buf_text(&signature)), RESULT_DENIED);
  assert_int_equal(verify(f, "", buf_text(&signature)), RESULT_DENIED);
  assert_int_equal(verify(f, TEXT, ""), RESULT_DENIED);
  assert_int_equal(verify(f, TEXT, "not base64"), RESULT_DENIED);
  assert_int_equal(verify(f, TEXT, "AAAA"), RESULT_DENIED);
  signature.data[10] = signature.data[10] == 'A' ? 'B' : 'A';  // one flipped byte
  assert_int_equal(verify(f, TEXT, buf_text(&signature)), RESULT_DENIED);
  signature.data[10] = '!';
  assert_int_equal(verify(f, TEXT, buf_text(&signature)), RESULT_DENIED);
  buf_release(&signature);
  sign(f, f->private_key, &signature);
  assert_int_equal(verify(f, TEXT, buf_text(&signature)), RESULT_OK);  // a refusal leaves nothing behind
  buf_release(&signature);
}

static void another_key_verifies_nothing(void **state)
{
  struct fixture *f = *state;
  struct rsa_fixture other = rsa_fixture_new(2048);
  struct signature_key *key = NULL;
  struct buf signature;
  assert_int_equal(signature_key_private(other.private_pem, strlen(other.private_pem), &key), RESULT_OK);
  sign(f, key, &signature);
  assert_int_equal(verify(f, TEXT, buf_text(&signature)), RESULT_DENIED);
  buf_release(&signature);
  signature_key_free(key);
  rsa_fixture_free(&other);
}

// The lines between the frames, as some consoles hand keys out.
static char *without_frame(const char *pem, bool keeps_lines)
{
  char *bare = mem_strdup(strchr(pem, '\n') + 1);
  *strstr(bare, "-----END") = '\0';
  char *to = bare;
  for (const char *from = bare; *from != '\0'; from++) {
    if (keeps_lines || *from != '\n') *to++ = *from;
  }
  *to = '\0';
  return bare;
}

static void keys_may_come_without_their_frame(void **state)
{
  struct fixture *f = *state;
  for (int keeps_lines = 0; keeps_lines < 2; keeps_lines++) {
    struct signature_key *private_key = NULL, *public_key = NULL;
    struct buf signature;
    char *bare = without_frame(f->pem.private_pem, keeps_lines == 1);
    assert_int_equal(signature_key_private(bare, strlen(bare), &private_key), RESULT_OK);
    mem_free(bare);
    bare = without_frame(f->pem.public_pem, keeps_lines == 1);
    assert_int_equal(signature_key_public(bare, strlen(bare), &public_key), RESULT_OK);
    mem_free(bare);
    sign(f, private_key, &signature);
    assert_int_equal(signature_rsa_verify(f->s, public_key, TEXT, strlen(TEXT), signature.data, signature.len),
                     RESULT_OK);
    buf_release(&signature);
    signature_key_free(private_key);
    signature_key_free(public_key);
  }
}

static char *self_signed(const char *private_pem)
{
  BIO *bio = BIO_new_mem_buf(private_pem, -1), *out = BIO_new(BIO_s_mem());
  EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
  X509 *certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, pkey);
  assert_true(X509_sign(certificate, pkey, EVP_sha256()) > 0);
  assert_int_equal(PEM_write_bio_X509(out, certificate), 1);
  X509_free(certificate);
  EVP_PKEY_free(pkey);
  BIO_free(bio);
  return rsa_fixture_text(out);
}

static void a_certificate_stands_for_its_public_key(void **state)
{
  struct fixture *f = *state;
  struct signature_key *key = NULL;
  struct buf signature;
  char *certificate = self_signed(f->pem.private_pem);
  assert_int_equal(signature_key_public(certificate, strlen(certificate), &key), RESULT_OK);
  sign(f, f->private_key, &signature);
  assert_int_equal(signature_rsa_verify(f->s, key, TEXT, strlen(TEXT), signature.data, signature.len), RESULT_OK);
  buf_release(&signature);
  signature_key_free(key);
  mem_free(certificate);
}

static char *behind_a_password(const char *private_pem)
{
  BIO *bio = BIO_new_mem_buf(private_pem, -1), *out = BIO_new(BIO_s_mem());
  EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
  const unsigned char password[] = "secret";
  assert_int_equal(PEM_write_bio_PrivateKey(out, pkey, EVP_aes_256_cbc(), password, 6, NULL, NULL), 1);
  EVP_PKEY_free(pkey);
  BIO_free(bio);
  return rsa_fixture_text(out);
}

static void what_is_no_key_of_ours_is_refused(void **state)
{
  struct fixture *f = *state;
  struct signature_key *key = NULL;
  struct rsa_fixture tiny = rsa_fixture_new(1024);
  char *locked = behind_a_password(f->pem.private_pem);
  const char *const no_private[] = {"",
                                    "garbage",
                                    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                                    f->pem.public_pem,
                                    tiny.private_pem,
                                    locked};
  const char *const no_public[] = {"", "AAAA", f->pem.private_pem, tiny.public_pem};
  for (size_t i = 0; i < ARRAY_LEN(no_private); i++)
    assert_int_equal(signature_key_private(no_private[i], strlen(no_private[i]), &key), RESULT_INVALID);
  for (size_t i = 0; i < ARRAY_LEN(no_public); i++)
    assert_int_equal(signature_key_public(no_public[i], strlen(no_public[i]), &key), RESULT_INVALID);
  assert_null(key);
  mem_free(locked);
  rsa_fixture_free(&tiny);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(openssl_agrees),
      cmocka_unit_test(what_was_signed_is_verified_and_nothing_else),
      cmocka_unit_test(another_key_verifies_nothing),
      cmocka_unit_test(keys_may_come_without_their_frame),
      cmocka_unit_test(a_certificate_stands_for_its_public_key),
      cmocka_unit_test(what_is_no_key_of_ours_is_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
