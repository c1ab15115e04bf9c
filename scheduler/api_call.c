// SPDX-License-Identifier: Apache-2.0
// An API call that is one statement: decode, ask the database, answer. What can go wrong on the way is answered here.
// Owner: the call owns itself from api_call_send to its answer; loop thread.
#include "scheduler/api_call.h"

#include <string.h>

#include "common/mem.h"
#include "scheduler/app.h"

static void free_call(struct api_call *call)
{
  db_args_release(&call->db.args);
  if (call->open_count != NULL) --*call->open_count;
  mem_free(call);
}

static void reply_unavailable(struct web_request *req, const char *code, const char *detail)
{
  web_reply_problem(req, &(struct web_problem){.code = code, .status = 503, .detail = detail, .retry_after_s = 1});
}

static void on_rows(struct db_request *db, const struct db_rows *rows)
{
  struct api_call *call = CONTAINER_OF(db, struct api_call, db);
  call->on_rows(call, rows);
  free_call(call);
}

static bool is_class(const struct db_error *e, const char *class) { return strncmp(e->sqlstate, class, 2) == 0; }

static void on_error(struct db_request *db, const struct db_error *e)
{
  struct api_call *call = CONTAINER_OF(db, struct api_call, db);
  bool is_refused = e->failure == DB_FAILED_STATEMENT;
  bool may_pass = is_class(e, "25") || is_class(e, "40") || is_class(e, "53") || is_class(e, "55") || is_class(e, "57");
  if (is_refused && (is_class(e, "22") || is_class(e, "23"))) {
    api_reply_invalid(call->req, "the database refuses a value");
  } else if (is_refused && !may_pass) {
    web_reply_problem(call->req,
                      &(struct web_problem){.code = "INTERNAL", .status = 500, .detail = "the server's log says more"});
  } else {
    reply_unavailable(call->req, "UNAVAILABLE", "the database cannot be reached");
  }
  free_call(call);
}

static void on_timeout(struct db_request *db)
{
  struct api_call *call = CONTAINER_OF(db, struct api_call, db);
  reply_unavailable(call->req, "UNAVAILABLE", "the database has not answered in time; the change may still be made");
  free_call(call);
}

struct api_call *api_call_new(struct web_request *req, const struct db_statement *statement, api_rows_fn *rows_fn)
{
  struct api_call *call = MEM_NEW(struct api_call);
  call->req = req;
  call->app = web_context(req);
  call->on_rows = rows_fn;
  call->db.statement = statement;
  call->db.on_rows = on_rows;
  call->db.on_error = on_error;
  call->db.on_timeout = on_timeout;
  db_args_init(&call->db.args);
  return call;
}

void api_call_send(struct api_call *call)
{
  enum result result = db_pool_submit(call->app->db, &call->db);
  if (result == RESULT_OK) return;
  if (result == RESULT_FULL)
    reply_unavailable(call->req, "OVERLOADED", "too many requests wait for the database");
  else if (result == RESULT_TOO_BIG)
    web_reply_problem(call->req, &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "too large"});
  else
    reply_unavailable(call->req, "UNAVAILABLE", "the database cannot be reached");
  free_call(call);
}
