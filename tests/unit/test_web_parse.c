// SPDX-License-Identifier: Apache-2.0
// Tests of common/web_parse: every request is fed whole, byte by byte and in random pieces, and must be judged alike.
// Owner: unit tests.
#include "tests/unit/web_parse_run.h"

static void expect_status(const char *text, size_t len, int status)
{
  for (size_t piece = 0; piece < 8; piece++) {
    struct run r;
    run_init(&r, text, len, piece == 7 ? len : piece, (unsigned)len);
    if (r.step != WEB_PARSE_FAULT || r.parse.status != status)
      print_error("pieces of %zu: step %d status %d (%s), expected %d: %.200s\n", piece, (int)r.step, r.parse.status,
                  r.parse.fault ? r.parse.fault : "", status, text);
    assert_int_equal(r.step, WEB_PARSE_FAULT);
    assert_int_equal(r.parse.status, status);
    assert_non_null(r.parse.fault);
    run_release(&r);
  }
}

static void expect_body(const char *text, const char *body)
{
  size_t len = strlen(text);
  for (size_t piece = 0; piece < 8; piece++) {
    struct run r;
    run_init(&r, text, len, piece == 7 ? len : piece, (unsigned)len);
    if (r.step != WEB_PARSE_DONE)
      print_error("pieces of %zu: %s: %s\n", piece, r.parse.fault ? r.parse.fault : "not done", text);
    assert_int_equal(r.step, WEB_PARSE_DONE);
    assert_int_equal(r.parse.body_len, strlen(body));
    assert_memory_equal(r.bytes + r.parse.body_at, body, strlen(body));
    run_release(&r);
  }
}

static void expect_more(const char *text)
{
  struct run r;
  run_init(&r, text, strlen(text), 1, 1);
  assert_int_equal(r.step, WEB_PARSE_MORE);
  run_release(&r);
}

// --- what is accepted

static void reads_the_parts_of_a_request(void **state)
{
  (void)state;
  static const char text[] =
      "POST /v1/claims?dryRun=true HTTP/1.1\r\nHost: example:8080\r\nContent-Type:application/json\r\nX-A: \t b c\t "
      "\r\nX-Empty:\r\n"
      "Content-Length: 2\r\n\r\n{}GET /next";
  for (size_t piece = 0; piece < 6; piece++) {
    struct run r;
    run_init(&r, text, piece == 5 ? strlen(text) : strlen(text) - 9, piece == 5 ? strlen(text) : piece, 7);
    const struct web_parse *p = &r.parse;
    assert_int_equal(r.step, WEB_PARSE_DONE);
    assert_string_equal(text_at(&r, p->method), "POST");
    assert_string_equal(text_at(&r, p->path), "/v1/claims");
    assert_true(p->has_query);
    assert_string_equal(text_at(&r, p->query), "dryRun=true");
    assert_int_equal(p->header_count, 5);
    assert_string_equal(text_at(&r, p->headers[0].name), "Host");
    assert_string_equal(text_at(&r, p->headers[0].value), "example:8080");
    assert_string_equal(text_at(&r, p->headers[2].value), "b c");
    assert_string_equal(text_at(&r, p->headers[3].value), "");
    assert_int_equal(p->known[WEB_CONTENT_TYPE], 2);
    assert_int_equal(p->known[WEB_HOST], 1);
    assert_int_equal(p->body_len, 2);
    assert_int_equal(p->pos, strlen(text) - 9);
    assert_false(p->close);
    run_release(&r);
  }
}

