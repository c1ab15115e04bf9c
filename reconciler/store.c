// SPDX-License-Identifier: Apache-2.0
// The statements of the reconciler: their arguments and their rows.
// Owner: the caller, who runs them on a session (commands) or the pool (serve).
#include "reconciler/store.h"

#include <string.h>

#include "sql_reconciler.inc"

// --- a run of the audit

const struct db_statement *store_audit_list(struct db_args *args)
{
  (void)args;
  return &SQL_AUDIT_LIST;
}

const struct db_statement *store_audit_definition_list(struct db_args *args, const char *source, const char *after,
                                                       int64_t limit)
{
  db_args_text(args, source);
  db_args_text(args, after);
  db_args_i64(args, limit);
  return &SQL_AUDIT_DEFINITION_LIST;
}

const struct db_statement *store_audit_begin(struct db_args *args, const char *mode, const char *date, const char *code,
                                             bool resume, const char *zone)
{
  db_args_text(args, mode);
  db_args_text(args, date);
  db_args_text(args, code);
  db_args_bool(args, resume);
  db_args_text(args, zone);
  return &SQL_AUDIT_BEGIN;
}

struct audit_run_row store_audit_run_row(const struct db_rows *rows)
{
  enum { RUN, FROM, UNTIL, REACHED, RESUMED, UNFINISHED };
  return (struct audit_run_row){
      .run_id = db_rows_i64(rows, 0, RUN),
      .reached = db_rows_i64(rows, 0, REACHED),
      .from = db_rows_time(rows, 0, FROM),
      .until = db_rows_time(rows, 0, UNTIL),
      .is_resumed = db_rows_bool(rows, 0, RESUMED),
      .has_unfinished = db_rows_bool(rows, 0, UNFINISHED),
  };
}

const struct db_statement *store_audit_activities(struct db_args *args, int64_t run_id, int64_t after, int64_t limit)
{
  db_args_i64(args, run_id);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_AUDIT_ACTIVITIES;
}

struct audit_activity_row store_audit_activity_row(const struct db_rows *rows, size_t row)
{
  return (struct audit_activity_row){db_rows_i64(rows, row, 0), db_rows_text(rows, row, 1), db_rows_bool(rows, row, 2)};
}

const struct db_statement *store_audit_screen(struct db_args *args, int64_t activity_id, bool is_whole)
{
  db_args_i64(args, activity_id);
  db_args_bool(args, is_whole);
  return &SQL_AUDIT_SCREEN;
}

const struct db_statement *store_audit_keep(struct db_args *args, int64_t activity_id, const char *to_keep)
{
  db_args_i64(args, activity_id);
  db_args_text(args, to_keep);
  return &SQL_AUDIT_KEEP;
}

const struct db_statement *store_audit_run(struct db_args *args, const char *name, int64_t activity_id, int64_t limit)
{
  db_args_text(args, name);
  db_args_i64(args, activity_id);
  db_args_i64(args, limit);
  return &SQL_AUDIT_RUN;
}

struct fault_row store_fault_row(const struct db_rows *rows, size_t row)
{
  enum { SUBJECT, CLAIM, EXPECTED, ACTUAL };
  return (struct fault_row){
      .subject = db_rows_text(rows, row, SUBJECT),
      .expected = db_rows_text(rows, row, EXPECTED),
      .actual = db_rows_text(rows, row, ACTUAL),
      .has_claim = !db_rows_is_null(rows, row, CLAIM),
      .claim_id = db_rows_i64(rows, row, CLAIM),
  };
}

static void put_texts(struct db_args *args, const char *const *texts, size_t count)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) db_args_array_text(args, texts[i], strlen(texts[i]));
  db_args_array_end(args);
}

enum finding_text { TEXT_KEY, TEXT_KIND, TEXT_EXPECTED, TEXT_ACTUAL };

static void put_finding_texts(struct db_args *args, const struct finding_set *set, enum finding_text which)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < set->count; i++) {
    const struct finding *f = &set->items[i];
    const char *texts[] = {f->key, f->kind, f->expected, f->actual};
    db_args_array_text(args, texts[which], strlen(texts[which]));
  }
  db_args_array_end(args);
}

const struct db_statement *store_audit_record(struct db_args *args, int64_t run_id, int64_t activity_id,
                                              const char *const *kinds, size_t kind_count, int64_t failed,
                                              const struct finding_set *findings)
{
  db_args_i64(args, run_id);
  db_args_i64(args, activity_id);
  put_texts(args, kinds, kind_count);
  db_args_i64(args, failed);
  put_finding_texts(args, findings, TEXT_KEY);
  put_finding_texts(args, findings, TEXT_KIND);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < findings->count; i++) {
    if (findings->items[i].has_claim)
      db_args_array_i64(args, findings->items[i].claim_id);
    else
      db_args_array_null(args);
  }
  db_args_array_end(args);
  put_finding_texts(args, findings, TEXT_EXPECTED);
  put_finding_texts(args, findings, TEXT_ACTUAL);
  return &SQL_AUDIT_RECORD;
}

const struct db_statement *store_audit_recorded(struct db_args *args, int64_t run_id)
{
  db_args_i64(args, run_id);
  return &SQL_AUDIT_RECORDED;
}

