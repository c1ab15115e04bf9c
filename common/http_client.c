// SPDX-License-Identifier: Apache-2.0
// Outgoing HTTP over libcurl's multi interface, driven by the loop's watches and one timer: see http_client.h.
// Owner: the worker that made it; loop thread.
#include "common/http_client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/contract.h"
#include "common/http_sockets.h"
#include "common/limits.h"
#include "common/list.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/web_parse.h"

#ifndef LARGESSE_VERSION
#define LARGESSE_VERSION "0"
#endif

#define HEADER_BYTES_MAX 8192           // one header line of a request
#define BODY_KEEP_BYTES  (64u * 1024u)  // a larger buffer is given back after its call
#define REQUEST_BODY_MAX (64u * 1024u * 1024u)
#define METHOD_BYTES     32
#define KEPT_FOR_S       30L  // an idle connection older than this is not used again

// Setting up a handle costs as much as half of a call, so it is left as it is for the next call of the same shape.
struct call_shape {
  char method[METHOD_BYTES];  // "": none yet
  bool has_body, fresh_connection;
  struct span connect_timeout, total_timeout;
};

struct http_call {
  struct list node;  // open or spare
  struct http_client *client;
  CURL *easy;
  struct call_shape shape;  // what the handle is set up for
  struct curl_slist headers[HTTP_CALL_HEADERS_MAX + 2];
  struct buf header_text, request_body;
  http_answer_fn *on_answer;
  void *ctx;
  struct mono_time started;
  struct buf body;    // of the answer
  bool is_under_way;  // a connection was there for it
  bool was_refused;   // an address of the name was internal
  bool never_resend;
  bool was_noisy;     // the kept connection had something to say before the request: not used
  bool is_second_go;  // after that, on a new connection
  char fault[CURL_ERROR_SIZE];
};

struct http_client {
  struct runtime *rt;
  CURLM *multi;
  struct loop_timer *timer;
  struct loop_task kick;  // libcurl wants to be called as soon as possible
  struct list open, spare;
  size_t open_count, calls_max;
  bool answering;  // inside a callback
  const struct net_guard *guard;
  struct http_sockets *sockets;
};

static void drive(struct http_client *c, curl_socket_t fd, int events);

// --- the loop

static void on_socket_ready(void *ctx, int fd, int what)
{
  drive(ctx, fd, ((what & LOOP_READ) ? CURL_CSELECT_IN : 0) | ((what & LOOP_WRITE) ? CURL_CSELECT_OUT : 0));
}

static void on_timer(void *ctx) { drive(ctx, CURL_SOCKET_TIMEOUT, 0); }

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
  struct http_client *c = ctx;
  (void)easy, (void)socket_ctx;
  if (what == CURL_POLL_REMOVE)
    http_sockets_unwatch(c->sockets, fd);
  else
    http_sockets_watch(c->sockets, fd,
                       ((what & CURL_POLL_IN) ? LOOP_READ : 0) | ((what & CURL_POLL_OUT) ? LOOP_WRITE : 0));
  return 0;
}

static int on_time_out_wanted(CURLM *multi, long ms, void *ctx)
{
  struct http_client *c = ctx;
  (void)multi;
  if (ms < 0)
    loop_timer_clear(c->timer);
  else if (ms == 0)
    loop_defer(c->rt->loop, &c->kick, on_timer, c);
  else
    loop_timer_set(c->timer, span_ms(ms));
  return 0;
}

// --- answers

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
  struct http_call *call = ctx;
  buf_append(&call->body, bytes, size * count);
  return call->body.overflowed ? 0 : size * count;  // 0 ends the transfer
}

