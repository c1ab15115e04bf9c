// SPDX-License-Identifier: Apache-2.0
// Blocking HTTP client of the tests; see http.h. Every call is a "flight" moved forward by one poll loop.
#include "tests/support/http.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/exchange.h"
#include "tests/support/support.h"

#define ANSWER_BYTES_MAX   (256u * 1024 * 1024)
#define DEFAULT_TIMEOUT_MS 15000

struct flight {
  int fd;  // -1: failed to connect
  struct buf out, in;
  size_t sent;
  double end;
  double seconds;
  bool done, complete, closed;
};

int http_connect(int port)
{
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) support_die("socket: %s", strerror(errno));
  int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
  (void)close(fd);
  return -1;
}

static void write_request(struct buf *out, const struct http_request *r, bool keep_alive)
{
  size_t len = r->body == NULL ? 0 : r->body_len > 0 ? r->body_len : strlen(r->body);
  const char *method = r->method != NULL ? r->method : r->body != NULL ? "POST" : "GET";
  buf_printf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, r->path);
  if (!keep_alive) buf_puts(out, "Connection: close\r\n");
  if (r->headers != NULL) buf_puts(out, r->headers);
  if (r->body != NULL) {
    if (r->headers == NULL || strcasestr(r->headers, "content-type:") == NULL)
      buf_puts(out, "Content-Type: application/json\r\n");
    buf_printf(out, "Content-Length: %zu\r\n", len);
  }
  buf_puts(out, "\r\n");
  if (r->body != NULL) buf_append(out, r->body, len);
}

// Finds a header's value between head and head + head_len.
static const char *find_header(const char *head, size_t head_len, const char *name, size_t *out_len)
{
  size_t name_len = strlen(name);
  for (const char *at = head; at < head + head_len;) {
    const char *end = memchr(at, '\n', (size_t)(head + head_len - at));
    if (end == NULL) break;
    if (strncasecmp(at, name, name_len) == 0 && at[name_len] == ':') {
      at += name_len + 1;
      while (at < end && *at == ' ') at++;
      while (end > at && (end[-1] == '\r' || end[-1] == ' ')) end--;
      *out_len = (size_t)(end - at);
      return at;
    }
    at = end + 1;
  }
  return NULL;
}

static int read_status(const char *head)
{
  int64_t status = 0;
  if (strncmp(head, "HTTP/1.", 7) != 0 || strlen(head) < 12) return 0;
  return text_to_i64(head + 9, 3, &status) == RESULT_OK ? (int)status : 0;
}

// Drops interim answers and says whether the final one is whole. A body without a length ends with the connection.
static bool is_complete(struct flight *f)
{
  for (;;) {
    const char *text = buf_text(&f->in), *blank = strstr(text, "\r\n\r\n");
    if (blank == NULL) return false;
    size_t head_len = (size_t)(blank - text) + 4;
    int status = read_status(text);
    if (status >= 100 && status < 200) {
      buf_consume(&f->in, head_len);
      continue;
    }
    size_t len;
    uint64_t expected;
    const char *value = find_header(text, head_len, "content-length", &len);
    if (value == NULL) return status == 204 || status == 304;
    if (text_to_u64(value, len, &expected) != RESULT_OK) return false;
    return f->in.len >= head_len + expected || strncmp(buf_text(&f->out), "HEAD ", 5) == 0;
  }
}

static void flight_send(struct flight *f)
{
  ssize_t n = send(f->fd, f->out.data + f->sent, f->out.len - f->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) f->sent += (size_t)n;
  // A server may answer and close before it has read everything; its answer is still to be read.
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    f->sent = f->out.len;
}

static void flight_receive(struct flight *f)
{
  char block[65536];
  ssize_t n = recv(f->fd, block, sizeof block, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) {
    buf_append(&f->in, block, (size_t)n);
    f->complete = is_complete(f);
    f->done = f->complete;
    return;
  }
  f->closed = true;
  f->done = true;
  size_t len;
  const char *text = buf_text(&f->in), *blank = strstr(text, "\r\n\r\n");
  f->complete =
      n == 0 && blank != NULL && find_header(text, (size_t)(blank - text) + 4, "content-length", &len) == NULL;
}

// One turn: waits for any of the flights and moves those that can. Returns how many still fly.
static size_t fly(struct flight *flights, size_t count, struct pollfd *polls)
{
  size_t open = 0;
  double now = support_now(), end = now + 3600;
  for (size_t i = 0; i < count; i++) {
    struct flight *f = &flights[i];
    if (!f->done && now >= f->end) f->done = true;
    polls[i] = (struct pollfd){.fd = f->done ? -1 : f->fd,
                               .events = (short)(f->sent < f->out.len ? POLLIN | POLLOUT : POLLIN)};
    if (f->done) continue;
    open++;
    if (f->end < end) end = f->end;
  }
  if (open == 0 || poll(polls, (nfds_t)count, (int)((end - now) * 1000) + 1) < 0) return open;
  for (size_t i = 0; i < count; i++) {
    if ((polls[i].revents & POLLOUT) != 0) flight_send(&flights[i]);
    if ((polls[i].revents & ~POLLOUT) != 0) flight_receive(&flights[i]);
  }
  return open;
}

