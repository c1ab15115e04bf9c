// SPDX-License-Identifier: Apache-2.0
// The open sockets of an HTTP client: see http_sockets.h. libcurl watches them by descriptor, and names a connection
// that is about to be used by its two ends only, so they are found by either.
// Owner: the client; loop thread.
#include "common/http_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/contract.h"
#include "common/list.h"
#include "common/loop.h"
#include "common/mem.h"

#define PORT_BUCKETS 1024

struct end {
  char ip[INET6_ADDRSTRLEN];
  int port;  // 0: not known
};

struct entry {
  struct list node;  // of its own port's bucket; among the nameless until it is connected and was asked for
  struct http_sockets *owner;
  struct loop_watch *watch;
  int fd;
  bool is_connection;
  bool is_wanted;  // false: a kept connection between two calls
  bool was_used;   // has carried a request
  struct end own, other;
};

struct http_sockets {
  struct loop *loop;
  void (*on_ready)(void *ctx, int fd, int what);
  void *ctx;
  struct entry **entries;  // by descriptor; NULL: none
  size_t count;
  struct list by_port[PORT_BUCKETS], nameless;
};

// --- by descriptor

static void on_entry_ready(void *ctx, int what)
{
  struct entry *e = ctx;
  if (e->is_wanted)
    e->owner->on_ready(e->owner->ctx, e->fd, what);  // may free e
  else
    loop_watch_set(e->watch, 0);  // it will be found not to be quiet by who wants to use it next
}

static struct entry *find(const struct http_sockets *s, int fd)
{
  return (size_t)fd < s->count ? s->entries[fd] : NULL;
}

static void grow(struct http_sockets *s, size_t count)
{
  s->entries = mem_resize(s->entries, count, sizeof s->entries[0]);
  for (size_t fd = s->count; fd < count; fd++) s->entries[fd] = NULL;
  s->count = count;
}

static struct entry *add(struct http_sockets *s, int fd, bool is_connection)
{
  REQUIRE(fd >= 0 && find(s, fd) == NULL);
  if ((size_t)fd >= s->count) grow(s, (size_t)fd + 64);
  struct entry *e = MEM_NEW(struct entry);
  *e = (struct entry){.owner = s, .fd = fd, .is_connection = is_connection};
  list_init(&e->node);
  if (is_connection) list_add_last(&s->nameless, &e->node);
  e->watch = loop_watch_new(s->loop, fd, on_entry_ready, e);
  s->entries[fd] = e;
  return e;
}

static void drop(struct http_sockets *s, int fd)
{
  struct entry *e = find(s, fd);
  if (e == NULL) return;
  s->entries[fd] = NULL;
  list_remove(&e->node);
  loop_watch_free(e->watch);
  mem_free(e);
}

void http_sockets_opened(struct http_sockets *s, int fd)
{
  drop(s, fd);  // none is there, unless somebody closed a connection without a word
  add(s, fd, true);
}

void http_sockets_closed(struct http_sockets *s, int fd) { drop(s, fd); }

void http_sockets_watch(struct http_sockets *s, int fd, int what)
{
  struct entry *e = find(s, fd);
  if (e == NULL) e = add(s, fd, false);
  e->is_wanted = true;
  loop_watch_set(e->watch, what);
}

void http_sockets_unwatch(struct http_sockets *s, int fd)
{
  struct entry *e = find(s, fd);
  if (e == NULL) return;
  e->is_wanted = false;
  if (!e->is_connection) drop(s, fd);
}

// --- by its ends

static struct list *bucket(struct http_sockets *s, int port) { return &s->by_port[(unsigned)port % PORT_BUCKETS]; }

static bool read_end(int fd, int (*ask)(int fd, struct sockaddr *to, socklen_t *len), struct end *out)
{
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } a = {0};
  socklen_t len = sizeof a;
  if (ask(fd, &a.any, &len) != 0) return false;
  bool is_v6 = a.any.sa_family == AF_INET6;
  const void *bytes = is_v6 ? (const void *)&a.v6.sin6_addr : &a.v4.sin_addr;
  if (!inet_ntop(a.any.sa_family, bytes, out->ip, sizeof out->ip)) return false;
  out->port = ntohs(is_v6 ? a.v6.sin6_port : a.v4.sin_port);
  return out->port != 0;
}

static void learn_ends(struct entry *e)
{
  if (!read_end(e->fd, getpeername, &e->other) || !read_end(e->fd, getsockname, &e->own)) return;
  list_remove(&e->node);
  list_add_last(bucket(e->owner, e->own.port), &e->node);
}

static bool is_end(const struct end *end, const char *ip, int port)
{
  return end->port == port && strcmp(end->ip, ip) == 0;
}

// The own end alone would not do: the kernel gives a port to two connections whose other ends differ.
static struct entry *find_named(struct http_sockets *s, const struct http_ends *ends)
{
  LIST_EACH (node, following, bucket(s, ends->own_port)) {
    struct entry *e = CONTAINER_OF(node, struct entry, node);
    if (is_end(&e->own, ends->own_ip, ends->own_port) && is_end(&e->other, ends->ip, ends->port)) return e;
  }
  return NULL;
}

static struct entry *find_by_ends(struct http_sockets *s, const struct http_ends *ends)
{
  struct entry *e = find_named(s, ends);
  if (e != NULL) return e;
  LIST_EACH (node, following, &s->nameless) learn_ends(CONTAINER_OF(node, struct entry, node));
  return find_named(s, ends);
}

bool http_sockets_is_quiet(struct http_sockets *s, const struct http_ends *ends)
{
  struct entry *e = find_by_ends(s, ends);
  if (e == NULL) return true;  // not one of ours to judge
  if (!e->was_used) {
    e->was_used = true;
    return true;
  }
  char byte;
  return recv(e->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;  // nothing there; a broken one fails by itself
}

// --- life

struct http_sockets *http_sockets_new(struct loop *loop, void (*on_ready)(void *ctx, int fd, int what), void *ctx)
{
  struct http_sockets *s = MEM_NEW(struct http_sockets);
  s->loop = loop;
  s->on_ready = on_ready;
  s->ctx = ctx;
  list_init(&s->nameless);
  for (size_t i = 0; i < PORT_BUCKETS; i++) list_init(&s->by_port[i]);
  return s;
}

void http_sockets_free(struct http_sockets *s)
{
  if (s == NULL) return;
  for (size_t fd = 0; fd < s->count; fd++) drop(s, (int)fd);
  mem_free(s->entries);
  mem_free(s);
}