static const char *first_header(const struct http_call *call, const char *name)
{
  struct curl_header *found = NULL;
  return curl_easy_header(call->easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value : "";
}

// Did a byte of the request leave? libcurl adds up what the socket took, over all connections that the call used; until
// it has begun with the call, the sum is that of the one before.
static bool was_sent(const struct http_call *call)
{
  long bytes = 0;
  if (!call->is_under_way) return false;
  ENSURE(curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK);
  return bytes > 0;
}

static void make_one_line(char *text)
{
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = ' ';
}

static void fill_answer(struct http_call *call, CURLcode code, struct http_answer *a)
{
  long status = 0;
  (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
  bool is_answered = code == CURLE_OK && status >= 200;
  a->stage = is_answered ? HTTP_ANSWERED : was_sent(call) ? HTTP_SENT_NO_ANSWER : HTTP_NEVER_SENT;
  a->retry_after = a->content_type = a->fault = "";
  a->duration = mono_since(clk_mono(), call->started);
  if (is_answered) {
    a->status = (int)status;
    a->body = buf_text(&call->body);
    a->body_len = call->body.len;
    a->retry_after = first_header(call, "Retry-After");
    a->content_type = first_header(call, "Content-Type");
    return;
  }
  a->status = 0;
  a->body = "";
  a->body_len = 0;
  if (call->body.overflowed)
    a->fault = "the answer is too large";
  else if (call->was_refused && a->stage == HTTP_NEVER_SENT)
    a->fault = "the address is internal and not allowed";
  else if (code == CURLE_OK)
    a->fault = "no final answer came";
  else if (code == CURLE_ABORTED_BY_CALLBACK)
    a->fault = "the kept connection closed before an answer came";  // never_resend
  else
    a->fault = call->fault[0] ? call->fault : curl_easy_strerror(code);
  make_one_line(call->fault);
}

static void empty(struct buf *b)
{
  if (b->cap > BODY_KEEP_BYTES) {
    size_t max = b->max;
    buf_release(b);
    buf_init(b, max);
  } else {
    buf_clear(b);
  }
}

static void call_clear(struct http_call *call)
{
  empty(&call->body);
  empty(&call->request_body);
  empty(&call->header_text);
  call->is_under_way = call->was_refused = call->never_resend = call->was_noisy = call->is_second_go = false;
  call->fault[0] = '\0';
}

static void call_free(struct http_call *call)
{
  curl_easy_cleanup(call->easy);
  buf_release(&call->body);
  buf_release(&call->request_body);
  buf_release(&call->header_text);
  mem_free(call);
}

static void call_end(struct http_call *call, CURLcode code)
{
  struct http_client *c = call->client;
  struct http_answer answer;
  fill_answer(call, code, &answer);
  list_remove(&call->node);
  c->open_count--;
  c->answering = true;
  call->on_answer(call->ctx, &answer);
  c->answering = false;
  (void)curl_multi_remove_handle(c->multi,
                                 call->easy);  // after the callback: the headers of the answer live in the handle
  call_clear(call);
  list_add_last(&c->spare, &call->node);
}

// True: the call goes on. Bytes that nobody asked for waited on its connection, which libcurl has closed by now;
// nothing was sent, so it begins anew on a new one, with what is left of its time.
static bool is_begun_anew(struct http_call *call, CURLcode code)
{
  if (code != CURLE_ABORTED_BY_CALLBACK || !call->was_noisy || call->is_second_go || was_sent(call)) return false;
  int64_t left_ms = span_to_ms(call->shape.total_timeout) - span_to_ms(mono_since(clk_mono(), call->started));
  if (left_ms <= 0) return false;
  call->is_second_go = true;
  call->shape.method[0] = '\0';  // not what the next call wants
  (void)curl_multi_remove_handle(call->client->multi, call->easy);
  ENSURE(curl_easy_setopt(call->easy, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK);
  ENSURE(curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)left_ms) == CURLE_OK);
  ENSURE(curl_multi_add_handle(call->client->multi, call->easy) == CURLM_OK);
  return true;
}

static void drive(struct http_client *c, curl_socket_t fd, int events)
{
  int running, left;
  (void)curl_multi_socket_action(c->multi, fd, events, &running);
  for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left)) != NULL;) {
    if (m->msg != CURLMSG_DONE) continue;
    struct http_call *call = NULL;
    CURLcode code = m->data.result;
    ENSURE(curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)(void *)&call) == CURLE_OK && call != NULL);
    if (!is_begun_anew(call, code)) call_end(call, code);
  }
}

// --- requests

static bool has_prefix(const char *text, const char *prefix)
{
  size_t len = strlen(prefix);
  return web_parse_same(text, strnlen(text, len), prefix, len);
}

static bool is_sendable(const struct http_request *r)
{
  if (strlen(r->method) >= METHOD_BYTES || !web_parse_is_token(r->method, strlen(r->method))) return false;
  if (r->body && r->body_len > REQUEST_BODY_MAX) return false;
  if (!has_prefix(r->url, "http://") && !has_prefix(r->url, "https://")) return false;
  if (r->header_count > HTTP_CALL_HEADERS_MAX) return false;
  for (size_t i = 0; i < r->header_count; i++) {
    size_t name_len = strlen(r->headers[i].name), value_len = strlen(r->headers[i].value);
    if (name_len + value_len + 3 > HEADER_BYTES_MAX || !web_parse_is_token(r->headers[i].name, name_len) ||
        !web_parse_is_value(r->headers[i].value, value_len))
      return false;
  }
  return true;
}

