// SPDX-License-Identifier: Apache-2.0
// /v1/users/{id}/points: a user's account, its ledger, and grants.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/points_api.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/web_call.h"
#include "common/web_list.h"
#include "common/web_read.h"
#include "scheduler/app.h"
#include "sql_scheduler.inc"

static void on_shown(struct web_call *call, const struct db_rows *rows)
{
  char head[48];
  (void)snprintf(head, sizeof head, "\"balance\":%lld,", (long long)db_rows_i64(rows, 0, 0));
  web_list_reply_page(call, rows, 1, false, head, "entries");
}

void points_api_show(struct web_request *req)
{
  int64_t user_id = 0, after = 0;
  size_t limit = 0;
  if (!web_read_id(req, "id", &user_id) || !web_read_limit(req, &limit) || !web_read_after_id(req, &after)) return;
  struct web_call *call = web_call_new(req, &SQL_POINTS_SHOW, on_shown);
  call->limit = limit;
  db_args_i64(&call->db.args, user_id);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}

static void on_granted(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  bool is_replay = strcmp(outcome, "replayed") == 0;
  if (!is_replay && strcmp(outcome, "ok") != 0) {
    web_reply_refusal(call->req, outcome, db_rows_text(rows, 0, 1), NULL);
    return;
  }
  if (is_replay)
    web_reply_header(call->req, "Idempotent-Replayed", "true");
  else
    LOG(app_of(call)->rt->log, EV_POINTS_GRANTED, F_STR("user_id", web_param(call->req, "id")),
        F_INT("balance", db_rows_i64(rows, 0, 2)), F_STR("actor", web_actor(call->req)));
  struct buf *b = &app_of(call)->scratch;
  buf_clear(b);
  buf_printf(b, "{\"balance\":%lld,\"entries\":[%s]}", (long long)db_rows_i64(rows, 0, 2), db_rows_text(rows, 0, 3));
  web_reply_json(call->req, 200, buf_text(b), b->len);
}

// A key that may also claim is a service's, which gives points for what its users do: the ledger has that. Others are
// of people, or act for them.
static bool is_act(const struct web_request *req) { return (web_scopes(req) & WEB_CLAIMS) == 0; }

void points_api_grant(struct web_request *req)
{
  json_t *body = NULL;
  struct jsonx_reader r;
  int64_t user_id = 0, amount = 0;
  if (!web_read_id(req, "id", &user_id) || !web_read_body(req, &body)) return;
  jsonx_reader_init(&r, body, "");
  const char *key = jsonx_read_text(&r, "bizId", true, BIZ_ID_BYTES_MAX);
  if (key != NULL && !text_is_biz_id(key, strlen(key)))
    jsonx_reader_fail(&r, "bizId", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
  jsonx_read_i64(&r, "amount", true, 1, POINTS_GRANT_MAX, &amount);
  const char *reason = jsonx_read_text(&r, "reason", true, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    web_reply_invalid(req, r.fault);
  } else {
    struct web_call *call = web_call_new(req, &SQL_POINTS_GRANT, on_granted);
    db_args_i64(&call->db.args, user_id);
    db_args_text(&call->db.args, key);
    db_args_i64(&call->db.args, amount);
    db_args_text(&call->db.args, reason);
    db_args_text(&call->db.args, web_actor(req));
    db_args_bool(&call->db.args, is_act(req));
    web_call_send(call);
  }
  json_decref(body);
}
