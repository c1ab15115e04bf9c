// SPDX-License-Identifier: Apache-2.0
// A receiver of webhooks; see hook.h.
// A thread with poll; what it shares with the test lies behind a lock.
#include "tests/support/hook.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/support/support.h"

#define CONNECTIONS_MAX   256
#define RULES_MAX         16
#define REQUEST_BYTES_MAX (1024 * 1024)

struct rule {
  char *path, *headers;
  int status;
};

struct hook {
  int listener, wake[2];
  pthread_t thread;
  pthread_mutex_t lock;
  struct rule rules[RULES_MAX];
  size_t rule_count;
  struct hook_call *calls;
  size_t call_count, call_cap;
  // The thread's
  struct pollfd fds[CONNECTIONS_MAX + 2];
  struct buf in[CONNECTIONS_MAX + 2];
  size_t fd_count;
};

// --- requests

// The length of a complete request at the start, 0 if there is none yet; its body begins at *out_body.
static size_t request_length(const struct buf *b, size_t *out_body)
{
  const char *text = buf_text(b), *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length: ");
  uint64_t n = 0;
  if (end == NULL) return 0;
  *out_body = (size_t)(end - text) + 4;
  if (length != NULL && length < end) {
    length += strlen("\r\nContent-Length: ");
    if (text_to_u64(length, strcspn(length, "\r"), &n) != RESULT_OK) support_die("a webhook with a bad Content-Length");
  }
  return b->len >= *out_body + n ? *out_body + (size_t)n : 0;
}

static void keep(struct hook *h, const char *bytes, size_t body, size_t len)
{
  const char *path = strchr(bytes, ' ') + 1;
  if (h->call_count == h->call_cap) {
    h->call_cap = h->call_cap == 0 ? 256 : 2 * h->call_cap;
    h->calls = mem_resize(h->calls, h->call_cap, sizeof *h->calls);
  }
  h->calls[h->call_count++] = (struct hook_call){support_now(), mem_strndup(path, strcspn(path, " ")),
                                                 mem_strndup(bytes, body), mem_strndup(bytes + body, len - body)};
}

static const struct rule *rule_of(const struct hook *h, const char *path)
{
  for (size_t i = 0; i < h->rule_count; i++)
    if (strcmp(h->rules[i].path, path) == 0) return &h->rules[i];
  return NULL;
}