// Called when a connection is there, before the request goes out on it. A second time after something was sent means
// that a kept connection died under the request and libcurl has taken another one.
static int on_about_to_send(void *ctx, char *ip, char *local_ip, int port, int local_port)
{
  struct http_call *call = ctx;
  const struct http_ends ends = {.ip = ip, .own_ip = local_ip, .port = port, .own_port = local_port};
  if (call->never_resend && was_sent(call)) return CURL_PREREQFUNC_ABORT;
  call->is_under_way = true;
  call->was_noisy = !http_sockets_is_quiet(call->client->sockets, &ends);
  return call->was_noisy ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

// The last place before a connection: what is judged is the very address that it would go to.
static curl_socket_t on_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
  struct http_call *call = ctx;
  (void)purpose;
  if (call->client->guard && !net_guard_allows(call->client->guard, &address->addr)) {
    call->was_refused = true;
    return CURL_SOCKET_BAD;  // libcurl goes on with the next address of the name
  }
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) http_sockets_opened(call->client->sockets, fd);
  return fd;
}

static int on_close_socket(void *ctx, curl_socket_t fd)
{
  struct http_client *c = ctx;
  http_sockets_closed(c->sockets, fd);
  return close(fd);
}

// The lines of a request's head lie one behind the other; libcurl gets its list as pointers into them.
static void put_headers(struct http_call *call, const struct http_request *r)
{
  struct buf *text = &call->header_text;
  size_t at[HTTP_CALL_HEADERS_MAX + 2], count = 0;
  bool has_type = false;
  for (size_t i = 0; i < r->header_count; i++) {
    const struct http_header *h = &r->headers[i];
    at[count++] = text->len;
    buf_puts(text, h->name);
    buf_puts(text, h->value[0] == '\0' ? ";" : ": ");  // libcurl's way to say "send it empty" is a semicolon
    buf_puts(text, h->value);
    buf_putc(text, '\0');
    has_type = has_type || web_parse_same(h->name, strlen(h->name), "content-type", 12);
  }
  // What libcurl would add of itself: a wait for 100 Continue, and the content type of a form.
  at[count++] = text->len;
  buf_append(text, "Expect:", sizeof "Expect:");
  at[count++] = text->len;
  buf_append(text, "Content-Type:", sizeof "Content-Type:");
  if (has_type) count--;
  ENSURE(buf_result(text) == RESULT_OK);
  for (size_t i = 0; i < count; i++)
    call->headers[i] = (struct curl_slist){text->data + at[i], i + 1 < count ? &call->headers[i + 1] : NULL};
}

#define SET(option, value) ENSURE(curl_easy_setopt(e, option, value) == CURLE_OK)

static void put_policy(struct http_call *call, const struct call_shape *shape)
{
  CURL *e = call->easy;
  SET(CURLOPT_PRIVATE, call);
  SET(CURLOPT_ERRORBUFFER, call->fault);
  SET(CURLOPT_WRITEFUNCTION, on_body);
  SET(CURLOPT_WRITEDATA, call);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_QUICK_EXIT, 1L);  // a time-out does not wait for the resolver's thread
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_PROXY, "");  // the environment does not decide where money goes
  SET(CURLOPT_TCP_NODELAY, 1L);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_MAXAGE_CONN, KEPT_FOR_S);
  SET(CURLOPT_USERAGENT, "largesse/" LARGESSE_VERSION);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)span_to_ms(shape->connect_timeout));
  SET(CURLOPT_TIMEOUT_MS, (long)span_to_ms(shape->total_timeout));
  SET(CURLOPT_FRESH_CONNECT, shape->fresh_connection ? 1L : 0L);
  SET(CURLOPT_FORBID_REUSE, shape->fresh_connection ? 1L : 0L);
  SET(CURLOPT_PREREQFUNCTION, on_about_to_send);
  SET(CURLOPT_PREREQDATA, call);
  SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
  SET(CURLOPT_OPENSOCKETDATA, call);
  SET(CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
  SET(CURLOPT_CLOSESOCKETDATA, call->client);  // the connection outlives the call
}

static void put_method(struct http_call *call, const struct call_shape *shape)
{
  CURL *e = call->easy;
  if (shape->has_body) SET(CURLOPT_POST, 1L);
  if (strcmp(shape->method, "HEAD") == 0)
    SET(CURLOPT_NOBODY, 1L);
  else if (strcmp(shape->method, shape->has_body ? "POST" : "GET") != 0)
    SET(CURLOPT_CUSTOMREQUEST, shape->method);
}

static bool is_same_shape(const struct call_shape *a, const struct call_shape *b)
{
  return strcmp(a->method, b->method) == 0 && a->has_body == b->has_body &&
         a->fresh_connection == b->fresh_connection && a->connect_timeout.us == b->connect_timeout.us &&
         a->total_timeout.us == b->total_timeout.us;
}

