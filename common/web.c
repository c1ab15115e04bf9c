// SPDX-License-Identifier: Apache-2.0
// The HTTP server: listening, accepting within connections_max, time-outs, drain, counting. See web.h.
// Owner: the daemon's app; loop thread.
#include "common/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/web_conn.h"

#define ACCEPTS_PER_TURN  64
#define LISTEN_BACKLOG    4096
#define LINGER_TIME       span_s(2)
#define EVICT_AFTER       span_ms(500)  // when full: a connection that idles for this long gives way to a new one
#define DRAIN_ACCEPTS_FOR span_ms(500)  // clients that reconnect, and those who watch /readyz, still get an answer
#define DRAIN_HANDSHAKES  span_ms(60)   // time for handshakes that had begun
#define DRAIN_IDLE        span_ms(250)  // while draining, time for a request that is already under way

struct web_server *web_server_new(struct runtime *rt, const struct web_conf *conf, const struct web_routes *routes,
                                  void *handler_ctx)
{
  REQUIRE(routes->count <= WEB_ROUTES_MAX);
  struct web_server *s = MEM_NEW(struct web_server);
  s->rt = rt;
  s->conf = *conf;
  s->conf.listen = mem_strdup(conf->listen);
  s->routes = routes;
  s->handler_ctx = handler_ctx;
  s->listener = -1;
  s->policy = "default-src 'none'; frame-ancestors 'none'";
  for (size_t i = 0; i < CONN_STATE_COUNT; i++) list_init(&s->conns[i]);
  list_init(&s->dirty);
  list_init(&s->stalled);
  buf_init(&s->page, WEB_REPLY_BYTES_MAX);
  s->counts = MEM_ARRAY(struct web_counts, web_std_routes()->count + routes->count + 1);
  trace_source_init(&s->traces);
  return s;
}

// --- accepting

static bool is_full(const struct web_server *s) { return (int64_t)s->conn_count >= s->conf.connections_max; }

// The connection that is in this state for longest, if that is longer than the limit.
static struct web_conn *first_older(struct web_server *s, enum conn_state state, struct span limit)
{
  struct list *first = s->conns[state].next;
  if (first == &s->conns[state]) return NULL;
  struct web_conn *c = CONTAINER_OF(first, struct web_conn, node);
  return mono_since(loop_now(s->rt->loop), c->since).us >= limit.us ? c : NULL;
}

// Whoever is still reading an answer is not idle; sweep_stalled looks after those who do not read.
static struct web_conn *first_idle(struct web_server *s, struct span limit)
{
  struct web_conn *c;
  while ((c = first_older(s, CONN_IDLE, limit)) != NULL && conn_has_output(c)) conn_touch(c);
  return c;
}

static bool make_room(struct web_server *s)
{
  struct web_conn *c = first_idle(s, EVICT_AFTER);
  if (c) conn_close(c);
  return c != NULL;
}

static void pause_accept(struct web_server *s)
{
  s->accept_paused = true;
  loop_watch_set(s->listen_watch, 0);
  web_server_arm_sweep(s);
}

void web_server_resume_accept(struct web_server *s)
{
  if (!s->accept_paused || s->listener < 0 || is_full(s)) return;
  s->accept_paused = false;
  loop_watch_set(s->listen_watch, LOOP_READ);
}

// False when there is nothing more to accept now.
static bool accept_one(struct web_server *s)
{
  if (is_full(s) && !make_room(s)) {
    pause_accept(s);
    return false;
  }
  int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause_accept(s);
    return false;
  }
  int one = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  conn_new(s, fd);
  return true;
}

static void on_acceptable(void *ctx, int what)
{
  struct web_server *s = ctx;
  (void)what;
  // A call says that one waits; whether more do is not known, so nobody gives way for the others before the next call.
  for (int i = 0; i < ACCEPTS_PER_TURN && s->listener >= 0 && !(i > 0 && is_full(s)) && accept_one(s); i++) continue;
}

