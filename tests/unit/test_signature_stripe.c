// SPDX-License-Identifier: Apache-2.0
// Tests of common/signature: Stripe style signatures. The expected values were made with the openssl command, following
// the provider's description of the scheme. Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/signature.h"

#define SECRET    "whsec_test_secret"
#define OTHER     "whsec_another"
#define BODY      "{\"id\":\"evt_1\",\"object\":\"event\"}"
#define SIGNED_AT 1492774577
#define MAC       "654b43d3508ecadb3f8cefc4bc7d3d2bdc5ba9e03bf2c89b2d0657a8e24e4543"
#define HEADER    "t=1492774577,v1=" MAC

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

static enum result verify(void **state, const char *const *secrets, const char *header, const char *body, int64_t now_s)
{
  struct signature_secret list[4];
  size_t count = 0;
  for (; secrets[count] != NULL; count++)
    list[count] = (struct signature_secret){secrets[count], strlen(secrets[count])};
  return signature_stripe_verify(*state, list, count, header, body, strlen(body), (struct wall_time){now_s * 1000000},
                                 span_s(300));
}

static const char *const right[] = {SECRET, NULL};

static void signs_like_the_description(void **state)
{
  struct buf b;
  buf_init(&b, 200);
  signature_stripe_sign(*state, SECRET, strlen(SECRET), SIGNED_AT, BODY, strlen(BODY), &b);
  assert_string_equal(buf_text(&b), HEADER);
  buf_release(&b);
}

static void any_signature_with_any_secret_will_do(void **state)
{
  const char *const both[] = {OTHER, SECRET, NULL};
  assert_int_equal(verify(state, right, HEADER, BODY, SIGNED_AT), RESULT_OK);
  assert_int_equal(verify(state, both, HEADER, BODY, SIGNED_AT), RESULT_OK);
  assert_int_equal(verify(state, right, "t=1492774577,v1=00ff,v0=6ffbb59b,v1=" MAC, BODY, SIGNED_AT), RESULT_OK);
  assert_int_equal(verify(state, right, "t=1492774577, v1=" MAC, BODY, SIGNED_AT), RESULT_OK);
  assert_int_equal(verify(state, right, "v1=" MAC ",t=1492774577", BODY, SIGNED_AT), RESULT_OK);
}

// B44
static void the_age_counts_both_ways(void **state)
{
  assert_int_equal(verify(state, right, HEADER, BODY, SIGNED_AT + 299), RESULT_OK);
  assert_int_equal(verify(state, right, HEADER, BODY, SIGNED_AT - 299), RESULT_OK);
  assert_int_equal(verify(state, right, HEADER, BODY, SIGNED_AT + 301), RESULT_DENIED);
  assert_int_equal(verify(state, right, HEADER, BODY, SIGNED_AT - 301), RESULT_DENIED);
}

static void everything_else_is_refused(void **state)
{
  static const char *const bad[] = {"",
                                    "v1=" MAC,
                                    "t=,v1=" MAC,
                                    "t=soon,v1=" MAC,
                                    "t=1492774577.0,v1=" MAC,
                                    "t=1492774578,v1=" MAC,
                                    "t=1492774577,v0=" MAC,
                                    "t=1492774577,v1=",
                                    "t=1492774577," MAC,
                                    "t=1492774577",
                                    "t=1492774577,t=1492774577,v1=" MAC,
                                    "t=99999999999999999999999999999999999999,v1=" MAC};
  const char *const wrong[] = {OTHER, NULL}, *const none[] = {NULL}, *const empty[] = {"", NULL};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    if (verify(state, right, bad[i], BODY, SIGNED_AT) != RESULT_DENIED) fail_msg("accepted: %s", bad[i]);
  }
  assert_int_equal(verify(state, right, NULL, BODY, SIGNED_AT), RESULT_DENIED);
  assert_int_equal(verify(state, wrong, HEADER, BODY, SIGNED_AT), RESULT_DENIED);
  assert_int_equal(verify(state, none, HEADER, BODY, SIGNED_AT), RESULT_DENIED);
  assert_int_equal(verify(state, empty, HEADER, BODY, SIGNED_AT), RESULT_DENIED);
}

static void one_flipped_byte_anywhere_is_refused(void **state)
{
  char body[] = BODY, header[] = HEADER;
  for (size_t i = 0; i < strlen(body); i++) {
    body[i] ^= 1;
    assert_int_equal(verify(state, right, HEADER, body, SIGNED_AT), RESULT_DENIED);
    body[i] ^= 1;
  }
  for (size_t i = 0; i < strlen(header); i++) {
    header[i] ^= 1;
    if (verify(state, right, header, BODY, SIGNED_AT) != RESULT_DENIED) fail_msg("byte %zu: %s", i, header);
    header[i] ^= 1;
  }
}

static void a_header_with_endless_signatures_ends(void **state)
{
  struct buf b;
  buf_init(&b, 100000);
  buf_puts(&b, "t=1492774577");
  for (int i = 0; i < 5000; i++) buf_puts(&b, ",v1=00");
  buf_puts(&b, ",v1=" MAC);
  assert_int_equal(verify(state, right, buf_text(&b), BODY, SIGNED_AT), RESULT_DENIED);
  buf_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(signs_like_the_description, setup, teardown),
      cmocka_unit_test_setup_teardown(any_signature_with_any_secret_will_do, setup, teardown),
      cmocka_unit_test_setup_teardown(the_age_counts_both_ways, setup, teardown),
      cmocka_unit_test_setup_teardown(everything_else_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(one_flipped_byte_anywhere_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(a_header_with_endless_signatures_ends, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
