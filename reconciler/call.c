// SPDX-License-Identifier: Apache-2.0
// An HTTP request that waits for the database: one statement at a time, failures answered alike.
// Owner: the handler that made it; loop thread.
#include "reconciler/call.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"

#define QUERY_VALUE_BYTES_MAX 1024

void call_refuse(struct web_request *web, const char *detail)
{
  web_reply_problem(web, &(struct web_problem){.code = "INVALID_REQUEST", .status = 400, .detail = detail});
}

void call_not_found(struct web_request *web, const char *detail)
{
  web_reply_problem(web, &(struct web_problem){.code = "NOT_FOUND", .status = 404, .detail = detail});
}

static void answer_unavailable(struct call *c, const char *code, const char *detail)
{
  web_reply_problem(c->web, &(struct web_problem){.code = code, .status = 503, .detail = detail, .retry_after_s = 1});
  call_end(c);
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct call *c = CONTAINER_OF(req, struct call, req);
  c->on_rows(c, rows);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  struct call *c = CONTAINER_OF(req, struct call, req);
  LOG(c->app->rt->log, EV_QUERY_FAILED, F_STR("statement", req->statement->name), F_STR("sqlstate", error->sqlstate),
      F_STR("message", error->message));
  answer_unavailable(c, "UNAVAILABLE", "the database did not answer");
}

static void on_timeout(struct db_request *req)
{
  struct call *c = CONTAINER_OF(req, struct call, req);
  LOG(c->app->rt->log, EV_QUERY_FAILED, F_STR("statement", req->statement->name), F_STR("message", "timed out"));
  answer_unavailable(c, "UNAVAILABLE", "the database took too long");
}

struct call *call_new(struct web_request *web, size_t size, void (*rows_fn)(struct call *c, const struct db_rows *rows))
{
  struct call *c = mem_zalloc(1, size);
  c->app = web_context(web);
  c->web = web;
  c->on_rows = rows_fn;
  db_args_init(&c->req.args);
  c->req.on_rows = on_rows;
  c->req.on_error = on_error;
  c->req.on_timeout = on_timeout;
  c->app->open_calls++;
  return c;
}

struct db_args *call_args(struct call *c)
{
  db_args_clear(&c->req.args);
  return &c->req.args;
}

void call_send(struct call *c, const struct db_statement *statement)
{
  c->req.statement = statement;
  enum result result = db_pool_submit(c->app->db, &c->req);
  if (result == RESULT_OK) return;
  answer_unavailable(c, result == RESULT_FULL ? "OVERLOADED" : "UNAVAILABLE",
                     result == RESULT_FULL ? "too many requests wait" : "the database is away");
}

void call_end(struct call *c)
{
  c->app->open_calls--;
  if (c->on_end != NULL) c->on_end(c);
  db_args_release(&c->req.args);
  mem_free(c);
}

bool call_text(struct web_request *web, const char *name, const char **out_value)
{
  const char *value = web_query(web, name);
  size_t len = value != NULL ? strlen(value) : 0;
  char detail[96];
  if (len <= QUERY_VALUE_BYTES_MAX && (value == NULL || text_is_utf8(value, len))) {
    *out_value = value;
    return true;
  }
  (void)snprintf(detail, sizeof detail, "%s: must be UTF-8 of at most %d bytes", name, QUERY_VALUE_BYTES_MAX);
  call_refuse(web, detail);
  return false;
}

bool call_number(struct web_request *web, const char *name, int64_t min, int64_t max, int64_t *io_value)
{
  const char *value = web_query(web, name);
  int64_t number = 0;
  char detail[96];
  if (value == NULL) return true;
  if (text_to_i64(value, strlen(value), &number) == RESULT_OK && number >= min && number <= max) {
    *io_value = number;
    return true;
  }
  (void)snprintf(detail, sizeof detail, "%s: must be a number from %lld to %lld", name, (long long)min, (long long)max);
  call_refuse(web, detail);
  return false;
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