static void put_shape(struct http_call *call, const struct http_request *r)
{
  struct call_shape shape = {.has_body = r->body || strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0,
                             .fresh_connection = r->fresh_connection,
                             .connect_timeout = r->connect_timeout,
                             .total_timeout = r->total_timeout};
  (void)snprintf(shape.method, sizeof shape.method, "%s", r->method);
  if (is_same_shape(&call->shape, &shape)) return;
  curl_easy_reset(call->easy);
  put_policy(call, &shape);
  put_method(call, &shape);
  call->shape = shape;
}

static enum result put_request(struct http_call *call, const struct http_request *r)
{
  CURL *e = call->easy;
  put_shape(call, r);
  if (curl_easy_setopt(e, CURLOPT_URL, r->url) != CURLE_OK) return RESULT_INVALID;
  if (call->shape.has_body) {
    size_t len = r->body ? r->body_len : 0;
    buf_append(&call->request_body, r->body ? r->body : "", len);
    ENSURE(buf_result(&call->request_body) == RESULT_OK);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    SET(CURLOPT_POSTFIELDS, buf_text(&call->request_body));
  }
  put_headers(call, r);
  SET(CURLOPT_HTTPHEADER, call->headers);
  return RESULT_OK;
}

static struct http_call *call_take(struct http_client *c)
{
  if (!list_is_empty(&c->spare)) {  // the one that was used last: its memory is warm
    struct http_call *call = CONTAINER_OF(c->spare.prev, struct http_call, node);
    list_remove(&call->node);
    return call;
  }
  struct http_call *call = MEM_NEW(struct http_call);
  call->client = c;
  list_init(&call->node);
  buf_init(&call->header_text, (HTTP_CALL_HEADERS_MAX + 1) * HEADER_BYTES_MAX);
  buf_init(&call->request_body, REQUEST_BODY_MAX);
  call->easy = curl_easy_init();
  ENSURE(call->easy != NULL);
  return call;
}

enum result http_client_send(struct http_client *c, const struct http_request *r, http_answer_fn *on_answer, void *ctx,
                             struct http_call **out_call)
{
  if (!is_sendable(r)) return RESULT_INVALID;
  if (c->open_count >= c->calls_max) return RESULT_FULL;
  struct http_call *call = call_take(c);
  call->on_answer = on_answer;
  call->ctx = ctx;
  call->started = clk_mono();
  call->never_resend = r->never_resend;
  if (call->body.cap > 0)
    call->body.max = r->answer_max;
  else
    buf_init(&call->body, r->answer_max);
  if (put_request(call, r) != RESULT_OK) {
    call_clear(call);
    list_add_last(&c->spare, &call->node);
    return RESULT_INVALID;
  }
  ENSURE(curl_multi_add_handle(c->multi, call->easy) == CURLM_OK);
  list_add_last(&c->open, &call->node);
  c->open_count++;
  if (out_call) *out_call = call;
  return RESULT_OK;
}

// --- life

struct http_client *http_client_new(struct runtime *rt, size_t calls_max, long connections_per_host)
{
  ENSURE(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);  // counted by libcurl; each is undone in http_client_free
  struct http_client *c = MEM_NEW(struct http_client);
  c->rt = rt;
  c->calls_max = calls_max;
  list_init(&c->open);
  list_init(&c->spare);
  c->sockets = http_sockets_new(rt->loop, on_socket_ready, c);
  c->multi = curl_multi_init();
  ENSURE(c->multi != NULL);
  c->timer = loop_timer_new(rt->loop, on_timer, c);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c) == CURLM_OK);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_time_out_wanted) == CURLM_OK);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c) == CURLM_OK);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections_per_host) == CURLM_OK);
  ENSURE(curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)calls_max) == CURLM_OK);
  return c;
}

void http_client_free(struct http_client *c)
{
  if (!c) return;
  REQUIRE(!c->answering);
  c->calls_max = 0;  // a callback cannot send again
  while (!list_is_empty(&c->open)) {
    struct http_call *call = CONTAINER_OF(c->open.next, struct http_call, node);
    call_end(call, CURLE_ABORTED_BY_CALLBACK);
  }
  for (struct list *node; (node = list_take_first(&c->spare)) != NULL;)
    call_free(CONTAINER_OF(node, struct http_call, node));
  (void)curl_multi_cleanup(c->multi);  // closes its sockets
  http_sockets_free(c->sockets);
  loop_defer_cancel(c->rt->loop, &c->kick);
  loop_timer_free(c->timer);
  mem_free(c);
  curl_global_cleanup();
}

void http_client_set_guard(struct http_client *c, const struct net_guard *guard)
{
  REQUIRE(c->open_count == 0 && !c->guard);
  c->guard = guard;
}

size_t http_client_open(const struct http_client *c) { return c->open_count; }
