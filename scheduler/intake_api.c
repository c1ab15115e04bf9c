// SPDX-License-Identifier: Apache-2.0
// What became of a click: its claim, or where it stands in the queue, or why it was refused there.
// Owner: nobody; loop thread.
#include "scheduler/intake_api.h"

#include "common/limits.h"
#include "common/web_answer.h"
#include "scheduler/claim.h"

enum { CLAIM, VERDICT, DETAIL, REQUEST };

// A refusal as it would have been answered directly: the members of the problem, under one name.
static void reply_refused(struct web_request *req, const struct db_rows *rows)
{
  enum verdict v = verdict_of(db_rows_text(rows, 0, VERDICT));
  const struct verdict_info *info = verdict_info(v == VERDICT_COUNT ? VERDICT_INVALID_REQUEST : v);
  const char *detail = db_rows_text(rows, 0, DETAIL);
  size_t len = db_rows_text_len(rows, 0, DETAIL);
  struct buf members;
  buf_init(&members, WEB_REPLY_BYTES_MAX);
  if (len > 2 && detail[0] == '{') buf_append(&members, detail + 1, len - 2);
  web_reply_doc_with(req, db_rows_text(rows, 0, REQUEST), db_rows_text_len(rows, 0, REQUEST), "refusal",
                     &(struct web_problem){.code = info->code,
                                           .status = info->http_status,
                                           .detail = info->detail,
                                           .rule = info->rule,
                                           .extra_json = buf_text(&members)});
  buf_release(&members);
}

void intake_api_show(struct web_call *call, const struct db_rows *rows)
{
  bool is_there = db_rows_count(rows) > 0;
  if (is_there && !db_rows_is_null(rows, 0, CLAIM))
    web_reply_doc(call, rows, CLAIM);
  else if (is_there && !db_rows_is_null(rows, 0, REQUEST) && !db_rows_is_null(rows, 0, VERDICT))
    reply_refused(call->req, rows);
  else
    web_reply_doc(call, rows, REQUEST);
}
