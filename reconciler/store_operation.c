// SPDX-License-Identifier: Apache-2.0
// The statements about operations: their arguments and their rows.
// Owner: the caller, who runs them on a session (commands) or the pool (serve).
#include "reconciler/store_operation.h"

#include <string.h>

#include "reconciler/operation.h"
#include "sql_reconciler.inc"

static void put_letters(struct db_args *args, const struct operation_order *o)
{
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < o->letter_count; i++) db_args_array_i64(args, o->letters[i]);
  db_args_array_end(args);
}

static void put_claims(struct db_args *args, const struct operation_order *o)
{
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < o->claim_count; i++) db_args_array_i64(args, o->claims[i].activity_id);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < o->claim_count; i++) db_args_array_i64(args, o->claims[i].number);
  db_args_array_end(args);
}

static void put_keys(struct db_args *args, const struct operation_order *o)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < o->key_count; i++) db_args_array_text(args, o->keys[i], strlen(o->keys[i]));
  db_args_array_end(args);
}

static void put_finding_targets(struct db_args *args, const struct operation_order *o)
{
  db_args_text(args, operation_kind_name(o->kind));
  for (int i = 0; i < 3; i++) db_args_null(args);
  db_args_text(args, o->findings.provider);
  db_args_null(args);
  db_args_text(args, o->findings.activity_code);
  db_args_null(args);
  if (o->by_filter)
    db_args_null(args);
  else
    put_keys(args, o);
  db_args_text(args, o->findings.state);
  db_args_text(args, o->findings.kind);
  db_args_text(args, o->findings.severity);
  db_args_text(args, o->findings.source);
}

// The first thirteen of both statements: what is meant.
static void put_targets(struct db_args *args, const struct operation_order *o)
{
  if (operation_is_about_findings(o->kind)) {
    put_finding_targets(args, o);
    return;
  }
  db_args_text(args, operation_kind_name(o->kind));
  if (o->by_filter) {
    for (int i = 0; i < 3; i++) db_args_null(args);
  } else {
    put_letters(args, o);
    put_claims(args, o);
  }
  db_args_text(args, o->filter.provider);
  db_args_text(args, o->filter.cause);
  db_args_text(args, o->filter.activity_code);
  db_args_text(args, o->filter.fingerprint);
  for (int i = 0; i < 5; i++) db_args_null(args);
}

const struct db_statement *store_operation_preview(struct db_args *args, const struct operation_order *o)
{
  put_targets(args, o);
  db_args_bool(args, o->proof != NULL || o->is_not_delivered);
  db_args_i64(args, o->preview_items);
  return &SQL_OPERATION_PREVIEW;
}

const struct db_statement *store_operation_begin(struct db_args *args, const struct operation_order *o)
{
  put_targets(args, o);
  db_args_text(args, o->actor);
  db_args_text(args, o->reason);
  db_args_text(args, o->proof);
  db_args_bool(args, !o->is_not_delivered);
  db_args_i64(args, o->rate);
  db_args_text(args, o->key);
  return &SQL_OPERATION_BEGIN;
}

struct operation_begun store_operation_begun(const struct db_rows *rows)
{
  const char *verdict = db_rows_text(rows, 0, 1);
  return (struct operation_begun){
      .id = db_rows_i64(rows, 0, 0),
      .is_replayed = strcmp(verdict, "replayed") == 0,
      .is_key_reused = strcmp(verdict, "key_reused") == 0,
  };
}

const struct db_statement *store_operation_step(struct db_args *args, int64_t id, int64_t limit)
{
  if (id == 0)
    db_args_null(args);
  else
    db_args_i64(args, id);
  db_args_i64(args, limit);
  return &SQL_OPERATION_STEP;
}

struct operation_step_row store_operation_step_row(const struct db_rows *rows, size_t row)
{
  enum { ID, KIND, STATE, TOTAL, DONE, WAIT, OUTCOME, ITEMS };
  return (struct operation_step_row){
      .id = db_rows_i64(rows, row, ID),
      .kind = db_rows_text(rows, row, KIND),
      .state = db_rows_text(rows, row, STATE),
      .total = db_rows_i64(rows, row, TOTAL),
      .done = db_rows_i64(rows, row, DONE),
      .wait_ms = db_rows_i64(rows, row, WAIT),
      .outcome = db_rows_text(rows, row, OUTCOME),
      .items = db_rows_i64(rows, row, ITEMS),
  };
}

const struct db_statement *store_operation_show(struct db_args *args, int64_t id, bool has_items)
{
  db_args_i64(args, id);
  db_args_bool(args, has_items);
  return &SQL_OPERATION_SHOW;
}

const struct db_statement *store_operation_cancel(struct db_args *args, int64_t id, const char *actor,
                                                  const char *reason)
{
  db_args_i64(args, id);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_OPERATION_CANCEL;
}

bool store_operation_is_running(const struct db_rows *rows) { return strcmp(db_rows_text(rows, 0, 1), "running") == 0; }

const struct db_statement *store_operation_list(struct db_args *args, const char *state, const char *kind,
                                                int64_t after, int64_t limit)
{
  db_args_text(args, state != NULL ? state : "all");
  db_args_text(args, kind);
  if (after == 0)
    db_args_null(args);
  else
    db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_OPERATION_LIST;
}

const struct db_statement *store_operation_items(struct db_args *args, int64_t id, int64_t after, int64_t limit)
{
  db_args_i64(args, id);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_OPERATION_ITEMS;
}

const struct db_statement *store_claim_show(struct db_args *args, struct claim_ref claim)
{
  db_args_i64(args, claim.activity_id);
  db_args_i64(args, claim.number);
  return &SQL_CLAIM_SHOW;
}
