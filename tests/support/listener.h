// SPDX-License-Identifier: Apache-2.0
// A place where a test is called back: one POST at a time, taken when the test asks for it, answered 204.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/buf.h"

struct callback {
  struct buf bytes;  // the whole request
  const char *body;
  json_t *json;
};

int listener_open(int *out_port);  // on 127.0.0.1, any free port; close() it
// False: none came in time.
bool listener_take(int listener, int timeout_ms, struct callback *out);
void callback_release(struct callback *c);
bool callback_is(const struct callback *c, const char *name, const char *expected);  // a text member of the body
char *callback_header(const struct callback *c, const char *name);                   // NULL if absent; mem_free it
