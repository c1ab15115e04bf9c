// SPDX-License-Identifier: Apache-2.0
// Unit tests of the load generator's pure parts: reading answers, making clicks, counting.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <cmocka.h>

#include "tests/bench/load/answer.c"
#include "tests/bench/load/click.c"
#include "tests/bench/load/tally.c"

// --- answers ---

static enum answer_progress read_text(const char *text, struct answer *out)
{
  return answer_read(text, strlen(text), out);
}

static bool is(struct answer_text text, const char *expected)
{
  return text.len == strlen(expected) && (text.len == 0 || memcmp(text.bytes, expected, text.len) == 0);
}

static void an_answer_is_complete_only_at_its_last_byte(void **state)
{
  (void)state;
  static const char text[] =
      "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-length:  47 \r\n\r\n"
      "{\"claimId\":\"12-7\",\"n\":[1,2],\"status\":\"issuing\"}";
  struct answer a = {.status = -1};
  size_t full = sizeof text - 1;
  for (size_t len = 0; len < full; len++) {
    assert_int_equal(answer_read(text, len, &a), ANSWER_PARTIAL);
    assert_int_equal(a.status, -1);
  }
  assert_int_equal(answer_read(text, full, &a), ANSWER_COMPLETE);
  assert_int_equal(a.status, 201);
  assert_int_equal(a.bytes, full);
  assert_false(a.close);
  assert_true(is(a.claim_id, "12-7"));
  assert_true(is(a.state, "issuing"));
  assert_true(is(a.code, ""));
}

static void the_headers_that_matter_are_read(void **state)
{
  (void)state;
  struct answer a;
  assert_int_equal(
      read_text(
          "HTTP/1.1 503 Service Unavailable\r\nconnection: Close\r\nretry-after: 3\r\nidempotent-replayed: true\r\n"
          "content-length: 21\r\n\r\n{\"code\":\"OVERLOADED\"}",
          &a),
      ANSWER_COMPLETE);
  assert_true(a.close);
  assert_true(a.replayed);
  assert_int_equal(a.retry_after_s, 3);
  assert_true(is(a.code, "OVERLOADED"));
  assert_int_equal(read_text("HTTP/1.1 204 No Content\r\n\r\n", &a), ANSWER_COMPLETE);
}

static void only_members_of_the_top_level_count(void **state)
{
  (void)state;
  static const char body[] =
      "{\"a\":{\"code\":\"INNER\"},\"b\":[\"code\"],\"c\":\"\\\"code\\\":\",\"status\":409,\"code\":\"SOLD_OUT\"}";
  struct answer a;
  char text[256];
  (void)snprintf(text, sizeof text, "HTTP/1.1 409 Conflict\r\nContent-Length: %zu\r\n\r\n%s", sizeof body - 1, body);
  assert_int_equal(read_text(text, &a), ANSWER_COMPLETE);
  assert_true(is(a.code, "SOLD_OUT"));
  assert_true(is(a.state, ""));
  (void)snprintf(text, sizeof text, "HTTP/1.1 409 Conflict\r\nContent-Length: %zu\r\n\r\n%s", sizeof body - 4, body);
  assert_int_equal(read_text(text, &a), ANSWER_BROKEN);  // the length ends inside a text
}

static void broken_answers_are_seen(void **state)
{
  (void)state;
  static const char *const bad[] = {
      "HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{]",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\"\\",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{",
  };
  struct answer a;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    if (read_text(bad[i], &a) != ANSWER_BROKEN) fail_msg("taken: %s", bad[i]);
  }
}

// --- clicks ---

static struct click_plan plan(void)
{
  return (struct click_plan){.activities = {"a", "b"},
                             .activity_count = 2,
                             .biz_prefix = "t-",
                             .user_first = 1,
                             .user_count = 1000,
                             .seed = 7};
}

