// SPDX-License-Identifier: Apache-2.0
// One client connection: reading, feeding the parser, sending what the replies left, closing so that answers arrive.
// Owner: the server it belongs to; loop thread.
#include "common/web_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"

#define IN_FIRST_BYTES   4096u
#define IN_KEEP_BYTES    (64u * 1024u)  // a larger buffer is given back between requests
#define IN_SPARE_BYTES   2048u          // at least this much room for a read
#define OUT_KEEP_BYTES   (64u * 1024u)
#define OUT_HIGH_BYTES   (1024u * 1024u)  // no further request is taken while this much waits to be sent
#define LINGER_BYTES_MAX (16u * 1024u * 1024u)

static void conn_enter(struct web_conn *c, enum conn_state state)
{
  struct web_server *s = c->server;
  if (c->state == CONN_HANDLING) s->handling_count--;
  if (state == CONN_HANDLING) s->handling_count++;
  c->state = state;
  c->since = loop_now(s->rt->loop);
  list_remove(&c->node);
  list_add_last(&s->conns[state], &c->node);
}

static void conn_watch(struct web_conn *c, int what)
{
  if (c->watched == what) return;
  c->watched = what;
  loop_watch_set(c->watch, what);
}

void conn_free(struct web_conn *c)
{
  loop_watch_free(c->watch);
  if (c->fd >= 0) close(c->fd);
  list_remove(&c->node);
  list_remove(&c->dirty_node);
  list_remove(&c->stalled_node);
  mem_free(c->in);
  mem_free(c->request.scratch);
  buf_release(&c->out);
  buf_release(&c->request.headers);
  mem_free(c);
}

static void free_later(void *c) { conn_free(c); }

static void conn_end_large(struct web_conn *c)
{
  if (c->is_large) c->server->large_count--;
  c->is_large = false;
}

void conn_close(struct web_conn *c)
{
  struct web_server *s = c->server;
  if (c->state == CONN_CLOSED) return;
  conn_watch(c, 0);
  list_remove(&c->dirty_node);
  list_remove(&c->stalled_node);
  if (c->state == CONN_HANDLING) {  // the memory is the handler's until it replies
    c->gone = true;
    return;
  }
  conn_end_large(c);
  conn_enter(c, CONN_CLOSED);
  list_remove(&c->node);
  s->conn_count--;
  loop_defer_free(s->rt->loop, c, free_later);
  web_server_resume_accept(s);
}

static void conn_mark_dirty(struct web_conn *c)
{
  if (list_is_linked(&c->dirty_node)) return;
  list_add_last(&c->server->dirty, &c->dirty_node);
  loop_defer(c->server->rt->loop, &c->server->flush_task, conn_flush_dirty, c->server);
}

bool conn_has_output(const struct web_conn *c) { return c->out_at < c->out.len; }

void conn_touch(struct web_conn *c) { conn_enter(c, c->state); }

// --- sending

static void conn_end(struct web_conn *c)
{
  if (c->eof || c->gone || !c->linger) {
    conn_close(c);
    return;
  }
  (void)shutdown(c->fd, SHUT_WR);
  conn_enter(c, CONN_LINGERING);
  conn_watch(c, LOOP_READ);
  web_server_arm_sweep(c->server);
}

static void conn_sent_all(struct web_conn *c)
{
  if (c->out.cap > OUT_KEEP_BYTES) {
    size_t max = c->out.max;
    buf_release(&c->out);
    buf_init(&c->out, max);
  }
  buf_clear(&c->out);
  c->out_at = 0;
  if (list_is_linked(&c->stalled_node)) conn_touch(c);  // the time it took to read the answer was not idle
  list_remove(&c->stalled_node);
  if (c->state == CONN_FLUSHING)
    conn_end(c);
  else
    conn_watch(c, c->eof ? 0 : LOOP_READ);
}

static void conn_stalled(struct web_conn *c)
{
  c->stalled_since = clk_mono();  // not the turn's time: making a large answer may have taken long
  list_remove(&c->stalled_node);
  list_add_last(&c->server->stalled, &c->stalled_node);
  conn_watch(c, c->watched | LOOP_WRITE);
  web_server_arm_sweep(c->server);
}

static void conn_send(struct web_conn *c)
{
  while (c->out_at < c->out.len) {
    ssize_t n = send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL);
    if (n > 0) {
      c->out_at += (size_t)n;
      if (c->out_at < c->out.len) conn_stalled(c);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      conn_stalled(c);
      return;
    }
    c->gone = true;
    conn_close(c);
    return;
  }
  conn_sent_all(c);
}

// --- requests

