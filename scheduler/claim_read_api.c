// SPDX-License-Identifier: Apache-2.0
// Reading claims: by id, by the click that made them, by user, by activity.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/claim_read_api.h"

#include <string.h>

#include "common/text.h"
#include "common/web_call.h"
#include "common/web_list.h"
#include "common/web_read.h"
#include "scheduler/claim_id.h"
#include "scheduler/intake_api.h"
#include "sql_scheduler.inc"

static void on_claim(struct web_call *call, const struct db_rows *rows) { web_reply_doc(call, rows, 0); }

void claim_read_api_by_id(struct web_request *req)
{
  struct claim_id id;
  enum result result = claim_id_parse(web_param(req, "claimId"), &id);
  if (result == RESULT_NOT_FOUND) {
    web_reply_missing(req, "CLAIM_NOT_FOUND");
  } else if (result != RESULT_OK) {
    web_reply_invalid(req, "claimId: must look like 683000001-17");
  } else {
    struct web_call *call = web_call_new(req, &SQL_CLAIM_GET, on_claim);
    call->missing = "CLAIM_NOT_FOUND";
    db_args_i64(&call->db.args, id.activity_id);
    db_args_i64(&call->db.args, id.number);
    web_call_send(call);
  }
}

void claim_read_api_by_biz(struct web_request *req)
{
  const char *code = NULL, *biz_id = web_param(req, "bizId");
  if (!web_read_code(req, "activityCode", "CLAIM_NOT_FOUND", &code)) return;
  if (!text_is_biz_id(biz_id, strlen(biz_id))) {
    web_reply_invalid(req, "bizId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    return;
  }
  struct web_call *call = web_call_new(req, &SQL_CLAIM_GET_BY_BIZ, intake_api_show);
  db_args_text(&call->db.args, code);
  db_args_text(&call->db.args, biz_id);
  web_call_send(call);
}

void claim_read_api_of_user(struct web_request *req)
{
  int64_t user_id = 0, after = 0;
  size_t limit = 0;
  if (!web_read_id(req, "userId", &user_id) || !web_read_limit(req, &limit) || !web_read_after_id(req, &after)) return;
  struct web_call *call = web_call_new(req, &SQL_CLAIM_LIST_BY_USER, web_list_on_ids);
  call->limit = limit;
  db_args_i64(&call->db.args, user_id);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}

void claim_read_api_of_activity(struct web_request *req)
{
  static const char *const statuses[] = {"waiting",   "offered", "held",   "issuing",     "succeeded",
                                         "cancelled", "expired", "failed", "rolled_back", NULL};
  const char *code = NULL, *status = NULL;
  size_t limit = 0;
  int64_t after = 0;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_limit(req, &limit) ||
      !web_read_after_id(req, &after))
    return;
  if (!web_read_choice(req, "status", statuses, &status)) return;
  struct web_call *call = web_call_new(req, &SQL_CLAIM_LIST_BY_ACTIVITY, web_list_reply_of);
  call->missing = "ACTIVITY_NOT_FOUND";
  call->limit = limit;
  db_args_text(&call->db.args, code);
  db_args_text(&call->db.args, status);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}
