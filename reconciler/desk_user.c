// SPDX-License-Identifier: Apache-2.0
// What is known of users, as the scheduler shows it.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "reconciler/desk_user.h"

#include <stdio.h>

#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "sql_shared.inc"

void desk_user_claims(struct web_request *req)
{
  static const struct web_query list = {&SQL_CLAIM_LIST_BY_USER, web_list_on_ids,
                                        WEB_ARGS(WEB_ID("userId"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}

static void on_points(struct web_call *call, const struct db_rows *rows)
{
  char head[48];
  (void)snprintf(head, sizeof head, "\"balance\":%lld,", (long long)db_rows_i64(rows, 0, 0));
  web_list_reply_page(call, rows, 1, false, head, "entries");
}

void desk_user_points(struct web_request *req)
{
  static const struct web_query show = {&SQL_POINTS_SHOW, on_points, WEB_ARGS(WEB_ID("id"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &show);
}

void desk_user_attributes(struct web_request *req)
{
  static const struct web_query get = {&SQL_USER_ATTRIBUTES_GET, web_answer_doc, WEB_ARGS(WEB_ID("id"))};
  web_query_run(req, &get);
}

void desk_user_progress_list(struct web_request *req)
{
  static const struct web_query list = {&SQL_USER_PROGRESS_LIST, web_list_on_codes,
                                        WEB_ARGS(WEB_ID("id"), WEB_WORD(NULL), WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}

static void on_task(struct web_call *call, const struct db_rows *rows) { web_reply_doc(call, rows, 1); }

static bool put_one(struct web_call *call)
{
  db_args_text(&call->db.args, "");
  db_args_i64(&call->db.args, 1);
  return true;
}

void desk_user_progress(struct web_request *req)
{
  static const struct web_query get = {&SQL_USER_PROGRESS_LIST, on_task, .missing = "NOT_FOUND",
                                       WEB_ARGS(WEB_ID("id"), WEB_CODE("task"), WEB_OWN(put_one))};
  web_query_run(req, &get);
}