static void close_listener(struct web_server *s)
{
  if (s->listener < 0) return;
  loop_watch_free(s->listen_watch);
  close(s->listener);
  s->listen_watch = NULL;
  s->listener = -1;
}

// --- time-outs

static void sweep_stalled(struct web_server *s)
{
  struct mono_time now = loop_now(s->rt->loop);
  while (!list_is_empty(&s->stalled)) {
    struct web_conn *c = CONTAINER_OF(s->stalled.next, struct web_conn, stalled_node);
    if (mono_since(now, c->stalled_since).us < s->conf.idle_timeout.us) return;
    conn_close(c);
  }
}

// Closing a listener resets connections whose handshake ends in that very moment, with a request perhaps already sent.
// So first the kernel is told to overlook what begins one (SYN without ACK, in byte 13 of the TCP header): who knocks
// now tries again and is refused, or reaches another instance, before anything was sent.
static void overlook_newcomers(struct web_server *s)
{
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
                               BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)};
  const struct sock_fprog program = {.len = ARRAY_LEN(code), .filter = code};
  (void)setsockopt(s->listener, SOL_SOCKET, SO_ATTACH_FILTER, &program,
                   sizeof program);  // without it a rare reset remains
  s->overlooks_newcomers = true;
}

static void sweep_drain(struct web_server *s)
{
  if (s->listener < 0) return;
  int64_t age_us = mono_since(loop_now(s->rt->loop), s->drain_since).us;
  if (age_us >= DRAIN_ACCEPTS_FOR.us && !s->overlooks_newcomers) overlook_newcomers(s);
  if (age_us >= DRAIN_ACCEPTS_FOR.us + DRAIN_HANDSHAKES.us) {
    for (size_t i = 0; i < LISTEN_BACKLOG && accept_one(s); i++)
      continue;  // whoever is in the kernel's queue is answered
    close_listener(s);
  }
}

static struct span sweep_period(const struct web_server *s)
{
  int64_t shortest =
      s->conf.request_timeout.us < s->conf.idle_timeout.us ? s->conf.request_timeout.us : s->conf.idle_timeout.us;
  int64_t us = s->draining ? 20000 : shortest / 8;
  return span_us(us < 20000 ? 20000 : us > 500000 ? 500000 : us);
}

static void on_sweep(void *ctx)
{
  struct web_server *s = ctx;
  struct span idle = s->draining && s->listener < 0 ? DRAIN_IDLE : s->conf.idle_timeout;
  struct web_conn *c;
  if (s->draining) sweep_drain(s);
  while ((c = first_idle(s, idle)) != NULL) conn_close(c);
  while ((c = first_older(s, CONN_READING, s->conf.request_timeout)) != NULL) conn_time_out(c);
  while ((c = first_older(s, CONN_LINGERING, LINGER_TIME)) != NULL) conn_close(c);
  sweep_stalled(s);
  // Full but for idle connections, or short of descriptors a moment ago: try again.
  if (s->accept_paused && s->listener >= 0) {
    s->accept_paused = false;
    loop_watch_set(s->listen_watch, LOOP_READ);
  }
  if (s->conn_count > 0 || (s->draining && s->listener >= 0)) loop_timer_set(s->sweep, sweep_period(s));
}

void web_server_arm_sweep(struct web_server *s)
{
  if (!loop_timer_is_set(s->sweep)) loop_timer_set(s->sweep, sweep_period(s));
}

// --- life

static bool is_loopback(const struct sockaddr *a)
{
  if (a->sa_family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, a, sizeof in);
    return ntohl(in.sin_addr.s_addr) >> 24 == 127;
  }
  struct sockaddr_in6 in6;
  memcpy(&in6, a, sizeof in6);
  return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

