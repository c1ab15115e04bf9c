// SPDX-License-Identifier: Apache-2.0
// Claims as the scheduler shows them, what a claim would be answered, and everything that is known about one.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "reconciler/desk_claim.h"

#include <string.h>

#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "sql_reconciler.inc"
#include "sql_shared.inc"

#define TRAIL_ITEMS_MAX 1000
#define UNKNOWN         "CLAIM_NOT_FOUND"

static const struct web_problem *verdict_find(const char *code)
{
  static const struct web_problem verdicts[] = {
#define VERDICT(name, label, http_status, of_rule, retry, text) \
  {.code = #name, .status = http_status, .detail = text, .rule = of_rule},
#include "sql/verdicts.def"
#undef VERDICT
  };
  for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
    if (strcmp(verdicts[i].code, code) == 0) return &verdicts[i];
  return verdict_find("INVALID_REQUEST");
}

// --- a dry run

static void on_explained(struct web_call *call, const struct db_rows *rows)
{
  const char *verdict = db_rows_text(rows, 0, 0);
  if (strcmp(verdict, "FAULT") == 0)
    web_reply_invalid(call->req, db_rows_text(rows, 0, 1));
  else if (strcmp(verdict, "INVALID_REQUEST") == 0)
    web_reply_invalid(call->req, verdict_find(verdict)->detail);
  else
    web_reply_doc(call, rows, 1);
}

void desk_claim_dry_run(struct web_request *req)
{
  static const char *const names[] = {"dryRun", "at", NULL};
  static const struct web_query explain = {&SQL_CLAIM_EXPLAIN_DOC, on_explained,
                                           WEB_ARGS(WEB_WHOLE_BODY, WEB_TIME("at"))};
  const char *dry_run = web_query(req, "dryRun");
  if (!web_query_has_only(req, names))
    web_reply_invalid(req, "query: must have nothing but dryRun and at");
  else if (dry_run == NULL || strcmp(dry_run, "true") != 0)
    web_reply_invalid(req, "dryRun: claims are made at the scheduler; here only dryRun=true is answered");
  else
    web_query_run(req, &explain);
}

// --- reading

void desk_claim_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_CLAIM_GET, web_answer_doc, .missing = UNKNOWN,
                                       WEB_ARGS(WEB_PAIR("claimId"))};
  web_query_run(req, &get);
}

enum { CLAIM, VERDICT_OF_QUEUE, DETAIL, REQUEST };

// A queued click that was refused: the refusal as it would have been answered directly, under one name.
static void reply_refused(struct web_request *req, const struct db_rows *rows)
{
  struct web_problem p = *verdict_find(db_rows_text(rows, 0, VERDICT_OF_QUEUE));
  const char *detail = db_rows_text(rows, 0, DETAIL);
  size_t len = db_rows_text_len(rows, 0, DETAIL);
  struct buf members;
  buf_init(&members, WEB_REPLY_BYTES_MAX);
  if (len > 2 && detail[0] == '{') buf_append(&members, detail + 1, len - 2);
  p.extra_json = buf_text(&members);
  web_reply_doc_with(req, db_rows_text(rows, 0, REQUEST), db_rows_text_len(rows, 0, REQUEST), "refusal", &p);
  buf_release(&members);
}

static void on_click(struct web_call *call, const struct db_rows *rows)
{
  bool is_there = db_rows_count(rows) > 0;
  if (is_there && !db_rows_is_null(rows, 0, CLAIM))
    web_reply_doc(call, rows, CLAIM);
  else if (is_there && !db_rows_is_null(rows, 0, REQUEST) && !db_rows_is_null(rows, 0, VERDICT_OF_QUEUE))
    reply_refused(call->req, rows);
  else
    web_reply_doc(call, rows, REQUEST);
}

void desk_claim_get_by_biz(struct web_request *req)
{
  static const struct web_query get = {&SQL_CLAIM_GET_BY_BIZ, on_click, .missing = UNKNOWN,
                                       WEB_ARGS(WEB_CODE("activityCode"), WEB_KEY("bizId"))};
  web_query_run(req, &get);
}

void desk_claim_of_activity(struct web_request *req)
{
  static const char *const statuses[] = {"waiting",   "offered", "held",   "issuing",     "succeeded",
                                         "cancelled", "expired", "failed", "rolled_back", NULL};
  static const struct web_query list = {
      &SQL_CLAIM_LIST_BY_ACTIVITY, web_list_reply_of, .missing = "ACTIVITY_NOT_FOUND",
      WEB_ARGS(WEB_CODE("code"), WEB_CHOICE("status", statuses), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}

// --- the trail

static void on_trail(struct web_call *call, const struct db_rows *rows)
{
  static const char *const members[] = {"text", "detail.expected", "detail.actual", NULL};
  static const struct web_told told = {.at = "/items", .members = members};
  if (db_rows_is_null(rows, 0, 0))
    web_reply_missing(call->req, call->missing);
  else
    web_reply_told(call->req, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &told);
}

static bool put_items_max(struct web_call *call)
{
  db_args_i64(&call->db.args, TRAIL_ITEMS_MAX);
  return true;
}

void desk_claim_trail(struct web_request *req)
{
  static const struct web_query trail = {&SQL_CLAIM_TRAIL, on_trail, .missing = UNKNOWN,
                                         WEB_ARGS(WEB_PAIR("claimId"), WEB_OWN(put_items_max))};
  web_query_run(req, &trail);
}
