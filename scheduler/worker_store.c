// SPDX-License-Identifier: Apache-2.0
// The statements of the scheduler's background workers: their arguments and their rows.
// Owner: the calling worker.
#include "scheduler/worker_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sql_scheduler.inc"

void store_span(struct db_args *args, struct span s)
{
  char text[48];
  (void)snprintf(text, sizeof text, "%" PRId64 " microseconds", s.us);
  db_args_text(args, text);
}

const struct db_statement *store_activity_read(struct db_args *args, struct wall_time changed_since)
{
  db_args_time(args, changed_since);
  return &SQL_ACTIVITY_CACHE_READ;
}

const struct db_statement *store_activity_read_all(struct db_args *args)
{
  db_args_text(args, "-infinity");
  return &SQL_ACTIVITY_CACHE_READ;
}

const struct db_statement *store_activity_search(struct db_args *args)
{
  (void)args;
  return &SQL_ACTIVITY_CACHE_SEARCH;
}

struct activity_row store_activity_row(const struct db_rows *rows, size_t row)
{
  enum {
    AT,
    ID,
    CODE,
    STATUS,
    START,
    END,
    REWARD,
    PROVIDER,
    REMAINING,
    KIND,
    PAYMENT,
    INTAKE,
    RATE,
    SEGMENTS,
    WAITING,
    WAITING_MAX
  };
  return (struct activity_row){
      .at = db_rows_time(rows, row, AT),
      .has_activity = !db_rows_is_null(rows, row, ID),
      .id = db_rows_i64(rows, row, ID),
      .code = db_rows_text(rows, row, CODE),
      .status = db_rows_text(rows, row, STATUS),
      .reward_code = db_rows_text(rows, row, REWARD),
      .provider = db_rows_text(rows, row, PROVIDER),
      .start = db_rows_time(rows, row, START),
      .end = db_rows_time(rows, row, END),
      .is_limited = !db_rows_is_null(rows, row, REMAINING),
      .remaining = db_rows_i64(rows, row, REMAINING),
      .kind = db_rows_text(rows, row, KIND),
      .payment_provider = db_rows_text(rows, row, PAYMENT),
      .intake = db_rows_text(rows, row, INTAKE),
      .rate_limit = db_rows_text(rows, row, RATE),
      .segments = db_rows_i64(rows, row, SEGMENTS),
      .has_waiting_list = !db_rows_is_null(rows, row, WAITING_MAX),
  };
}

const struct db_statement *store_clock_next(struct db_args *args)
{
  (void)args;
  return &SQL_ACTIVITY_NEXT_DUE;
}

bool store_clock_next_row(const struct db_rows *rows, struct span *out_due_in)
{
  if (db_rows_count(rows) == 0 || db_rows_is_null(rows, 0, 0)) return false;
  *out_due_in = span_us(db_rows_i64(rows, 0, 0));
  return true;
}

const struct db_statement *store_clock_advance(struct db_args *args, int64_t limit)
{
  db_args_i64(args, limit);
  return &SQL_ACTIVITY_ADVANCE;
}

struct move_row store_clock_move(const struct db_rows *rows, size_t row)
{
  return (struct move_row){db_rows_text(rows, row, 0), db_rows_text(rows, row, 1), db_rows_time(rows, row, 2),
                           db_rows_time(rows, row, 3)};
}

const struct db_statement *store_deadline_step(struct db_args *args, int64_t limit)
{
  db_args_i64(args, limit);
  return &SQL_CLAIM_EXPIRE;
}

struct deadline_row store_deadline_row(const struct db_rows *rows)
{
  return (struct deadline_row){db_rows_text(rows, 0, 0), db_rows_i64(rows, 0, 1), db_rows_time(rows, 0, 2),
                               db_rows_time(rows, 0, 3)};
}

