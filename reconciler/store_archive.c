// SPDX-License-Identifier: Apache-2.0
// The statements about archives and retention: their arguments.
// Owner: the caller, who runs them on a session or the pool.
#include "reconciler/store_archive.h"

#include "sql_reconciler.inc"

const struct db_statement *store_archive_begin(struct db_args *args, const char *code)
{
  db_args_text(args, code);
  return &SQL_ARCHIVE_BEGIN;
}

const struct db_statement *store_archive_tables(struct db_args *args)
{
  (void)args;
  return &SQL_ARCHIVE_TABLES;
}

const struct db_statement *store_archive_open(struct db_args *args, int64_t activity_id, const char *table)
{
  db_args_i64(args, activity_id);
  db_args_text(args, table);
  return &SQL_ARCHIVE_OPEN;
}

const struct db_statement *store_archive_fetch(struct db_args *args)
{
  (void)args;
  return &SQL_ARCHIVE_FETCH;
}

const struct db_statement *store_archive_close(struct db_args *args)
{
  (void)args;
  return &SQL_ARCHIVE_CLOSE;
}

const struct db_statement *store_archive_confirm(struct db_args *args, const struct archive_confirmation *c)
{
  db_args_i64(args, c->contents->activity_id);
  db_args_text(args, c->path);
  db_args_text(args, c->contents->sha256);
  db_args_i64(args, c->contents->bytes);
  db_args_i64(args, c->contents->rows);
  db_args_text(args, c->manifest);
  db_args_text(args, c->state);
  db_args_text(args, c->contents->exported_at);
  db_args_text(args, c->actor);
  db_args_text(args, c->reason);
  return &SQL_ARCHIVE_CONFIRM;
}

const struct db_statement *store_archive_show(struct db_args *args, int64_t activity_id)
{
  db_args_i64(args, activity_id);
  return &SQL_ARCHIVE_SHOW;
}

const struct db_statement *store_archive_verified(struct db_args *args, const struct archive_contents *contents)
{
  db_args_i64(args, contents->activity_id);
  db_args_text(args, contents->sha256);
  return &SQL_ARCHIVE_VERIFIED;
}

const struct db_statement *store_archive_candidates(struct db_args *args, const char *before, const char *zone,
                                                    int64_t after, int64_t limit)
{
  db_args_text(args, before);
  db_args_text(args, zone);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_ARCHIVE_CANDIDATES;
}

const struct db_statement *store_archive_list(struct db_args *args, const char *month, int64_t after, int64_t limit)
{
  db_args_text(args, month);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_ARCHIVE_LIST;
}

// --- months

const struct db_statement *store_archive_blockers(struct db_args *args, const char *month, struct span age)
{
  db_args_text(args, month);
  db_args_i64(args, age.us);
  return &SQL_ARCHIVE_BLOCKERS;
}

const struct db_statement *store_archive_files(struct db_args *args, const char *month)
{
  db_args_text(args, month);
  return &SQL_ARCHIVE_FILES;
}

const struct db_statement *store_archive_month_state(struct db_args *args, const char *month)
{
  db_args_text(args, month);
  return &SQL_ARCHIVE_MONTH_STATE;
}

const struct db_statement *store_archive_months_away(struct db_args *args)
{
  (void)args;
  return &SQL_ARCHIVE_MONTHS_AWAY;
}

const struct db_statement *store_archive_partitions(struct db_args *args, const char *month)
{
  db_args_text(args, month);
  return &SQL_ARCHIVE_PARTITIONS;
}

const struct db_statement *store_archive_owner(struct db_args *args)
{
  (void)args;
  return &SQL_ARCHIVE_OWNER;
}

const struct db_statement *store_archive_lock(struct db_args *args, const char *month)
{
  db_args_text(args, month);
  return &SQL_ARCHIVE_LOCK;
}

const struct db_statement *store_archive_seal(struct db_args *args, const struct archive_month_order *o)
{
  db_args_text(args, o->month);
  db_args_i64(args, o->age.us);
  db_args_text(args, o->actor);
  db_args_text(args, o->reason);
  return &SQL_ARCHIVE_SEAL;
}

const struct db_statement *store_archive_detached(struct db_args *args, const struct archive_month_order *o)
{
  db_args_text(args, o->month);
  db_args_text(args, o->actor);
  db_args_text(args, o->reason);
  return &SQL_ARCHIVE_DETACHED;
}

const struct db_statement *store_archive_attach(struct db_args *args, const struct archive_month_order *o)
{
  db_args_text(args, o->month);
  db_args_text(args, o->actor);
  db_args_text(args, o->reason);
  return &SQL_ARCHIVE_ATTACH;
}

// --- retention

const struct db_statement *store_retention_step(struct db_args *args, const struct retention_conf *conf)
{
  db_args_i64(args, conf->operations.us);
  db_args_i64(args, conf->callbacks.us);
  db_args_i64(args, conf->batch_rows);
  return &SQL_RETENTION_STEP;
}
