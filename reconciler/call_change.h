// SPDX-License-Identifier: Apache-2.0
// A change of something that has a name, ordered over HTTP: POST /v1/…/{name}/ACTION {…, reason}.
// Owner: the handler that made it; loop thread.
#pragma once

#include "common/jsonx.h"
#include "reconciler/call.h"

struct change_call {
  struct call call;
  json_t *body;  // the texts read from it live as long as the call
  const char *name, *action, *reason;
};

// What such a change is about.
struct change_target {
  const char *unknown;  // detail of the 404 for a name that nothing can have
  bool needs_reason;
};

// Name and reason are read, the rest of the body is for the reader. NULL after a 400 or 404.
struct change_call *change_call_new(struct web_request *web, const struct change_target *target, const char *action,
                                    void (*on_rows)(struct call *c, const struct db_rows *rows),
                                    struct jsonx_reader *out_reader);
// All was read and nothing is left. False after a 400; the call has ended then.
bool change_call_is_read(struct change_call *ch, struct jsonx_reader *reader);
struct change_call *change_call_of(struct call *c);
