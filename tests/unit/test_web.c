// SPDX-License-Identifier: Apache-2.0
// Tests of the HTTP server: order, late replies, clients that leave, time-outs, readiness, drain, languages.
// Owner: unit tests.
#include "tests/unit/web_fixture.h"

// --- basics

static void answers_and_keeps_the_connection(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  for (int i = 0; i < 3; i++) {
    buf_clear(&f->got);
    put_text(f, fd, JSON_POST "Content-Length: 7\r\n\r\n{\"a\":1}");
    read_answers(f, fd, 1);
    assert_memory_equal(buf_text(&f->got), "HTTP/1.1 201 Created\r\nDate: ", 28);
    assert_has(buf_text(&f->got), "\r\nContent-Type: application/json\r\nContent-Length: 7\r\n");
    assert_has(buf_text(&f->got),
               "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nX-Content-Type-Options: "
               "nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n");
    assert_has(buf_text(&f->got), "\r\n\r\n{\"a\":1}");
    assert_has_not(buf_text(&f->got), "Connection:");
  }
  close(fd);
  assert_int_equal(f->handled, 3);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  struct buf all;
  buf_init(&all, 100000);
  for (int i = 10; i < 60; i++) buf_printf(&all, JSON_POST "Content-Length: 2\r\n\r\n%d", i);
  put(f, fd, all.data, all.len);
  read_answers(f, fd, 50);
  const char *at = buf_text(&f->got);
  for (int i = 10; i < 60; i++) {
    char end[8] = {'\r', '\n', '\r', '\n', (char)('0' + i / 10), (char)('0' + i % 10), 0};
    at = strstr(at, end);
    assert_non_null(at);
  }
  buf_release(&all);
  close(fd);
}

static void a_late_reply_comes_before_the_next_request_is_handled(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd,
           "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\na" JSON_POST "Content-Length: 2\r\n\r\n{}");
  turns(f, 20);
  assert_int_equal(f->handled, 1);
  assert_int_equal(web_server_open_requests(f->server), 1);
  size_t len;
  assert_string_equal(web_body(f->held[0], &len), "a");
  assert_int_equal(len, 1);
  web_reply(f->held[0], 200, "text/plain", "first", 5);
  read_answers(f, fd, 2);
  assert_true(strstr(buf_text(&f->got), "first") < strstr(buf_text(&f->got), "{}"));
  assert_int_equal(web_server_open_requests(f->server), 0);
  close(fd);
}

static void reads_path_query_headers_and_language(void **state)
{
  struct fixture *f = *state;
  const char *got = ask(f, "GET /v1/show/a%2Fb%20c?q=x+y%26z&none HTTP/1.1\r\n" HOST
                           "x-test: v 1\r\nAccept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n"
                           "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n");
  assert_has(got,
             "method=GET path=/v1/show/a/b c code=a/b c item=- q=x y&z none=? x=v 1 zh=1 "
             "trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 "
             "actor=anonymous");
  got = ask(
      f,
      "GET /v1/show/%E4%BD%A0 HTTP/1.1\r\n" HOST
      "Accept-Language: en, zh;q=0.5\r\ntraceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-01\r\n\r\n");
  assert_has(got, "code=\xe4\xbd\xa0 item=- q=- none=- x=- zh=0 trace=00-");
  assert_has_not(got, "trace=00-0000000000000000");
}

static void parameters_survive_a_body_that_moves_the_buffer(void **state)
{
  struct fixture *f = *state;
  struct buf b;
  buf_init(&b, 100000);
  f->conf.body_max = 50000;
  web_server_free(f->server);
  start(f);
  buf_puts(&b, "POST /v1/show/first/second HTTP/1.1\r\n" HOST "Content-Length: 40000\r\n\r\n");
  for (int i = 0; i < 40000; i++) buf_putc(&b, 'x');
  assert_has(ask(f, buf_text(&b)), "code=first item=second");
  assert_has(buf_text(&f->got), "len=40000");
  buf_release(&b);
}

static void malformed_paths_and_queries_are_400(void **state)
{
  struct fixture *f = *state;
  static const char *const targets[] = {"/v1/show/%",       "/v1/show/%4",
                                        "/v1/show/%zz",     "/v1/show/a%00b",
                                        "/v1/show/%ff",     "/v1/show/a?q=%",
                                        "/v1/show/a?q=%ff", "/v1/show/a?q=1&q=2",
                                        "/v1/show/a?%00=1", "/v1/show/a?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q"};
  for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "GET %s HTTP/1.1\r\n" HOST "\r\n", targets[i]);
    assert_has(ask(f, buf_text(&b)), "HTTP/1.1 400 ");
    assert_has(buf_text(&f->got), "\"code\":\"INVALID_REQUEST\"");
    buf_release(&b);
  }
}