static void conn_grow(struct web_conn *c, size_t spare)
{
  if (c->in_cap - c->in_len > spare) return;  // one more for the NUL behind a body
  size_t cap = c->in_cap ? c->in_cap * 2 : IN_FIRST_BYTES;
  while (cap - c->in_len <= spare) cap *= 2;
  c->in = mem_resize(c->in, cap, 1);
  c->in_cap = cap;
}

static void conn_begin_handling(struct web_conn *c)
{
  struct web_request *r = &c->request;
  conn_enter(c, CONN_HANDLING);
  r->started = clk_mono();
  r->is_head = false;
  r->must_close = r->parse.close || c->server->draining;
  r->caller = (struct web_caller){.scopes = 0};
  r->trace[0] = '\0';
  r->param_count = r->query_count = 0;
  r->path = "";
  buf_clear(&r->headers);
  r->header_count = 0;
  r->has_policy = false;
  r->has_language = false;
}

static void conn_fault(struct web_conn *c, int status, const char *detail)
{
  conn_begin_handling(c);
  c->request.route = NULL;
  web_reply_fault(&c->request, status, detail);
}

void conn_time_out(struct web_conn *c) { conn_fault(c, 408, "The request did not arrive completely in time."); }

// Refused without its body, which then may or may not come: the connection ends.
static void conn_begin_refusal(struct web_conn *c)
{
  conn_begin_handling(c);
  c->request.must_close = true;
  c->linger = true;
}

static void conn_refuse_head(struct web_conn *c)
{
  conn_begin_refusal(c);
  web_std_dispatch(&c->request);
}

// A large body is kept in memory for those who may call, and for a few at a time. False: the request is answered.
static bool conn_may_be_large(struct web_conn *c)
{
  if (web_std_refuses(&c->request)) {
    conn_refuse_head(c);
    return false;
  }
  if (c->server->large_count == WEB_LARGE_BODIES_MAX) {
    conn_begin_refusal(c);
    web_reply_problem(
        &c->request,
        &(struct web_problem){
            .code = "OVERLOADED", .status = 503, .detail = "Other large requests are under way.", .retry_after_s = 5});
    return false;
  }
  c->is_large = true;
  c->server->large_count++;
  return true;
}

// The head is known: how large may the body be, and does the client wait for a word before it sends it?
static void conn_on_head(struct web_conn *c)
{
  struct web_request *r = &c->request;
  web_std_route(r);
  r->parse.body_max = r->route && r->route->body_max > 0 ? r->route->body_max : c->server->conf.body_max;
  bool is_open_ended = r->parse.chunked || (r->parse.has_length && r->parse.length > c->server->conf.body_max);
  if (is_open_ended && r->parse.body_max > c->server->conf.body_max && !conn_may_be_large(c)) return;
  if (!r->parse.expects_continue || (r->parse.has_length && r->parse.length > r->parse.body_max)) return;
  if (!r->parse.chunked && r->parse.length == 0) return;
  if (c->in_len > r->parse.body_at) return;  // the body is under way already
  if (web_std_refuses(r)) {
    conn_refuse_head(c);
    return;
  }
  web_reply_continue(c);
  conn_mark_dirty(c);
}

static void conn_on_request(struct web_conn *c)
{
  struct web_request *r = &c->request;
  size_t end = r->parse.body_at + r->parse.body_len;
  conn_begin_handling(c);
  r->body_saved = c->in[end];
  c->in[end] = '\0';
  web_std_dispatch(r);
}

static bool conn_may_take(const struct web_conn *c)
{
  return (c->state == CONN_IDLE || c->state == CONN_READING) && c->in_len > 0 &&
         c->out.len - c->out_at < OUT_HIGH_BYTES;
}

static void conn_process(struct web_conn *c)
{
  struct web_parse *p = &c->request.parse;
  enum web_parse_step step = WEB_PARSE_HEAD;
  while (conn_may_take(c) && step != WEB_PARSE_MORE) {
    if (c->state == CONN_IDLE) conn_enter(c, CONN_READING);
    step = web_parse_feed(p, c->in, &c->in_len);
    if (step == WEB_PARSE_HEAD)
      conn_on_head(c);
    else if (step == WEB_PARSE_DONE)
      conn_on_request(c);
    else if (step == WEB_PARSE_FAULT)
      conn_fault(c, p->status, p->fault);
  }
  bool is_over = c->in_len == 0 || step == WEB_PARSE_MORE;
  if (c->eof && is_over &&
      (c->state == CONN_IDLE || c->state == CONN_READING)) {  // nothing, or half a request, and no more to come
    conn_enter(c, CONN_FLUSHING);
    conn_mark_dirty(c);
  }
}