static void bodies_by_length_and_in_chunks(void **state)
{
  (void)state;
  expect_body("GET / HTTP/1.1\r\n" HOST "\r\n", "");
  expect_body("POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", "");
  expect_body("POST / HTTP/1.1\r\n" HOST "Content-Length: 007\r\n\r\nabcdefg", "abcdefg");
  expect_body("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "");
  expect_body("POST / HTTP/1.1\r\n" HOST
              "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n00000A\r\n0123456789\r\n0\r\n\r\n",
              "abc0123456789");
  expect_body("POST / HTTP/1.1\r\n" HOST
              "Transfer-Encoding: chunked\r\n\r\n1;ext=\"y\"\r\na\r\n1\r\nb\r\n0;x\r\nTrailer: t\r\nB: c\r\n\r\n",
              "ab");
  expect_body("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0000000000000002\r\n\r\n\r\n0\r\n\r\n",
              "\r\n");
}

static void finds_the_start_of_the_next_request_after_chunks(void **state)
{
  (void)state;
  static const char text[] =
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n";
  struct run r;
  run_init(&r, text, strlen(text), strlen(text), 1);
  assert_int_equal(r.step, WEB_PARSE_DONE);
  assert_memory_equal(r.bytes + r.parse.pos, "GET /2 HTTP/1.1\r\n", 17);
  assert_int_equal(r.len - r.parse.pos, 17);
  run_release(&r);
}

static void tiny_chunks_take_no_more_room_than_their_body(void **state)
{
  (void)state;
  struct buf text;
  struct run r;
  buf_init(&text, 1000000);
  buf_puts(&text, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
  size_t head = text.len;
  for (int i = 0; i < BODY_MAX; i++) buf_puts(&text, "1;extension=0123456789012345678901234567890123456789\r\nx\r\n");
  run_init(&r, text.data, text.len, 100, 1);
  assert_int_equal(r.step, WEB_PARSE_MORE);
  assert_int_equal(r.parse.body_len, BODY_MAX);
  assert_true(r.len <= head + BODY_MAX + 100);
  run_release(&r);
  buf_release(&text);
}

static void connection_and_version_decide_about_closing(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    bool close;
  } cases[] = {
      {"GET / HTTP/1.1\r\n" HOST "\r\n", false},
      {"GET / HTTP/1.1\r\n" HOST "Connection: keep-alive\r\n\r\n", false},
      {"GET / HTTP/1.1\r\n" HOST "Connection: x, CLOSE ,y\r\n\r\n", true},
      {"GET / HTTP/1.1\r\n" HOST "connection: closed\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n" HOST "\r\n", true},
      {"GET / HTTP/1.0\r\n\r\n", true},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct run r;
    run_init(&r, cases[i].text, strlen(cases[i].text), 0, (unsigned)i);
    assert_int_equal(r.step, WEB_PARSE_DONE);
    assert_int_equal(r.parse.close, cases[i].close);
    run_release(&r);
  }
}

static void targets(void **state)
{
  (void)state;
  static const struct {
    const char *text, *path;
  } cases[] = {
      {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "*"},
      {"GET http://example/a/b?c HTTP/1.1\r\n" HOST "\r\n", "/a/b"},
      {"GET HTTPS://example:1/ HTTP/1.1\r\n" HOST "\r\n", "/"},
      {"\r\nGET /after-an-empty-line HTTP/1.1\r\n" HOST "\r\n", "/after-an-empty-line"},
      {"GET /%e4%bd%a0?a=b?c HTTP/1.1\r\n" HOST "\r\n", "/%e4%bd%a0"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct run r;
    run_init(&r, cases[i].text, strlen(cases[i].text), 1, 1);
    assert_int_equal(r.step, WEB_PARSE_DONE);
    assert_string_equal(text_at(&r, r.parse.path), cases[i].path);
    run_release(&r);
  }
}

static void waits_for_the_rest(void **state)
{
  (void)state;
  expect_more("G");
  expect_more("GET / HTTP/1.1\r\n" HOST "\r");
  expect_more("POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nab");
  expect_more("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nab");
  expect_more("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n");
}

static void expectations(void **state)
{
  (void)state;
  static const char text[] = "POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\na";
  struct run r;
  run_init(&r, text, strlen(text), 3, 1);
  assert_int_equal(r.step, WEB_PARSE_DONE);
  assert_true(r.parse.expects_continue);
  run_release(&r);
  expect_status("POST / HTTP/1.1\r\n" HOST "Expect: foo\r\n\r\n", 41, 417);
}

// --- what is refused

struct refusal {
  int status;
  const char *text;
};

static void refuse_all(const struct refusal *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) expect_status(cases[i].text, strlen(cases[i].text), cases[i].status);
}

static void refuses_ambiguous_lengths(void **state)
{
  (void)state;
  static const struct refusal cases[] = {
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\ncontent-length: 3\r\n\r\nabc"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\nabc"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length : 3\r\n\r\nabc"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \x0b"
            "chunked\r\n\r\n"},
      {400, "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\na"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\na"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1 1\r\n\r\na"},
      {400, "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n"},
  };
  refuse_all(cases, ARRAY_LEN(cases));
}

