// SPDX-License-Identifier: Apache-2.0
// Tests of common/web_parse: limits of heads and bodies, classes of characters, mutations of a good request.
// Owner: unit tests.
#include "tests/unit/web_parse_run.h"

// --- limits

static void fill(struct buf *b, const char *before, char c, size_t count, const char *after)
{
  buf_clear(b);
  buf_puts(b, before);
  for (size_t i = 0; i < count; i++) buf_putc(b, c);
  buf_puts(b, after);
}

static enum web_parse_step step_of(const struct buf *b, int *out_status)
{
  struct run r;
  run_init(&r, b->data, b->len, 1000, 1);
  enum web_parse_step step = r.step;
  *out_status = r.parse.status;
  run_release(&r);
  return step;
}

static void limits_of_the_head(void **state)
{
  (void)state;
  struct buf b;
  int status;
  buf_init(&b, 200000);
  fill(&b, "GET /", 'a', WEB_URI_BYTES_MAX - 1, " HTTP/1.1\r\n" HOST "\r\n");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_DONE);
  fill(&b, "GET /", 'a', WEB_URI_BYTES_MAX, " HTTP/1.1\r\n" HOST "\r\n");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 414);
  fill(&b, "GET /", 'a', 100000, "");  // a line that never ends
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 414);
  fill(&b, "GET / HTTP/1.1\r\n" HOST "A: ", 'a', WEB_HEADER_BYTES_MAX - 32, "\r\n\r\n");
  assert_int_equal(b.len, WEB_HEADER_BYTES_MAX);
  assert_int_equal(step_of(&b, &status), WEB_PARSE_DONE);
  fill(&b, "GET / HTTP/1.1\r\n" HOST "A: ", 'a', WEB_HEADER_BYTES_MAX - 31, "\r\n\r\n");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 431);
  fill(&b, "GET / HTTP/1.1\r\n" HOST "A: ", 'a', 100000, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 431);
  fill(&b, CHUNKED "0\r\nA: ", 'a', 100000, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 431);
  fill(&b, CHUNKED "1;", 'a', 1000, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 400);
  buf_release(&b);
}

static void limit_of_header_count(void **state)
{
  (void)state;
  struct buf b;
  int status;
  buf_init(&b, 200000);
  for (int extra = 0; extra < 2; extra++) {
    fill(&b, "GET / HTTP/1.1\r\n" HOST, 'x', 0, "");
    for (int i = 1; i < WEB_HEADERS_MAX + extra; i++) buf_puts(&b, "A: b\r\n");
    buf_puts(&b, "\r\n");
    assert_int_equal(step_of(&b, &status), extra ? WEB_PARSE_FAULT : WEB_PARSE_DONE);
    assert_int_equal(status, extra ? 431 : 0);
  }
  buf_release(&b);
}

static void limit_of_the_body(void **state)
{
  (void)state;
  struct buf b;
  int status;
  buf_init(&b, 200000);
  fill(&b, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n", 'x', 1000, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_DONE);
  fill(&b, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", 'x', 0, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 413);
  fill(&b, "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999999\r\n\r\n", 'x', 0, "");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 413);
  fill(&b, CHUNKED "3E8\r\n", 'x', 1000, "\r\n0\r\n\r\n");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_DONE);
  fill(&b, CHUNKED "3E8\r\n", 'x', 1000, "\r\n1\r\nx\r\n0\r\n\r\n");
  assert_int_equal(step_of(&b, &status), WEB_PARSE_FAULT);
  assert_int_equal(status, 413);
  buf_release(&b);
}

// --- characters

static void token_characters_are_those_of_rfc_9110(void **state)
{
  (void)state;
  for (int c = 0; c < 256; c++) {
    char byte = (char)c;
    bool expected = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
    assert_int_equal(web_parse_is_token(&byte, 1), expected);
    bool is_value = c == '\t' || (c >= 0x20 && c != 0x7f);
    assert_int_equal(web_parse_is_value(&byte, 1), is_value);
  }
  assert_false(web_parse_is_token("", 0));
  assert_true(web_parse_is_value("", 0));
}

// Any mutation of a good request must be judged the same however it is cut, and never be read outside of its bytes.
static void mutations_do_not_depend_on_the_cut(void **state)
{
  (void)state;
  static const char good[] =
      "POST /a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n5;e\r\nhello\r\n1\r\n!\r\n0\r\nT: "
      "u\r\n\r\n";
  unsigned seed = 42;
  for (int round = 0; round < 20000; round++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    for (unsigned n = 1 + next_random(&seed) % 3; n > 0; n--)
      text[next_random(&seed) % (sizeof good - 1)] = (char)next_random(&seed);
    struct run whole, pieces;
    run_init(&whole, text, sizeof good - 1, sizeof good, 1);
    run_init(&pieces, text, sizeof good - 1, 0, (unsigned)round);
    assert_int_equal(whole.step, pieces.step);
    assert_int_equal(whole.parse.status, pieces.parse.status);
    if (whole.step == WEB_PARSE_DONE) {
      assert_int_equal(whole.parse.body_len, pieces.parse.body_len);
      assert_memory_equal(whole.bytes + whole.parse.body_at, pieces.bytes + pieces.parse.body_at, whole.parse.body_len);
    }
    run_release(&whole);
    run_release(&pieces);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_of_the_head),
      cmocka_unit_test(limit_of_header_count),
      cmocka_unit_test(limit_of_the_body),
      cmocka_unit_test(token_characters_are_those_of_rfc_9110),
      cmocka_unit_test(mutations_do_not_depend_on_the_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
