// SPDX-License-Identifier: Apache-2.0
// Fuzz target (libFuzzer) of the whole HTTP server: any bytes on a connection, in two pieces, are answered in HTTP or
// not at all. Covers what the parser leaves to others: percent-encoding, queries, content types, languages, trace
// contexts, cookies, pipelining, callers who are only known later. Owner: make fuzz.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/key_ring.h"
#include "common/loop.h"
#include "common/text.h"
#include "common/web.h"
#include "common/web_conn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
  if (text) ENSURE(text_is_utf8(text, strlen(text)));
}

// Who asks is known at once, later, or never; at most one request of a connection waits.
struct callers {
  struct web_request *waiting;
};

static enum web_auth_answer authenticate(void *ctx, struct web_request *req, const struct web_credential *credential,
                                         struct web_caller *out_caller)
{
  struct callers *callers = ctx;
  const char *shown = credential->key ? credential->key : credential->session;
  size_t len = credential->key ? credential->key_len : credential->session_len;
  ENSURE(shown && memchr(shown, '\0', len) == NULL && memchr(shown, '\n', len) == NULL);
  (void)key_has_shape(shown, len);
  if (len > 0 && shown[0] == 'l' && credential->may_wait) {
    ENSURE(!callers->waiting);
    callers->waiting = req;
    return WEB_AUTH_LATER;
  }
  *out_caller = (struct web_caller){.scopes = WEB_ALL_SCOPES, .is_person = !credential->key};
  return len == 0 || shown[0] == 'n' ? WEB_AUTH_NOBODY : WEB_AUTH_KNOWN;
}

static void resolve(struct callers *callers)
{
  struct web_request *req = callers->waiting;
  static const struct web_caller caller = {.scopes = WEB_READ, .name = "later"};
  callers->waiting = NULL;
  if (req) web_auth_resolve(req, WEB_AUTH_KNOWN, &caller);
}

static void handle(struct web_request *req)
{
  size_t len;
  const char *cookie = web_cookie(req, "a", &len);
  ENSURE(!cookie || (strlen(cookie) >= len && memchr(cookie, ';', len) == NULL));
  const char *body = web_body(req, &len);
  ENSURE(body[len] == '\0' && strlen(web_trace(req)) == WEB_TRACE_BYTES - 1);
  check_text(web_path(req));
  check_text(web_param(req, "code"));
  check_text(web_query(req, "q"));
  if (web_wants_chinese(req)) web_reply_header(req, "Content-Language", "zh");
  if (web_header(req, "x-echo")) web_reply_header(req, "X-Echo", web_header(req, "x-echo"));
  web_reply_json(req, 200, body, len);
}

static struct web_server *server_new(struct runtime *rt, struct callers *callers)
{
  static const struct web_route items[] = {
      {"GET", "/a", WEB_READ, WEB_BODY_NONE, 0, handle, "a"},
      {"POST", "/a", WEB_CLAIMS, WEB_BODY_JSON, 0, handle, "b"},
      {"POST", "/a/{code}", WEB_OPEN, WEB_BODY_JSON_OR_CSV, 0, handle, "c"},
      {"GET", "/a/{code}/b", WEB_OPEN, WEB_BODY_NONE, 0, handle, "d"},
  };
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  char listen_at[] = "127.0.0.1:0", why[WEB_WHY_BYTES];
  struct web_conf conf = {listen_at, 64, 2000, span_s(60), span_s(60), 1};
  struct web_server *s = web_server_new(rt, &conf, &routes, NULL);
  web_server_set_auth(s, authenticate, callers);
  ENSURE(web_server_start(s, why) == RESULT_OK);
  return s;
}

static void read_answers(int fd, bool *io_first)
{
  char answer[4096];
  for (ssize_t n; (n = recv(fd, answer, sizeof answer, MSG_DONTWAIT)) > 0; *io_first = false)
    if (*io_first) ENSURE(n > 9 && memcmp(answer, "HTTP/1.1 ", 9) == 0);
}

static void put(struct loop *loop, struct callers *callers, int fd, const uint8_t *bytes, size_t len, bool *io_first)
{
  for (size_t at = 0; at < len;) {
    ssize_t n = send(fd, bytes + at, len - at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) at += (size_t)n;
    loop_turn(loop, span_us(0));
    resolve(callers);
    read_answers(fd, io_first);
    if (n < 0) return;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct runtime rt = {.loop = loop_new()};
  struct callers callers = {NULL};
  struct web_server *s = server_new(&rt, &callers);
  int pair[2];
  bool first = true;
  size_t cut = size > 0 ? (size_t)data[0] * (size - 1) / 255 : 0;
  ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
  conn_new(s, pair[0]);
  if (size > 0) {
    put(rt.loop, &callers, pair[1], data + 1, cut, &first);
    put(rt.loop, &callers, pair[1], data + 1 + cut, size - 1 - cut, &first);
  }
  (void)shutdown(pair[1], SHUT_WR);
  for (int i = 0; i < 3; i++) loop_turn(rt.loop, span_us(0));
  read_answers(pair[1], &first);
  close(pair[1]);
  for (int i = 0; i < 3; i++) loop_turn(rt.loop, span_us(0));
  while (callers.waiting) resolve(&callers);  // what was pipelined behind it may wait too
  ENSURE(web_server_open_requests(s) == 0);
  web_server_free(s);
  loop_free(rt.loop);
  return 0;
}
