// SPDX-License-Identifier: Apache-2.0
// Tests of the HTTP server over real sockets on loopback, with raw bytes: the field cases B94 to B102, time-outs, drain, keys.
// Owner: unit tests; server and clients run on one loop in one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/contract.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/web.h"

#define HOST "Host: x\r\n"
#define JSON_POST "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n"
#define HELD_MAX 64

static const struct log_event_def events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#undef LOG_EVENT
};
static const struct metric_def metrics[] = {
#define METRIC(id, type, name, labels, help) {name, type, labels, help},
#include "common/metrics.def"
#undef METRIC
};

struct fixture {
  struct runtime rt;
  struct web_conf conf;
  struct web_server *server;
  struct web_request *held[HELD_MAX];  // handlers that have not replied yet
  size_t held_count, handled;
  struct buf got;                      // what a client received
};

// --- handlers ---------------------------------------------------------------------------------------------------------

static void handle_echo(struct web_request *req)
{
  struct fixture *f = web_context(req);
  size_t len;
  const char *body = web_body(req, &len);
  f->handled++;
  web_reply_json(req, 201, body, len);
}

static void handle_hold(struct web_request *req)
{
  struct fixture *f = web_context(req);
  f->handled++;
  ENSURE(f->held_count < HELD_MAX);
  f->held[f->held_count++] = req;
}

static void handle_show(struct web_request *req)
{
  struct buf b;
  size_t len;
  (void)web_body(req, &len);
  buf_init(&b, 100000);
  buf_printf(&b, "method=%s path=%s code=%s item=%s q=%s none=%s x=%s zh=%d trace=%s actor=%s len=%zu", web_method(req), web_path(req), web_param(req, "code"),
             web_param(req, "item") ? web_param(req, "item") : "-", web_query(req, "q") ? web_query(req, "q") : "-", web_query(req, "none") ? "?" : "-",
             web_header(req, "X-TEST") ? web_header(req, "X-TEST") : "-", web_wants_chinese(req), web_trace(req), web_actor(req), len);
  web_reply(req, 200, "text/plain", buf_text(&b), b.len);
  buf_release(&b);
}

static void handle_inject(struct web_request *req)
{
  web_reply_header(req, "X-Good", "yes");
  web_reply_header(req, "X-Bad", "a\r\nX-Forged: 1");
  web_reply_header(req, "X Bad", "b");
  web_reply_problem(req, &(struct web_problem){.code = "SOLD_OUT", .status = 409, .detail = "say \"no\"\n", .rule = "stock", .extra_json = "\"limit\":1", .retry_after_s = 7});
}

static void handle_large(struct web_request *req)
{
  size_t len = 8 * 1024 * 1024;
  char *body = mem_zalloc(len, 1);
  memset(body, 'x', len);
  web_reply(req, 200, "text/plain", body, len);
  mem_free(body);
}

static const struct web_route items[] = {
    {"POST", "/v1/claims", WEB_CLAIMS, WEB_BODY_JSON, 0, handle_echo, "echo"},
    {"POST", "/v1/big", WEB_CLAIMS, WEB_BODY_JSON, 200000, handle_echo, "big"},
    {"POST", "/v1/optional", WEB_OPEN, WEB_BODY_JSON_OPTIONAL, 0, handle_echo, "optional"},
    {"POST", "/v1/csv", WEB_OPEN, WEB_BODY_CSV, 0, handle_echo, "csv"},
    {"POST", "/v1/raw", WEB_OPEN, WEB_BODY_ANY, 0, handle_echo, "raw"},
    {"POST", "/v1/hold", WEB_OPEN, WEB_BODY_ANY, 0, handle_hold, "hold"},
    {"GET", "/v1/show/{code}", WEB_READ, WEB_BODY_NONE, 0, handle_show, "show"},
    {"POST", "/v1/show/{code}/{item}", WEB_READ, WEB_BODY_ANY, 0, handle_show, "show"},
    {"GET", "/v1/inject", WEB_OPEN, WEB_BODY_NONE, 0, handle_inject, "inject"},
    {"GET", "/v1/large", WEB_OPEN, WEB_BODY_NONE, 0, handle_large, "large"},
};
static const struct web_routes routes = {items, ARRAY_LEN(items)};

// --- fixture ----------------------------------------------------------------------------------------------------------

static void start(struct fixture *f)
{
  char why[WEB_WHY_BYTES] = "";
  f->server = web_server_new(&f->rt, &f->conf, &routes, f);
  enum result r = web_server_start(f->server, why);
  assert_string_equal(why, "");
  assert_int_equal(r, RESULT_OK);
}

