// SPDX-License-Identifier: Apache-2.0
// Tests of common/signature: AES-256-GCM with the published test cases 13 to 16 of the GCM specification, and what must
// be refused. Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/signature.h"
#include "common/text.h"

#define KEY "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
#define PLAIN                                                        \
  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" \
  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define SEALED                                                       \
  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" \
  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
#define ZERO16 "00000000000000000000000000000000"
#define ZERO12 "000000000000000000000000"

struct vector {
  const char *key, *nonce, *aad, *plain, *sealed;
};
static const struct vector vectors[] = {
    {ZERO16 ZERO16, ZERO12, "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {ZERO16 ZERO16, ZERO12, "", ZERO16, "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
    {KEY, "cafebabefacedbaddecaf888", "", PLAIN "1aafd255", SEALED "898015adb094dac5d93471bdec1a502270e3cc6c"},
    {KEY, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", PLAIN,
     SEALED "76fc6ece0f4e1768cddf8853bb2d551b"},
};

struct bytes {
  uint8_t data[256];
  size_t len;
};

static struct bytes from_hex(const char *hex)
{
  struct bytes out = {.len = 0};
  struct buf b;
  buf_init(&b, sizeof out.data);
  assert_int_equal(text_from_hex(hex, strlen(hex), &b), RESULT_OK);
  if (b.len > 0) memcpy(out.data, b.data, b.len);
  out.len = b.len;
  buf_release(&b);
  return out;
}

static int setup(void **state)
{
  *state = signature_new();
  return 0;
}

static int teardown(void **state)
{
  signature_free(*state);
  return 0;
}

static void assert_is(const struct buf *b, const struct bytes *expected)
{
  assert_int_equal(b->len, expected->len);
  if (expected->len > 0) assert_memory_equal(b->data, expected->data, expected->len);
}

static void seals_and_opens_the_published_cases(void **state)
{
  for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
    const struct vector *v = &vectors[i];
    struct bytes key = from_hex(v->key), nonce = from_hex(v->nonce), aad = from_hex(v->aad), plain = from_hex(v->plain),
                 sealed = from_hex(v->sealed);
    struct buf b;
    buf_init(&b, 512);
    signature_aes_seal(*state, key.data, nonce.data, aad.data, aad.len, plain.data, plain.len, &b);
    assert_is(&b, &sealed);
    buf_clear(&b);
    assert_int_equal(signature_aes_open(*state, key.data, nonce.data, aad.data, aad.len, sealed.data, sealed.len, &b),
                     RESULT_OK);
    assert_is(&b, &plain);
    buf_release(&b);
  }
}

static void assert_refused(void **state, const struct bytes *key, const struct bytes *nonce, const struct bytes *aad,
                           const struct bytes *sealed)
{
  struct buf b;
  buf_init(&b, 512);
  buf_puts(&b, "before");
  assert_int_equal(
      signature_aes_open(*state, key->data, nonce->data, aad->data, aad->len, sealed->data, sealed->len, &b),
      RESULT_DENIED);
  assert_string_equal(buf_text(&b), "before");
  buf_release(&b);
}

static void one_flipped_byte_anywhere_is_refused(void **state)
{
  const struct vector *v = &vectors[3];
  struct bytes parts[] = {from_hex(v->key), from_hex(v->nonce), from_hex(v->aad), from_hex(v->sealed)};
  for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
    for (size_t i = 0; i < parts[p].len; i++) {
      parts[p].data[i] ^= 1;
      assert_refused(state, &parts[0], &parts[1], &parts[2], &parts[3]);
      parts[p].data[i] ^= 1;
    }
  }
}

static void what_is_shorter_or_longer_is_refused(void **state)
{
  const struct vector *v = &vectors[3];
  struct bytes key = from_hex(v->key), nonce = from_hex(v->nonce), aad = from_hex(v->aad), sealed = from_hex(v->sealed);
  struct bytes longer = sealed, less_aad = aad;
  longer.len++;
  less_aad.len--;
  assert_refused(state, &key, &nonce, &aad, &longer);
  assert_refused(state, &key, &nonce, &less_aad, &sealed);
  for (size_t len = 0; len < sealed.len; len++) {
    struct bytes shorter = sealed;
    shorter.len = len;
    assert_refused(state, &key, &nonce, &aad, &shorter);
  }
}

static void without_room_nothing_is_appended(void **state)
{
  const struct vector *v = &vectors[3];
  struct bytes key = from_hex(v->key), nonce = from_hex(v->nonce), aad = from_hex(v->aad), sealed = from_hex(v->sealed);
  struct buf b;
  buf_init(&b, 10);
  assert_int_equal(signature_aes_open(*state, key.data, nonce.data, aad.data, aad.len, sealed.data, sealed.len, &b),
                   RESULT_TOO_BIG);
  assert_int_equal(b.len, 0);
  assert_int_equal(buf_result(&b), RESULT_OK);
  buf_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(seals_and_opens_the_published_cases, setup, teardown),
      cmocka_unit_test_setup_teardown(one_flipped_byte_anywhere_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_shorter_or_longer_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(without_room_nothing_is_appended, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
