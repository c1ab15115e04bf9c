// SPDX-License-Identifier: Apache-2.0
// A call of the reconciler: common/web_call with the app at hand, and a statement after the other.
// Owner: the handler that made it; loop thread.
#include "reconciler/call.h"

#include <string.h>

#include "common/text.h"

void call_refuse(struct web_request *web, const char *detail) { web_reply_invalid(web, detail); }

void call_not_found(struct web_request *web, const char *detail)
{
  web_reply_problem(web, &(struct web_problem){.code = "NOT_FOUND", .status = 404, .detail = detail});
}

static void on_rows(struct web_call *call, const struct db_rows *rows)
{
  struct call *c = CONTAINER_OF(call, struct call, call);
  c->on_rows(c, rows);
}

static void on_end(struct web_call *call)
{
  struct call *c = CONTAINER_OF(call, struct call, call);
  if (c->on_end != NULL) c->on_end(c);
}

struct call *call_new(struct web_request *web, size_t size, void (*rows_fn)(struct call *c, const struct db_rows *rows))
{
  struct web_call *call = web_call_new_in(size, web, NULL, on_rows);
  struct call *c = CONTAINER_OF(call, struct call, call);
  call->on_end = on_end;
  c->app = web_context(web);
  c->web = web;
  c->on_rows = rows_fn;
  return c;
}

struct db_args *call_args(struct call *c)
{
  web_call_next(&c->call, NULL);
  return &c->call.db.args;
}

void call_send(struct call *c, const struct db_statement *statement)
{
  c->call.db.statement = statement;
  web_call_send(&c->call);
}

void call_end(struct call *c) { web_call_end(&c->call); }

bool call_text(struct web_request *web, const char *name, const char **out_value)
{
  return web_read_text(web, name, out_value);
}

bool call_number(struct web_request *web, const char *name, int64_t min, int64_t max, int64_t *io_value)
{
  return web_read_number(web, name, min, max, io_value);
}

const char *call_name(struct web_request *web, const char *unknown)
{
  const char *name = web_param(web, "name");
  if (text_is_utf8(name, strlen(name))) return name;
  call_not_found(web, unknown);
  return NULL;
}

json_t *call_body(struct web_request *web)
{
  size_t len;
  const char *bytes = web_body(web, &len);
  json_t *body = NULL;
  char why[JSONX_WHY_BYTES];
  if (jsonx_parse(bytes, len, &body, why) != RESULT_OK)
    call_refuse(web, why);
  else if (json_is_object(body))
    return body;
  else
    call_refuse(web, "must be an object");
  json_decref(body);
  return NULL;
}

bool call_is_read(struct web_request *web, struct jsonx_reader *reader)
{
  if (jsonx_reader_finish(reader) == RESULT_OK) return true;
  call_refuse(web, reader->fault);
  return false;
}
