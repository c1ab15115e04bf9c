// SPDX-License-Identifier: Apache-2.0
// /v1/activities/{code}/numbers, qualifications, blocked-users.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/audience_api.h"

#include <string.h>

#include "common/text.h"
#include "common/web_call.h"
#include "common/web_list.h"
#include "common/web_read.h"
#include "scheduler/app.h"
#include "sql_scheduler.inc"

#define RANDOM_MAX 1000

static struct web_call *list_call(struct web_request *req, const struct db_statement *statement, const char *code,
                                  size_t limit)
{
  struct web_call *call = web_call_new(req, statement, web_list_reply_of);
  call->limit = limit;
  call->missing = "ACTIVITY_NOT_FOUND";
  db_args_text(&call->db.args, code);
  return call;
}

// --- numbers

static void pick_numbers(struct web_request *req, const char *code, const char *status, const char *random)
{
  uint64_t count = 0;
  if (text_to_u64(random, strlen(random), &count) != RESULT_OK || count < 1 || count > RANDOM_MAX) {
    web_reply_invalid(req, "random: must be an integer from 1 to 1000");
    return;
  }
  if (web_query(req, "after") != NULL || web_query(req, "limit") != NULL) {
    web_reply_invalid(req, "random: goes without after and limit");
    return;
  }
  if (status != NULL && strcmp(status, "available") != 0) {
    web_reply_invalid(req, "random: numbers are picked among those that are available");
    return;
  }
  struct web_call *call = list_call(req, &SQL_NUMBERS_RANDOM, code, (size_t)count);
  db_args_i64(&call->db.args, (int64_t)count);
  web_call_send(call);
}

void audience_api_numbers(struct web_request *req)
{
  static const char *const statuses[] = {"available", "held", "sold", NULL};
  const char *code = NULL, *status = NULL, *random = web_query(req, "random");
  size_t limit = 0;
  int64_t after = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_choice(req, "status", statuses, &status))
    return;
  if (random != NULL) {
    pick_numbers(req, code, status, random);
    return;
  }
  if (!web_read_limit(req, &limit) || !web_read_after_id(req, &after)) return;
  struct web_call *call = list_call(req, &SQL_NUMBERS_LIST, code, limit);
  db_args_text(&call->db.args, status);
  db_args_i64(&call->db.args, web_query(req, "after") != NULL ? after : -1);  // 0 is a number
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}

// --- qualifications

static bool read_user_query(struct web_request *req, int64_t *out_user_id)
{
  const char *text = web_query(req, "userId");
  if (text == NULL) return true;
  if (text_to_i64(text, strlen(text), out_user_id) == RESULT_OK && *out_user_id >= 1) return true;
  web_reply_invalid(req, "userId: must be an id from 1 to 9223372036854775807");
  return false;
}

void audience_api_qualifications(struct web_request *req)
{
  static const char *const statuses[] = {"used", "unused", NULL};
  const char *code = NULL, *status = NULL;
  size_t limit = 0;
  int64_t after = 0, user_id = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_choice(req, "status", statuses, &status))
    return;
  if (!web_read_limit(req, &limit) || !web_read_after_id(req, &after) || !read_user_query(req, &user_id)) return;
  struct web_call *call = list_call(req, &SQL_QUALIFICATION_LIST, code, limit);
  if (user_id > 0)
    db_args_i64(&call->db.args, user_id);
  else
    db_args_null(&call->db.args);
  db_args_text(&call->db.args, status);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}

// --- blocked users

void audience_api_blocked(struct web_request *req)
{
  web_list_send_of(req, &SQL_BLOCKED_USER_LIST, "ACTIVITY_NOT_FOUND");
}

static void log_user(struct web_call *call, const char *action)
{
  LOG(app_of(call)->rt->log, EV_USER_EDITED, F_STR("activity_code", web_param(call->req, "code")),
      F_STR("user_id", web_param(call->req, "id")), F_STR("action", action), F_STR("actor", web_actor(call->req)));
}

static void on_blocked(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  if (strcmp(outcome, "ACTIVITY_NOT_FOUND") == 0) {
    web_reply_missing(call->req, outcome);
    return;
  }
  if (strcmp(outcome, "unchanged") != 0) log_user(call, "blocked");
  web_reply_json(call->req, strcmp(outcome, "created") == 0 ? 201 : 200, db_rows_text(rows, 0, 1),
                 db_rows_text_len(rows, 0, 1));
}

void audience_api_block(struct web_request *req)
{
  json_t *body = NULL;
  const char *code = NULL;
  struct jsonx_reader r;
  int64_t user_id = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_id(req, "id", &user_id) ||
      !web_read_body(req, &body))
    return;
  jsonx_reader_init(&r, body, "");
  const char *reason = jsonx_read_text(&r, "reason", false, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    web_reply_invalid(req, r.fault);
  } else {
    struct web_call *call = web_call_new(req, &SQL_BLOCKED_USER_PUT, on_blocked);
    db_args_text(&call->db.args, code);
    db_args_i64(&call->db.args, user_id);
    db_args_text(&call->db.args, reason);
    db_args_text(&call->db.args, web_actor(req));
    web_call_send(call);
  }
  json_decref(body);
}

static void on_unblocked(struct web_call *call, const struct db_rows *rows)
{
  if (strcmp(db_rows_text(rows, 0, 0), "ok") != 0) {
    web_reply_missing(call->req, "ACTIVITY_NOT_FOUND");
    return;
  }
  log_user(call, "unblocked");
  web_reply_empty(call->req, 204);
}

void audience_api_unblock(struct web_request *req)
{
  const char *code = NULL;
  const char *reason = NULL;
  int64_t user_id = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_id(req, "id", &user_id) ||
      !web_read_reason(req, &reason))
    return;
  struct web_call *call = web_call_new(req, &SQL_BLOCKED_USER_DELETE, on_unblocked);
  db_args_text(&call->db.args, code);
  db_args_i64(&call->db.args, user_id);
  db_args_text(&call->db.args, web_actor(req));
  db_args_text(&call->db.args, reason);
  web_call_send(call);
}
