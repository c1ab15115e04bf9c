// SPDX-License-Identifier: Apache-2.0
// /v1/users/{id}/attributes and progress. Bodies go to the database as they came, so that no number loses a digit.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/user_api.h"

#include <string.h>

#include "common/text.h"
#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

static void on_doc(struct web_call *call, const struct db_rows *rows)
{
  web_reply_json(call->req, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
}

static void put_body(struct web_call *call)
{
  size_t len = 0;
  const char *body = web_body(call->req, &len);
  db_args_bytes(&call->db.args, body, len);
}

// --- attributes

void user_api_attributes_put(struct web_request *req)
{
  json_t *body = NULL;
  int64_t user_id = 0;
  if (!web_read_id(req, "id", &user_id) || !web_read_body(req, &body)) return;
  bool is_object = json_is_object(body);
  json_decref(body);
  if (!is_object) {
    web_reply_invalid(req, "must be an object");
    return;
  }
  struct web_call *call = web_call_new(req, &SQL_USER_ATTRIBUTES_PUT, on_doc);
  db_args_i64(&call->db.args, user_id);
  put_body(call);
  web_call_send(call);
}

void user_api_attributes_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_USER_ATTRIBUTES_GET, on_doc, WEB_ARGS(WEB_ID("id"))};
  web_query_run(req, &get);
}

// --- progress

static bool read_number(struct web_request *req)
{
  json_t *body = NULL;
  struct jsonx_reader r;
  if (!web_read_body(req, &body)) return false;
  jsonx_reader_init(&r, body, "");
  if (!jsonx_has(&r, "value"))
    jsonx_reader_fail(&r, "value", "is missing");
  else if (!json_is_number(json_object_get(body, "value")))
    jsonx_reader_fail(&r, "value", "must be a number");
  bool is_good = jsonx_reader_finish(&r) == RESULT_OK;
  if (!is_good) web_reply_invalid(req, r.fault);
  json_decref(body);
  return is_good;
}

void user_api_progress_put(struct web_request *req)
{
  int64_t user_id = 0;
  const char *task = NULL;
  if (!web_read_id(req, "id", &user_id)) return;
  task = web_param(req, "task");
  if (!text_is_code(task, strlen(task))) {
    web_reply_invalid(req, "task: must be 1 to 64 characters of A-Z a-z 0-9 . _ -, beginning with a letter or digit");
    return;
  }
  if (!read_number(req)) return;
  struct web_call *call = web_call_new(req, &SQL_USER_PROGRESS_PUT, on_doc);
  db_args_i64(&call->db.args, user_id);
  db_args_text(&call->db.args, task);
  put_body(call);
  web_call_send(call);
}

static void on_task(struct web_call *call, const struct db_rows *rows) { web_reply_doc(call, rows, 1); }

static bool put_one(struct web_call *call)
{
  db_args_text(&call->db.args, "");
  db_args_i64(&call->db.args, 1);
  return true;
}

void user_api_progress_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_USER_PROGRESS_LIST, on_task, .missing = "NOT_FOUND",
                                       WEB_ARGS(WEB_ID("id"), WEB_CODE("task"), WEB_OWN(put_one))};
  web_query_run(req, &get);
}

void user_api_progress_list(struct web_request *req)
{
  static const struct web_query list = {&SQL_USER_PROGRESS_LIST, web_list_on_codes,
                                        WEB_ARGS(WEB_ID("id"), WEB_WORD(NULL), WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}
