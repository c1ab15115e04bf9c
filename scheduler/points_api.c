// SPDX-License-Identifier: Apache-2.0
// /v1/users/{id}/points: a user's account, its ledger, and grants.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/points_api.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/app.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

static void on_shown(struct web_call *call, const struct db_rows *rows)
{
  char head[48];
  (void)snprintf(head, sizeof head, "\"balance\":%lld,", (long long)db_rows_i64(rows, 0, 0));
  web_list_reply_page(call, rows, 1, false, head, "entries");
}

void points_api_show(struct web_request *req)
{
  static const struct web_query show = {&SQL_POINTS_SHOW, on_shown, WEB_ARGS(WEB_ID("id"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &show);
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
static bool put_is_act(struct web_call *call)
{
  db_args_bool(&call->db.args, (web_scopes(call->req) & WEB_CLAIMS) == 0);
  return true;
}

void points_api_grant(struct web_request *req)
{
  static const struct web_query grant = {
      &SQL_POINTS_GRANT, on_granted,
      WEB_ARGS(WEB_ID("id"), WEB_MEMBER_KEY("bizId"), WEB_INT("amount", 1, POINTS_GRANT_MAX),
               WEB_TEXT("reason", REASON_CHARS_MAX, true), WEB_ACTOR, WEB_OWN(put_is_act))};
  web_query_run(req, &grant);
}