static void a_click_is_a_function_of_its_number(void **state)
{
  (void)state;
  struct click_plan p = plan();
  p.quantity_min = 1;
  p.quantity_max = 3;
  bool seen[4] = {false};
  for (uint64_t n = 0; n < 200; n++) {
    struct click one, two;
    click_make(&p, n, &one);
    click_make(&p, n, &two);
    assert_string_equal(one.biz_id, two.biz_id);
    assert_int_equal(one.user, two.user);
    assert_true(one.user >= 1 && one.user <= 1000);
    assert_true(one.quantity >= 1 && one.quantity <= 3);
    assert_ptr_equal(one.activity, p.activities[n % 2]);
    seen[one.quantity] = true;
  }
  assert_true(seen[1] && seen[2] && seen[3]);
  p.users_sequential = true;
  p.user_first = 500;
  p.user_count = 10;
  struct click c;
  click_make(&p, 12, &c);
  assert_int_equal(c.user, 502);
  assert_string_equal(c.biz_id, "t-12");
}

static void a_request_says_its_own_length(void **state)
{
  (void)state;
  struct click_plan p = plan();
  struct buf head, out;
  struct click c;
  buf_init(&head, CLICK_REQUEST_BYTES);
  buf_init(&out, CLICK_REQUEST_BYTES);
  click_render_head(&p, "127.0.0.1:7401", "X-A: b\r\n", &head);
  p.users_sequential = true;
  click_make(&p, 4, &c);
  click_render(&p, &head, &c, &out);
  assert_string_equal(buf_text(&out),
                      "POST /v1/claims HTTP/1.1\r\nHost: 127.0.0.1:7401\r\nContent-Type: application/json\r\nX-A: "
                      "b\r\nContent-Length: 047\r\n\r\n"
                      "{\"activityCode\":\"a\",\"userId\":\"5\",\"bizId\":\"t-4\"}");
  buf_release(&head);
  buf_release(&out);
}

// --- figures ---

static void percentiles_are_close_from_microseconds_to_minutes(void **state)
{
  (void)state;
  static const int64_t values[] = {0, 1, 63, 64, 65, 127, 128, 1000, 12345, 999999, 60000000, 3600000000};
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    struct tally t = {0};
    tally_latency(&t, span_us(values[i]));
    tally_latency(&t, span_us(values[i] * 2 + 10));
    int64_t found = tally_percentile_us(&t, 0.0);
    assert_true(found >= values[i] && (double)found <= (double)values[i] * 1.04);
    assert_int_equal(tally_percentile_us(&t, 1.0), values[i] * 2 + 10);
  }
  struct tally t = {0};
  for (int64_t us = 1; us <= 100000; us++) tally_latency(&t, span_us(us));
  assert_in_range(tally_percentile_us(&t, 0.5), 50000, 52000);
  assert_in_range(tally_percentile_us(&t, 0.99), 99000, 100000);
}

static void names_are_counted_and_bounded(void **state)
{
  (void)state;
  struct tally_names names = {.count = 0};
  tally_name(&names, "SOLD_OUT", 8);
  tally_name(&names, "SOLD_OUT", 8);
  char name[16];
  for (int i = 0; i < 200; i++) {
    int n = snprintf(name, sizeof name, "N%d", i);
    tally_name(&names, name, (size_t)n);
  }
  assert_int_equal(names.items[0].count, 2);
  assert_int_equal(names.count, TALLY_NAMES_MAX);
  assert_string_equal(names.items[TALLY_NAMES_MAX - 1].name, "OTHER");
  uint64_t sum = 0;
  for (size_t i = 0; i < names.count; i++) sum += names.items[i].count;
  assert_int_equal(sum, 202);
}

static void the_json_report_is_json(void **state)
{
  (void)state;
  struct tally t = {.accepted = 3, .elapsed = span_s(2)};
  struct buf out;
  buf_init(&out, 65536);
  tally_name(&t.codes, "SOLD_OUT", 8);
  tally_write_json(&t, &out);
  json_t *json = json_loads(buf_text(&out), JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(json);
  assert_true(json_real_value(json_object_get(json, "acceptedPerSecond")) == 1.5);
  assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "refused"), "SOLD_OUT")), 1);
  json_decref(json);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_is_complete_only_at_its_last_byte),
      cmocka_unit_test(the_headers_that_matter_are_read),
      cmocka_unit_test(only_members_of_the_top_level_count),
      cmocka_unit_test(broken_answers_are_seen),
      cmocka_unit_test(a_click_is_a_function_of_its_number),
      cmocka_unit_test(a_request_says_its_own_length),
      cmocka_unit_test(percentiles_are_close_from_microseconds_to_minutes),
      cmocka_unit_test(names_are_counted_and_bounded),
      cmocka_unit_test(the_json_report_is_json),
  };
  return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
