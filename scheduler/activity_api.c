// SPDX-License-Identifier: Apache-2.0
// /v1/activities: reading, putting, moving, history, stock. The scheduler's memory is told of every change.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/activity_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/web_call.h"
#include "common/web_list.h"
#include "common/web_read.h"
#include "scheduler/activity_cache.h"
#include "scheduler/activity_doc.h"
#include "scheduler/app.h"
#include "sql_scheduler.inc"

// --- reading

void activity_api_list(struct web_request *req)
{
  static const char *const statuses[] = {"draft", "published", "ongoing", "paused", "finished", "archived", NULL};
  const char *after = NULL, *status = NULL;
  size_t limit = 0;
  if (!web_read_limit(req, &limit) || !web_read_choice(req, "status", statuses, &status) ||
      !web_read_after_code(req, &after))
    return;
  struct web_call *call = web_call_new(req, &SQL_ACTIVITY_LIST, web_list_on_codes);
  call->limit = limit;
  db_args_text(&call->db.args, after);
  db_args_text(&call->db.args, status);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}

static void reply_activity(struct web_call *call, int status, const struct db_rows *rows, size_t doc_column,
                           size_t version_column)
{
  web_reply_etag(call->req, db_rows_i64(rows, 0, version_column));
  web_reply_json(call->req, status, db_rows_text(rows, 0, doc_column), db_rows_text_len(rows, 0, doc_column));
}

// No If-None-Match: the version is the configuration's, and availability and serverTime change without it.
static void on_activity(struct web_call *call, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    web_reply_missing(call->req, "ACTIVITY_NOT_FOUND");
  else
    reply_activity(call, 200, rows, 0, 1);
}

void activity_api_get(struct web_request *req)
{
  const char *code = NULL;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) return;
  struct web_call *call = web_call_new(req, &SQL_ACTIVITY_GET, on_activity);
  db_args_text(&call->db.args, code);
  web_call_send(call);
}

void activity_api_history(struct web_request *req)
{
  web_list_send_of(req, &SQL_ACTIVITY_HISTORY_LIST, "ACTIVITY_NOT_FOUND");
}

// --- changing

static void tell_changed(struct web_call *call)
{
  activity_cache_poke(app_of(call)->cache);
  LOG(app_of(call)->rt->log, EV_ACTIVITY_EDITED, F_STR("activity_code", web_param(call->req, "code")),
      F_STR("action", call->action), F_STR("actor", web_actor(call->req)));
}

static void on_put(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  bool is_created = strcmp(outcome, "created") == 0, is_updated = strcmp(outcome, "updated") == 0;
  if (!is_created && !is_updated && strcmp(outcome, "unchanged") != 0) {
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), NULL);
    return;
  }
  call->action = is_created ? "created" : "updated";
  if (is_created || is_updated) tell_changed(call);
  if (is_created) web_reply_header(call->req, "Location", web_path(call->req));
  reply_activity(call, is_created ? 201 : 200, rows, 4, 3);
}

void activity_api_put(struct web_request *req)
{
  const struct app *app = web_context(req);
  json_t *body = NULL, *doc = NULL;
  char fault[JSONX_WHY_BYTES];
  const char *code = web_param(req, "code"), *reason = NULL;
  if (!web_read_reason(req, &reason) || !web_read_body(req, &body)) return;
  enum result result = activity_doc_check(body, code, &doc, fault);
  json_decref(body);
  if (result == RESULT_OK)
    result = activity_doc_check_provider(doc, &app->conf.providers, &app->conf.charging_providers, fault);
  if (result != RESULT_OK) {
    web_reply_invalid(req, fault);
    json_decref(doc);
    return;
  }
  char *text = json_dumps(doc, JSON_COMPACT);
  struct web_call *call = web_call_new(req, &SQL_ACTIVITY_PUT, on_put);
  db_args_text(&call->db.args, text);
  db_args_text(&call->db.args, web_actor(req));
  web_put_if_match(req, &call->db.args);
  db_args_text(&call->db.args, reason);
  free(text);
  json_decref(doc);
  web_call_send(call);
}

static void on_acted(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  if (strcmp(outcome, "ok") != 0) {
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), NULL);
    return;
  }
  tell_changed(call);
  reply_activity(call, 200, rows, 4, 3);
}

static void act(struct web_request *req, const char *action)
{
  json_t *body = NULL;
  const char *code = NULL;
  struct jsonx_reader r;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  const char *reason = jsonx_read_text(&r, "reason", false, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    web_reply_invalid(req, r.fault);
  } else {
    struct web_call *call = web_call_new(req, &SQL_ACTIVITY_ACTION, on_acted);
    call->action = action;
    db_args_text(&call->db.args, code);
    db_args_text(&call->db.args, action);
    db_args_text(&call->db.args, web_actor(req));
    db_args_text(&call->db.args, reason);
    web_put_if_match(req, &call->db.args);
    web_call_send(call);
  }
  json_decref(body);
}

void activity_api_publish(struct web_request *req) { act(req, "publish"); }
void activity_api_pause(struct web_request *req) { act(req, "pause"); }
void activity_api_resume(struct web_request *req) { act(req, "resume"); }
void activity_api_finish(struct web_request *req) { act(req, "finish"); }
void activity_api_archive(struct web_request *req) { act(req, "archive"); }

// --- stock

static void on_adjusted(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  bool is_replay = strcmp(outcome, "replayed") == 0;
  char text[96];
  if (!is_replay && strcmp(outcome, "ok") != 0) {
    (void)snprintf(text, sizeof text, "\"remaining\":%lld", (long long)db_rows_i64(rows, 0, 3));
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), db_rows_is_null(rows, 0, 3) ? NULL : text);
    return;
  }
  if (is_replay)
    web_reply_header(call->req, "Idempotent-Replayed", "true");
  else
    tell_changed(call);
  int len = snprintf(text, sizeof text, "{\"total\":%lld,\"remaining\":%lld}", (long long)db_rows_i64(rows, 0, 2),
                     (long long)db_rows_i64(rows, 0, 3));
  web_reply_json(call->req, 200, text, (size_t)len);
}

void activity_api_adjust(struct web_request *req)
{
  json_t *body = NULL;
  const char *code = NULL;
  struct jsonx_reader r;
  int64_t by = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  const char *key = jsonx_read_text(&r, "key", true, BIZ_ID_BYTES_MAX);
  if (key != NULL && !text_is_biz_id(key, strlen(key)))
    jsonx_reader_fail(&r, "key", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
  jsonx_read_i64(&r, "by", true, -STOCK_UNITS_MAX, STOCK_UNITS_MAX, &by);
  if (by == 0) jsonx_reader_fail(&r, "by", "must not be 0");
  const char *reason = jsonx_read_text(&r, "reason", true, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    web_reply_invalid(req, r.fault);
  } else {
    struct web_call *call = web_call_new(req, &SQL_STOCK_ADJUST, on_adjusted);
    call->action = "adjusted";
    db_args_text(&call->db.args, code);
    db_args_text(&call->db.args, key);
    db_args_i64(&call->db.args, by);
    db_args_text(&call->db.args, reason);
    db_args_text(&call->db.args, web_actor(req));
    web_call_send(call);
  }
  json_decref(body);
}
