// SPDX-License-Identifier: Apache-2.0
// Tests of the HTTP server: the field cases B94 to B102, byte for byte; and the languages of problems.
// Owner: unit tests.
#include "tests/unit/web_fixture.h"

// The request must be refused with this status as problem+json, and the connection closed without a reset.
static void assert_refused(struct fixture *f, const char *request, size_t len, const char *status)
{
  int fd = dial(f);
  buf_clear(&f->got);
  put(f, fd, request, len);
  enum ended e = read_to_end(f, fd, 2000);
  close(fd);
  const char *got = buf_text(&f->got);
  if (e != CLOSED) print_error("connection %s after: %.200s\n", e == OPEN ? "open" : "reset", request);
  assert_int_equal(e, CLOSED);
  assert_memory_equal(got, "HTTP/1.1 ", 9);
  if (strncmp(got + 9, status, 3) != 0) print_error("%.60s instead of %s for: %.200s\n", got, status, request);
  assert_memory_equal(got + 9, status, 3);
  assert_has(got, "\r\nConnection: close\r\n");
  assert_has(got, "\r\nContent-Type: application/problem+json\r\n");
  assert_has(got, "{\"type\":\"/problems/");
}

// --- field cases

static int64_t expect_exchange_us(struct fixture *f, int fd)
{
  struct mono_time begun = clk_mono();
  buf_clear(&f->got);
  put_text(f, fd, JSON_POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  read_answers(f, fd, 1);
  assert_string_equal(buf_text(&f->got), "HTTP/1.1 100 Continue\r\n\r\n");
  put_text(f, fd, "{}");
  read_answers(f, fd, 2);
  assert_has(buf_text(&f->got), "201 Created");
  return mono_since(clk_mono(), begun).us;
}

static void b94_expect_is_answered_at_once(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  int64_t best_us = INT64_MAX;
  for (int i = 0; i < 5; i++) {  // the best of some: this is about a wait of the server, not about a busy machine
    int64_t us = expect_exchange_us(f, fd);
    if (us < best_us) best_us = us;
  }
  assert_true(best_us < 500000);
  // A body that comes with the head needs no 100.
  buf_clear(&f->got);
  put_text(f, fd, JSON_POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}");
  read_answers(f, fd, 1);
  assert_has(buf_text(&f->got), "201 Created");
  close(fd);
}

static void b94_expect_of_what_is_refused_gets_no_100(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *request, *status;
  } cases[] = {
      {JSON_POST "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n", "413"},
      {JSON_POST "Expect: foo\r\nContent-Length: 2\r\n\r\n", "417"},
      {"POST /nowhere HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", "404"},
      {"PUT /v1/claims HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", "405"},
      {"POST /v1/claims HTTP/1.1\r\n" HOST
       "Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
       "415"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    assert_refused(f, cases[i].request, strlen(cases[i].request), cases[i].status);
}

static void b96_slow_clients_neither_hinder_nor_stay(void **state)
{
  struct fixture *f = *state;
  enum { SLOW = 300 };
  static int slow[SLOW];
  for (int i = 0; i < SLOW; i++) {
    slow[i] = dial(f);
    put_text(f, slow[i], i % 2 ? "G" : JSON_POST "Content-Length: 100\r\n\r\n");
  }
  struct mono_time begun = clk_mono();
  bool answered = false;
  while (mono_since(clk_mono(), begun).us < 600000) {  // a byte from each now and then does not prolong anything
    for (int i = 0; i < SLOW; i++) (void)send(slow[i], i % 2 ? "E" : "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    turns(f, 50);
    if (answered) continue;
    assert_has(ask(f, JSON_POST "Content-Length: 2\r\n\r\n{}"), "201 Created");
    assert_true(mono_since(clk_mono(), begun).us < 5000000);
    answered = true;
  }
  size_t told = 0;
  for (int i = 0; i < SLOW; i++) {
    buf_clear(&f->got);
    assert_int_not_equal(read_to_end(f, slow[i], 2000), OPEN);
    told += strstr(buf_text(&f->got), "HTTP/1.1 408 ") != NULL;
    close(slow[i]);
  }
  assert_true(told > SLOW / 2);
  assert_has(ask(f, "GET /metrics HTTP/1.1\r\n" HOST "\r\n"), "\nlargesse_http_connections 1\n");
}

static void b96_when_full_accepting_pauses_and_idle_ones_give_way(void **state)
{
  struct fixture *f = *state;
  web_server_free(f->server);
  f->conf.connections_max = 8;
  f->conf.idle_timeout = span_s(60);
  f->conf.request_timeout = span_s(60);
  start(f);
  int fds[8];
  for (int i = 0; i < 8; i++) {
    fds[i] = dial(f);
    put_text(f, fds[i], "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
  }
  turns(f, 50);
  assert_int_equal(f->held_count, 8);
  int late = dial(f);  // by the kernel
  put_text(f, late, "GET /livez HTTP/1.1\r\n" HOST "\r\n");
  turns(f, 100);
  assert_int_equal(take(f, late), OPEN);
  assert_int_equal(f->got.len, 0);
  for (int i = 0; i < 8; i++) web_reply_empty(f->held[i], 204);  // now all eight idle
  read_answers(f, late, 1);                                      // after a while the oldest gives way
  assert_has(buf_text(&f->got), "200 OK");
  size_t closed = 0;
  for (int i = 0; i < 8; i++) {
    buf_clear(&f->got);
    closed += take(f, fds[i]) == CLOSED;
    close(fds[i]);
  }
  assert_int_equal(closed, 1);
  close(late);
}

static void b97_content_types(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *type;
    bool ok;
  } cases[] = {{"application/json", true},
               {"application/json; charset=utf-8", true},
               {"Application/JSON", true},
               {"application/json;charset=\"UTF-8\"", true},
               {"application/json ; Charset=Utf-8 ; x=y", true},
               {"application/json;", true},
               {"text/plain", false},
               {"application/json; charset=utf-16", false},
               {"application/json; charset=", false},
               {"application/json; charset=\"utf-8", false},
               {"application/jsonx", false},
               {"application/json, text/plain", false},
               {"application/json; charset=utf-8; charset=latin1", false},
               {"application/json x", false},
               {"", false}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Type: %s\r\nContent-Length: 2\r\n\r\n{}",
               cases[i].type);
    assert_has(ask(f, buf_text(&b)), cases[i].ok ? "HTTP/1.1 201 " : "HTTP/1.1 415 ");
    buf_release(&b);
  }
  assert_has(ask(f, "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}"),
             "\"code\":\"UNSUPPORTED_MEDIA_TYPE\"");
  assert_has(
      ask(f, "POST /v1/csv HTTP/1.1\r\n" HOST "Content-Type: text/csv; charset=utf-8\r\nContent-Length: 2\r\n\r\na\n"),
      "HTTP/1.1 201 ");
  assert_has(ask(f, "POST /v1/raw HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}"), "HTTP/1.1 201 ");
  assert_has(ask(f, "POST /v1/optional HTTP/1.1\r\n" HOST "\r\n"), "\r\n\r\n{}");
  assert_has(ask(f, "POST /v1/claims HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 400 ");
}

static void b99_too_large_bodies_are_told_so(void **state)
{
  struct fixture *f = *state;
  static const size_t sizes[] = {1001, 100000, 5000000};
  for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
    for (int chunked = 0; chunked < 2; chunked++) {
      struct buf b;
      buf_init(&b, 10000000);
      if (chunked)
        buf_printf(&b, JSON_POST "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", sizes[i]);
      else
        buf_printf(&b, JSON_POST "Content-Length: %zu\r\n\r\n", sizes[i]);
      for (size_t n = 0; n < sizes[i]; n++) buf_putc(&b, 'x');
      if (chunked) buf_puts(&b, "\r\n0\r\n\r\n");
      assert_refused(f, b.data, b.len, "413");
      assert_has(buf_text(&f->got), "\"code\":\"TOO_LARGE\"");
      buf_release(&b);
    }
}

static void b99_a_route_may_allow_more(void **state)
{
  struct fixture *f = *state;
  struct buf b;
  buf_init(&b, 1000000);
  buf_puts(&b, "POST /v1/big HTTP/1.1\r\n" HOST "Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n");
  for (int i = 0; i < 200000; i++) buf_putc(&b, 'x');
  const char *got = ask(f, buf_text(&b));
  assert_has(got, "201 Created");
  assert_has(got, "\r\nContent-Length: 200000\r\n");
  buf_release(&b);
}

static void b101_framing_that_can_be_read_two_ways(void **state)
{
  struct fixture *f = *state;
  static const char *const requests[] = {
      JSON_POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
      JSON_POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
      JSON_POST "Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      JSON_POST "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      JSON_POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
      JSON_POST "Transfer-Encoding: chunked\r\n\r\n00000000000000002\r\n{}\r\n0\r\n\r\n",
      "POST /v1/claims HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
      "GET /livez HTTP/1.1\n" HOST "\n",
  };
  for (size_t i = 0; i < ARRAY_LEN(requests); i++) assert_refused(f, requests[i], strlen(requests[i]), "400");
  assert_int_equal(f->handled, 0);
  assert_refused(f, "GET /livez HTTP/2.0\r\n\r\n", 23, "505");
  assert_has(ask(f, JSON_POST "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), "\r\n\r\n{}");
}

static void what_follows_a_broken_request_is_not_handled(void **state)
{
  struct fixture *f = *state;
  static const char two[] =
      JSON_POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" JSON_POST "Content-Length: 2\r\n\r\n{}";
  assert_refused(f, two, sizeof two - 1, "400");
  assert_int_equal(count_of(buf_text(&f->got), "HTTP/1.1 "), 1);
  assert_int_equal(f->handled, 0);
}

static void limits_of_the_head(void **state)
{
  struct fixture *f = *state;
  struct buf b;
  buf_init(&b, 100000);
  buf_puts(&b, "GET /");
  for (int i = 0; i < 6000; i++) buf_putc(&b, 'a');
  assert_refused(f, b.data, b.len, "414");
  buf_clear(&b);
  buf_puts(&b, "GET / HTTP/1.1\r\n" HOST "A: ");
  for (int i = 0; i < 20000; i++) buf_putc(&b, 'a');
  assert_refused(f, b.data, b.len, "431");
  buf_release(&b);
}

static void b102_head_options_and_other_methods(void **state)
{
  struct fixture *f = *state;
  static const char *const paths[] = {"/livez", "/readyz", "/metrics", "/healthz"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    int fd = dial(f);
    struct buf b;
    buf_init(&b, 1000);
    buf_clear(&f->got);
    buf_printf(&b, "HEAD %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
    put(f, fd, b.data, b.len);
    read_answers(f, fd, 1);
    assert_has(buf_text(&f->got), "HTTP/1.1 200 OK\r\n");
    assert_has_not(buf_text(&f->got), "Content-Length: 0\r\n");
    assert_string_equal(buf_text(&f->got) + f->got.len - 4, "\r\n\r\n");
    buf_clear(&b);
    buf_clear(&f->got);
    buf_printf(&b,
               "DELETE %s HTTP/1.1\r\n" HOST "\r\nOPTIONS %s HTTP/1.1\r\n" HOST "\r\nGET %s HTTP/1.1\r\n" HOST "\r\n",
               paths[i], paths[i], paths[i]);
    put(f, fd, b.data, b.len);
    read_answers(f, fd, 3);
    assert_has(buf_text(&f->got), "HTTP/1.1 405 Method Not Allowed\r\n");
    assert_has(buf_text(&f->got), "\"code\":\"METHOD_NOT_ALLOWED\"");
    assert_int_equal(count_of(buf_text(&f->got), "\r\nAllow: GET, HEAD, OPTIONS\r\n"), 2);
    assert_has(buf_text(&f->got), "HTTP/1.1 204 No Content\r\n");
    assert_has(buf_text(&f->got), "HTTP/1.1 200 OK\r\n");
    buf_release(&b);
    close(fd);
  }
  assert_has(ask(f, "OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 204 ");
  assert_has(ask(f, "GET /nowhere HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 404 ");
  assert_has(buf_text(&f->got), "\"code\":\"NOT_FOUND\"");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_started, teardown)

// Quality values decide, the first of equals wins; problems say which language they are in.
static void problems_come_in_two_languages(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *accept;
    bool is_chinese;
  } cases[] = {
      {"", false},
      {"zh-CN", true},
      {"zh", true},
      {"ZH-hans-cn;q=0.3", true},
      {"zh-CN, zh;q=0.8, en", true},
      {"en, zh-CN", false},
      {"en-GB;q=0.7, zh;q=0.8", true},
      {"zh;q=0.7,\ten;q=0.8", false},
      {"zh;q=0", false},
      {"zha, de", false},
      {"fr;q=0.5, zh ; q=0.6", true},
      {"zh;q=nonsense, en;q=0.1", false},
      {"fr, zh;q=0.5, en;q=0.4", true},
      {"fr, en;q=0.5, zh;q=0.4", false},
      {"zh;q=0.5, *", false},
      {"enm, zh;q=0.1", true},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char request[256];
    (void)snprintf(request, sizeof request, "GET /nowhere HTTP/1.1\r\n" HOST "Accept-Language: %s\r\n\r\n",
                   cases[i].accept);
    const char *got = ask(f, request);
    if (cases[i].is_chinese != (strstr(got, "\r\nContent-Language: zh\r\n") != NULL)) fail_msg("%s", cases[i].accept);
    assert_has(got, "\r\nVary: Accept-Language\r\n");
    assert_has(got, "\"type\":\"/problems/not-found\"");
    assert_has(got, "\"code\":\"NOT_FOUND\"");
    assert_has(got, cases[i].is_chinese ? "\"title\":\"未找到\"" : "\"title\":\"Not found\"");
    assert_has(got,
               cases[i].is_chinese ? "\"detail\":\"此路径不存在。\"" : "\"detail\":\"There is nothing at this path.\"");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      T(b94_expect_is_answered_at_once),
      T(b94_expect_of_what_is_refused_gets_no_100),
      T(b96_slow_clients_neither_hinder_nor_stay),
      T(b96_when_full_accepting_pauses_and_idle_ones_give_way),
      T(b97_content_types),
      T(b99_too_large_bodies_are_told_so),
      T(b99_a_route_may_allow_more),
      T(b101_framing_that_can_be_read_two_ways),
      T(what_follows_a_broken_request_is_not_handled),
      T(limits_of_the_head),
      T(b102_head_options_and_other_methods),
      T(problems_come_in_two_languages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
