// SPDX-License-Identifier: Apache-2.0
// Callbacks under a shared secret (Standard Webhooks, Stripe style), and what any callback is understood to say.
// Owner: unit tests.
#include <inttypes.h>

#include "tests/unit/callback_fixture.h"

#define STANDARD "      callback: {profile: standard_webhooks, secrets: {a: b}"
#define STRIPE   "      callback: {profile: stripe, secrets: {a: b}"

// Signs with the first of the secrets, as at the given instant.
static void sign_standard(struct fixture *f, const char *id, int64_t at_s, const char *body, struct buf *signature,
                          char timestamp[24])
{
  buf_init(signature, 256);
  signature_webhook_sign(f->signature, f->keys.secrets[0].bytes, f->keys.secrets[0].len, id, at_s, body, strlen(body),
                         signature);
  snprintf(timestamp, 24, "%" PRId64, at_s);
  fixture_header(f, "webhook-id", id);
  fixture_header(f, "webhook-timestamp", timestamp);
  fixture_header(f, "webhook-signature", buf_text(signature));
}

static enum result standard(struct fixture *f, const char *body)
{
  struct buf signature;
  char timestamp[24];
  sign_standard(f, "evt_1", FIXTURE_NOW_S, body, &signature, timestamp);
  enum result result = fixture_read(f, body, strlen(body), FIXTURE_NOW_S);
  buf_release(&signature);
  return result;
}

static struct fixture standard_fixture(const char *more)
{
  char lines[1024];
  snprintf(lines, sizeof lines, STANDARD "%s}\n", more);
  struct fixture f = fixture_new(lines);
  fixture_add_secret(&f, "a", FIXTURE_SECRET);
  return f;
}

// --- signatures

static void the_plain_callback_is_understood(void **state)
{
  (void)state;
  struct fixture f = standard_fixture("");
  assert_int_equal(standard(&f,
                            "{\"eventId\":\"evt_1\",\"requestId\":\"12-345\",\"status\":\"SUCCESS\",\"ref\":\"sim-1\","
                            "\"occurredAt\":\"2025-11-29T11:59:00.5Z\"}"),
                   RESULT_OK);
  const struct callback_event *e = &f.event;
  assert_string_equal(e->event_id, "evt_1");
  assert_true(e->has_claim && e->activity_id == 12 && e->claim_id == 345 && e->action == ACTION_DELIVER);
  assert_int_equal(e->outcome, CALLBACK_DONE);
  assert_string_equal(e->ref, "sim-1");
  assert_false(e->has_amount);
  assert_true(e->has_occurred && e->occurred_at.us == (FIXTURE_NOW_S - 60) * INT64_C(1000000) + 500000);
  fixture_free(&f);
}

// B42
static void the_raw_bytes_are_signed(void **state)
{
  (void)state;
  struct fixture f = standard_fixture("");
  struct buf signature;
  char timestamp[24];
  static const char odd[] =
      "\n{ \"status\" : \"SUCC\\u0045SS\",\t\"ref\":\"\\u5f00\",  \"requestId\":\"1-2\" , \"x\":1.0, \"a\":[ ]}  ";
  static const char same[] = "{\"a\":[],\"ref\":\"\xe5\xbc\x80\",\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"x\":1}";
  sign_standard(&f, "e", FIXTURE_NOW_S, odd, &signature, timestamp);
  assert_int_equal(fixture_read(&f, odd, strlen(odd), FIXTURE_NOW_S), RESULT_OK);
  assert_int_equal(f.event.outcome, CALLBACK_DONE);
  assert_string_equal(f.event.ref, "\xe5\xbc\x80");
  assert_int_equal(fixture_read(&f, same, strlen(same), FIXTURE_NOW_S), RESULT_DENIED);
  buf_release(&signature);
  fixture_free(&f);
}

// B44
static void the_age_counts(void **state)
{
  (void)state;
  static const struct {
    const char *timestamp;  // NULL: as signed
    int64_t age_s;
    enum result expected;
  } cases[] = {{NULL, 299, RESULT_OK},
               {NULL, 301, RESULT_DENIED},
               {NULL, -299, RESULT_OK},
               {NULL, -301, RESULT_DENIED},
               {"", 0, RESULT_DENIED},
               {"soon", 0, RESULT_DENIED},
               {"1764417600.0", 0, RESULT_DENIED}};
  static const char body[] = "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\"}";
  struct fixture f = standard_fixture("");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf signature;
    char timestamp[24];
    sign_standard(&f, "e", FIXTURE_NOW_S - cases[i].age_s, body, &signature, timestamp);
    if (cases[i].timestamp != NULL) fixture_header(&f, "webhook-timestamp", cases[i].timestamp);
    assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), cases[i].expected);
    fixture_header(&f, "webhook-timestamp", NULL);
    assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_DENIED);
    buf_release(&signature);
  }
  fixture_free(&f);
}

