// SPDX-License-Identifier: Apache-2.0
// `scheduler migrate`: schema files run once each and in order, and are recorded with their checksum; an edited old one
// is refused. Functions, audits and grants are applied again whenever their text has changed. All of it is one
// transaction. Owner: the command; blocking.
#include "scheduler/migrate.h"

#include <stdio.h>
#include <string.h>

#include "common/daemon.h"
#include "common/db.h"
#include "common/signature.h"
#include "common/text.h"
#include "scheduler/config.h"

static const struct migration_file {
  const char *path;
  const char *sql;
} files[] = {
#include "sql_migrations.inc"
};

struct migration {
  struct db_session *session;
  struct signature *signature;
  size_t applied;
  char why[DB_WHY_BYTES + 128];
};

// Two at once: the second waits for the first and then finds nothing to do. SQL functions may name each other in any
// order.
static const char begin_sql[] =
    "begin;"
    "set local client_min_messages = warning;"
    "set local check_function_bodies = off;"
    "select pg_advisory_xact_lock(hashtextextended('largesse.migrate', 0));"
    "create schema if not exists largesse;"
    "create table if not exists largesse.migration ("
    "  path text primary key, checksum text not null, applied_at timestamptz not null default clock_timestamp());";

static void checksum_text(struct migration *m, const char *sql, struct buf *out)
{
  uint8_t digest[SIGNATURE_SHA256_BYTES];
  signature_sha256(m->signature, sql, strlen(sql), digest);
  buf_clear(out);
  text_hex(digest, sizeof digest, out);
}

static void keep_database_error(struct migration *m, const char *where)
{
  const struct db_error *e = db_session_error(m->session);
  (void)snprintf(m->why, sizeof m->why, "%s: %s (%s)", where, e->message, e->sqlstate);
}

// What is recorded about a file: "" if it was never applied.
static enum result recorded_checksum(struct migration *m, const char *path, char out_checksum[65])
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, path);
  enum result result =
      db_session_query(m->session, "select checksum from largesse.migration where path = $1::text", &args, &rows);
  if (result == RESULT_OK) {
    (void)snprintf(out_checksum, 65, "%s", db_rows_count(rows) > 0 ? db_rows_text(rows, 0, 0) : "");
  } else {
    keep_database_error(m, path);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result record(struct migration *m, const char *path, const char *checksum)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, path);
  db_args_text(&args, checksum);
  enum result result =
      db_session_query(m->session,
                       "insert into largesse.migration (path, checksum) values ($1::text, $2::text)"
                       " on conflict (path) do update set checksum = excluded.checksum, applied_at = clock_timestamp()",
                       &args, NULL);
  if (result != RESULT_OK) keep_database_error(m, path);
  db_args_release(&args);
  return result;
}

static enum result apply_file(struct migration *m, const struct migration_file *file)
{
  enum result result = RESULT_OK;
  char recorded[65];
  struct buf checksum;
  buf_init(&checksum, 64);
  checksum_text(m, file->sql, &checksum);
  TRY(recorded_checksum(m, file->path, recorded));
  // A new function needs its rights, so grants are repeated whenever anything was applied.
  bool is_grants = strcmp(file->path, "grants.sql") == 0;
  if (strcmp(recorded, buf_text(&checksum)) == 0 && !(is_grants && m->applied > 0)) goto cleanup;
  if (recorded[0] != '\0' && strncmp(file->path, "schema/", 7) == 0) {
    (void)snprintf(m->why, sizeof m->why,
                   "sql/%s was changed after it had been applied; write a new schema file instead", file->path);
    TRY(RESULT_CONFLICT);
  }
  result = db_session_script(m->session, file->sql);
  if (result != RESULT_OK) {
    keep_database_error(m, file->path);
    goto cleanup;
  }
  TRY(record(m, file->path, buf_text(&checksum)));
  m->applied++;

cleanup:
  buf_release(&checksum);
  return result;
}

// A database that a newer binary has migrated must not be used by an older one.
static enum result refuse_newer_schema(struct migration *m)
{
  struct db_rows *rows = NULL;
  enum result result = db_session_query(
      m->session, "select path from largesse.migration where path like 'schema/%' order by path desc limit 1", NULL,
      &rows);
  if (result != RESULT_OK) {
    keep_database_error(m, "migration");
  } else if (db_rows_count(rows) > 0) {
    const char *newest = "";
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
      if (strncmp(files[i].path, "schema/", 7) == 0) newest = files[i].path;
    }
    if (strcmp(db_rows_text(rows, 0, 0), newest) > 0) {
      (void)snprintf(m->why, sizeof m->why,
                     "the database has sql/%s, which this version does not know; use the newer program",
                     db_rows_text(rows, 0, 0));
      result = RESULT_CONFLICT;
    }
  }
  db_rows_free(rows);
  return result;
}

static enum result ensure_partitions(struct migration *m)
{
  enum result result = db_session_query(
      m->session,
      "select largesse.partitions_ensure(largesse.partition_month(clock_timestamp()) + n) from generate_series(0, 2) n",
      NULL, NULL);
  if (result != RESULT_OK) keep_database_error(m, "partitions");
  return result;
}

static enum result migrate(struct migration *m)
{
  enum result result = db_session_script(m->session, begin_sql);
  if (result != RESULT_OK) {
    keep_database_error(m, "migration");
    goto cleanup;
  }
  TRY(refuse_newer_schema(m));
  for (size_t i = 0; i < ARRAY_LEN(files); i++) TRY(apply_file(m, &files[i]));
  TRY(ensure_partitions(m));
  result = db_session_script(m->session, "commit");
  if (result != RESULT_OK) keep_database_error(m, "commit");

cleanup:
  return result;
}

int migrate_command(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  (void)argv;
  if (argc > 0) {
    (void)fprintf(stderr, "usage: scheduler migrate\n");
    return EXIT_USAGE;
  }
  const struct scheduler_conf *conf = config;
  struct migration m = {.signature = signature_new()};
  enum result result = db_session_open(&conf->daemon.database, "scheduler-migrate", NULL, &m.session, m.why);
  if (result == RESULT_OK) result = migrate(&m);
  if (result == RESULT_OK) {
    (void)printf("%zu files applied, the schema is up to date\n", m.applied);
  } else {
    (void)fprintf(stderr, "scheduler: migrate: %s\n", m.why[0] != '\0' ? m.why : result_text(result));
  }
  db_session_close(m.session);
  signature_free(m.signature);
  return result == RESULT_OK ? EXIT_OK : result == RESULT_UNAVAILABLE ? EXIT_UNAVAILABLE : EXIT_DATA;
}