static void refuses_bad_chunks(void **state)
{
  (void)state;
  static const struct refusal cases[] = {
      {400, CHUNKED "-1\r\n"},
      {400, CHUNKED "+1\r\na\r\n"},
      {400, CHUNKED " 1\r\na\r\n"},
      {400, CHUNKED "1 \r\na\r\n"},
      {400, CHUNKED "0x1\r\na\r\n"},
      {400, CHUNKED "\r\n"},
      {400, CHUNKED "g\r\n"},
      {400, CHUNKED ";x\r\n"},
      {400, CHUNKED "00000000000000001\r\na\r\n0\r\n\r\n"},  // 17 digits
      {400, CHUNKED "1\na\r\n"},
      {400, CHUNKED "1\r\nab"},
      {400, CHUNKED "1\r\na\rb"},
      {400, CHUNKED "1\r\na\n0\r\n\r\n"},
      {400, CHUNKED "1;a\x01"
                    "b\r\na\r\n"},
      {400, CHUNKED "0\r\nno colon\r\n\r\n"},
      {400, CHUNKED "0\r\n Folded: x\r\n\r\n"},
      {400, CHUNKED "0\r\nA: b\n\r\n"},
      {413, CHUNKED "3e9\r\n"},
      {413, CHUNKED "ffffffffffffffff\r\n"},
      {413, CHUNKED "3\r\nabc\r\n3e6\r\n"},
  };
  refuse_all(cases, ARRAY_LEN(cases));
}

static void refuses_malformed_heads(void **state)
{
  (void)state;
  static const struct refusal cases[] = {
      {400, "GET / HTTP/1.1\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST HOST "\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {400, "GET / HTTP/1.1\n" HOST "\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: x\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "A: b\x7f\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "A(: b\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n"},
      {400, "GET /\r\n" HOST "\r\n"},
      {400, "GET  / HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET / HTTP/1.1 \r\n" HOST "\r\n"},
      {400, " GET / HTTP/1.1\r\n" HOST "\r\n"},
      {400, "G@T / HTTP/1.1\r\n" HOST "\r\n"},
      {400, "ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET / http/1.1\r\n" HOST "\r\n"},
      {400, "GET / HTTP/1.10\r\n" HOST "\r\n"},
      {400, "GET / HTTP/11\r\n" HOST "\r\n"},
      {400, "GET example/ HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET * HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET http://example HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET ftp://example/ HTTP/1.1\r\n" HOST "\r\n"},
      {400, "CONNECT example:443 HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET /a#b HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET /\x80 HTTP/1.1\r\n" HOST "\r\n"},
      {400, "GET /\x01 HTTP/1.1\r\n" HOST "\r\n"},
      {400, "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"},
      {505, "GET / HTTP/2.0\r\n" HOST "\r\n"},
      {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {505, "GET / HTTP/1.2\r\n" HOST "\r\n"},
      {505, "GET / HTTP/0.9\r\n" HOST "\r\n"},
  };
  refuse_all(cases, ARRAY_LEN(cases));
}

static void refuses_nul_anywhere_in_the_head(void **state)
{
  (void)state;
  static const char good[] = "GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n";
  for (size_t i = 0; i + 5 < sizeof good; i++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    if (text[i] == '\r' || text[i] == '\n') continue;
    text[i] = '\0';
    expect_status(text, sizeof good - 1, 400);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_parts_of_a_request),
      cmocka_unit_test(bodies_by_length_and_in_chunks),
      cmocka_unit_test(finds_the_start_of_the_next_request_after_chunks),
      cmocka_unit_test(tiny_chunks_take_no_more_room_than_their_body),
      cmocka_unit_test(connection_and_version_decide_about_closing),
      cmocka_unit_test(targets),
      cmocka_unit_test(waits_for_the_rest),
      cmocka_unit_test(expectations),
      cmocka_unit_test(refuses_ambiguous_lengths),
      cmocka_unit_test(refuses_bad_chunks),
      cmocka_unit_test(refuses_malformed_heads),
      cmocka_unit_test(refuses_nul_anywhere_in_the_head),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
