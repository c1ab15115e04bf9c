// SPDX-License-Identifier: Apache-2.0
// Lists in CSV over HTTP, and numbers by range.
// Owner: each request belongs to its import until the reply; loop thread.
#include "scheduler/import_api.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/loop.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/web_call.h"
#include "common/web_read.h"
#include "scheduler/activity_cache.h"
#include "scheduler/app.h"
#include "scheduler/import_target.h"
#include "sql_scheduler.inc"

#define SLICE_BYTES     (128 * 1024)  // read in one turn of the loop
#define JSON_BODY_MAX   (64 * 1024)
#define OPEN_MAX        2  // imports that have memory and connections at one time
#define IMPORT_TIMEOUT  span_s(600)
#define REPLY_BYTES_MAX (128 * 1024)

struct import_run {
  struct web_request *req;
  enum import_what what;
  struct import_sheet sheet;
  size_t at;  // how much of the body is read
  struct loop_timer *timer;
};

// --- answers

static void reply(struct web_request *req, int64_t inserted, int64_t duplicates, int64_t rows, size_t bad,
                  const char *rejected)
{
  struct buf b;
  char detail[96];
  buf_init(&b, REPLY_BYTES_MAX);
  buf_printf(&b, "%s\"rows\":%lld,\"inserted\":%lld,\"duplicates\":%lld,\"rejectedCount\":%zu,\"rejected\":",
             bad > 0 ? "" : "{", (long long)rows, (long long)inserted, (long long)duplicates, bad);
  web_put_told(&b, req, rejected, NULL, "reason");
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
  const char *outcome = db_rows_text(rows, 0, 0);
  int64_t inserted = db_rows_i64(rows, 0, 2), duplicates = db_rows_i64(rows, 0, 3), bad = db_rows_i64(rows, 0, 4);
  if (bad == 0 && strcmp(outcome, "ok") != 0) {
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), NULL);
    return;
  }
  if (bad == 0) {
    const char *code = web_param(call->req, "code");
    LOG(app_of(call)->rt->log, EV_IMPORT_FINISHED, F_STR("what", call->action),
        F_STR("activity_code", code ? code : ""), F_INT("inserted", inserted), F_INT("duplicates", duplicates),
        F_STR("actor", web_actor(call->req)));
    activity_cache_poke(app_of(call)->cache);  // numbers may be stock
  }
  reply(call->req, inserted, duplicates, bad > 0 ? (int64_t)call->limit : inserted + duplicates, (size_t)bad,
        db_rows_text(rows, 0, 5));
}

// --- reading the body

static void free_run(void *object)
{
  struct import_run *run = object;
  loop_timer_free(run->timer);
  import_sheet_release(&run->sheet);
  mem_free(run);
}

static void send_rows(struct import_run *run)
{
  struct app *app = web_context(run->req);
  const struct import_target *target = import_target_of(run->what);
  struct web_call *call = web_call_new(run->req, target->statement, on_imported);
  call->action = target->name;
  call->limit = import_sheet_rows(&run->sheet);
  call->open_count = &app->open_imports;
  call->db.timeout = IMPORT_TIMEOUT;
  const struct import_by by = {web_actor(run->req), web_query(run->req, "reason")};
  import_target_put_args(run->what, &run->sheet, web_param(run->req, "code"), &by, &call->db.args);
  web_call_send(call);
}

static void finish(struct import_run *run)
{
  struct app *app = web_context(run->req);
  const struct import_sheet *s = &run->sheet;
  import_sheet_end(&run->sheet);
  if (s->bad_count > 0) {
    reply(run->req, 0, 0, (int64_t)import_sheet_rows(s), s->bad_count, buf_text(&s->bad));
    app->open_imports--;
  } else {
    send_rows(run);
  }
  loop_defer_free(app->rt->loop, run, free_run);
}

