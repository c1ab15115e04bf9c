// SPDX-License-Identifier: Apache-2.0
// A change of something that has a name, ordered over HTTP. Owner: the handler that made it; loop thread.
#include "reconciler/call_change.h"

#include <string.h>

#include "common/text.h"
#include "reconciler/operation.h"

struct change_call *change_call_of(struct call *c) { return CONTAINER_OF(c, struct change_call, call); }

static void on_end(struct call *c) { json_decref(change_call_of(c)->body); }

struct change_call *change_call_new(struct web_request *web, const struct change_target *target, const char *action,
                                    void (*on_rows)(struct call *c, const struct db_rows *rows),
                                    struct jsonx_reader *out_reader)
{
  const char *name = call_name(web, target->unknown);
  json_t *body = name != NULL ? call_body(web) : NULL;
  if (body == NULL) return NULL;
  struct change_call *ch = change_call_of(call_new(web, sizeof *ch, on_rows));
  ch->call.on_end = on_end;
  ch->body = body;
  ch->name = name;
  ch->action = action;
  jsonx_reader_init(out_reader, body, "");
  ch->reason = jsonx_read_text(out_reader, "reason", target->needs_reason, REASON_CHARS_MAX);
  return ch;
}

bool change_call_is_read(struct change_call *ch, struct jsonx_reader *reader)
{
  if (call_is_read(ch->call.web, reader)) return true;
  call_end(&ch->call);
  return false;
}
