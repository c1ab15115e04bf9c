// SPDX-License-Identifier: Apache-2.0
// A call of the reconciler: common/web_call with the app at hand, and a statement after the other.
// Owner: the handler that made it; loop thread. It ends with the answer, see web_call_send.
#pragma once

#include "common/jsonx.h"
#include "common/web_call.h"
#include "common/web_read.h"
#include "reconciler/app.h"

struct call {
  struct web_call call;
  struct app *app;
  struct web_request *web;
  void (*on_rows)(struct call *c,
                  const struct db_rows *rows);  // answers and ends the call, or sends the next statement
  void (*on_end)(struct call *c);               // what the handler added is freed here; NULL: nothing
};

// Embed it first; size is the handler's struct, zeroed.
struct call *call_new(struct web_request *web, size_t size,
                      void (*on_rows)(struct call *c, const struct db_rows *rows));
struct db_args *call_args(struct call *c);  // cleared, for the next statement
void call_send(struct call *c, const struct db_statement *statement);
void call_end(struct call *c);

void call_refuse(struct web_request *web, const char *detail);  // 400 INVALID_REQUEST
void call_not_found(struct web_request *web, const char *detail);

// A parameter of the query: NULL if absent. False after a 400: not UTF-8, or longer than any such value.
bool call_text(struct web_request *web, const char *name, const char **out_value);
bool call_number(struct web_request *web, const char *name, int64_t min, int64_t max, int64_t *io_value);
// The name in the path. NULL after a 404 with this detail: nothing can be called so.
const char *call_name(struct web_request *web, const char *unknown);
// The body as an object, for json_decref. NULL after a 400.
json_t *call_body(struct web_request *web);
// Everything in the body was read and nothing is left. False after a 400 with the first fault.
bool call_is_read(struct web_request *web, struct jsonx_reader *reader);