static void on_slice(void *ctx)
{
  struct import_run *run = ctx;
  size_t len = 0;
  const char *body = web_body(run->req, &len);
  size_t rest = len - run->at, take = rest < SLICE_BYTES ? rest : SLICE_BYTES;
  import_sheet_feed(&run->sheet, body + run->at, take);
  run->at += take;
  if (run->at < len && !run->sheet.is_broken)
    loop_timer_set(run->timer, (struct span){0});
  else
    finish(run);
}

// One more import, unless enough are under way: then the request is answered.
static bool open_one(struct web_request *req)
{
  struct app *app = web_context(req);
  if (app->open_imports < OPEN_MAX) {
    app->open_imports++;
    return true;
  }
  web_reply_problem(
      req, &(struct web_problem){
               .code = "OVERLOADED", .status = 503, .detail = "other imports are under way", .retry_after_s = 5});
  return false;
}

static void start(struct web_request *req, enum import_what what)
{
  struct app *app = web_context(req);
  const char *reason = NULL;
  if (!web_read_reason(req, &reason) || !open_one(req)) return;
  struct import_run *run = MEM_NEW(struct import_run);
  run->req = req;
  run->what = what;
  import_sheet_init(&run->sheet, &import_target_of(what)->columns);
  run->timer = loop_timer_new(app->rt->loop, on_slice, run);
  on_slice(run);
}

// --- the calls

void import_api_qualifications(struct web_request *req)
{
  const char *code = NULL;
  if (web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) start(req, IMPORT_QUALIFICATIONS);
}

void import_api_points(struct web_request *req) { start(req, IMPORT_POINTS); }

static void send_range(struct web_request *req, const char *code, int64_t from, int64_t to)
{
  const char *reason = NULL;
  if (!web_read_reason(req, &reason) || !open_one(req)) return;
  struct web_call *call = web_call_new(req, &SQL_NUMBERS_ADD, on_imported);
  call->action = import_target_of(IMPORT_NUMBERS)->name;
  call->db.timeout = IMPORT_TIMEOUT;
  call->limit = (size_t)(to - from + 1);
  call->open_count = &app_of(call)->open_imports;
  db_args_text(&call->db.args, code);
  db_args_null(&call->db.args);
  db_args_i64(&call->db.args, from);
  db_args_i64(&call->db.args, to);
  db_args_text(&call->db.args, web_actor(req));
  db_args_text(&call->db.args, reason);
  web_call_send(call);
}

// An integer, or its digits as a text.
static void read_number(struct jsonx_reader *r, const char *name, int64_t *out)
{
  const json_t *text = jsonx_has(r, name) ? json_object_get(r->object, name) : NULL;
  if (!json_is_string(text))
    jsonx_read_i64(r, name, true, 0, NUMBER_MAX, out);
  else if (text_to_i64(json_string_value(text), json_string_length(text), out) != RESULT_OK || *out < 0 ||
           *out > NUMBER_MAX)
    jsonx_reader_fail(r, name, "must be an integer from 0 to 999999999999, without leading zeros");
}

static void add_range(struct web_request *req, const char *code)
{
  json_t *body = NULL;
  struct jsonx_reader r;
  int64_t from = 0, to = 0;
  if (!web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  read_number(&r, "from", &from);
  read_number(&r, "to", &to);
  if (from > to) jsonx_reader_fail(&r, "to", "must not be below from");
  if (to - from >= IMPORT_ROWS_MAX) jsonx_reader_fail(&r, "to", "a range has at most 1000000 numbers");
  if (jsonx_reader_finish(&r) != RESULT_OK)
    web_reply_invalid(req, r.fault);
  else
    send_range(req, code, from, to);
  json_decref(body);
}

void import_api_numbers(struct web_request *req)
{
  const char *code = NULL, *type = web_header(req, "Content-Type");
  size_t len = 0;
  (void)web_body(req, &len);
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) return;
  if (type != NULL && strncasecmp(type, "text/csv", 8) == 0)
    start(req, IMPORT_NUMBERS);
  else if (len > JSON_BODY_MAX)
    web_reply_problem(req, &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "too large"});
  else if (len == 0)
    web_reply_invalid(req, "the body is empty: {\"from\", \"to\"}, or CSV");
  else
    add_range(req, code);
}
