// SPDX-License-Identifier: Apache-2.0
// A pair of RSA keys as PEM texts, made when a test asks for them: no key lies in the tree.
// Owner: unit tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"

struct rsa_fixture {
  char *private_pem, *public_pem;
};

static inline char *rsa_fixture_text(BIO *bio)
{
  char *bytes = NULL;
  long len = BIO_get_mem_data(bio, &bytes);
  char *text = mem_strndup(bytes, (size_t)len);
  BIO_free(bio);
  return text;
}

static inline struct rsa_fixture rsa_fixture_new(unsigned bits)
{
  EVP_PKEY *pkey = EVP_RSA_gen(bits);
  BIO *secret = BIO_new(BIO_s_mem()), *open = BIO_new(BIO_s_mem());
  assert_non_null(pkey);
  assert_int_equal(PEM_write_bio_PrivateKey(secret, pkey, NULL, NULL, 0, NULL, NULL), 1);
  assert_int_equal(PEM_write_bio_PUBKEY(open, pkey), 1);
  EVP_PKEY_free(pkey);
  return (struct rsa_fixture){rsa_fixture_text(secret), rsa_fixture_text(open)};
}

static inline void rsa_fixture_free(struct rsa_fixture *f)
{
  mem_free(f->private_pem);
  mem_free(f->public_pem);
}