static int setup(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->rt.loop = loop_new();
  f->rt.log = log_new("test", events, ARRAY_LEN(events), STDERR_FILENO);
  log_set(f->rt.log, LOG_ERROR, LOG_FORMAT_TEXT);
  f->rt.metrics = metric_set_new(metrics, ARRAY_LEN(metrics));
  f->conf = (struct web_conf){(char *)(uintptr_t) "127.0.0.1:0", 1000, 1000, span_ms(250), span_ms(400), 0};
  buf_init(&f->got, 64 * 1024 * 1024);
  *state = f;
  return 0;
}

static int setup_started(void **state)
{
  if (setup(state) != 0) return -1;
  start(*state);
  return 0;
}

static int teardown(void **state)
{
  struct fixture *f = *state;
  web_server_free(f->server);
  log_free(f->rt.log);
  metric_set_free(f->rt.metrics);
  loop_free(f->rt.loop);
  buf_release(&f->got);
  mem_free(f);
  return 0;
}

static void turn(struct fixture *f) { loop_turn(f->rt.loop, span_ms(2)); }

static void turns(struct fixture *f, int64_t ms)
{
  for (struct mono_time end = mono_after(clk_mono(), span_ms(ms)); mono_before(clk_mono(), end);) turn(f);
}

// --- client -----------------------------------------------------------------------------------------------------------

static int try_connect(struct fixture *f)
{
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)web_server_port(f->server)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  if (connect(fd, (const struct sockaddr *)&a, sizeof a) == 0) return fd;
  close(fd);
  return -1;
}

static int dial(struct fixture *f)
{
  int fd = try_connect(f);
  assert_true(fd >= 0);
  return fd;
}

static void put(struct fixture *f, int fd, const char *bytes, size_t len)
{
  for (size_t at = 0; at < len;) {
    ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) at += (size_t)n;
    else if (errno != EAGAIN) return;  // the server has closed: the caller reads what it said
    turn(f);
  }
}

static void put_text(struct fixture *f, int fd, const char *text) { put(f, fd, text, strlen(text)); }

enum ended { OPEN, CLOSED, RESET };

// Reads what is there without waiting.
static enum ended take(struct fixture *f, int fd)
{
  static char chunk[65536];
  for (;;) {
    ssize_t n = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0) buf_append(&f->got, chunk, (size_t)n);
    else if (n == 0) return CLOSED;
    else return errno == EAGAIN ? OPEN : RESET;
  }
}

// Runs the loop until the connection ends; the answer is in f->got.
static enum ended read_to_end(struct fixture *f, int fd, int64_t wait_ms)
{
  struct mono_time end = mono_after(clk_mono(), span_ms(wait_ms));
  enum ended e = OPEN;
  while (e == OPEN && mono_before(clk_mono(), end)) {
    turn(f);
    e = take(f, fd);
  }
  return e;
}

static size_t count_of(const char *text, const char *part)
{
  size_t n = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) n++;
  return n;
}

// Runs the loop until that many status lines have come and one turn more.
static void read_answers(struct fixture *f, int fd, size_t count)
{
  struct mono_time end = mono_after(clk_mono(), span_ms(3000));
  while (count_of(buf_text(&f->got), "HTTP/1.1 ") < count && mono_before(clk_mono(), end)) {
    turn(f);
    if (take(f, fd) != OPEN) break;
  }
  turn(f);
  (void)take(f, fd);
  assert_int_equal(count_of(buf_text(&f->got), "HTTP/1.1 "), count);
}

static const char *ask(struct fixture *f, const char *request)
{
  int fd = dial(f);
  buf_clear(&f->got);
  put_text(f, fd, request);
  read_answers(f, fd, 1);
  close(fd);
  return buf_text(&f->got);
}

static void assert_has(const char *text, const char *part)
{
  if (!strstr(text, part)) print_error("no \"%s\" in:\n%.600s\n", part, text);
  assert_non_null(strstr(text, part));
}

static void assert_has_not(const char *text, const char *part)
{
  if (strstr(text, part)) print_error("\"%s\" in:\n%.600s\n", part, text);
  assert_null(strstr(text, part));
}

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

// --- basics -----------------------------------------------------------------------------------------------------------

