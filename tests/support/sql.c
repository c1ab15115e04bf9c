// SPDX-License-Identifier: Apache-2.0
// Blocking libpq for test programs; see sql.h.
#include "tests/support/sql.h"

#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/support/support.h"

#define TABLE_BYTES_MAX (512u * 1024 * 1024)
#define FILE_BYTES_MAX  (1024u * 1024)

struct sql {
  PGconn *conn;
  char state[6];  // of the last sql_try
};

static void ignore_notice(void *arg, const char *message)
{
  (void)arg;
  (void)message;
}

struct sql *sql_open(const char *conninfo)
{
  struct waiting w = waiting_start(90);
  PGconn *conn = PQconnectdb(conninfo);
  while (PQstatus(conn) != CONNECTION_OK) {
    if (!waiting_more(&w)) support_die("database %s: %s", conninfo, PQerrorMessage(conn));
    PQfinish(conn);
    conn = PQconnectdb(conninfo);
  }
  (void)PQsetNoticeProcessor(conn, ignore_notice, NULL);
  struct sql *s = MEM_NEW(struct sql);
  s->conn = conn;
  return s;
}

void sql_close(struct sql *s)
{
  if (s == NULL) return;
  PQfinish(s->conn);
  mem_free(s);
}

static PGresult *run(struct sql *s, const char *format, va_list args)
{
  char *query = NULL;
  if (vasprintf(&query, format, args) < 0) support_die("out of memory");
  PGresult *result = PQexec(s->conn, query);
  ExecStatusType status = PQresultStatus(result);
  (void)snprintf(
      s->state, sizeof s->state, "%s",
      PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : "");
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    if (s->state[0] == '\0') (void)snprintf(s->state, sizeof s->state, "08006");
  }
  free(query);
  return result;
}

// run, and the end of the program on an error.
static PGresult *run_or_die(struct sql *s, const char *format, va_list args)
{
  PGresult *result = run(s, format, args);
  if (s->state[0] != '\0') support_die("%sin: %s", PQerrorMessage(s->conn), format);
  return result;
}

void sql_exec(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  PQclear(run_or_die(s, format, args));
  va_end(args);
}

const char *sql_try(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  PQclear(run(s, format, args));
  va_end(args);
  return s->state;
}

const char *sql_error(struct sql *s) { return PQerrorMessage(s->conn); }

void sql_file(struct sql *s, const char *path)
{
  char *root = support_root();
  char *full = support_format("%s/%s", root, path);
  struct buf text;
  buf_init(&text, FILE_BYTES_MAX);
  FILE *f = fopen(full, "r");
  if (f == NULL) support_die("cannot read %s", full);
  for (int c; (c = fgetc(f)) != EOF;) buf_putc(&text, (char)c);
  (void)fclose(f);
  sql_exec(s, "%s", buf_text(&text));
  buf_release(&text);
  mem_free(full);
  mem_free(root);
}

static char *only_field(struct sql *s, const char *format, va_list args)
{
  PGresult *result = run_or_die(s, format, args);
  if (PQntuples(result) > 1) support_die("one row expected, %d came: %s", PQntuples(result), format);
  char *text = PQntuples(result) == 0 ? NULL : mem_strdup(PQgetvalue(result, 0, 0));
  PQclear(result);
  return text;
}

char *sql_text(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = only_field(s, format, args);
  va_end(args);
  return text;
}

int64_t sql_int(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = only_field(s, format, args);
  va_end(args);
  int64_t value = 0;
  if (text == NULL) support_die("no row: %s", format);
  if (*text != '\0' && text_to_i64(text, strlen(text), &value) != RESULT_OK)
    support_die("not an integer: \"%s\" from %s", text, format);
  mem_free(text);
  return value;
}

bool sql_bool(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = only_field(s, format, args);
  va_end(args);
  if (text == NULL) support_die("no row: %s", format);
  bool value = strcmp(text, "t") == 0;
  mem_free(text);
  return value;
}

char *sql_table(struct sql *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  PGresult *result = run_or_die(s, format, args);
  va_end(args);
  struct buf out;
  buf_init(&out, TABLE_BYTES_MAX);
  for (int row = 0; row < PQntuples(result); row++)
    for (int column = 0; column < PQnfields(result); column++) {
      buf_puts(&out, PQgetvalue(result, row, column));
      buf_putc(&out, column + 1 < PQnfields(result) ? '|' : '\n');
    }
  PQclear(result);
  return buf_take(&out);
}

char *sql_quote(struct sql *s, const char *text)
{
  char *quoted = PQescapeLiteral(s->conn, text, strlen(text));
  if (quoted == NULL) support_die("%s", PQerrorMessage(s->conn));
  char *copy = mem_strdup(quoted);
  PQfreemem(quoted);
  return copy;
}
