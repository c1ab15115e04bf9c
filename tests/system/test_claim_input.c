// SPDX-License-Identifier: Apache-2.0
// What may be wrong with a claim's body: each fault is a 4xx that says so, nothing changes, and the next request works.
// Field cases B23, B75, B77, B81, B82, B83, B97, B99.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CODE          "input"
#define START         "{\"activityCode\":\"input\",\"userId\":7,"
#define WITH(members) START "\"bizId\":\"bad\"," members "}"

static int set_up(void **state)
{
  static struct stack_options options = {.no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  struct server *server = server_start();
  struct stack *s = stack_start(server, &options);
  activity_make(s->sql, &(struct activity_terms){
                            .code = CODE, .stock = 1000, .limits = "[{\"count\":500,\"period\":\"total\"}]"});
  struct claim_click click = claim_click(s->scheduler_ports[0], CODE, 1, "good");
  if (claim_send(&click).status != 201) support_die("the first claim was refused");
  *state = s;
  return 0;
}

static bool has_code(const struct http_answer *a, const char *code)
{
  char *type = http_answer_header(a, "Content-Type");
  bool is_problem = type != NULL && strcmp(type, "application/problem+json") == 0;
  mem_free(type);
  if (!is_problem) return false;
  json_t *json = http_answer_json(a);
  const char *found = json_string_value(json_object_get(json, "code"));
  bool same =
      found != NULL && strcmp(found, code) == 0 && json_integer_value(json_object_get(json, "status")) == a->status;
  json_decref(json);
  return same;
}

// Sends a body that must be refused, and then looks whether anything changed and whether the server still serves.
static void refuse(struct stack *s, const char *what, const struct http_request *request, int status, const char *code)
{
  char *before = activity_books(s->sql, CODE);
  struct http_request r = *request;
  r.port = s->scheduler_ports[0];
  r.path = "/v1/claims";
  r.method = "POST";
  struct http_answer a;
  http_call(&r, &a);
  if (a.status != status || !has_code(&a, code)) fail_msg("%s: %d %s, not %d %s", what, a.status, a.body, status, code);
  http_answer_release(&a);
  struct claim_click good = claim_click(r.port, CODE, 1, "good");
  struct claim_answer again = claim_send(&good);
  if (again.status != 200 || !again.replayed)
    fail_msg("after %s a good request got %d %s", what, again.status, again.code);
  char *after = activity_books(s->sql, CODE);
  assert_string_equal(before, after);
  mem_free(before);
  mem_free(after);
}

static void refuse_body(struct stack *s, const char *body, size_t len)
{
  refuse(s, body, &(struct http_request){.body = body, .body_len = len}, 400, "INVALID_REQUEST");
}

// B77, B81, B82, B83 and the shape of the whole.
static void wrong_values_are_named_and_change_nothing(void **state)
{
  static const char *const bodies[] = {
      WITH("\"quantity\":-1000"),
      WITH("\"quantity\":-1"),
      WITH("\"quantity\":0"),
      WITH("\"quantity\":1.5"),
      WITH("\"quantity\":1.0"),
      WITH("\"quantity\":1e2"),
      WITH("\"quantity\":\"1\""),
      WITH("\"quantity\":null"),
      WITH("\"quantity\":true"),
      WITH("\"quantity\":[1]"),
      WITH("\"quantity\":{}"),
      WITH("\"quantity\":-0"),
      WITH("\"quantity\":2147483648"),
      WITH("\"quantity\":9223372036854775808"),
      WITH("\"quantity\":99999999999999999999999999"),
      WITH("\"quantity\":01"),
      WITH("\"quantity\":+1"),
      WITH("\"quantity\":NaN"),
      WITH("\"quantity\":1e400"),
      WITH("\"quantity\":"),
      WITH("\"quantity\":1,\"quantity\":-1"),
      WITH("\"quantity\":1,\"quantity\":1"),
      WITH("\"bizId\":\"other\""),
      WITH("\"\\u0062izId\":\"other\""),
      WITH("\"userId\":8"),
      WITH("\"color\":\"red\""),
      WITH("\"Quantity\":1"),
      WITH("\"\":1"),
      WITH("\"timeZone\":\"Asia/Tokyo\""),
      WITH("\"numbers\":[7]"),
      WITH("\"channel\":1"),
      WITH("\"channel\":null"),
      WITH("\"channel\":\"\""),
      WITH("\"channel\":[\"APP\"]"),
      "{\"activityCode\":\"input\",\"userId\":0,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":-7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":7.0,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":7e0,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":9223372036854775808,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":\"9223372036854775808\",\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":\"007\",\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":\" 7\",\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":\"\",\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":null,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":true,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":{\"id\":7},\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"bizId\":\"bad\"}",
      "{\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input\",\"userId\":7}",
      "{\"activityCode\":1,\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"-input\",\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"in put\",\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"<input>\",\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"input'\",\"userId\":7,\"bizId\":\"bad\"}",
      "{\"activityCode\":\"\",\"userId\":7,\"bizId\":\"bad\"}",
      "{}",
      "[]",
      "null",
      "7",
      "\"claim\"",
      "true",
      "{",
      "}",
      "{\"a\"",
      WITH("\"quantity\":1") "x",
      WITH("\"quantity\":1") "{}",
      "[" WITH("\"quantity\":1") "]",
      "'{}'",
      "{\"activityCode\":\"input\",\"userId\":7,\"bizId\":\"bad\",}",
      "{/* */}",
      "\xef\xbb\xbf" WITH("\"quantity\":1"),
      "   ",
      "\n"};
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) refuse_body(*state, bodies[i], strlen(bodies[i]));
}

// B75
static void bytes_that_are_no_text_are_refused(void **state)
{
#define BYTES(text)        \
  {                        \
    text, sizeof(text) - 1 \
  }
  static const struct {
    const char *body;
    size_t len;
  } rows[] = {BYTES(START "\"bizId\":\"a\0b\"}"),
              BYTES(START "\"bizId\":\"a\\u0000b\"}"),
              BYTES(START "\"bizId\":\"a\xff\"}"),
              BYTES(START "\"bizId\":\"\xc0\x80\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"A\0PP\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"A\\u0000PP\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"\xff\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"\xed\xa0\x80\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"\\ud800\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"\xf4\x90\x80\x80\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"a\nb\"}"),
              BYTES(START "\"bizId\":\"bad\",\"channel\":\"\xe4\xb8\"}"),
              BYTES("{\"activityCode\":\"input\\u0000\",\"userId\":7,\"bizId\":\"bad\"}"),
              BYTES("{\"activityCode\":\"input\",\"userId\":\"7\\u0000\",\"bizId\":\"bad\"}"),
              BYTES(START "\"bizId\":\"bad\",\"a\\u0000\":1}"),
              BYTES(START "\"bizId\":\"bad\"}\0"),
              BYTES("\0"),
              BYTES("\xff\xfe{\0}\0")};
#undef BYTES
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) refuse_body(*state, rows[i].body, rows[i].len);
}

