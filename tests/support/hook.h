// SPDX-License-Identifier: Apache-2.0
// A receiver of webhooks: an HTTP server on 127.0.0.1 in a thread of its own that answers each path as it is told, and
// keeps what came, whole and in order.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct hook;
struct hook *hook_open(int *out_port);  // any free port
void hook_close(struct hook *h);

// How a path is answered from now on: 0 hangs until the client gives up. headers: further lines, each ended by "\r\n",
// or NULL. Unless told, a path answers 204.
void hook_answer(struct hook *h, const char *path, int status, const char *headers);

struct hook_call {
  double at;  // support_now()
  char *path, *head, *body;
};
size_t hook_count(struct hook *h, const char *path);
// The n-th call to the path, from 0; valid until hook_close. Ends the program if there is none.
struct hook_call hook_get(struct hook *h, const char *path, size_t n);
char *hook_header(const struct hook_call *c, const char *name);  // NULL if absent; mem_free it
// How many different webhook-ids came to the path.
size_t hook_count_ids(struct hook *h, const char *path);
