// SPDX-License-Identifier: Apache-2.0
// Orders of parameters and columns of callback_apply. Loop thread.
#include "fulfiller/callback_store.h"

#include <string.h>

#include "common/trace.h"
#include "sql_fulfiller.inc"

static void put_text_or_null(struct db_args *a, const char *text) { db_args_text(a, text[0] == '\0' ? NULL : text); }

static void put_claim_of(struct db_args *a, const struct callback_event *e)
{
  if (e->has_claim) {
    db_args_i64(a, e->activity_id);
    db_args_i64(a, e->claim_id);
    db_args_text(a, action_request_name(e->action, CALL_ACT));
    return;
  }
  for (int i = 0; i < 3; i++) db_args_null(a);
}

void store_callback(struct db_request *req, const char *provider, const struct callback_event *e, const char *trace,
                    bool can_inquire)
{
  struct db_args *a = &req->args;
  req->statement = &SQL_CALLBACK_APPLY;
  db_args_clear(a);
  db_args_text(a, provider);
  db_args_text(a, e->event_id);
  db_args_text(a, e->request_id);
  put_claim_of(a, e);
  db_args_text(a, callback_outcome_name(e->outcome));
  put_text_or_null(a, e->ref);
  put_text_or_null(a, e->code);
  put_text_or_null(a, e->detail);
  if (e->has_amount)
    db_args_i64(a, e->amount);
  else
    db_args_null(a);
  if (e->has_occurred)
    db_args_time(a, e->occurred_at);
  else
    db_args_null(a);
  db_args_text(a, e->body);
  if (strlen(trace) >= TRACE_PARENT_ID_AT + TRACE_ID_DIGITS)
    db_args_bytes(a, trace + TRACE_PARENT_ID_AT, TRACE_ID_DIGITS);
  else
    db_args_null(a);
  db_args_bool(a, can_inquire);
}

struct callback_row store_callback_row(const struct db_rows *rows)
{
  return (struct callback_row){.verdict = db_rows_text(rows, 0, 0),
                               .letter_id = db_rows_i64(rows, 0, 1),
                               .biz_id = db_rows_text(rows, 0, 2),
                               .activity_code = db_rows_text(rows, 0, 3),
                               .trace = db_rows_text(rows, 0, 4)};
}
