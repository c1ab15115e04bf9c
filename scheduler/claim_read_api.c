// SPDX-License-Identifier: Apache-2.0
// Reading claims: by id, by the click that made them, by user, by activity.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/claim_read_api.h"

#include <string.h>

#include "common/text.h"
#include "scheduler/api_call.h"
#include "scheduler/claim_id.h"
#include "scheduler/intake_api.h"
#include "sql_scheduler.inc"

static void on_claim(struct api_call *call, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0 || db_rows_is_null(rows, 0, 0))
    api_reply_missing(call->req, "CLAIM_NOT_FOUND");
  else
    web_reply_json(call->req, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
}

void claim_read_api_by_id(struct web_request *req)
{
  struct claim_id id;
  enum result result = claim_id_parse(web_param(req, "claimId"), &id);
  if (result == RESULT_NOT_FOUND) {
    api_reply_missing(req, "CLAIM_NOT_FOUND");
  } else if (result != RESULT_OK) {
    api_reply_invalid(req, "claimId: must look like 683000001-17");
  } else {
    struct api_call *call = api_call_new(req, &SQL_CLAIM_GET, on_claim);
    db_args_i64(&call->db.args, id.activity_id);
    db_args_i64(&call->db.args, id.number);
    api_call_send(call);
  }
}

void claim_read_api_by_biz(struct web_request *req)
{
  const char *code = NULL, *biz_id = web_param(req, "bizId");
  if (!api_read_code(req, "activityCode", "CLAIM_NOT_FOUND", &code)) return;
  if (!text_is_biz_id(biz_id, strlen(biz_id))) {
    api_reply_invalid(req, "bizId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    return;
  }
  struct api_call *call = api_call_new(req, &SQL_CLAIM_GET_BY_BIZ, intake_api_show);
  db_args_text(&call->db.args, code);
  db_args_text(&call->db.args, biz_id);
  api_call_send(call);
}

static void on_user_claims(struct api_call *call, const struct db_rows *rows) { api_reply_list(call, rows, 0, false); }

void claim_read_api_of_user(struct web_request *req)
{
  const char *text = web_param(req, "userId");
  int64_t user_id = 0, after = 0;
  size_t limit = 0;
  if (text_to_i64(text, strlen(text), &user_id) != RESULT_OK || user_id < 1) {
    api_reply_invalid(req, "userId: must be an id from 1 to 9223372036854775807");
    return;
  }
  if (!api_read_limit(req, &limit) || !api_read_after_id(req, &after)) return;
  struct api_call *call = api_call_new(req, &SQL_CLAIM_LIST_BY_USER, on_user_claims);
  call->limit = limit;
  db_args_i64(&call->db.args, user_id);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  api_call_send(call);
}

void claim_read_api_of_activity(struct web_request *req)
{
  static const char *const statuses[] = {"waiting",   "offered", "held",   "issuing",     "succeeded",
                                         "cancelled", "expired", "failed", "rolled_back", NULL};
  const char *code = NULL, *status = NULL;
  size_t limit = 0;
  int64_t after = 0;
  if (!api_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !api_read_limit(req, &limit) ||
      !api_read_after_id(req, &after))
    return;
  if (!api_read_choice(req, "status", statuses, &status)) return;
  struct api_call *call = api_call_new(req, &SQL_CLAIM_LIST_BY_ACTIVITY, api_reply_activity_list);
  call->limit = limit;
  db_args_text(&call->db.args, code);
  db_args_text(&call->db.args, status);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  api_call_send(call);
}
