// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims?dryRun=true: what a claim would be answered, rule by rule; nothing is written.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/explain_api.h"

#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "common/web_call.h"
#include "common/web_read.h"
#include "scheduler/claim_decode.h"
#include "sql_shared.inc"

// A dry run that is misspelt must not become a claim.
bool explain_api_read(struct web_request *req, bool *out_is_dry_run)
{
  static const char *const names[] = {"dryRun", "at", NULL};
  const char *dry_run = web_query(req, "dryRun");
  if (!web_query_has_only(req, names)) {
    web_reply_invalid(req, "query: must have nothing but dryRun and at");
    return false;
  }
  bool is_dry_run = dry_run != NULL && strcmp(dry_run, "true") == 0;
  if (dry_run != NULL && !is_dry_run && strcmp(dry_run, "false") != 0) {
    web_reply_invalid(req, "dryRun: must be true or false");
    return false;
  }
  if (web_query(req, "at") != NULL && !is_dry_run) {
    web_reply_invalid(req, "at: only a dry run can be asked for another time");
    return false;
  }
  *out_is_dry_run = is_dry_run;
  return true;
}

static void on_explained(struct web_call *call, const struct db_rows *rows)
{
  const struct verdict_info *invalid = verdict_info(VERDICT_INVALID_REQUEST);
  if (strcmp(db_rows_text(rows, 0, 0), invalid->code) == 0) {
    web_reply_invalid(call->req, invalid->detail);
    return;
  }
  web_reply_json(call->req, 200, db_rows_text(rows, 0, 1), db_rows_text_len(rows, 0, 1));
}

static void put_request(struct db_args *args, const struct claim_request *r)
{
  db_args_text(args, r->search.code);
  db_args_i64(args, r->user_id);
  db_args_text(args, r->biz_id);
  db_args_i64(args, r->quantity);
  db_args_text(args, r->has_channel ? r->channel : NULL);
  if (r->number_count == 0) {
    db_args_null(args);
    return;
  }
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < r->number_count; i++) db_args_array_i64(args, r->numbers[i]);
  db_args_array_end(args);
}

void explain_api_run(struct web_request *req)
{
  char why[CLAIM_WHY_BYTES] = "";
  size_t len = 0;
  struct claim_request r = {0};
  struct wall_time at = {0};
  bool has_at = false;
  const char *body = web_body(req, &len);
  if (!web_read_time(req, "at", &has_at, &at)) return;
  if (claim_decode(body, len, &r, why) != RESULT_OK) {
    web_reply_invalid(req, why);
    return;
  }
  struct web_call *call = web_call_new(req, &SQL_CLAIM_EXPLAIN, on_explained);
  put_request(&call->db.args, &r);
  if (has_at)
    db_args_time(&call->db.args, at);
  else
    db_args_null(&call->db.args);
  mem_free(r.numbers);
  web_call_send(call);
}
