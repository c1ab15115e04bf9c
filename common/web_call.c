// SPDX-License-Identifier: Apache-2.0
// A request that is one statement, or a few one after the other: see web_call.h.
// Owner: the call owns itself from its first web_call_send to its answer; loop thread.
#include "common/web_call.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"

static void free_call(struct web_call *call)
{
  if (call->on_end != NULL) call->on_end(call);
  db_args_release(&call->db.args);
  if (call->open_count != NULL) --*call->open_count;
  call->calls->open_count--;
  mem_free(call);
}

static void reply_unavailable(struct web_request *req, const char *code, const char *detail)
{
  web_reply_problem(req, &(struct web_problem){.code = code, .status = 503, .detail = detail, .retry_after_s = 1});
}

static void tell_failed(const struct web_call *call, const char *sqlstate, const char *message)
{
  const struct web_calls *calls = call->calls;
  if (calls->on_failed != NULL) calls->on_failed(calls->ctx, call->db.statement, sqlstate, message);
}

static void on_rows(struct db_request *db, const struct db_rows *rows)
{
  struct web_call *call = CONTAINER_OF(db, struct web_call, db);
  call->is_sent = false;
  call->is_in_rows = true;
  call->on_rows(call, rows);
  call->is_in_rows = false;
  if (!call->is_sent) free_call(call);
}

static bool is_class(const struct db_error *e, const char *class) { return strncmp(e->sqlstate, class, 2) == 0; }

static void on_error(struct db_request *db, const struct db_error *e)
{
  struct web_call *call = CONTAINER_OF(db, struct web_call, db);
  bool is_refused = e->failure == DB_FAILED_STATEMENT;
  bool may_pass = is_class(e, "25") || is_class(e, "40") || is_class(e, "53") || is_class(e, "55") || is_class(e, "57");
  tell_failed(call, e->sqlstate, e->message);
  if (is_refused && (is_class(e, "22") || is_class(e, "23"))) {
    web_reply_invalid(call->req, "the database refuses a value");
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
  struct web_call *call = CONTAINER_OF(db, struct web_call, db);
  tell_failed(call, "", "timed out");
  reply_unavailable(call->req, "UNAVAILABLE", "the database has not answered in time; the change may still be made");
  free_call(call);
}

struct web_call *web_call_new_in(size_t size, struct web_request *req, const struct db_statement *statement,
                                 web_rows_fn *rows_fn)
{
  struct web_call *call = mem_zalloc(1, size);
  call->req = req;
  call->calls = web_calls(req);
  call->calls->open_count++;
  call->on_rows = rows_fn;
  call->db.statement = statement;
  call->db.on_rows = on_rows;
  call->db.on_error = on_error;
  call->db.on_timeout = on_timeout;
  db_args_init(&call->db.args);
  return call;
}

struct web_call *web_call_new(struct web_request *req, const struct db_statement *statement, web_rows_fn *rows_fn)
{
  return web_call_new_in(sizeof(struct web_call), req, statement, rows_fn);
}

static void refuse_to_send(struct web_request *req, enum result result)
{
  if (result == RESULT_FULL)
    reply_unavailable(req, "OVERLOADED", "too many requests wait for the database");
  else if (result == RESULT_TOO_BIG)
    web_reply_problem(req, &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "too large"});
  else
    reply_unavailable(req, "UNAVAILABLE", "the database cannot be reached");
}

void web_call_send(struct web_call *call)
{
  enum result result = db_pool_submit(call->calls->db, &call->db);
  call->is_sent = result == RESULT_OK;
  if (call->is_sent) return;
  refuse_to_send(call->req, result);
  web_call_end(call);
}

void web_call_next(struct web_call *call, const struct db_statement *statement)
{
  db_args_clear(&call->db.args);
  call->db.statement = statement;
}

void web_call_end(struct web_call *call)
{
  if (!call->is_in_rows) free_call(call);
}

// --- answers

void web_reply_invalid(struct web_request *req, const char *detail)
{
  web_reply_problem(req, &(struct web_problem){.code = "INVALID_REQUEST", .status = 400, .detail = detail});
}

void web_reply_missing(struct web_request *req, const char *code)
{
  web_reply_problem(req,
                    &(struct web_problem){
                        .code = code != NULL ? code : "NOT_FOUND", .status = 404, .detail = "there is no such thing"});
}

static const struct web_refusal *find_refusal(const struct web_refusal *refusals, size_t count, const char *code)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(refusals[i].code, code) == 0) return &refusals[i];
  return NULL;
}

void web_reply_refusal(struct web_request *req, const char *code, const char *detail, const char *extra_json)
{
  static const struct web_refusal known[] = {
      {"INVALID_REQUEST", 400}, {"NOT_FOUND", 404},     {"STALE", 412},
      {"STATE_CONFLICT", 409},  {"BIZ_ID_REUSED", 422}, {"FORBIDDEN", 403},
  };
  const struct web_calls *calls = web_calls(req);
  const struct web_refusal *refusal = find_refusal(known, ARRAY_LEN(known), code);
  if (refusal == NULL) refusal = find_refusal(calls->refusals, calls->refusal_count, code);
  if (refusal == NULL)
    web_reply_problem(req, &(struct web_problem){.code = "INTERNAL", .status = 500, .detail = "an unknown refusal"});
  else
    web_reply_problem(
        req, &(struct web_problem){
                 .code = refusal->code, .status = refusal->status, .detail = detail, .extra_json = extra_json});
}

void web_reply_etag(struct web_request *req, int64_t version)
{
  char etag[32];
  (void)snprintf(etag, sizeof etag, "\"%lld\"", (long long)version);
  web_reply_header(req, "ETag", etag);
}

void web_reply_doc(struct web_call *call, const struct db_rows *rows, size_t column)
{
  if (db_rows_count(rows) == 0 || db_rows_is_null(rows, 0, column))
    web_reply_missing(call->req, call->missing);
  else
    web_reply_json(call->req, 200, db_rows_text(rows, 0, column), db_rows_text_len(rows, 0, column));
}