// "host:port" or "[v6]:port" into its parts.
static bool split_listen(const char *text, char host[256], char port[8])
{
  const char *colon = strrchr(text, ':');
  if (!colon) return false;
  size_t host_len = (size_t)(colon - text), port_len = strlen(colon + 1);
  uint64_t number;
  if (text_to_u64(colon + 1, port_len, &number) != RESULT_OK || number > 65535) return false;
  if (host_len >= 2 && text[0] == '[' && colon[-1] == ']') {
    text++;
    host_len -= 2;
  }
  if (host_len == 0 || host_len > 255) return false;
  memcpy(host, text, host_len);
  host[host_len] = '\0';
  memcpy(port, colon + 1, port_len + 1);
  return true;
}

// A name such as localhost may stand for several: the first of IPv4, which is what clients are usually given.
static const struct addrinfo *choose_address(const struct addrinfo *found)
{
  for (const struct addrinfo *a = found; a; a = a->ai_next)
    if (a->ai_family == AF_INET) return a;
  return found;
}

static int bind_listener(const struct addrinfo *a)
{
  int one = 1;
  int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0) return fd;
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

static int bound_port(int fd)
{
  struct sockaddr_storage a;
  socklen_t len = sizeof a;
  ENSURE(getsockname(fd, (struct sockaddr *)&a, &len) == 0);
  if (a.ss_family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, &a, sizeof in);
    return ntohs(in.sin_port);
  }
  struct sockaddr_in6 in6;
  memcpy(&in6, &a, sizeof in6);
  return ntohs(in6.sin6_port);
}

enum result web_server_start(struct web_server *s, char out_why[WEB_WHY_BYTES])
{
  enum result result = RESULT_OK;
  char host[256], port[8];
  struct addrinfo *found = NULL;
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  if (!split_listen(s->conf.listen, host, port)) {
    (void)snprintf(out_why, WEB_WHY_BYTES, "%.120s is not an address and port such as 127.0.0.1:7401", s->conf.listen);
    TRY(RESULT_INVALID);
  }
  int code = getaddrinfo(host, port, &hints, &found);
  if (code != 0) {
    (void)snprintf(out_why, WEB_WHY_BYTES, "cannot listen on %.120s: %.80s", s->conf.listen, gai_strerror(code));
    TRY(RESULT_UNAVAILABLE);
  }
  const struct addrinfo *chosen = choose_address(found);
  if (s->conf.auth == 0 && !is_loopback(chosen->ai_addr)) {
    (void)snprintf(out_why, WEB_WHY_BYTES, "%.120s is not loopback: set auth to keys", s->conf.listen);
    TRY(RESULT_DENIED);
  }
  s->listener = bind_listener(chosen);
  if (s->listener < 0) {
    (void)snprintf(out_why, WEB_WHY_BYTES, "cannot listen on %.120s: %.80s", s->conf.listen, strerror(errno));
    TRY(RESULT_UNAVAILABLE);
  }
  s->port = bound_port(s->listener);
  s->sweep = loop_timer_new(s->rt->loop, on_sweep, s);
  s->listen_watch = loop_watch_new(s->rt->loop, s->listener, on_acceptable, s);
  loop_watch_set(s->listen_watch, LOOP_READ);
  if (s->rt->log) LOG(s->rt->log, EV_HTTP_SERVER_STARTED, F_STR("address", host), F_INT("port", s->port));

cleanup:
  if (found) freeaddrinfo(found);
  return result;
}

int web_server_port(const struct web_server *s) { return s->port; }

void web_server_drain(struct web_server *s)
{
  if (s->draining || !s->sweep) return;
  s->draining = true;
  s->drain_since = loop_now(s->rt->loop);
  if (s->conn_count == 0) {
    for (size_t i = 0; i < LISTEN_BACKLOG && accept_one(s); i++) continue;
    if (s->conn_count == 0) close_listener(s);
  }
  loop_timer_set(s->sweep, sweep_period(s));
}

static size_t list_length(const struct list *l)
{
  size_t n = 0;
  for (const struct list *node = l->next; node != l; node = node->next) n++;
  return n;
}

