// SPDX-License-Identifier: Apache-2.0
// What became of a click: its claim, or where it stands in the queue, or why it was refused there.
// Owner: nobody; loop thread.
#include "scheduler/intake_api.h"

#include "common/limits.h"
#include "scheduler/claim.h"

enum { CLAIM, VERDICT, DETAIL, REQUEST };

// As the refusal would have been answered directly: the members of the problem, under one name.
static void put_refusal(struct buf *b, struct web_request *req, const struct db_rows *rows)
{
  enum verdict v = verdict_of(db_rows_text(rows, 0, VERDICT));
  const struct verdict_info *info = verdict_info(v == VERDICT_COUNT ? VERDICT_INVALID_REQUEST : v);
  const char *detail = db_rows_text(rows, 0, DETAIL);
  size_t len = db_rows_text_len(rows, 0, DETAIL);
  struct buf members;
  buf_init(&members, WEB_REPLY_BYTES_MAX);
  if (len > 2 && detail[0] == '{') buf_append(&members, detail + 1, len - 2);
  web_put_problem(b, req,
                  &(struct web_problem){.code = info->code,
                                        .status = info->http_status,
                                        .detail = info->detail,
                                        .rule = info->rule,
                                        .extra_json = buf_text(&members)});
  buf_release(&members);
}

static void reply_request(struct web_request *req, const struct db_rows *rows)
{
  struct buf b;
  buf_init(&b, WEB_REPLY_BYTES_MAX);
  buf_append(&b, db_rows_text(rows, 0, REQUEST), db_rows_text_len(rows, 0, REQUEST));
  if (!db_rows_is_null(rows, 0, VERDICT) && b.len > 0) {
    b.len--;  // the closing brace
    buf_puts(&b, ",\"refusal\":");
    put_refusal(&b, req, rows);
    web_reply_language(req);
    buf_putc(&b, '}');
  }
  web_reply_json(req, 200, buf_text(&b), b.len);
  buf_release(&b);
}

void intake_api_show(struct web_call *call, const struct db_rows *rows)
{
  bool is_there = db_rows_count(rows) > 0;
  if (is_there && !db_rows_is_null(rows, 0, CLAIM))
    web_reply_json(call->req, 200, db_rows_text(rows, 0, CLAIM), db_rows_text_len(rows, 0, CLAIM));
  else if (is_there && !db_rows_is_null(rows, 0, REQUEST))
    reply_request(call->req, rows);
  else
    web_reply_missing(call->req, "CLAIM_NOT_FOUND");
}
