// SPDX-License-Identifier: Apache-2.0
// A list in CSV as the body of a call: see web_import.h.
// Owner: each request belongs to its import until the reply; loop thread.
#include "common/web_import.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/loop.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/web_read.h"

#define SLICE_BYTES     (128 * 1024)  // read in one turn of the loop
#define OPEN_MAX        2             // imports that have memory and connections at one time
#define IMPORT_TIMEOUT  span_s(600)
#define REPLY_BYTES_MAX (128 * 1024)
#define JSON_BODY_MAX   (64 * 1024)

struct import_run {
  struct web_request *req;
  const struct web_import *import;
  web_import_done_fn *on_done;
  struct web_import_by by;
  struct sheet sheet;
  size_t at;  // how much of the body is read
  struct loop_timer *timer;
};

struct import_call {
  struct web_call call;
  web_import_done_fn *on_done;
};

// --- answers

static void reply(struct web_request *req, int64_t inserted, int64_t duplicates, int64_t rows, size_t bad,
                  const char *rejected)
{
  static const char *const members[] = {"reason", NULL};
  static const struct web_told told = {.at = "", .members = members};
  struct buf b;
  char detail[96];
  buf_init(&b, REPLY_BYTES_MAX);
  buf_printf(&b, "%s\"rows\":%lld,\"inserted\":%lld,\"duplicates\":%lld,\"rejectedCount\":%zu,\"rejected\":",
             bad > 0 ? "" : "{", (long long)rows, (long long)inserted, (long long)duplicates, bad);
  web_put_told(&b, req, rejected, strlen(rejected), &told);
  if (bad == 0) buf_putc(&b, '}');
  (void)snprintf(detail, sizeof detail, "%zu of %lld rows are rejected; nothing was inserted", bad, (long long)rows);
  if (bad > 0)
    web_reply_refusal(req, "INVALID_REQUEST", detail, buf_text(&b));
  else
    web_reply_json(req, 200, buf_text(&b), b.len);
  buf_release(&b);
}

static void on_imported(struct web_call *call, const struct db_rows *rows)
{
  const struct import_call *i = CONTAINER_OF(call, struct import_call, call);
  const char *outcome = db_rows_text(rows, 0, 0);
  int64_t inserted = db_rows_i64(rows, 0, 2), duplicates = db_rows_i64(rows, 0, 3), bad = db_rows_i64(rows, 0, 4);
  if (bad == 0 && strcmp(outcome, "ok") != 0) {
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), NULL);
    return;
  }
  if (bad == 0) i->on_done(call, inserted, duplicates);
  reply(call->req, inserted, duplicates, bad > 0 ? (int64_t)call->limit : inserted + duplicates, (size_t)bad,
        db_rows_text(rows, 0, 5));
}

// --- how many at a time

// One more import, unless enough are under way: then the request is answered.
static bool open_one(struct web_request *req)
{
  struct web_calls *calls = web_calls(req);
  if (calls->open_imports < OPEN_MAX) {
    calls->open_imports++;
    return true;
  }
  web_reply_problem(
      req, &(struct web_problem){
               .code = "OVERLOADED", .status = 503, .detail = "other imports are under way", .retry_after_s = 5});
  return false;
}

static struct web_call *new_call(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done,
                                 size_t rows)
{
  struct web_call *call = web_call_new_in(sizeof(struct import_call), req, import->statement, on_imported);
  CONTAINER_OF(call, struct import_call, call)->on_done = on_done;
  call->action = import->name;
  call->limit = rows;
  call->open_count = &call->calls->open_imports;
  call->db.timeout = IMPORT_TIMEOUT;
  return call;
}

static struct web_call *open_call(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done,
                                  size_t rows)
{
  return open_one(req) ? new_call(req, import, on_done, rows) : NULL;
}

// --- reading the body

static void free_run(void *object)
{
  struct import_run *run = object;
  loop_timer_free(run->timer);
  sheet_release(&run->sheet);
  mem_free(run);
}