// B46
static void old_and_new_secrets_are_in_force_together(void **state)
{
  (void)state;
  static const char body[] = "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\"}";
  struct fixture f = standard_fixture("");
  struct buf header;
  fixture_add_secret(&f, "old", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  for (size_t i = 0; i < 2; i++) {
    buf_init(&header, 512);
    buf_puts(&header, "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= ");
    signature_webhook_sign(f.signature, f.keys.secrets[i].bytes, f.keys.secrets[i].len, "e", FIXTURE_NOW_S, body,
                           strlen(body), &header);
    fixture_header(&f, "webhook-id", "e");
    fixture_header(&f, "webhook-timestamp", "1764417600");
    fixture_header(&f, "webhook-signature", buf_text(&header));
    assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_OK);
    f.keys.count--;
    assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), i == 0 ? RESULT_OK : RESULT_DENIED);
    f.keys.count++;
    buf_release(&header);
  }
  fixture_free(&f);
}

static void one_flipped_byte_of_the_body_is_refused(void **state)
{
  (void)state;
  char body[] = "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\"}";
  struct fixture f = standard_fixture("");
  struct buf signature;
  char timestamp[24];
  sign_standard(&f, "e", FIXTURE_NOW_S, body, &signature, timestamp);
  for (size_t i = 0; i < strlen(body); i++) {
    body[i] ^= 1;
    assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_DENIED);
    body[i] ^= 1;
  }
  fixture_header(&f, "webhook-id", "f");
  assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_DENIED);
  fixture_header(&f, "webhook-id", NULL);
  assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_DENIED);
  buf_release(&signature);
  fixture_free(&f);
}

static void content_types_are_judged_by_their_meaning(void **state)
{
  (void)state;
  static const struct {
    const char *type;
    enum result expected;
  } cases[] = {{"application/json; charset=utf-8", RESULT_OK},
               {"Application/JSON", RESULT_OK},
               {"application/json;charset=\"UTF-8\"", RESULT_OK},
               {"application/json; charset=utf-16", RESULT_UNEXPECTED},
               {"application/jsonp", RESULT_UNEXPECTED},
               {"text/plain", RESULT_UNEXPECTED},
               {NULL, RESULT_UNEXPECTED}};
  struct fixture f = standard_fixture("");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    f.content_type = cases[i].type;
    assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\"}"), cases[i].expected);
  }
  fixture_free(&f);
}

// A signature does not make a document of it (B75, B82).
static void signed_rubbish_is_invalid(void **state)
{
  (void)state;
  static const char *const bodies[] = {
      "", "{", "[]x", "{\"a\":1,\"a\":2}", "{\"a\":\"\\u0000\"}", "null", "\"text\"", "{\"a\":\"\xff\"}"};
  struct fixture f = standard_fixture("");
  for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
    if (standard(&f, bodies[i]) != RESULT_INVALID) fail_msg("taken: %s", bodies[i]);
  }
  fixture_free(&f);
}

static void stripe_style_is_understood(void **state)
{
  (void)state;
  static const char body[] =
      "{\"id\":\"evt_9\",\"type\":\"payment_intent.succeeded\",\"created\":1764417599,\"data\":{\"object\":{\"id\":"
      "\"pi_1\",\"amount\":10000,\"metadata\":{\"request_id\":\"7-8-p\"}}}}";
  struct fixture f = fixture_new(STRIPE "}\n");
  struct buf header;
  fixture_add_secret(&f, "a", "whsec_one");
  buf_init(&header, 256);
  signature_stripe_sign(f.signature, "whsec_one", 9, FIXTURE_NOW_S, body, strlen(body), &header);
  fixture_header(&f, "stripe-signature", buf_text(&header));
  assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S + 299), RESULT_OK);
  assert_string_equal(f.event.event_id, "evt_9");
  assert_string_equal(f.event.ref, "pi_1");
  assert_true(f.event.has_claim && f.event.activity_id == 7 && f.event.claim_id == 8);
  assert_int_equal(f.event.action, ACTION_CHARGE);
  assert_int_equal(f.event.outcome, CALLBACK_DONE);
  assert_true(f.event.has_amount && f.event.amount == 10000);
  assert_true(f.event.has_occurred && f.event.occurred_at.us == (FIXTURE_NOW_S - 1) * INT64_C(1000000));
  assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S + 301), RESULT_DENIED);
  fixture_header(&f, "stripe-signature", NULL);
  assert_int_equal(fixture_read(&f, body, strlen(body), FIXTURE_NOW_S), RESULT_DENIED);
  buf_release(&header);
  fixture_free(&f);
}