static void header_values_with_line_ends_are_left_out(void **state)
{
  struct fixture *f = *state;
  const char *got = ask(f, "GET /v1/inject HTTP/1.1\r\n" HOST "\r\n");
  assert_has(got, "\r\nX-Good: yes\r\n");
  assert_has_not(got, "Forged");
  assert_has_not(got, "Bad");
  assert_has(got, "\r\nRetry-After: 7\r\n");
  assert_has(got,
             "{\"type\":\"/problems/sold-out\",\"title\":\"Sold "
             "out\",\"status\":409,\"code\":\"SOLD_OUT\",\"detail\":\"say \\\"no\\\"\\n\",\"rule\":\"stock\","
             "\"limit\":1,\"retryable\":true}");
}

static void http_1_0_is_answered_and_closed(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd, "GET /livez HTTP/1.0\r\n\r\n");
  assert_int_equal(read_to_end(f, fd, 1000), CLOSED);
  assert_has(buf_text(&f->got), "HTTP/1.1 200 OK");
  assert_has(buf_text(&f->got), "Connection: close");
  close(fd);
}

static void a_client_that_shuts_its_side_still_gets_its_answer(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd, "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
  (void)shutdown(fd, SHUT_WR);
  turns(f, 20);
  assert_int_equal(f->held_count, 1);
  web_reply(f->held[0], 200, "text/plain", "late", 4);
  assert_int_equal(read_to_end(f, fd, 1000), CLOSED);
  assert_has(buf_text(&f->got), "late");
  close(fd);
}

