// SPDX-License-Identifier: Apache-2.0
// What people do about their own claims: giving them up, and accepting the place that is kept for them. Done again, it
// changes nothing and answers the same.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/claim_action_api.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "common/web_call.h"
#include "common/web_read.h"
#include "scheduler/app.h"
#include "scheduler/publish.h"
#include "sql_scheduler.inc"

enum { OUTCOME, DETAIL, DOC, IS_CHANGED, ACTIVITY, CLAIM, USER, STATUS, PROVIDER, ATTEMPT };

// A place that was accepted is delivered now; should the message be lost, the sweeper finds the claim.
static void publish(struct web_call *call, const struct db_rows *rows)
{
  const char *trace = web_trace(call->req);
  const struct lane_item item = {db_rows_i64(rows, 0, ACTIVITY), db_rows_i64(rows, 0, CLAIM),
                                 db_rows_i64(rows, 0, ATTEMPT), trace + TRACE_PARENT_ID_AT};
  (void)lane_publish(app_of(call)->lanes, db_rows_text(rows, 0, PROVIDER), &item, 1, trace);
}

static void log_change(const struct web_call *call, const struct db_rows *rows)
{
  char id[48];
  (void)snprintf(id, sizeof id, "%lld-%lld", (long long)db_rows_i64(rows, 0, ACTIVITY),
                 (long long)db_rows_i64(rows, 0, CLAIM));
  LOG(app_of(call)->rt->log, EV_CLAIM_CHANGED, F_STR("action", call->action),
      F_STR("outcome", db_rows_text(rows, 0, STATUS)), F_STR("activity_code", web_param(call->req, "activityCode")),
      F_INT("user_id", db_rows_i64(rows, 0, USER)), F_STR("biz_id", web_param(call->req, "bizId")),
      F_STR("claim_id", id), F_SPAN("duration_s", mono_since(clk_mono(), web_started(call->req))),
      F_STR("actor", web_actor(call->req)),
      F_BYTES("trace_id", web_trace(call->req) + TRACE_PARENT_ID_AT, TRACE_ID_DIGITS));
}

static void on_acted(struct web_call *call, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0) {
    web_reply_missing(call->req, "CLAIM_NOT_FOUND");
    return;
  }
  bool is_changed = db_rows_bool(rows, 0, IS_CHANGED);
  if (is_changed) log_change(call, rows);
  if (is_changed && strcmp(call->action, "accept") == 0 && !db_rows_is_null(rows, 0, PROVIDER)) publish(call, rows);
  if (strcmp(db_rows_text(rows, 0, OUTCOME), "ok") == 0)
    web_reply_json(call->req, 200, db_rows_text(rows, 0, DOC), db_rows_text_len(rows, 0, DOC));
  else
    web_reply_refusal(call->req, db_rows_text(rows, 0, OUTCOME), db_rows_text(rows, 0, DETAIL), NULL);
}

// False: the request is answered.
static bool read_key(struct web_request *req, const char **out_code, const char **out_biz_id)
{
  const char *biz_id = web_param(req, "bizId");
  if (!web_read_code(req, "activityCode", "CLAIM_NOT_FOUND", out_code)) return false;
  if (!text_is_biz_id(biz_id, strlen(biz_id))) {
    web_reply_invalid(req, "bizId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    return false;
  }
  *out_biz_id = biz_id;
  return true;
}

// What a body may say is the reason of those who give a reason.
static void act(struct web_request *req, const char *action, const struct db_statement *statement, bool has_reason)
{
  const char *code = NULL, *biz_id = NULL, *reason = NULL;
  json_t *body = NULL;
  struct jsonx_reader r;
  if (!read_key(req, &code, &biz_id) || !web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  if (has_reason) reason = jsonx_read_text(&r, "reason", false, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    web_reply_invalid(req, r.fault);
  } else {
    struct web_call *call = web_call_new(req, statement, on_acted);
    call->action = action;
    db_args_text(&call->db.args, code);
    db_args_text(&call->db.args, biz_id);
    if (has_reason) db_args_text(&call->db.args, reason);
    web_call_send(call);
  }
  json_decref(body);
}

void claim_action_api_cancel(struct web_request *req) { act(req, "cancel", &SQL_CLAIM_CANCEL, true); }
void claim_action_api_accept(struct web_request *req) { act(req, "accept", &SQL_CLAIM_ACCEPT, false); }
