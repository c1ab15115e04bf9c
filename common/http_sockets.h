// SPDX-License-Identifier: Apache-2.0
// The open sockets of an HTTP client: has the other side said anything on a kept connection that nobody asked for?
// What waits there (a second answer, the tail of one that was too long, a farewell) would be taken for the answer to
// the next request. Loop thread.
#pragma once

#include <stdbool.h>

#include "common/list.h"

struct http_sockets {
  struct list open;  // the last used first
};

void http_sockets_init(struct http_sockets *s);
void http_sockets_release(struct http_sockets *s);  // forgets all, closes none
void http_sockets_add(struct http_sockets *s, int fd);
void http_sockets_forget(struct http_sockets *s, int fd);
// For a connection about to carry a request, by its own end (an address as text, and port). False: it has carried one
// before, and now bytes wait on it or it is closed. A new one is quiet: TLS may have sent something already.
bool http_sockets_is_quiet(struct http_sockets *s, const char *local_ip, int local_port);