const struct db_statement *store_sweep(struct db_args *args, int64_t limit, bool from_the_oldest, struct wall_time from,
                                       struct span base, const char *const *held_back, size_t held_back_count)
{
  db_args_i64(args, limit);
  if (from_the_oldest)
    db_args_text(args, "-infinity");
  else
    db_args_time(args, from);
  store_span(args, base);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < held_back_count; i++) db_args_array_text(args, held_back[i], strlen(held_back[i]));
  db_args_array_end(args);
  return &SQL_CLAIM_SWEEP;
}

struct overdue_row store_sweep_row(const struct db_rows *rows, size_t row)
{
  enum { AT, ACTIVITY, CLAIM, ATTEMPT, PROVIDER, IS_ANY_HELD };
  return (struct overdue_row){
      .at = db_rows_time(rows, row, AT),
      .has_claim = !db_rows_is_null(rows, row, CLAIM),
      .activity_id = db_rows_i64(rows, row, ACTIVITY),
      .claim_id = db_rows_i64(rows, row, CLAIM),
      .attempt = db_rows_i64(rows, row, ATTEMPT),
      .provider = db_rows_text(rows, row, PROVIDER),
      .is_any_held = db_rows_bool(rows, row, IS_ANY_HELD),
  };
}

const struct db_statement *store_due_count(struct db_args *args, int64_t limit)
{
  db_args_i64(args, limit);
  return &SQL_CLAIM_DUE_COUNT;
}

int64_t store_due_count_row(const struct db_rows *rows)
{
  return db_rows_count(rows) > 0 ? db_rows_i64(rows, 0, 0) : 0;
}

const struct db_statement *store_events_take(struct db_args *args, int64_t rows, int64_t events, struct span lease)
{
  db_args_i64(args, rows);
  db_args_i64(args, events);
  store_span(args, lease);
  return &SQL_EVENT_OUT_TAKE;
}

struct event_row store_event_row(const struct db_rows *rows, size_t row)
{
  enum { ID, TYPE, AT, EVENT_IDS, SUBJECTS, TRACES, DOCS };
  return (struct event_row){
      .id = db_rows_i64(rows, row, ID),
      .type = db_rows_text(rows, row, TYPE),
      .at = db_rows_text(rows, row, AT),
      .event_ids = db_rows_text(rows, row, EVENT_IDS),
      .subjects = db_rows_text(rows, row, SUBJECTS),
      .traces = db_rows_text(rows, row, TRACES),
      .docs = db_rows_text(rows, row, DOCS),
  };
}

const struct db_statement *store_events_postpone(struct db_args *args, const struct event_batch *b, struct span pause,
                                                 int64_t tries_max)
{
  db_args_i64(args, b->id);
  db_args_array(args, DB_ARRAY_INT4);
  for (size_t i = 0; i < b->count; i++)
    if (b->items[i].is_failed) db_args_array_i64(args, (int64_t)i + 1);
  db_args_array_end(args);
  db_args_text(args, b->fault);
  store_span(args, pause);
  db_args_i64(args, tries_max);
  return &SQL_EVENT_OUT_POSTPONE;
}

const struct db_statement *store_events_figures(struct db_args *args)
{
  (void)args;
  return &SQL_EVENT_OUT_FIGURES;
}

const struct db_statement *store_events_purge(struct db_args *args, struct span retention)
{
  store_span(args, retention);
  return &SQL_EVENT_OUT_PURGE;
}

const struct db_statement *store_events_done(struct db_args *args, const int64_t *ids, size_t count)
{
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, ids[i]);
  db_args_array_end(args);
  return &SQL_EVENT_OUT_DONE;
}

const struct db_statement *store_refusals_add(struct db_args *args, const struct refusal_row *rows, size_t count)
{
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, rows[i].activity_id);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) db_args_array_text(args, rows[i].code, strlen(rows[i].code));
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, rows[i].count);
  db_args_array_end(args);
  return &SQL_REFUSAL_ADD;
}