// B23
static void biz_ids_have_one_to_64_plain_characters(void **state)
{
  struct stack *s = *state;
  static const char *const bad[] = {"",         " ",   "   ",    "a b", "a\\tb",     "a/b", "a%20b",
                                    "\xc3\xa9", "a'b", "a\\\"b", "<b>", "a\\u000ab", "a,b", "a\\\\b"};
  char body[9000], id[8193];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    (void)snprintf(body, sizeof body, START "\"bizId\":\"%s\"}", bad[i]);
    refuse_body(s, body, strlen(body));
  }
  static const size_t long_ones[] = {65, 66, 255, 8192};
  for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
    for (size_t k = 0; k < long_ones[i]; k++) id[k] = "abcdefghijkmnopqrstuvwxyz0123456789"[(k * 7919 + i) % 35];
    id[long_ones[i]] = '\0';
    (void)snprintf(body, sizeof body, START "\"bizId\":\"%s\"}", id);
    refuse_body(s, body, strlen(body));
  }
  id[64] = '\0';
  struct claim_click longest = claim_click(s->scheduler_ports[0], CODE, 7, "%s", id);
  assert_int_equal(claim_send(&longest).status, 201);
  assert_int_equal(claim_send(&longest).status, 200);
  struct claim_click shortest = claim_click(s->scheduler_ports[0], CODE, 7, ".");
  assert_int_equal(claim_send(&shortest).status, 201);
}

