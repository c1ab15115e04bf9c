// SPDX-License-Identifier: Apache-2.0
// A raw HTTP server that misbehaves on purpose, for the tests of the HTTP client.
// Owner: unit tests; it runs in a thread of its own with blocking sockets until fake_stop.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/contract.h"
#include "common/mem.h"

#define OK_ANSWER                                                                           \
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRetry-After: 7\r\nContent-Length: " \
  "15\r\n\r\n{\"status\":\"OK\"}"
#define REQUEST_BYTES_MAX 65536
#define ANSWERS_MAX       16
#define CONNECTIONS_MAX   32

// What the server does with the n-th request it has read completely.
struct step {
  const char *answer;  // NULL: none
  int delay_ms;
  bool close;           // after the answer
  size_t flood;         // that many more bytes after the answer
  const char *unasked;  // sent a moment after the answer
};

struct fake {
  int listener, port;
  pthread_t thread;
  bool runs;
  atomic_bool stop;
  atomic_int hits, connections, unasked;
  struct step steps[ANSWERS_MAX];  // the last one repeats
  size_t step_count;
  pthread_mutex_t lock;
  struct buf seen;  // the last request
};

// --- the server

// The length of a complete request at the start of bytes, 0 if there is none yet.
static inline size_t request_length(const char *bytes, size_t len)
{
  const char *end = memmem(bytes, len, "\r\n\r\n", 4);
  if (!end) return 0;
  size_t head = (size_t)(end - bytes) + 4, body = 0;
  const char *cl = memmem(bytes, head, "Content-Length: ", 16);
  for (cl = cl ? cl + 16 : ""; *cl >= '0' && *cl <= '9'; cl++) body = body * 10 + (size_t)(*cl - '0');
  return len >= head + body ? head + body : 0;
}

static inline void send_all(int fd, const char *bytes, size_t len)
{
  for (size_t at = 0; at < len;) {
    ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += (size_t)n;
  }
}

// False when the connection is to be closed.
static inline bool play_step(struct fake *s, int fd)
{
  static const char flood[4096] = "";
  size_t n = (size_t)atomic_fetch_add(&s->hits, 1);
  const struct step *step = &s->steps[n < s->step_count ? n : s->step_count - 1];
  for (int waited = 0; waited < step->delay_ms && !atomic_load(&s->stop); waited += 10) (void)poll(NULL, 0, 10);
  if (step->answer) send_all(fd, step->answer, strlen(step->answer));
  for (size_t sent = 0; sent < step->flood; sent += sizeof flood) send_all(fd, flood, sizeof flood);
  if (step->unasked) {
    (void)poll(NULL, 0, 20);  // the answer has been read by then
    send_all(fd, step->unasked, strlen(step->unasked));
    for (int left = 1; left > 0;) {  // until it has arrived
      ENSURE(ioctl(fd, SIOCOUTQ, &left) == 0);
      (void)poll(NULL, 0, 1);
    }
    atomic_fetch_add(&s->unasked, 1);
  }
  return !step->close;
}

struct peer {
  int fd;
  char *bytes;
  size_t len;
};

static inline bool serve(struct fake *s, struct peer *p)
{
  ssize_t n = recv(p->fd, p->bytes + p->len, REQUEST_BYTES_MAX - p->len, 0);
  if (n <= 0) return false;
  p->len += (size_t)n;
  size_t length = request_length(p->bytes, p->len);
  if (length == 0) return p->len < REQUEST_BYTES_MAX;
  pthread_mutex_lock(&s->lock);
  buf_clear(&s->seen);
  buf_append(&s->seen, p->bytes, length);
  pthread_mutex_unlock(&s->lock);
  p->len = 0;
  return play_step(s, p->fd);
}

static inline void peer_release(struct peer *p)
{
  close(p->fd);
  mem_free(p->bytes);
}

static inline void *fake_run(void *ctx)
{
  struct fake *s = ctx;
  struct peer peers[CONNECTIONS_MAX];
  size_t count = 0;
  while (!atomic_load(&s->stop)) {
    struct pollfd fds[CONNECTIONS_MAX + 1] = {{s->listener, POLLIN, 0}};
    for (size_t i = 0; i < count; i++) fds[i + 1] = (struct pollfd){peers[i].fd, POLLIN, 0};
    (void)poll(fds, count + 1, 20);
    for (size_t i = count; i-- > 0;) {
      if (fds[i + 1].revents == 0 || serve(s, &peers[i])) continue;
      peer_release(&peers[i]);
      peers[i] = peers[--count];
    }
    if (!(fds[0].revents & POLLIN) || count == CONNECTIONS_MAX) continue;
    int fd = accept(s->listener, NULL, NULL);
    if (fd < 0) continue;
    atomic_fetch_add(&s->connections, 1);
    peers[count++] = (struct peer){fd, mem_zalloc(REQUEST_BYTES_MAX + 1, 1), 0};
  }
  while (count > 0) peer_release(&peers[--count]);
  return NULL;
}

static inline void listen_on_any_port(int *out_fd, int *out_port, int backlog)
{
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t len = sizeof a;
  *out_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ENSURE(bind(*out_fd, (const struct sockaddr *)&a, sizeof a) == 0 && listen(*out_fd, backlog) == 0);
  ENSURE(getsockname(*out_fd, (struct sockaddr *)&a, &len) == 0);
  *out_port = ntohs(a.sin_port);
}

static inline void fake_start(struct fake *s, const struct step *steps, size_t count)
{
  listen_on_any_port(&s->listener, &s->port, 64);
  memcpy(s->steps, steps, count * sizeof *steps);
  s->step_count = count;
  pthread_mutex_init(&s->lock, NULL);
  buf_init(&s->seen, REQUEST_BYTES_MAX);
  ENSURE(pthread_create(&s->thread, NULL, fake_run, s) == 0);
  s->runs = true;
}

static inline void fake_stop(struct fake *s)
{
  if (!s->runs) return;
  atomic_store(&s->stop, true);
  pthread_join(s->thread, NULL);
  close(s->listener);
  buf_release(&s->seen);
  pthread_mutex_destroy(&s->lock);
  s->runs = false;
}