static void answers_and_keeps_the_connection(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  for (int i = 0; i < 3; i++) {
    buf_clear(&f->got);
    put_text(f, fd, JSON_POST "Content-Length: 7\r\n\r\n{\"a\":1}");
    read_answers(f, fd, 1);
    assert_memory_equal(buf_text(&f->got), "HTTP/1.1 201 Created\r\nDate: ", 28);
    assert_has(buf_text(&f->got), "\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
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
  put_text(f, fd, "POST /v1/hold HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\na" JSON_POST "Content-Length: 2\r\n\r\n{}");
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
  const char *got = ask(f, "GET /v1/show/a%2Fb%20c?q=x+y%26z&none HTTP/1.1\r\n" HOST "x-test: v 1\r\nAccept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n"
                           "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n");
  assert_has(got, "method=GET path=/v1/show/a/b c code=a/b c item=- q=x y&z none=? x=v 1 zh=1 trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 "
                  "actor=anonymous");
  got = ask(f, "GET /v1/show/%E4%BD%A0 HTTP/1.1\r\n" HOST "Accept-Language: en, zh;q=0.5\r\ntraceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-01\r\n\r\n");
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
  static const char *const targets[] = {"/v1/show/%", "/v1/show/%4", "/v1/show/%zz", "/v1/show/a%00b", "/v1/show/%ff", "/v1/show/a?q=%", "/v1/show/a?q=%ff",
                                        "/v1/show/a?q=1&q=2", "/v1/show/a?%00=1", "/v1/show/a?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q"};
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
  assert_has(got, "{\"type\":\"/problems/sold-out\",\"title\":\"Sold out\",\"status\":409,\"code\":\"SOLD_OUT\",\"detail\":\"say \\\"no\\\"\\n\",\"rule\":\"stock\","
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
  assert_has(buf_text(&f->got), "Content-Length: 8388608\r\n");
  assert_int_equal(f->got.len, (size_t)(strstr(buf_text(&f->got), "\r\n\r\n") + 4 - buf_text(&f->got)) + 8388608);
  close(fd);
}

// --- field cases ------------------------------------------------------------------------------------------------------

static void b94_expect_is_answered_at_once(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  struct mono_time begun = clk_mono();
  put_text(f, fd, JSON_POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  read_answers(f, fd, 1);
  assert_string_equal(buf_text(&f->got), "HTTP/1.1 100 Continue\r\n\r\n");
  put_text(f, fd, "{}");
  read_answers(f, fd, 2);
  assert_has(buf_text(&f->got), "201 Created");
  assert_true(mono_since(clk_mono(), begun).us < 200000);
  // The connection goes on; a body that comes with the head needs no 100.
  buf_clear(&f->got);
  put_text(f, fd, JSON_POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}");
  read_answers(f, fd, 1);
  assert_has(buf_text(&f->got), "201 Created");
  close(fd);
}

static void b94_expect_of_what_is_refused_gets_no_100(void **state)
{
  struct fixture *f = *state;
  static const struct { const char *request, *status; } cases[] = {
      {JSON_POST "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n", "413"},
      {JSON_POST "Expect: foo\r\nContent-Length: 2\r\n\r\n", "417"},
      {"POST /nowhere HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", "404"},
      {"PUT /v1/claims HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", "405"},
      {"POST /v1/claims HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", "415"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_refused(f, cases[i].request, strlen(cases[i].request), cases[i].status);
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
    assert_true(mono_since(clk_mono(), begun).us < 1000000);
    answered = true;
  }
  size_t told = 0;
  for (int i = 0; i < SLOW; i++) {
    buf_clear(&f->got);
    assert_int_not_equal(read_to_end(f, slow[i], 1), OPEN);
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
  read_answers(f, late, 1);                                       // after a while the oldest gives way
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
  static const struct { const char *type; bool ok; } cases[] = {
      {"application/json", true}, {"application/json; charset=utf-8", true}, {"Application/JSON", true}, {"application/json;charset=\"UTF-8\"", true},
      {"application/json ; Charset=Utf-8 ; x=y", true}, {"application/json;", true}, {"text/plain", false}, {"application/json; charset=utf-16", false},
      {"application/json; charset=", false}, {"application/json; charset=\"utf-8", false}, {"application/jsonx", false}, {"application/json, text/plain", false},
      {"application/json; charset=utf-8; charset=latin1", false}, {"application/json x", false}, {"", false}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Type: %s\r\nContent-Length: 2\r\n\r\n{}", cases[i].type);
    assert_has(ask(f, buf_text(&b)), cases[i].ok ? "HTTP/1.1 201 " : "HTTP/1.1 415 ");
    buf_release(&b);
  }
  assert_has(ask(f, "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}"), "\"code\":\"UNSUPPORTED_MEDIA_TYPE\"");
  assert_has(ask(f, "POST /v1/csv HTTP/1.1\r\n" HOST "Content-Type: text/csv; charset=utf-8\r\nContent-Length: 2\r\n\r\na\n"), "HTTP/1.1 201 ");
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
      if (chunked) buf_printf(&b, JSON_POST "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", sizes[i]);
      else buf_printf(&b, JSON_POST "Content-Length: %zu\r\n\r\n", sizes[i]);
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
  static const char two[] = JSON_POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" JSON_POST "Content-Length: 2\r\n\r\n{}";
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
    buf_printf(&b, "DELETE %s HTTP/1.1\r\n" HOST "\r\nOPTIONS %s HTTP/1.1\r\n" HOST "\r\nGET %s HTTP/1.1\r\n" HOST "\r\n", paths[i], paths[i], paths[i]);
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

// --- time, health, drain ----------------------------------------------------------------------------------------------

static void idle_connections_are_closed(void **state)
{
  struct fixture *f = *state;
  int fd = dial(f);
  struct mono_time begun = clk_mono();
  assert_int_equal(read_to_end(f, fd, 3000), CLOSED);
  int64_t ms = span_to_ms(mono_since(clk_mono(), begun));
  assert_true(ms >= 390 && ms < 1200);
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

// --- keys and addresses -----------------------------------------------------------------------------------------------

static bool check_key(void *ctx, const char *key, size_t key_len, unsigned *out_scopes, char out_actor[65])
{
  (void)ctx;
  if (key_len == 4 && memcmp(key, "busy", 4) == 0) return false;
  *out_scopes = 0;
  if (key_len == 6 && memcmp(key, "claims", 6) == 0) *out_scopes = WEB_CLAIMS;
  if (key_len == 6 && memcmp(key, "reader", 6) == 0) *out_scopes = WEB_READ;
  memcpy(out_actor, key, key_len < 64 ? key_len : 64);
  out_actor[key_len < 64 ? key_len : 64] = '\0';
  return true;
}

static void keys_decide_who_may(void **state)
{
  struct fixture *f = *state;
  f->conf.auth = 1;
  start(f);
  web_server_set_auth(f->server, check_key, NULL);
  static const struct { const char *header, *status; } cases[] = {
      {"", "401"}, {"Authorization: Bearer nobody\r\n", "401"}, {"Authorization: Basic claims\r\n", "401"}, {"Authorization: Bearer\r\n", "401"},
      {"Authorization: Bearer reader\r\n", "403"}, {"Authorization: bearer  claims\r\n", "201"}, {"Authorization: Bearer busy\r\n", "503"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, JSON_POST "%sContent-Length: 2\r\n\r\n{}", cases[i].header);
    assert_memory_equal(ask(f, buf_text(&b)) + 9, cases[i].status, 3);
    if (strcmp(cases[i].status, "401") == 0) assert_has(buf_text(&f->got), "\r\nWWW-Authenticate: Bearer");
    if (strcmp(cases[i].status, "503") == 0) assert_has(buf_text(&f->got), "\r\nRetry-After: 1\r\n");
    buf_release(&b);
  }
  assert_has(ask(f, "GET /v1/show/a HTTP/1.1\r\n" HOST "Authorization: Bearer reader\r\n\r\n"), "actor=reader");
  assert_has(ask(f, "GET /livez HTTP/1.1\r\n" HOST "\r\n"), "200 OK");
}

static void only_loopback_goes_without_keys(void **state)
{
  struct fixture *f = *state;
  static const struct { const char *listen; int auth; enum result expected; } cases[] = {
      {"0.0.0.0:0", 0, RESULT_DENIED}, {"0.0.0.0:0", 1, RESULT_OK}, {"127.0.0.1:0", 0, RESULT_OK},    {"localhost:0", 0, RESULT_OK},
      {"127.0.0.1", 0, RESULT_INVALID}, {":80", 0, RESULT_INVALID}, {"127.0.0.1:65536", 0, RESULT_INVALID}, {"127.0.0.1:x", 0, RESULT_INVALID},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char why[WEB_WHY_BYTES] = "";
    f->conf.listen = (char *)(uintptr_t)cases[i].listen;
    f->conf.auth = cases[i].auth;
    struct web_server *s = web_server_new(&f->rt, &f->conf, &routes, f);
    assert_int_equal(web_server_start(s, why), cases[i].expected);
    if (cases[i].expected != RESULT_OK) assert_has(why, cases[i].listen);
    web_server_free(s);
  }
}

static void a_busy_port_is_one_clear_line(void **state)
{
  struct fixture *f = *state;
  char listen_at[32], why[WEB_WHY_BYTES] = "";
  struct buf b;
  buf_init(&b, 30);
  buf_printf(&b, "127.0.0.1:%d", web_server_port(f->server));
  memcpy(listen_at, buf_text(&b), b.len + 1);
  struct web_conf conf = f->conf;
  conf.listen = listen_at;
  struct web_server *second = web_server_new(&f->rt, &conf, &routes, f);
  assert_int_equal(web_server_start(second, why), RESULT_UNAVAILABLE);
  assert_has(why, listen_at);
  assert_has(why, "in use");
  web_server_free(second);
  buf_release(&b);
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
      T(idle_connections_are_closed),
      T(readiness_says_why),
      T(drain_answers_everybody_and_ends),
      T(drain_without_clients_ends_at_once),
      T(requests_are_counted),
      cmocka_unit_test_setup_teardown(keys_decide_who_may, setup, teardown),
      cmocka_unit_test_setup_teardown(only_loopback_goes_without_keys, setup, teardown),
      T(a_busy_port_is_one_clear_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
