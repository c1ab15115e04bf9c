// SPDX-License-Identifier: Apache-2.0
// The statements about nights and their reports: their arguments and their rows.
// Owner: the caller, who runs them on a session or the pool.
#include "reconciler/store_night.h"

#include <string.h>

#include "sql_reconciler.inc"

const struct db_statement *store_night_due(struct db_args *args, const struct night_conf *conf)
{
  db_args_text(args, conf->time_zone);
  db_args_text(args, conf->at);
  db_args_i64(args, conf->catch_up);
  return &SQL_NIGHT_DUE;
}

const char *store_night_due_outcome(const struct db_rows *rows) { return db_rows_text(rows, 0, 0); }

const struct db_statement *store_night_latest(struct db_args *args, const struct night_conf *conf)
{
  db_args_text(args, conf->time_zone);
  return &SQL_NIGHT_LATEST;
}

const struct db_statement *store_night_take(struct db_args *args, const struct night_conf *conf, const char *date,
                                            const char *holder, struct span lease, bool again)
{
  db_args_text(args, date);
  db_args_text(args, conf->time_zone);
  db_args_text(args, conf->at);
  db_args_i64(args, conf->catch_up);
  db_args_text(args, holder);
  db_args_i64(args, lease.us);
  db_args_bool(args, again);
  return &SQL_NIGHT_TAKE;
}

enum result store_night_take_row(const struct db_rows *rows, struct night_take_row *out_row)
{
  static const char *const names[] = {"taken", "none", "busy", "done", "not_over", "zone_unknown"};
  enum { OUTCOME, DATE, TOKEN, RESUMED };
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (strcmp(db_rows_text(rows, 0, OUTCOME), names[i]) != 0) continue;
    *out_row = (struct night_take_row){
        .outcome = (enum night_outcome)i,
        .date = db_rows_text(rows, 0, DATE),
        .token = db_rows_i64(rows, 0, TOKEN),
        .is_resumed = db_rows_bool(rows, 0, RESUMED),
    };
    return RESULT_OK;
  }
  return RESULT_UNEXPECTED;
}

const struct db_statement *store_night_extend(struct db_args *args, const char *date, int64_t token, struct span lease)
{
  db_args_text(args, date);
  db_args_i64(args, token);
  db_args_i64(args, lease.us);
  return &SQL_NIGHT_EXTEND;
}

const struct db_statement *store_night_prepare(struct db_args *args, const char *date)
{
  db_args_text(args, date);
  return &SQL_NIGHT_PREPARE;
}

const struct db_statement *store_night_step(struct db_args *args, const char *date)
{
  db_args_text(args, date);
  return &SQL_NIGHT_STEP;
}

const struct db_statement *store_night_finish(struct db_args *args, const char *date, int64_t token, int64_t run_id)
{
  db_args_text(args, date);
  db_args_i64(args, token);
  db_args_i64(args, run_id);
  return &SQL_NIGHT_FINISH;
}

struct night_finish_row store_night_finish_row(const struct db_rows *rows)
{
  enum { DOC, FINDINGS, FAILED, UNCHANGED };
  return (struct night_finish_row){
      .doc = db_rows_text(rows, 0, DOC),
      .doc_len = db_rows_text_len(rows, 0, DOC),
      .findings = db_rows_i64(rows, 0, FINDINGS),
      .failed = db_rows_i64(rows, 0, FAILED),
      .is_unchanged = db_rows_bool(rows, 0, UNCHANGED),
  };
}

const struct db_statement *store_night_list(struct db_args *args, const char *after, int64_t limit)
{
  db_args_text(args, after);
  db_args_i64(args, limit);
  return &SQL_NIGHT_LIST;
}

const struct db_statement *store_night_show(struct db_args *args, const char *date)
{
  db_args_text(args, date);
  return &SQL_NIGHT_SHOW;
}

const struct db_statement *store_night_compare(struct db_args *args, const char *date, const char *with)
{
  db_args_text(args, date);
  db_args_text(args, with);
  return &SQL_NIGHT_COMPARE;
}