size_t web_server_open_requests(const struct web_server *s)
{
  if (!s->draining) return s->handling_count;
  return s->conn_count - list_length(&s->conns[CONN_LINGERING]) + (s->listener >= 0 ? 1 : 0);
}

// Keeps a copy of a reason that seldom changes.
static void set_reason(char **io_kept, const char *reason)
{
  if (reason && *io_kept && strcmp(reason, *io_kept) == 0) return;
  mem_free(*io_kept);
  *io_kept = reason ? mem_strdup(reason) : NULL;
}

void web_server_set_not_ready(struct web_server *s, const char *why) { set_reason(&s->not_ready, why); }

void web_server_set_degraded(struct web_server *s, const char *what) { set_reason(&s->degraded, what); }

void web_server_set_calls(struct web_server *s, struct web_calls *calls) { s->calls = calls; }

void web_server_set_auth(struct web_server *s, web_auth_fn *fn, void *ctx)
{
  s->auth = fn;
  s->auth_ctx = ctx;
}

void web_server_set_gate(struct web_server *s, web_gate_fn *fn) { s->gate = fn; }

void web_server_set_policy(struct web_server *s, const char *policy) { s->policy = policy; }

// A request that its handler still has lives on without a server until it is answered.
static void orphan(struct web_conn *c)
{
  loop_watch_free(c->watch);
  close(c->fd);
  c->watch = NULL;
  c->fd = -1;
  c->server = NULL;
  list_remove(&c->node);
  list_remove(&c->dirty_node);
  list_remove(&c->stalled_node);
}

void web_server_free(struct web_server *s)
{
  if (!s) return;
  loop_defer_cancel(s->rt->loop, &s->flush_task);
  close_listener(s);
  loop_timer_free(s->sweep);
  for (size_t i = 0; i < CONN_STATE_COUNT; i++)
    LIST_EACH (node, following, &s->conns[i]) {
      struct web_conn *c = CONTAINER_OF(node, struct web_conn, node);
      if (c->state == CONN_HANDLING)
        orphan(c);
      else
        conn_free(c);
    }
  buf_release(&s->page);
  mem_free(s->counts);
  mem_free(s->not_ready);
  mem_free(s->degraded);
  mem_free(s->conf.listen);
  mem_free(s);
}

// --- counting

static struct metric_series *requests_of(struct web_server *s, struct web_counts *n, const char *label, int status)
{
  size_t i = 0;
  while (i < WEB_CODES_KEPT && n->codes[i].status != 0 && n->codes[i].status != status) i++;
  if (i < WEB_CODES_KEPT && n->codes[i].status == status) return n->codes[i].requests;
  char code[8];
  (void)snprintf(code, sizeof code, "%d", status);
  struct metric_series *series = METRIC_SERIES(s->rt->metrics, M_HTTP_REQUESTS, label, code);
  if (i < WEB_CODES_KEPT) {
    n->codes[i].status = status;
    n->codes[i].requests = series;
  }
  return series;
}

static bool belongs_to(const struct web_routes *routes, const struct web_route *route)
{
  return route && (uintptr_t)route >= (uintptr_t)routes->items &&
         (uintptr_t)route < (uintptr_t)(routes->items + routes->count);
}

void web_server_count(struct web_server *s, const struct web_route *route, int status, struct span took)
{
  const struct web_routes *std = web_std_routes();
  if (!s->rt->metrics) return;
  size_t index = std->count + s->routes->count;
  if (belongs_to(std, route))
    index = (size_t)(route - std->items);
  else if (belongs_to(s->routes, route))
    index = std->count + (size_t)(route - s->routes->items);
  const char *label = route ? route->label : "none";
  struct web_counts *n = &s->counts[index];
  if (!n->seconds) n->seconds = METRIC_SERIES(s->rt->metrics, M_HTTP_REQUEST_SECONDS, label);
  metric_series_add(requests_of(s, n, label, status), 1);
  metric_series_observe(n->seconds, span_to_seconds(took));
}
