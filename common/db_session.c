// SPDX-License-Identifier: Apache-2.0
// A blocking session for commands: scripts and single statements, with what the server said kept until the next call.
// Owner: the command that opened it; one thread (db_session_cancel: any).
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/db_internal.h"
#include "common/mem.h"

struct db_session {
  PGconn *pg;
  PGresult *failed;  // the strings of `error` live in it
  struct db_error error;
};

static void ignore_notice(void *ctx, const PGresult *notice) { (void)ctx, (void)notice; }

static PGconn *connect_blocking(const struct db_conf *conf, const char *application_name, const char *role)
{
  struct db_params params;
  db_params_init(&params, conf, application_name, role);
  char seconds[24];
  snprintf(seconds, sizeof seconds, "%lld", (long long)((conf->connect_timeout.us + 999999) / 1000000));
  if (conf->connect_timeout.us > 0) db_params_add(&params, "connect_timeout", seconds);
  PGconn *pg = PQconnectdbParams(params.keywords, params.values, 1);
  db_params_release(&params);
  ENSURE(pg != NULL);
  return pg;
}

static void copy_line(char out_why[DB_WHY_BYTES], const char *message)
{
  snprintf(out_why, DB_WHY_BYTES, "%s", message);
  size_t len = strlen(out_why);
  while (len > 0 && out_why[len - 1] == '\n') out_why[--len] = '\0';
  for (size_t i = 0; i < len; i++) {
    if (out_why[i] == '\n') out_why[i] = ' ';
  }
}

enum result db_session_open(const struct db_conf *conf, const char *application_name, const char *role,
                            struct db_session **out_session, char out_why[DB_WHY_BYTES])
{
  PGconn *pg = connect_blocking(conf, application_name, role);
  if (PQstatus(pg) != CONNECTION_OK) {
    copy_line(out_why, PQerrorMessage(pg));
    PQfinish(pg);
    return RESULT_UNAVAILABLE;
  }
  PQsetNoticeReceiver(pg, ignore_notice, NULL);
  struct db_session *s = MEM_NEW(struct db_session);
  s->pg = pg;
  s->error = db_error_of(NULL, DB_FAILED_NOT_SENT);
  *out_session = s;
  return RESULT_OK;
}

void db_session_close(struct db_session *s)
{
  if (s == NULL) return;
  PQclear(s->failed);
  PQfinish(s->pg);
  mem_free(s);
}

static enum result failure_of(const struct db_session *s)
{
  if (PQstatus(s->pg) != CONNECTION_OK) return RESULT_UNAVAILABLE;
  if (strncmp(s->error.sqlstate, "40", 2) == 0) return RESULT_CONFLICT;
  return strcmp(s->error.sqlstate, "42501") == 0 ? RESULT_DENIED : RESULT_INVALID;
}

// Takes over a result; on failure it is kept for db_session_error.
static enum result judge(struct db_session *s, PGresult *result, PGresult **out_result)
{
  PQclear(s->failed);
  s->failed = NULL;
  s->error = db_error_of(NULL, DB_FAILED_STATEMENT);
  ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
    *out_result = result;
    return RESULT_OK;
  }
  s->failed = result;
  bool is_known = result != NULL && !db_error_ended_session(result);
  s->error = db_error_of(result, is_known ? DB_FAILED_STATEMENT : DB_FAILED_UNKNOWN);
  if (s->error.message[0] == '\0') s->error.message = PQerrorMessage(s->pg);
  return failure_of(s);
}

enum result db_session_script(struct db_session *s, const char *sql)
{
  PGresult *result_of_sql = NULL;
  enum result result = judge(s, PQexec(s->pg, sql), &result_of_sql);
  PQclear(result_of_sql);
  return result;
}

enum result db_session_query(struct db_session *s, const char *sql, const struct db_args *args,
                             struct db_rows **out_rows)
{
  struct db_wire_args wire = {.count = 0};
  if (args != NULL && buf_result(&args->bytes) != RESULT_OK) return RESULT_TOO_BIG;
  if (args != NULL) db_args_to_wire(args, &wire);
  PGresult *rows = NULL;
  enum result result =
      judge(s, PQexecParams(s->pg, sql, wire.count, NULL, wire.values, wire.lengths, wire.formats, 1), &rows);
  if (result != RESULT_OK) return result;
  if (out_rows == NULL) {
    PQclear(rows);
    return RESULT_OK;
  }
  *out_rows = MEM_NEW(struct db_rows);
  (*out_rows)->result = rows;
  return RESULT_OK;
}

void db_session_cancel(struct db_session *s)
{
  char why[256];
  PGcancel *cancel = PQgetCancel(s->pg);
  if (cancel == NULL) return;
  (void)PQcancel(cancel, why, sizeof why);
  PQfreeCancel(cancel);
}

const struct db_error *db_session_error(const struct db_session *s) { return &s->error; }