static void run_flights(struct flight *flights, size_t count)
{
  double begin = support_now();
  struct pollfd *polls = MEM_ARRAY(struct pollfd, count);
  size_t open;
  do {
    open = fly(flights, count, polls);
    for (size_t i = 0; i < count; i++)
      if (flights[i].done && flights[i].seconds == 0) flights[i].seconds = support_now() - begin;
  } while (open > 0);
  mem_free(polls);
}

static void flight_init(struct flight *f, int fd, const struct http_request *r, bool keep_alive)
{
  *f = (struct flight){.fd = fd, .done = fd < 0};
  buf_init(&f->out, ANSWER_BYTES_MAX);
  buf_init(&f->in, ANSWER_BYTES_MAX);
  write_request(&f->out, r, keep_alive);
  f->end = support_now() + (r->timeout_ms > 0 ? r->timeout_ms : DEFAULT_TIMEOUT_MS) / 1000.0;
}

// Turns what came in into the answer and releases the buffers; the connection stays the caller's.
static void land(struct flight *f, int port, const struct http_request *r, struct http_answer *out)
{
  const char *text = buf_text(&f->in), *blank = f->complete ? strstr(text, "\r\n\r\n") : NULL;
  size_t head_len = blank == NULL ? 0 : (size_t)(blank - text) + 4;
  size_t body_len = blank == NULL ? 0 : f->in.len - head_len;
  *out = (struct http_answer){.status = blank == NULL ? 0 : read_status(text), .seconds = f->seconds};
  out->head = mem_strndup(text, head_len);
  out->body = mem_strndup(text + head_len, body_len);
  out->body_len = body_len;
  exchange_keep(port, r, out);
  buf_release(&f->out);
  buf_release(&f->in);
}

void http_call_all(const struct http_request *requests, size_t count, struct http_answer *outs)
{
  struct flight *flights = MEM_ARRAY(struct flight, count);
  for (size_t i = 0; i < count; i++) flight_init(&flights[i], http_connect(requests[i].port), &requests[i], false);
  run_flights(flights, count);
  for (size_t i = 0; i < count; i++) {
    if (flights[i].fd >= 0) (void)close(flights[i].fd);
    land(&flights[i], requests[i].port, &requests[i], &outs[i]);
  }
  mem_free(flights);
}

void http_call(const struct http_request *r, struct http_answer *out) { http_call_all(r, 1, out); }

void http_get(int port, const char *path, struct http_answer *out)
{
  http_call(&(struct http_request){.port = port, .path = path}, out);
}

void http_post(int port, const char *path, const char *body, struct http_answer *out)
{
  http_call(&(struct http_request){.port = port, .method = "POST", .path = path, .body = body}, out);
}

void http_put(int port, const char *path, const char *body, struct http_answer *out)
{
  http_call(&(struct http_request){.port = port, .method = "PUT", .path = path, .body = body}, out);
}

int http_json(int port, const char *method, const char *path, const char *body, json_t **out_json)
{
  struct http_answer a;
  http_call(&(struct http_request){.port = port, .method = method, .path = path, .body = body}, &a);
  if (out_json != NULL) *out_json = a.status == 0 || a.body_len == 0 ? NULL : http_answer_json(&a);
  http_answer_release(&a);
  return a.status;
}

void http_answer_release(struct http_answer *a)
{
  mem_free(a->head);
  mem_free(a->body);
  a->head = a->body = NULL;
}

char *http_answer_header(const struct http_answer *a, const char *name)
{
  size_t len;
  const char *value = find_header(a->head, strlen(a->head), name, &len);
  return value == NULL ? NULL : mem_strndup(value, len);
}

json_t *http_answer_json(const struct http_answer *a)
{
  json_error_t error;
  json_t *json = json_loadb(a->body, a->body_len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
  if (json == NULL) support_die("answer %d is not JSON (%s): %s", a->status, error.text, a->body);
  return json;
}

void http_conn_init(struct http_conn *c, int port) { *c = (struct http_conn){.port = port, .fd = -1}; }

void http_conn_release(struct http_conn *c)
{
  if (c->fd >= 0) (void)close(c->fd);
  c->fd = -1;
}

// True if the server has closed a connection that was kept.
static bool is_stale(int fd)
{
  char byte;
  ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN);
}

void http_conn_call(struct http_conn *c, const struct http_request *r, struct http_answer *out)
{
  if (c->fd >= 0 && is_stale(c->fd)) http_conn_release(c);
  if (c->fd < 0) c->fd = http_connect(c->port);
  struct flight f;
  flight_init(&f, c->fd, r, true);
  run_flights(&f, 1);
  bool keep = f.complete && !f.closed && strcasestr(buf_text(&f.in), "\r\nconnection: close") == NULL;
  land(&f, c->port, r, out);
  if (!keep) http_conn_release(c);
}

bool http_raw(int port, const char *bytes, size_t len, int timeout_ms, struct buf *out)
{
  struct flight f = {.fd = http_connect(port), .end = support_now() + timeout_ms / 1000.0};
  if (f.fd < 0) return false;
  buf_init(&f.out, ANSWER_BYTES_MAX);
  buf_init(&f.in, ANSWER_BYTES_MAX);
  buf_append(&f.out, bytes, len);
  struct pollfd polls[1];
  while (fly(&f, 1, polls) > 0)
    if (f.done && !f.closed) f.done = false;  // an answer is whole: read on until the peer closes
  buf_append(out, buf_text(&f.in), f.in.len);
  bool closed = f.closed;
  (void)close(f.fd);
  buf_release(&f.out);
  buf_release(&f.in);
  return closed;
}