static char *text_of(const struct db_rows *rows, size_t row, size_t column)
{
  return (char *)(uintptr_t)db_rows_text(rows, row, column);
}

// The texts stay the rows'; finding_set_add copies them.
enum result store_finding_row(const struct db_rows *rows, size_t row, struct finding *out_finding)
{
  enum { KEY, KIND, SEVERITY, CODE, CLAIM, EXPECTED, ACTUAL, CAUSE, NEXT_STEP, STATE, ACTIVITY };
  struct finding f = {
      .key = text_of(rows, row, KEY),
      .kind = text_of(rows, row, KIND),
      .activity_id = db_rows_i64(rows, row, ACTIVITY),
      .activity_code = text_of(rows, row, CODE),
      .has_claim = !db_rows_is_null(rows, row, CLAIM),
      .claim_id = db_rows_i64(rows, row, CLAIM),
      .expected = text_of(rows, row, EXPECTED),
      .actual = text_of(rows, row, ACTUAL),
      .cause = text_of(rows, row, CAUSE),
      .next_step = text_of(rows, row, NEXT_STEP),
  };
  if (finding_severity_parse(db_rows_text(rows, row, SEVERITY), &f.severity) != RESULT_OK) return RESULT_UNEXPECTED;
  if (finding_state_parse(db_rows_text(rows, row, STATE), &f.state) != RESULT_OK) return RESULT_UNEXPECTED;
  *out_finding = f;
  return RESULT_OK;
}

const struct db_statement *store_audit_end(struct db_args *args, int64_t run_id, int64_t findings)
{
  db_args_i64(args, run_id);
  db_args_i64(args, findings);
  return &SQL_AUDIT_END;
}

const struct db_statement *store_audit_runs(struct db_args *args, int64_t after, int64_t limit)
{
  if (after == 0)
    db_args_null(args);
  else
    db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_AUDIT_RUNS;
}

// --- lists

const struct db_statement *store_finding_list(struct db_args *args, const struct finding_filter *f, const char *sort,
                                              const char *after, int64_t limit)
{
  db_args_text(args, f->state);
  db_args_text(args, f->kind);
  db_args_text(args, f->severity);
  db_args_text(args, f->activity_code);
  db_args_text(args, f->provider);
  db_args_text(args, f->source);
  db_args_text(args, sort);
  db_args_text(args, after);
  db_args_i64(args, limit);
  return &SQL_FINDING_LIST;
}

const struct db_statement *store_finding_show(struct db_args *args, const char *key)
{
  db_args_text(args, key);
  return &SQL_FINDING_SHOW;
}

static void put_letter_filter(struct db_args *args, const struct dead_letter_filter *f)
{
  db_args_text(args, f->provider);
  db_args_text(args, f->cause);
  db_args_text(args, f->activity_code);
  db_args_text(args, f->fingerprint);
}

const struct db_statement *store_dead_letter_list(struct db_args *args, const char *state,
                                                  const struct dead_letter_filter *f, int64_t after, int64_t limit)
{
  db_args_text(args, state);
  put_letter_filter(args, f);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_DEAD_LETTER_LIST;
}

const struct db_statement *store_dead_letter_sorted(struct db_args *args, const char *sort, const char *state,
                                                    const struct dead_letter_filter *f, const char *after,
                                                    int64_t limit)
{
  db_args_text(args, sort);
  db_args_text(args, state);
  put_letter_filter(args, f);
  db_args_text(args, after);
  db_args_i64(args, limit);
  return &SQL_DEAD_LETTER_SORTED;
}

const struct db_statement *store_dead_letter_groups(struct db_args *args, const char *state,
                                                    const struct dead_letter_filter *f, int64_t after, int64_t limit)
{
  db_args_text(args, state);
  put_letter_filter(args, f);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_DEAD_LETTER_GROUPS;
}

const struct db_statement *store_dead_letter_show(struct db_args *args, int64_t id)
{
  db_args_i64(args, id);
  return &SQL_DEAD_LETTER_SHOW;
}

const struct db_statement *store_dead_letter_of_claim(struct db_args *args, struct claim_ref claim)
{
  db_args_i64(args, claim.activity_id);
  db_args_i64(args, claim.number);
  return &SQL_DEAD_LETTER_OF_CLAIM;
}

int64_t store_letter_of_claim(const struct db_rows *rows) { return db_rows_i64(rows, 0, 0); }

// --- now

const struct db_statement *store_activity_sample(struct db_args *args)
{
  (void)args;
  return &SQL_ACTIVITY_SAMPLE;
}

const struct db_statement *store_now(struct db_args *args, int64_t limit)
{
  db_args_i64(args, limit);
  return &SQL_NOW;
}

// --- metrics

const struct db_statement *store_figures(struct db_args *args)
{
  (void)args;
  return &SQL_AUDIT_FIGURES;
}

struct figure_row store_figure_row(const struct db_rows *rows, size_t row)
{
  return (struct figure_row){db_rows_text(rows, row, 0), db_rows_text(rows, row, 1), db_rows_i64(rows, row, 2)};
}
