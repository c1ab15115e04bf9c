// SPDX-License-Identifier: Apache-2.0
// claim_submit and claim_lookup: from requests to arguments, from rows to answers.
// Owner: the batcher.
#include "scheduler/claim_store.h"

#include <string.h>

#include "common/web.h"
#include "scheduler/worker_store.h"
#include "sql_scheduler.inc"

static void put_arrays(struct db_args *args, int64_t activity_id, struct claim_request *const *rows, size_t count)
{
  db_args_i64(args, activity_id);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) db_args_array_text(args, rows[i]->biz_id, rows[i]->biz_id_len);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, rows[i]->user_id);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_INT4);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, rows[i]->quantity);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) {
    if (rows[i]->has_channel)
      db_args_array_text(args, rows[i]->channel, rows[i]->channel_len);
    else
      db_args_array_null(args);
  }
  db_args_array_end(args);
}

// Pairs of request (from 1) and number; nulls where no request has any.
static void put_numbers(struct db_args *args, struct claim_request *const *rows, size_t count)
{
  size_t total = 0;
  for (size_t i = 0; i < count; i++) total += rows[i]->number_count;
  if (total == 0) {
    db_args_null(args);
    db_args_null(args);
    return;
  }
  db_args_array(args, DB_ARRAY_INT4);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < rows[i]->number_count; k++) db_args_array_i64(args, (int64_t)i + 1);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < rows[i]->number_count; k++) db_args_array_i64(args, rows[i]->numbers[k]);
  db_args_array_end(args);
}

const struct db_statement *store_claim_submit(struct db_args *args, const struct activity *a,
                                              struct claim_request *const *rows, size_t count, struct span sweep_after,
                                              uint32_t segment)
{
  put_arrays(args, a->id, rows, count);
  store_span(args, sweep_after);
  put_numbers(args, rows, count);
  if (a->segments > 1)
    db_args_i64(args, segment % a->segments);
  else
    db_args_null(args);
  return &SQL_CLAIM_SUBMIT;
}

const struct db_statement *store_claim_lookup(struct db_args *args, const struct activity *a,
                                              struct claim_request *const *rows, size_t count)
{
  put_arrays(args, a->id, rows, count);
  put_numbers(args, rows, count);
  return &SQL_CLAIM_LOOKUP;
}

const struct db_statement *store_claim_enqueue(struct db_args *args, const struct activity *a,
                                               struct claim_request *const *rows, size_t count, int64_t queue_max,
                                               bool may_add)
{
  put_arrays(args, a->id, rows, count);
  put_numbers(args, rows, count);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) {
    const char *trace = web_trace(rows[i]->web);
    db_args_array_text(args, trace, strlen(trace));
  }
  db_args_array_end(args);
  db_args_i64(args, queue_max);
  db_args_bool(args, may_add);
  return &SQL_CLAIM_ENQUEUE;
}

struct claim_row store_claim_row(const struct db_rows *rows, size_t row)
{
  enum { ORD, VERDICT, CLAIM_ID, STATUS, AT, DETAIL };
  int64_t ord = db_rows_i64(rows, row, ORD);
  struct claim_row r = {.ord = ord > 0 ? (size_t)ord : 0, .answer.at = db_rows_time(rows, row, AT)};
  const char *verdict = db_rows_text(rows, row, VERDICT);
  bool has_id = !db_rows_is_null(rows, row, CLAIM_ID);
  int64_t id = db_rows_i64(rows, row, CLAIM_ID);
  if (r.ord == 0) {
    r.activity_status = verdict;
    r.is_limited = has_id;
    r.remaining = id;
    return r;
  }
  r.answer.verdict = verdict_of(verdict);
  r.is_known = r.answer.verdict != VERDICT_COUNT;
  r.answer.has_claim = has_id;
  r.answer.claim_id = id;
  r.answer.status = db_rows_text(rows, row, STATUS);
  r.answer.detail = db_rows_text(rows, row, DETAIL);
  r.answer.detail_len = db_rows_text_len(rows, row, DETAIL);
  return r;
}