static void a_reply_to_a_client_that_left_is_dropped(void **state)
{
  struct fixture *f = *state;
  for (int i = 0; i < 2; i++) {
    int fd = dial(f);
    put_text(f, fd, "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
    turns(f, 20);
    struct linger now = {1, 0};  // once with a reset, once without
    if (i == 0) assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    close(fd);
    turns(f, 20);
    web_reply(f->held[i], 200, "text/plain", "late", 4);
    turns(f, 20);
  }
  assert_has(ask(f, "GET /livez HTTP/1.1\r\n" HOST "\r\n"), "200 OK");
  assert_int_equal(web_server_open_requests(f->server), 0);
}

static void requests_outlive_their_server(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd, "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
  turns(f, 20);
  assert_int_equal(f->held_count, 1);
  web_server_free(f->server);
  f->server = NULL;
  assert_ptr_equal(web_context(f->held[0]), f);
  web_reply_problem(f->held[0], &(struct web_problem){.code = "UNAVAILABLE", .status = 503});
  close(fd);
}

static void a_large_answer_to_a_slow_reader_arrives_whole(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd, "GET /v1/large HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
  turns(f, 100);  // the socket's buffers are full now
  assert_int_equal(read_to_end(f, fd, 3000), CLOSED);
  assert_has(buf_text(&f->got), "Content-Length: 25165824\r\n");
  assert_int_equal(f->got.len, (size_t)(strstr(buf_text(&f->got), "\r\n\r\n") + 4 - buf_text(&f->got)) + LARGE_BYTES);
  close(fd);
}

static void reading_an_answer_for_long_is_not_idling(void **state)
{
  struct fixture *f = *state;
  static char chunk[1024 * 1024];
  size_t got = 0;
  int fd = dial(f);
  put_text(f, fd, "GET /v1/large HTTP/1.1\r\n" HOST "\r\n");
  struct mono_time begun = clk_mono();
  for (ssize_t n = 1; n > 0 && got < LARGE_BYTES;) {
    for (size_t part = 0; part < sizeof chunk && n > 0; part += (size_t)n) {
      turn(f);
      n = recv(fd, chunk, sizeof chunk - part, MSG_DONTWAIT);
      if (n < 0 && errno == EAGAIN) break;
      if (n > 0) got += (size_t)n;
    }
    turns(f, 25);
    if (n < 0 && errno == EAGAIN) n = 1;
  }
  assert_true(got >= LARGE_BYTES);
  assert_true(mono_since(clk_mono(), begun).us > 400000);
  put_text(f, fd, "GET /livez HTTP/1.1\r\n" HOST "\r\n");  // and the connection is still good
  read_answers(f, fd, 1);
  close(fd);
}

static void who_does_not_read_is_closed(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  put_text(f, fd, "GET /v1/large HTTP/1.1\r\n" HOST "\r\n");
  struct mono_time end = mono_after(clk_mono(), span_s(5));
  do turns(f, 50);
  while (!strstr(ask(f, "GET /metrics HTTP/1.1\r\n" HOST "\r\n"), "\nlargesse_http_connections 1\n") &&
         mono_before(clk_mono(), end));
  assert_has(buf_text(&f->got), "\nlargesse_http_connections 1\n");  // the asking one
  close(fd);
}

// --- time, health, drain

static void idle_connections_are_closed(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  struct mono_time begun = clk_mono();
  assert_int_equal(read_to_end(f, fd, 3000), CLOSED);
  int64_t ms = span_to_ms(mono_since(clk_mono(), begun));
  assert_true(ms >= 390 && ms < 2900);
  assert_int_equal(f->got.len, 0);
  close(fd);
}

static void readiness_says_why(void **state)
{
  struct fixture *f = *state;
  assert_has(ask(f, "GET /readyz HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 200 ");
  web_server_set_not_ready(f->server, "no database");
  assert_has(ask(f, "GET /readyz HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 503 ");
  assert_has(buf_text(&f->got), "\"detail\":\"no database\"");
  assert_has(ask(f, "GET /livez HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 200 ");
  web_server_set_not_ready(f->server, NULL);
  assert_has(ask(f, "GET /readyz HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 200 ");
}

static void drain_answers_everybody_and_ends(void **state)
{
  struct fixture *f = *state;
  int kept = dial(f), idle = dial(f), held = dial(f);
  put_text(f, held, "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
  turns(f, 20);
  web_server_drain(f->server);
  assert_true(web_server_open_requests(f->server) > 0);
  put_text(f, kept, JSON_POST "Content-Length: 2\r\n\r\n{}");  // was under way
  assert_int_equal(read_to_end(f, kept, 1000), CLOSED);
  assert_has(buf_text(&f->got), "201 Created");
  assert_has(buf_text(&f->got), "Connection: close");
  assert_has(ask(f, "GET /readyz HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 503 ");
  assert_has(buf_text(&f->got), "draining");
  assert_int_equal(read_to_end(f, idle, 2000), CLOSED);
  turns(f, 400);
  assert_int_equal(try_connect(f), -1);  // by now nobody listens
  assert_int_equal(web_server_open_requests(f->server), 1);
  buf_clear(&f->got);
  web_reply_empty(f->held[0], 204);
  assert_int_equal(read_to_end(f, held, 1000), CLOSED);
  assert_has(buf_text(&f->got), "204 No Content");
  turns(f, 5);
  assert_int_equal(web_server_open_requests(f->server), 0);
  close(kept);
  close(idle);
  close(held);
}

static void drain_without_clients_ends_at_once(void **state)
{
  struct fixture *f = *state;
  web_server_drain(f->server);
  assert_int_equal(web_server_open_requests(f->server), 0);
}

static void requests_are_counted(void **state)
{
  struct fixture *f = *state;
  (void)ask(f, JSON_POST "Content-Length: 2\r\n\r\n{}");
  (void)ask(f, JSON_POST "Content-Length: 2\r\n\r\n{}");
  (void)ask(f, "GET /nowhere HTTP/1.1\r\n" HOST "\r\n");
  const char *got = ask(f, "GET /metrics HTTP/1.1\r\n" HOST "\r\n");
  assert_has(got, "Content-Type: text/plain; version=0.0.4");
  assert_has(got, "largesse_http_requests_total{route=\"echo\",code=\"201\"} 2\n");
  assert_has(got, "largesse_http_requests_total{route=\"none\",code=\"404\"} 1\n");
  assert_has(got, "largesse_http_request_seconds_count{route=\"echo\"} 2\n");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_started, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      T(answers_and_keeps_the_connection),
      T(pipelined_requests_are_answered_in_order),
      T(a_late_reply_comes_before_the_next_request_is_handled),
      T(reads_path_query_headers_and_language),
      T(parameters_survive_a_body_that_moves_the_buffer),
      T(malformed_paths_and_queries_are_400),
      T(header_values_with_line_ends_are_left_out),
      T(http_1_0_is_answered_and_closed),
      T(a_client_that_shuts_its_side_still_gets_its_answer),
      T(a_reply_to_a_client_that_left_is_dropped),
      T(requests_outlive_their_server),
      T(a_large_answer_to_a_slow_reader_arrives_whole),
      T(reading_an_answer_for_long_is_not_idling),
      T(who_does_not_read_is_closed),
      T(idle_connections_are_closed),
      T(readiness_says_why),
      T(drain_answers_everybody_and_ends),
      T(drain_without_clients_ends_at_once),
      T(requests_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
