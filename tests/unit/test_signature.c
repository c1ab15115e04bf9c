// SPDX-License-Identifier: Apache-2.0
// Tests of common/signature: published vectors of SHA-256, HMAC (RFC 4231) and Standard Webhooks, and what must be
// refused. Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/signature.h"
#include "common/text.h"

#define SECRET    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID        "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define BODY      "{\"test\": 2432232314}"
#define SIGNED    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define SIGNED_AT 1614265330

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

static void assert_hex(const uint8_t mac[SIGNATURE_SHA256_BYTES], const char *expected)
{
  struct buf b;
  buf_init(&b, 100);
  text_hex(mac, SIGNATURE_SHA256_BYTES, &b);
  assert_string_equal(buf_text(&b), expected);
  buf_release(&b);
}

static void sha256_matches_published_vectors(void **state)
{
  uint8_t out[SIGNATURE_SHA256_BYTES];
  signature_sha256(*state, "abc", 3, out);
  assert_hex(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  signature_sha256(*state, "", 0, out);
  assert_hex(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void hmac_matches_rfc_4231(void **state)
{
  uint8_t out[SIGNATURE_SHA256_BYTES], key[131];
  memset(key, 0x0b, 20);
  signature_hmac_sha256(*state, key, 20, "Hi There", 8, out);
  assert_hex(out, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  signature_hmac_sha256(*state, "Jefe", 4, "what do ya want for nothing?", 28, out);
  assert_hex(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  static const char text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
  memset(key, 0xaa, sizeof key);
  signature_hmac_sha256(*state, key, sizeof key, text, sizeof text - 1, out);
  assert_hex(out, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void an_empty_key_is_not_the_key_before(void **state)
{
  uint8_t out[SIGNATURE_SHA256_BYTES];
  signature_hmac_sha256(*state, "Jefe", 4, "x", 1, out);
  signature_hmac_sha256(*state, NULL, 0, NULL, 0, out);
  assert_hex(out, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void signs_like_the_published_webhook(void **state)
{
  struct buf b;
  buf_init(&b, 200);
  signature_webhook_sign(*state, SECRET, strlen(SECRET), ID, SIGNED_AT, BODY, strlen(BODY), &b);
  assert_string_equal(buf_text(&b), SIGNED);
  buf_release(&b);
}

struct attempt {
  const char *secrets[2];
  const char *id, *timestamp, *signatures, *body;
  int64_t now_s, tolerance_s;
  enum result expected;
};

static void verify(void **state, const struct attempt *a)
{
  struct signature_secret secrets[2];
  size_t count = 0;
  for (; count < 2 && a->secrets[count]; count++)
    secrets[count] = (struct signature_secret){a->secrets[count], strlen(a->secrets[count])};
  enum result r =
      signature_webhook_verify(*state, secrets, count, a->id, a->timestamp, a->signatures, a->body, strlen(a->body),
                               (struct wall_time){a->now_s * 1000000}, span_s(a->tolerance_s));
  assert_int_equal(r, a->expected);
}

static void accepts_what_is_signed_with_any_of_the_secrets(void **state)
{
  const struct attempt good[] = {
      {{SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_OK},
      {{SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT + 300, 300, RESULT_OK},
      {{SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT - 300, 300, RESULT_OK},
      {{"whsec_bmV3", SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_OK},
      {{SECRET}, ID, "1614265330", "v1,AAAA v2,xyz " SIGNED, BODY, SIGNED_AT, 300, RESULT_OK},
  };
  for (size_t i = 0; i < ARRAY_LEN(good); i++) verify(state, &good[i]);
}

static void refuses_everything_else(void **state)
{
  const struct attempt bad[] = {
      {{SECRET}, ID, "1614265330", SIGNED, BODY " ", SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, "msg_other", "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265331", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT + 301, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265330", SIGNED, BODY, SIGNED_AT - 301, 300, RESULT_DENIED},
      {{SECRET}, ID, "+1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "99999999999999999", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{"whsec_bmV3"}, ID, "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{NULL}, ID, "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265330", "", BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265330", "v1,", BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET},
       ID,
       "1614265330",
       "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
       BODY,
       SIGNED_AT,
       300,
       RESULT_DENIED},
      {{SECRET}, ID, "1614265330", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, NULL, "1614265330", SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, NULL, SIGNED, BODY, SIGNED_AT, 300, RESULT_DENIED},
      {{SECRET}, ID, "1614265330", NULL, BODY, SIGNED_AT, 300, RESULT_DENIED},
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) verify(state, &bad[i]);
}

static void an_empty_secret_verifies_nothing(void **state)
{
  struct buf b;
  buf_init(&b, 200);
  signature_webhook_sign(*state, "", 0, "1", 1000, "x", 1, &b);
  verify(state, &(struct attempt){{""}, "1", "1000", buf_text(&b), "x", 1000, 1, RESULT_DENIED});
  buf_release(&b);
}

static void a_raw_secret_is_used_as_it_is(void **state)
{
  struct buf b;
  buf_init(&b, 200);
  signature_webhook_sign(*state, "plain secret", 12, "1", 1000, "x", 1, &b);
  verify(state, &(struct attempt){{"plain secret"}, "1", "1000", buf_text(&b), "x", 1000, 1, RESULT_OK});
  verify(state, &(struct attempt){{"plain secre"}, "1", "1000", buf_text(&b), "x", 1000, 1, RESULT_DENIED});
  buf_release(&b);
}

static void secrets_are_whole_or_raw(void **state)
{
  static const struct {
    const char *secret;
    bool is_whole;
  } cases[] = {{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true},
               {"raw bytes", true},
               {"whsec_", false},
               {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", false},   // cut off
               {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS_", false},  // of another alphabet
               {"whsec_c2hvcnQ=", false}};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    if (signature_webhook_is_whole(cases[i].secret, strlen(cases[i].secret)) != cases[i].is_whole)
      fail_msg("%s", cases[i].secret);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(secrets_are_whole_or_raw),
      cmocka_unit_test_setup_teardown(sha256_matches_published_vectors, setup, teardown),
      cmocka_unit_test_setup_teardown(hmac_matches_rfc_4231, setup, teardown),
      cmocka_unit_test_setup_teardown(an_empty_key_is_not_the_key_before, setup, teardown),
      cmocka_unit_test_setup_teardown(signs_like_the_published_webhook, setup, teardown),
      cmocka_unit_test_setup_teardown(accepts_what_is_signed_with_any_of_the_secrets, setup, teardown),
      cmocka_unit_test_setup_teardown(refuses_everything_else, setup, teardown),
      cmocka_unit_test_setup_teardown(an_empty_secret_verifies_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(a_raw_secret_is_used_as_it_is, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