static void answer_request(struct hook *h, int fd, const struct buf *in, size_t body, size_t len)
{
  char text[1024] = "";
  (void)pthread_mutex_lock(&h->lock);
  keep(h, buf_text(in), body, len);
  const struct rule *rule = rule_of(h, h->calls[h->call_count - 1].path);
  int status = rule == NULL ? 204 : rule->status;
  if (status != 0)
    (void)snprintf(text, sizeof text, "HTTP/1.1 %d Told\r\n%sContent-Length: 0\r\n\r\n", status,
                   rule == NULL || rule->headers == NULL ? "" : rule->headers);
  (void)pthread_mutex_unlock(&h->lock);
  if (text[0] != '\0') (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

// False: the connection is over.
static bool serve(struct hook *h, size_t at)
{
  char chunk[16384];
  size_t body = 0, len;
  ssize_t n = recv(h->fds[at].fd, chunk, sizeof chunk, 0);
  if (n <= 0) return false;
  buf_append(&h->in[at], chunk, (size_t)n);
  while ((len = request_length(&h->in[at], &body)) > 0) {
    answer_request(h, h->fds[at].fd, &h->in[at], body, len);
    struct buf rest;
    buf_init(&rest, REQUEST_BYTES_MAX);
    buf_append(&rest, h->in[at].data + len, h->in[at].len - len);
    buf_release(&h->in[at]);
    h->in[at] = rest;
  }
  return true;
}

static void add_connection(struct hook *h)
{
  int fd = accept(h->listener, NULL, NULL);
  if (fd < 0) return;
  if (h->fd_count == ARRAY_LEN(h->fds)) support_die("too many connections at the webhook receiver");
  h->fds[h->fd_count] = (struct pollfd){.fd = fd, .events = POLLIN};
  buf_init(&h->in[h->fd_count++], REQUEST_BYTES_MAX);
}

static void drop_connection(struct hook *h, size_t at)
{
  (void)close(h->fds[at].fd);
  buf_release(&h->in[at]);
  h->fds[at] = h->fds[--h->fd_count];
  h->in[at] = h->in[h->fd_count];
}

static void *run(void *ctx)
{
  struct hook *h = ctx;
  h->fds[0] = (struct pollfd){.fd = h->wake[0], .events = POLLIN};
  h->fds[1] = (struct pollfd){.fd = h->listener, .events = POLLIN};
  h->fd_count = 2;
  while (poll(h->fds, h->fd_count, -1) >= 0 || errno == EINTR) {
    if (h->fds[0].revents != 0) break;
    for (size_t i = h->fd_count; i-- > 2;)
      if (h->fds[i].revents != 0 && !serve(h, i)) drop_connection(h, i);
    if (h->fds[1].revents != 0) add_connection(h);
  }
  while (h->fd_count > 2) drop_connection(h, h->fd_count - 1);
  return NULL;
}

// --- the test's side

struct hook *hook_open(int *out_port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  struct hook *h = MEM_NEW(struct hook);
  h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (h->listener < 0 || bind(h->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(h->listener, 256) != 0 || getsockname(h->listener, (struct sockaddr *)&address, &len) != 0 ||
      pipe(h->wake) != 0)
    support_die("cannot listen: %s", strerror(errno));
  (void)pthread_mutex_init(&h->lock, NULL);
  if (pthread_create(&h->thread, NULL, run, h) != 0) support_die("cannot start a thread");
  *out_port = ntohs(address.sin_port);
  return h;
}

void hook_close(struct hook *h)
{
  if (h == NULL) return;
  (void)!write(h->wake[1], "x", 1);
  (void)pthread_join(h->thread, NULL);
  (void)close(h->wake[0]);
  (void)close(h->wake[1]);
  (void)close(h->listener);
  for (size_t i = 0; i < h->call_count; i++) {
    mem_free(h->calls[i].path);
    mem_free(h->calls[i].head);
    mem_free(h->calls[i].body);
  }
  for (size_t i = 0; i < h->rule_count; i++) {
    mem_free(h->rules[i].path);
    mem_free(h->rules[i].headers);
  }
  mem_free(h->calls);
  (void)pthread_mutex_destroy(&h->lock);
  mem_free(h);
}

void hook_answer(struct hook *h, const char *path, int status, const char *headers)
{
  (void)pthread_mutex_lock(&h->lock);
  struct rule *rule = (struct rule *)(uintptr_t)rule_of(h, path);
  if (rule == NULL) {
    if (h->rule_count == RULES_MAX) support_die("too many paths at the webhook receiver");
    rule = &h->rules[h->rule_count++];
    rule->path = mem_strdup(path);
  }
  mem_free(rule->headers);
  rule->headers = headers == NULL ? NULL : mem_strdup(headers);
  rule->status = status;
  (void)pthread_mutex_unlock(&h->lock);
}

size_t hook_count(struct hook *h, const char *path)
{
  size_t count = 0;
  (void)pthread_mutex_lock(&h->lock);
  for (size_t i = 0; i < h->call_count; i++) count += strcmp(h->calls[i].path, path) == 0;
  (void)pthread_mutex_unlock(&h->lock);
  return count;
}

struct hook_call hook_get(struct hook *h, const char *path, size_t n)
{
  struct hook_call found = {0};
  (void)pthread_mutex_lock(&h->lock);
  for (size_t i = 0, seen = 0; i < h->call_count && found.path == NULL; i++)
    if (strcmp(h->calls[i].path, path) == 0 && seen++ == n) found = h->calls[i];
  (void)pthread_mutex_unlock(&h->lock);
  if (found.path == NULL) support_die("there is no call %zu to %s", n, path);
  return found;
}

char *hook_header(const struct hook_call *c, const char *name)
{
  char *mark = support_format("\r\n%s: ", name);
  const char *at = strcasestr(c->head, mark);
  char *value = at == NULL ? NULL : mem_strndup(at + strlen(mark), strcspn(at + strlen(mark), "\r"));
  mem_free(mark);
  return value;
}

size_t hook_count_ids(struct hook *h, const char *path)
{
  size_t count = hook_count(h, path), different = 0;
  char **ids = MEM_ARRAY(char *, count + 1);
  for (size_t i = 0; i < count; i++) {
    struct hook_call call = hook_get(h, path, i);
    size_t k = 0;
    ids[different] = hook_header(&call, "webhook-id");
    if (ids[different] == NULL) support_die("a webhook without webhook-id");
    while (k < different && strcmp(ids[k], ids[different]) != 0) k++;
    if (k == different)
      different++;
    else
      mem_free(ids[different]);
  }
  for (size_t i = 0; i < different; i++) mem_free(ids[i]);
  mem_free(ids);
  return different;
}
