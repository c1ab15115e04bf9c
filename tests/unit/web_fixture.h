// SPDX-License-Identifier: Apache-2.0
// What the tests of the HTTP server share: a server with handlers of every kind, and clients that speak raw bytes over
// loopback. Owner: unit tests; server and clients run on one loop in one thread.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/contract.h"
#include "common/daemon_tables.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/message_tables.h"
#include "common/metric.h"
#include "common/web.h"

#define HOST        "Host: x\r\n"
#define JSON_POST   "POST /v1/claims HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n"
#define HELD_MAX    64
#define LARGE_BYTES (24u * 1024 * 1024)

struct fixture {
  struct runtime rt;
  struct web_conf conf;
  struct web_server *server;
  struct web_request *held[HELD_MAX];  // handlers that have not replied yet
  size_t held_count, handled;
  struct buf got;  // what a client received
};

// --- handlers

static inline void handle_echo(struct web_request *req)
{
  struct fixture *f = web_context(req);
  size_t len;
  const char *body = web_body(req, &len);
  f->handled++;
  web_reply_json(req, 201, body, len);
}

static inline void handle_hold(struct web_request *req)
{
  struct fixture *f = web_context(req);
  f->handled++;
  ENSURE(f->held_count < HELD_MAX);
  f->held[f->held_count++] = req;
}

static inline void handle_show(struct web_request *req)
{
  struct buf b;
  size_t len;
  (void)web_body(req, &len);
  buf_init(&b, 100000);
  buf_printf(&b, "method=%s path=%s code=%s item=%s q=%s none=%s x=%s zh=%d trace=%s actor=%s len=%zu", web_method(req),
             web_path(req), web_param(req, "code"), web_param(req, "item") ? web_param(req, "item") : "-",
             web_query(req, "q") ? web_query(req, "q") : "-", web_query(req, "none") ? "?" : "-",
             web_header(req, "X-TEST") ? web_header(req, "X-TEST") : "-", web_wants_chinese(req), web_trace(req),
             web_actor(req), len);
  web_reply(req, 200, "text/plain", buf_text(&b), b.len);
  buf_release(&b);
}

static inline void handle_inject(struct web_request *req)
{
  web_reply_header(req, "X-Good", "yes");
  web_reply_header(req, "X-Bad", "a\r\nX-Forged: 1");
  web_reply_header(req, "X Bad", "b");
  web_reply_problem(req, &(struct web_problem){.code = "SOLD_OUT",
                                               .status = 409,
                                               .detail = "say \"no\"\n",
                                               .rule = "stock",
                                               .extra_json = "\"limit\":1",
                                               .retry_after_s = 7});
}

static inline void handle_large(struct web_request *req)
{
  size_t len = LARGE_BYTES;
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

// --- fixture

static inline void start(struct fixture *f)
{
  char why[WEB_WHY_BYTES] = "";
  f->server = web_server_new(&f->rt, &f->conf, &routes, f);
  enum result r = web_server_start(f->server, why);
  assert_string_equal(why, "");
  assert_int_equal(r, RESULT_OK);
}

static inline int setup(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->rt.loop = loop_new();
  f->rt.log = log_new("test", log_events, ARRAY_LEN(log_events), STDERR_FILENO);
  log_set(f->rt.log, LOG_ERROR, LOG_FORMAT_TEXT);
  f->rt.messages = &message_catalogue;
  f->rt.metrics = metric_set_new(metric_defs, ARRAY_LEN(metric_defs));
  f->conf = (struct web_conf){(char *)(uintptr_t) "127.0.0.1:0", 1000, 1000, span_ms(250), span_ms(400), 0};
  buf_init(&f->got, 2 * LARGE_BYTES);
  *state = f;
  return 0;
}

static inline int setup_started(void **state)
{
  if (setup(state) != 0) return -1;
  start(*state);
  return 0;
}

static inline int teardown(void **state)
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

static inline void turn(struct fixture *f) { loop_turn(f->rt.loop, span_ms(2)); }

static inline void turns(struct fixture *f, int64_t ms)
{
  for (struct mono_time end = mono_after(clk_mono(), span_ms(ms)); mono_before(clk_mono(), end);) turn(f);
}

// --- client

static inline int try_connect(struct fixture *f)
{
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons((uint16_t)web_server_port(f->server)),
                          .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  if (connect(fd, (const struct sockaddr *)&a, sizeof a) == 0) return fd;
  close(fd);
  return -1;
}

static inline int dial(struct fixture *f)
{
  int fd = try_connect(f);
  assert_true(fd >= 0);
  return fd;
}

static inline void put(struct fixture *f, int fd, const char *bytes, size_t len)
{
  for (size_t at = 0; at < len;) {
    ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      at += (size_t)n;
    else if (errno != EAGAIN)
      return;  // the server has closed: the caller reads what it said
    turn(f);
  }
}

static inline void put_text(struct fixture *f, int fd, const char *text) { put(f, fd, text, strlen(text)); }

enum ended { OPEN, CLOSED, RESET };

// Reads what is there without waiting.
static inline enum ended take(struct fixture *f, int fd)
{
  static char chunk[65536];
  for (;;) {
    ssize_t n = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0)
      buf_append(&f->got, chunk, (size_t)n);
    else if (n == 0)
      return CLOSED;
    else
      return errno == EAGAIN ? OPEN : RESET;
  }
}

// Runs the loop until the connection ends; the answer is in f->got.
static inline enum ended read_to_end(struct fixture *f, int fd, int64_t wait_ms)
{
  struct mono_time end = mono_after(clk_mono(), span_ms(wait_ms));
  enum ended e = OPEN;
  while (e == OPEN && mono_before(clk_mono(), end)) {
    turn(f);
    e = take(f, fd);
  }
  return e;
}

static inline size_t count_of(const char *text, const char *part)
{
  size_t n = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) n++;
  return n;
}

// Runs the loop until that many status lines have come and one turn more.
static inline void read_answers(struct fixture *f, int fd, size_t count)
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

static inline void assert_has(const char *text, const char *part)
{
  if (!strstr(text, part)) print_error("no \"%s\" in:\n%.600s\n", part, text);
  assert_non_null(strstr(text, part));
}

static inline void assert_has_not(const char *text, const char *part)
{
  if (strstr(text, part)) print_error("\"%s\" in:\n%.600s\n", part, text);
  assert_null(strstr(text, part));
}
