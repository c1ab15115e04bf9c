// SPDX-License-Identifier: Apache-2.0
// The sockets of an HTTP client on the loop. Two things that libcurl does not look after:
// * Has the other side said anything on a kept connection that nobody asked for? What waits there (a second answer, the
//   tail of one that was too long, a farewell) would be taken for the answer to the next request.
// * Between two calls a kept connection is not watched as far as libcurl can see; the kernel need not hear of that, so
//   that a call on it changes nothing there.
// Loop thread only.
#pragma once

#include <stdbool.h>

struct loop;
struct http_sockets;

// on_ready: LOOP_READ or LOOP_WRITE as loop_watch_new has it; it may open, close and watch any socket.
struct http_sockets *http_sockets_new(struct loop *loop, void (*on_ready)(void *ctx, int fd, int what), void *ctx);
void http_sockets_free(struct http_sockets *s);  // forgets all, closes none; NULL is allowed
// A connection was opened, and http_sockets_closed will be called before its descriptor is closed.
void http_sockets_opened(struct http_sockets *s, int fd);
void http_sockets_closed(struct http_sockets *s, int fd);
// what: LOOP_READ | LOOP_WRITE, from now on. Other sockets than connections may be watched too; nothing stays of them
// when they no longer are.
void http_sockets_watch(struct http_sockets *s, int fd, int what);
void http_sockets_unwatch(struct http_sockets *s, int fd);
// The two ends of a connection: addresses as text, and ports.
struct http_ends {
  const char *ip, *own_ip;
  int port, own_port;
};
// For a connection about to carry a request. False: it has carried one before, and now bytes wait on it or it is
// closed. A new one is quiet: TLS may have sent something already.
bool http_sockets_is_quiet(struct http_sockets *s, const struct http_ends *ends);