// Moves what follows the request to the front and makes ready for it.
static void conn_next(struct web_conn *c)
{
  struct web_parse *p = &c->request.parse;
  size_t end = p->body_at + p->body_len;
  if (p->state == WEB_AT_END) c->in[end] = c->request.body_saved;
  size_t rest = c->in_len - p->pos;
  memmove(c->in, c->in + p->pos, rest);
  c->in_len = rest;
  if (c->in_cap > IN_KEEP_BYTES && rest < IN_FIRST_BYTES / 2) {
    c->in = mem_resize(c->in, IN_FIRST_BYTES, 1);
    c->in_cap = IN_FIRST_BYTES;
  }
  web_parse_reset(p);
}

void conn_request_done(struct web_conn *c)
{
  ENSURE(c->state == CONN_HANDLING);
  if (!c->server) {
    conn_free(c);
    return;
  }
  conn_end_large(c);
  if (c->gone) {
    conn_enter(c, CONN_IDLE);
    conn_close(c);
    return;
  }
  if (c->request.must_close) {
    c->linger = c->linger || c->request.parse.state != WEB_AT_END || c->in_len > c->request.parse.pos;
    conn_enter(c, CONN_FLUSHING);
  } else {
    conn_next(c);
    conn_enter(c, CONN_IDLE);
    if (!c->eof) conn_watch(c, c->watched | LOOP_READ);
  }
  conn_mark_dirty(c);
}

// --- reading

static void conn_on_eof(struct web_conn *c)
{
  c->eof = true;
  conn_watch(c, c->watched & ~LOOP_READ);
  if (c->state == CONN_LINGERING)
    conn_close(c);
  else if (c->state == CONN_IDLE || c->state == CONN_READING)
    conn_process(c);
}

static void conn_read(struct web_conn *c)
{
  bool takes = c->state == CONN_IDLE || c->state == CONN_READING;
  if (c->state == CONN_LINGERING) c->in_len = 0;
  // While a handler looks at the request nothing may move: only the room that is left is used, to see the client leave.
  else if (takes && c->out.len - c->out_at < OUT_HIGH_BYTES)
    conn_grow(c, IN_SPARE_BYTES);
  size_t room = c->in_cap - c->in_len - 1;
  if (room == 0) {
    conn_watch(c, c->watched & ~LOOP_READ);
    return;
  }
  ssize_t n = recv(c->fd, c->in + c->in_len, room, 0);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (n < 0) {
    c->gone = true;
    conn_close(c);
    return;
  }
  if (n == 0) {
    conn_on_eof(c);
    return;
  }
  if (c->state == CONN_LINGERING) {
    c->dropped += (size_t)n;
    if (c->dropped > LINGER_BYTES_MAX) conn_close(c);
    return;
  }
  c->in_len += (size_t)n;
  if (takes) conn_process(c);
}

static void on_ready(void *ctx, int what)
{
  struct web_conn *c = ctx;
  if (c->state == CONN_CLOSED) return;
  if (what & LOOP_WRITE) {
    conn_send(c);
    if (c->state == CONN_IDLE || c->state == CONN_READING) conn_process(c);
  }
  if ((what & LOOP_READ) && c->state != CONN_CLOSED && (c->watched & LOOP_READ)) conn_read(c);
}

void conn_new(struct web_server *s, int fd)
{
  struct web_conn *c = MEM_NEW(struct web_conn);
  c->server = s;
  c->handler_ctx = s->handler_ctx;
  c->calls = s->calls;
  c->fd = fd;
  list_init(&c->node);
  list_init(&c->dirty_node);
  list_init(&c->stalled_node);
  buf_init(&c->out, WEB_REPLY_BYTES_MAX + OUT_HIGH_BYTES + WEB_HEADER_BYTES_MAX);
  buf_init(&c->request.headers, WEB_HEADER_BYTES_MAX);
  web_parse_reset(&c->request.parse);
  conn_grow(c, IN_SPARE_BYTES);
  s->conn_count++;
  conn_enter(c, CONN_IDLE);
  c->watch = loop_watch_new(s->rt->loop, fd, on_ready, c);
  conn_watch(c, LOOP_READ);
  web_server_arm_sweep(s);
}

void conn_flush_dirty(void *server)
{
  struct web_server *s = server;
  struct list todo;
  list_init(&todo);
  list_splice(&todo, &s->dirty);
  for (struct list *node; (node = list_take_first(&todo)) != NULL;) {
    struct web_conn *c = CONTAINER_OF(node, struct web_conn, dirty_node);
    if (c->state == CONN_IDLE || c->state == CONN_READING)
      conn_process(c);  // pipelined requests that waited for a reply
    list_remove(&c->dirty_node);
    if (c->state == CONN_CLOSED || (c->watched & LOOP_WRITE)) continue;
    conn_send(c);
  }
}
