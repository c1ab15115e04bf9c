// SPDX-License-Identifier: Apache-2.0
// A review's statements, one after the other. Owner: the command or the call that made it.
#include "reconciler/review.h"

#include <string.h>

#include "common/mem.h"
#include "sql_reconciler.inc"

#define PARTS_OF_ACTIVITY 4

void review_init(struct review *r, enum review_what what, const char *code)
{
  *r = (struct review){.what = what, .code = mem_strdup(code)};
}

void review_release(struct review *r)
{
  for (size_t i = 0; i < r->part_count; i++) mem_free(r->parts[i]);
  mem_free(r->parts);
  mem_free(r->activities);
  mem_free(r->code);
}

static const char *what_of(const struct review *r) { return r->what == REVIEW_EVENT ? "event" : "activity"; }

static void put_buckets(const struct review *r, struct db_args *args)
{
  db_args_time(args, r->from);
  db_args_i64(args, r->width);
  db_args_i64(args, r->buckets);
}

const struct db_statement *review_next(const struct review *r, struct db_args *args)
{
  switch (r->step) {
    case REVIEW_PARTS:
      db_args_i64(args, r->activities[r->next / PARTS_OF_ACTIVITY]);
      db_args_i64(args, (int64_t)(r->next % PARTS_OF_ACTIVITY) + 1);
      put_buckets(r, args);
      return &SQL_REVIEW_PART;
    case REVIEW_BEGIN:
      db_args_text(args, what_of(r));
      db_args_text(args, r->code);
      return &SQL_REVIEW_BEGIN;
    case REVIEW_END:
      db_args_text(args, what_of(r));
      db_args_text(args, r->code);
      put_buckets(r, args);
      db_args_array(args, DB_ARRAY_TEXT);
      for (size_t i = 0; i < r->part_count; i++) db_args_array_text(args, r->parts[i], strlen(r->parts[i]));
      db_args_array_end(args);
      return &SQL_REVIEW_END;
    case REVIEW_DONE:
    case REVIEW_UNKNOWN: break;
  }
  return NULL;
}

static void take_begin(struct review *r, const struct db_rows *rows)
{
  enum { ACTIVITY, FROM, WIDTH, BUCKETS };
  size_t count = db_rows_count(rows);
  if (count == 0) {
    r->step = REVIEW_UNKNOWN;
    return;
  }
  r->from = db_rows_time(rows, 0, FROM);
  r->width = db_rows_i64(rows, 0, WIDTH);
  r->buckets = db_rows_i64(rows, 0, BUCKETS);
  r->activity_count = db_rows_is_null(rows, 0, ACTIVITY) ? 0 : count;
  r->activities = mem_zalloc(count, sizeof *r->activities);
  for (size_t i = 0; i < r->activity_count; i++) r->activities[i] = db_rows_i64(rows, i, ACTIVITY);
  r->parts = mem_zalloc(count * PARTS_OF_ACTIVITY, sizeof *r->parts);
  r->step = r->activity_count > 0 ? REVIEW_PARTS : REVIEW_END;
}

void review_take(struct review *r, const struct db_rows *rows)
{
  switch (r->step) {
    case REVIEW_BEGIN: take_begin(r, rows); break;
    case REVIEW_PARTS:
      r->parts[r->part_count++] = mem_strndup(db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
      if (++r->next == r->activity_count * PARTS_OF_ACTIVITY) r->step = REVIEW_END;
      break;
    case REVIEW_END: r->step = REVIEW_DONE; break;
    case REVIEW_DONE:
    case REVIEW_UNKNOWN: break;
  }
}