// B99 and the rest of what is too much.
static void too_much_is_refused_with_an_answer(void **state)
{
  struct stack *s = *state;
  enum { MEGABYTE = 1024 * 1024, DEPTH = 10000 };
  struct buf b;
  buf_init(&b, 2 * MEGABYTE);
  for (int i = 0; i < DEPTH; i++) buf_puts(&b, i % 2 == 0 ? "[" : "{\"a\":");
  refuse(s, "deep nesting", &(struct http_request){.body = buf_text(&b), .body_len = b.len}, 400, "INVALID_REQUEST");
  buf_clear(&b);
  for (int i = 0; i < 2 * DEPTH; i++) buf_putc(&b, i < DEPTH ? '[' : ']');
  refuse(s, "deep arrays", &(struct http_request){.body = buf_text(&b), .body_len = b.len}, 400, "INVALID_REQUEST");
  buf_clear(&b);
  buf_puts(&b, START "\"bizId\":\"bad\",\"channel\":\"");
  while (b.len < MEGABYTE) buf_puts(&b, "aaaaaaaaaaaaaaaa");
  buf_puts(&b, "\"}");
  refuse(s, "a megabyte", &(struct http_request){.body = buf_text(&b), .body_len = b.len}, 413, "TOO_LARGE");
  buf_release(&b);
  refuse(s, "no body", &(struct http_request){.body = "", .body_len = 0}, 400, "INVALID_REQUEST");
}

// B97
static void only_json_in_utf8_is_taken(void **state)
{
  struct stack *s = *state;
  static const char body[] = START "\"bizId\":\"typed\"}";
  static const char *const good[] = {"application/json", "application/json; charset=utf-8", "Application/JSON",
                                     "application/json;charset=\"UTF-8\""};
  static const char *const bad[] = {
      "text/plain",        "application/json; charset=utf-16", "application/x-www-form-urlencoded", "text/json", "",
      "application/jsonx", "application/json, text/plain",     "multipart/form-data; boundary=x"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *header = support_format("Content-Type: %s\r\n", bad[i]);
    refuse(s, header, &(struct http_request){.headers = header, .body = body}, 415, "UNSUPPORTED_MEDIA_TYPE");
    mem_free(header);
  }
  char *none = support_format(
      "POST /v1/claims HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
  struct buf out;
  buf_init(&out, 65536);
  (void)http_raw(s->scheduler_ports[0], none, strlen(none), 5000, &out);
  assert_non_null(strstr(buf_text(&out), "HTTP/1.1 415 "));
  buf_release(&out);
  mem_free(none);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where biz_id = 'typed'"), 0);
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char *header = support_format("Content-Type: %s\r\n", good[i]);
    struct http_answer a;
    http_call(
        &(struct http_request){.port = s->scheduler_ports[0], .path = "/v1/claims", .headers = header, .body = body},
        &a);
    assert_int_equal(a.status, i == 0 ? 201 : 200);
    http_answer_release(&a);
    mem_free(header);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_values_are_named_and_change_nothing),
      cmocka_unit_test(bytes_that_are_no_text_are_refused),
      cmocka_unit_test(biz_ids_have_one_to_64_plain_characters),
      cmocka_unit_test(too_much_is_refused_with_an_answer),
      cmocka_unit_test(only_json_in_utf8_is_taken),
  };
  return cmocka_run_group_tests_name("claim input", tests, set_up, stack_tear_down);
}