static void finish(struct import_run *run)
{
  const struct sheet *s = &run->sheet;
  struct web_calls *calls = web_calls(run->req);
  sheet_end(&run->sheet);
  if (s->bad_count > 0) {
    calls->open_imports--;
    reply(run->req, 0, 0, (int64_t)sheet_rows(s), s->bad_count, buf_text(&s->bad));
  } else {
    struct web_call *call = new_call(run->req, run->import, run->on_done, sheet_rows(s));
    run->import->put_args(s, web_param(run->req, "code"), &run->by, &call->db.args);
    web_call_send(call);
  }
}

static void on_slice(void *ctx)
{
  struct import_run *run = ctx;
  struct loop *loop = web_calls(run->req)->loop;
  size_t len = 0;
  const char *body = web_body(run->req, &len);
  size_t rest = len - run->at, take = rest < SLICE_BYTES ? rest : SLICE_BYTES;
  sheet_feed(&run->sheet, body + run->at, take);
  run->at += take;
  if (run->at < len && !run->sheet.is_broken) {
    loop_timer_set(run->timer, (struct span){0});
    return;
  }
  finish(run);
  loop_defer_free(loop, run, free_run);
}

void web_import_run(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done)
{
  const char *reason = NULL;
  if (!web_read_reason(req, &reason) || !open_one(req)) return;
  struct import_run *run = MEM_NEW(struct import_run);
  run->req = req;
  run->import = import;
  run->on_done = on_done;
  run->by = (struct web_import_by){web_actor(req), reason};
  sheet_init(&run->sheet, &import->columns);
  run->timer = loop_timer_new(web_calls(req)->loop, on_slice, run);
  on_slice(run);
}

// --- a list of integers, or all from one to another

static void send_range(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done,
                       int64_t from, int64_t to)
{
  const char *reason = NULL;
  if (!web_read_reason(req, &reason)) return;
  struct web_call *call = open_call(req, import, on_done, (size_t)(to - from + 1));
  if (call == NULL) return;
  db_args_text(&call->db.args, web_param(req, "code"));
  db_args_null(&call->db.args);
  db_args_i64(&call->db.args, from);
  db_args_i64(&call->db.args, to);
  db_args_text(&call->db.args, web_actor(req));
  db_args_text(&call->db.args, reason);
  web_call_send(call);
}

// An integer, or its digits as a text.
static void read_number(struct jsonx_reader *r, const char *name, const struct sheet_column *column, int64_t *out)
{
  const json_t *text = jsonx_has(r, name) ? json_object_get(r->object, name) : NULL;
  if (!json_is_string(text))
    jsonx_read_i64(r, name, true, column->min, column->max, out);
  else if (text_to_i64(json_string_value(text), json_string_length(text), out) != RESULT_OK || *out < column->min ||
           *out > column->max)
    jsonx_reader_fail(r, name, column->rule);
}

static void add_range(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done)
{
  json_t *body = NULL;
  struct jsonx_reader r;
  int64_t from = 0, to = 0;
  if (!web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  read_number(&r, "from", &import->columns.items[0], &from);
  read_number(&r, "to", &import->columns.items[0], &to);
  if (from > to) jsonx_reader_fail(&r, "to", "must not be below from");
  if (to - from >= SHEET_ROWS_MAX) jsonx_reader_fail(&r, "to", "a range has at most 1000000 numbers");
  if (jsonx_reader_finish(&r) != RESULT_OK)
    web_reply_invalid(req, r.fault);
  else
    send_range(req, import, on_done, from, to);
  json_decref(body);
}

void web_import_range(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done)
{
  const char *type = web_header(req, "Content-Type");
  size_t len = 0;
  (void)web_body(req, &len);
  if (type != NULL && strncasecmp(type, "text/csv", 8) == 0)
    web_import_run(req, import, on_done);
  else if (len > JSON_BODY_MAX)
    web_reply_problem(req, &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "too large"});
  else if (len == 0)
    web_reply_invalid(req, "the body is empty: {\"from\", \"to\"}, or CSV");
  else
    add_range(req, import, on_done);
}