// --- facts

static void outcomes_follow_the_first_rule_that_fits(void **state)
{
  (void)state;
  static const struct {
    const char *body;
    enum callback_outcome outcome;
    const char *code;
  } cases[] = {
      {"{\"requestId\":\"1-2\",\"status\":\"FAILED\"}", CALLBACK_REFUSED, "FAILED"},
      {"{\"requestId\":\"1-2\",\"status\":\"FAILED\",\"code\":\"NO_WALLET\",\"message\":\"no\"}", CALLBACK_REFUSED,
       "NO_WALLET"},
      {"{\"requestId\":\"1-2\",\"status\":\"PENDING\"}", CALLBACK_PENDING, ""},
      {"{\"requestId\":\"1-2\",\"status\":\"WHATEVER\"}", CALLBACK_IGNORED, ""},
      {"{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"n\":7}", CALLBACK_IGNORED, ""},
      {"{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"b\":true}", CALLBACK_REFUSED, "true"},
  };
  struct fixture f = standard_fixture(", answers: {'/n=7': ignored, '/b=true': refused}");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    assert_int_equal(standard(&f, cases[i].body), RESULT_OK);
    assert_int_equal(f.event.outcome, cases[i].outcome);
    assert_string_equal(f.event.code, cases[i].code);
  }
  fixture_free(&f);
}

static void amounts_are_exact_or_none(void **state)
{
  (void)state;
  static const struct {
    const char *json;
    int64_t amount;
  } cases[] = {{"\"2.00\"", 200},
               {"\"2\"", 200},
               {"\"2.5\"", 250},
               {"\"0.01\"", 1},
               {"\"0.00\"", 0},
               {"2", 200},
               {"2.5", 250},
               {"19.99", 1999},
               {"1.0", 100},
               {"\"2.005\"", -1},
               {"\"2.000\"", 200},
               {"\"-2.00\"", -1},
               {"\"2,00\"", -1},
               {"\"1e2\"", -1},
               {"\"\"", -1},
               {"\".5\"", -1},
               {"\"2.\"", -1},
               {"\"02.00\"", -1},
               {"true", -1},
               {"{}", -1},
               {"1e300", -1},
               {"\"9999999999999999.99\"", INT64_C(999999999999999999)},
               {"\"99999999999999999.99\"", -1},
               {"4.35", 435},
               {"1.1", 110},
               {"0.07", 7}};
  struct fixture f = standard_fixture(", amount_pointer: /money, amount_decimals: 2");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char body[200];
    snprintf(body, sizeof body, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"money\":%s}", cases[i].json);
    assert_int_equal(standard(&f, body), RESULT_OK);
    assert_true(f.event.has_amount);
    if (f.event.amount != cases[i].amount) fail_msg("%s: %lld", cases[i].json, (long long)f.event.amount);
  }
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"money\":null}"), RESULT_OK);
  assert_true(f.event.has_amount && f.event.amount == -1);  // it was asked for by name
  fixture_free(&f);
}

static void request_ids_name_claim_and_action(void **state)
{
  (void)state;
  static const struct {
    const char *id;
    bool has_claim;
    enum provider_action action;
  } cases[] = {{"1-2", true, ACTION_DELIVER},
               {"1-2-r", true, ACTION_REVERSE},
               {"1-2-f", true, ACTION_REFUND},
               {"1-2-p", true, ACTION_CHARGE},
               {"1-2-x", false, 0},
               {"1-2-", false, 0},
               {"1", false, 0},
               {"-1-2", false, 0},
               {"0-2", false, 0},
               {"01-2", false, 0},

               {"1-2_p", false, 0},
               {"order 7", false, 0},
               {"1-99999999999999999999", false, 0},
               {"", false, 0}};
  struct fixture f = standard_fixture("");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char body[200];
    snprintf(body, sizeof body, "{\"requestId\":\"%s\",\"status\":\"SUCCESS\"}", cases[i].id);
    assert_int_equal(standard(&f, body), RESULT_OK);
    assert_string_equal(f.event.request_id, cases[i].id);
    assert_int_equal(f.event.has_claim, cases[i].has_claim);
    if (cases[i].has_claim) assert_int_equal(f.event.action, cases[i].action);
  }
  fixture_free(&f);
}

