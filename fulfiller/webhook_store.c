// SPDX-License-Identifier: Apache-2.0
// The statements of the webhooks: see webhook_store.h.
// Loop thread.
#include "fulfiller/webhook_store.h"

#include <string.h>

#include "common/mem.h"
#include "sql_fulfiller.inc"

static void put_text(struct db_args *a, const char *text) { db_args_array_text(a, text, strlen(text)); }

const struct db_statement *webhook_store_register(struct db_args *args, const struct webhook_profile *const *profiles,
                                                  const char *const *hashes, size_t count)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(args, profiles[i]->name);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(args, profiles[i]->origin);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(args, hashes[i]);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(args, profiles[i]->types);
  db_args_array_end(args);
  return &SQL_WEBHOOK_REGISTER;
}

const struct db_statement *webhook_store_name(struct db_args *args, const struct webhook_profile *const *profiles,
                                              size_t count, const struct span *forget_after)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(args, profiles[i]->name);
  db_args_array_end(args);
  if (forget_after == NULL)
    db_args_null(args);
  else
    db_args_i64(args, forget_after->us);
  return &SQL_WEBHOOK_NAME;
}

const struct db_statement *webhook_store_take(struct db_args *args, const char *endpoint, size_t limit,
                                              struct span lease)
{
  db_args_text(args, endpoint);
  db_args_i64(args, (int64_t)limit);
  db_args_i64(args, lease.us);
  return &SQL_WEBHOOK_TAKE;
}

static const char *place(const struct db_rows *rows, size_t row, size_t column, char **at)
{
  size_t size = db_rows_text_len(rows, row, column) + 1;
  const char *text = memcpy(*at, db_rows_text(rows, row, column), size);
  *at += size;
  return text;
}

struct webhook_job *webhook_store_job(const struct db_rows *rows, size_t row)
{
  enum { ID, EVENT_ID, TYPE, TRACE, BODY, ATTEMPT, TRIES };
  size_t bytes = 0;
  for (size_t i = EVENT_ID; i <= BODY; i++) bytes += db_rows_text_len(rows, row, i) + 1;
  struct webhook_job *job = mem_zalloc(1, sizeof *job + bytes);
  char *at = job->texts;
  list_init(&job->node);
  job->id = db_rows_i64(rows, row, ID);
  job->attempt = (int32_t)db_rows_i64(rows, row, ATTEMPT);
  job->tries = db_rows_i64(rows, row, TRIES);
  job->event_id = place(rows, row, EVENT_ID, &at);
  job->type = place(rows, row, TYPE, &at);
  job->trace = place(rows, row, TRACE, &at);
  job->body = place(rows, row, BODY, &at);
  job->body_len = db_rows_text_len(rows, row, BODY);
  return job;
}

#define JOB_OF(n) CONTAINER_OF((n), const struct webhook_job, node)
#define PUT_ARRAY(type, put)                                  \
  do {                                                        \
    const struct list *node_ = jobs->next;                    \
    db_args_array(args, (type));                              \
    for (size_t i = 0; i < count; i++, node_ = node_->next) { \
      const struct webhook_job *j = JOB_OF(node_);            \
      put;                                                    \
    }                                                         \
    db_args_array_end(args);                                  \
  } while (0)

static void put_status(struct db_args *args, int status)
{
  if (status == 0)
    db_args_array_null(args);
  else
    db_args_array_i64(args, status);
}

const struct db_statement *webhook_store_settle(struct db_args *args, const struct webhook_profile *p,
                                                const struct list *jobs, size_t count)
{
  db_args_text(args, p->name);
  PUT_ARRAY(DB_ARRAY_INT8, db_args_array_i64(args, j->id));
  PUT_ARRAY(DB_ARRAY_INT4, db_args_array_i64(args, j->attempt));
  PUT_ARRAY(DB_ARRAY_TEXT, put_text(args, webhook_outcome_name(j->decision.outcome)));
  PUT_ARRAY(DB_ARRAY_INT4, put_status(args, j->decision.status));
  PUT_ARRAY(DB_ARRAY_TEXT, put_text(args, j->decision.detail));
  PUT_ARRAY(DB_ARRAY_INT8, db_args_array_i64(args, span_to_ms(j->decision.due)));
  db_args_i64(args, p->conf->disable_after.us);
  return &SQL_WEBHOOK_SETTLE;
}

const struct db_statement *webhook_store_figures(struct db_args *args)
{
  (void)args;
  return &SQL_WEBHOOK_FIGURES;
}

struct webhook_figures_row webhook_store_figures_row(const struct db_rows *rows, size_t row)
{
  enum { NAME, WAITING, LAG_MS, IS_DISABLED };
  return (struct webhook_figures_row){db_rows_text(rows, row, NAME), db_rows_i64(rows, row, WAITING),
                                      db_rows_i64(rows, row, LAG_MS), db_rows_bool(rows, row, IS_DISABLED)};
}

const struct db_statement *webhook_store_purge(struct db_args *args, struct span retention, int64_t limit)
{
  db_args_i64(args, retention.us);
  db_args_i64(args, limit);
  return &SQL_WEBHOOK_PURGE;
}
