// SPDX-License-Identifier: Apache-2.0
// The open sockets of an HTTP client: see http_sockets.h. libcurl names a connection by its own end only, so that is
// what sockets are found by.
// Owner: the client; loop thread.
#include "common/http_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/compiler.h"
#include "common/mem.h"

struct open_socket {
  struct list node;
  int fd, port;  // port: 0 until it is connected and was asked for
  bool was_used;
  char ip[INET6_ADDRSTRLEN];
};

void http_sockets_init(struct http_sockets *s) { list_init(&s->open); }

void http_sockets_release(struct http_sockets *s)
{
  for (struct list *node; (node = list_take_first(&s->open)) != NULL;)
    mem_free(CONTAINER_OF(node, struct open_socket, node));
}

void http_sockets_add(struct http_sockets *s, int fd)
{
  struct open_socket *o = MEM_NEW(struct open_socket);
  o->fd = fd;
  list_add_last(&s->open, &o->node);
}

void http_sockets_forget(struct http_sockets *s, int fd)
{
  LIST_EACH (node, following, &s->open) {
    struct open_socket *o = CONTAINER_OF(node, struct open_socket, node);
    if (o->fd != fd) continue;
    list_remove(node);
    mem_free(o);
    return;
  }
}

static void learn_own_end(struct open_socket *o)
{
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } a = {0};
  socklen_t len = sizeof a;
  if (getsockname(o->fd, &a.any, &len) != 0) return;
  bool is_v6 = a.any.sa_family == AF_INET6;
  const void *bytes = is_v6 ? (const void *)&a.v6.sin6_addr : &a.v4.sin_addr;
  if (inet_ntop(a.any.sa_family, bytes, o->ip, sizeof o->ip)) o->port = ntohs(is_v6 ? a.v6.sin6_port : a.v4.sin_port);
}

static struct open_socket *find(struct http_sockets *s, const char *ip, int port)
{
  LIST_EACH (node, following, &s->open) {
    struct open_socket *o = CONTAINER_OF(node, struct open_socket, node);
    if (o->port == 0) learn_own_end(o);
    if (o->port == port && strcmp(o->ip, ip) == 0) return o;
  }
  return NULL;
}

bool http_sockets_is_quiet(struct http_sockets *s, const char *local_ip, int local_port)
{
  struct open_socket *o = find(s, local_ip, local_port);
  if (!o) return true;  // not one of ours to judge
  list_remove(&o->node);
  list_add_first(&s->open, &o->node);
  if (!o->was_used) {
    o->was_used = true;
    return true;
  }
  char byte;
  return recv(o->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;  // nothing there; a broken one fails by itself
}