static void instants_have_many_forms(void **state)
{
  (void)state;
  static const struct {
    const char *json;
    int64_t us;  // -1: none
  } cases[] = {{"\"2025-11-29T20:00:00+08:00\"", FIXTURE_NOW_S * INT64_C(1000000)},
               {"\"2025-11-29 20:00:00\"", FIXTURE_NOW_S * INT64_C(1000000)},
               {"1764417600", FIXTURE_NOW_S * INT64_C(1000000)},
               {"\"1764417600\"", FIXTURE_NOW_S * INT64_C(1000000)},
               {"1764417600123", FIXTURE_NOW_S * INT64_C(1000000) + 123000},
               {"\"yesterday\"", -1},
               {"-5", -1},
               {"9223372036854775807", -1},
               {"\"2025-13-29 20:00:00\"", -1},
               {"[]", -1}};
  struct fixture f = standard_fixture("");
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char body[200];
    snprintf(body, sizeof body, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"occurredAt\":%s}", cases[i].json);
    assert_int_equal(standard(&f, body), RESULT_OK);
    assert_int_equal(f.event.has_occurred, cases[i].us >= 0);
    if (cases[i].us >= 0 && f.event.occurred_at.us != cases[i].us) fail_msg("%s", cases[i].json);
  }
  fixture_free(&f);
}

static void what_is_required_must_be_so(void **state)
{
  (void)state;
  struct fixture f = standard_fixture(", require: {/app: '7'}");
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"app\":7}"), RESULT_OK);
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\",\"app\":8}"), RESULT_DENIED);
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"status\":\"SUCCESS\"}"), RESULT_DENIED);
  fixture_free(&f);
}

static void event_ids_are_made_where_there_are_none(void **state)
{
  (void)state;
  char first[CALLBACK_ID_BYTES];
  struct fixture f = standard_fixture(", event_id_pointer: /nr");
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\",\"nr\":99}"), RESULT_OK);
  assert_string_equal(f.event.event_id, "99");
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\"}"), RESULT_OK);
  snprintf(first, sizeof first, "%s", f.event.event_id);
  assert_memory_equal(first, "sha256:", 7);
  assert_int_equal(standard(&f, "{\"requestId\":\"1-3\"}"), RESULT_OK);
  assert_string_not_equal(f.event.event_id, first);
  assert_int_equal(standard(&f, "{\"requestId\":\"1-2\"}"), RESULT_OK);
  assert_string_equal(f.event.event_id, first);
  fixture_free(&f);
}

static void what_is_kept_has_no_personal_data(void **state)
{
  (void)state;
  struct fixture f = standard_fixture("");
  assert_int_equal(standard(&f,
                            "{\"requestId\":\"1-2\",\"payer\":{\"openid\":\"oUpF8\"},\"list\":[{\"mobile\":\"138\"}],"
                            "\"state\":\"ok\"}"),
                   RESULT_OK);
  assert_string_equal(
      f.event.body,
      "{\"requestId\":\"1-2\",\"payer\":{\"openid\":\"***\"},\"list\":[{\"mobile\":\"***\"}],\"state\":\"ok\"}");
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_plain_callback_is_understood),
      cmocka_unit_test(the_raw_bytes_are_signed),
      cmocka_unit_test(the_age_counts),
      cmocka_unit_test(old_and_new_secrets_are_in_force_together),
      cmocka_unit_test(one_flipped_byte_of_the_body_is_refused),
      cmocka_unit_test(content_types_are_judged_by_their_meaning),
      cmocka_unit_test(signed_rubbish_is_invalid),
      cmocka_unit_test(stripe_style_is_understood),
      cmocka_unit_test(outcomes_follow_the_first_rule_that_fits),
      cmocka_unit_test(amounts_are_exact_or_none),
      cmocka_unit_test(request_ids_name_claim_and_action),
      cmocka_unit_test(instants_have_many_forms),
      cmocka_unit_test(what_is_required_must_be_so),
      cmocka_unit_test(event_ids_are_made_where_there_are_none),
      cmocka_unit_test(what_is_kept_has_no_personal_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
