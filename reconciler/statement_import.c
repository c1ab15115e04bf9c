// SPDX-License-Identifier: Apache-2.0
// Imports a statement: lines go to the database in batches while the file is read, all in one transaction.
// Owner: the command, or a worker's thread; blocking.
#include "reconciler/statement_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/signature.h"
#include "reconciler/statement_read.h"
#include "reconciler/store_statement.h"

#define PIECE_BYTES (256 * 1024)

struct importing {
  const struct statement_job *job;
  struct db_session *session;
  struct statement_profile profile;
  struct statement_reader *reader;
  struct statement_batch batch;
  struct signature *signature;
  uint8_t checksum[SIGNATURE_SHA256_BYTES];
  int64_t id, bytes;
  char *why;  // STATEMENT_IMPORT_WHY_BYTES
};

static enum result tell(struct importing *m, enum result result, const char *why)
{
  (void)snprintf(m->why, STATEMENT_IMPORT_WHY_BYTES, "%s", why);
  return result;
}

// What the database refuses is no fault of the file.
static enum result query(struct importing *m, const struct db_statement *statement, struct db_args *args,
                         struct db_rows **out_rows)
{
  enum result result = db_session_query(m->session, statement->sql, args, out_rows);
  db_args_release(args);
  if (result == RESULT_OK) return RESULT_OK;
  const struct db_error *e = db_session_error(m->session);
  bool is_missing = strcmp(e->sqlstate, "42883") == 0 || strcmp(e->sqlstate, "42P01") == 0;
  (void)snprintf(m->why, STATEMENT_IMPORT_WHY_BYTES, "%s%s", e->message,
                 is_missing ? "; was `scheduler migrate` run?" : "");
  return result == RESULT_INVALID ? RESULT_UNEXPECTED : result;
}

static struct db_args *fresh(struct db_args *args)
{
  db_args_init(args);
  return args;
}

static enum result script(struct importing *m, const char *sql)
{
  enum result result = db_session_script(m->session, sql);
  if (result == RESULT_OK) return RESULT_OK;
  return tell(m, result == RESULT_INVALID ? RESULT_UNEXPECTED : result, db_session_error(m->session)->message);
}

static enum result begin(struct importing *m)
{
  enum result result;
  struct db_args args;
  struct db_rows *rows = NULL;
  TRY(script(m, "begin"));
  TRY(query(m, store_statement_begin(fresh(&args), &m->profile, m->job->file, m->job->actor), &args, &rows));
  if (db_rows_is_null(rows, 0, 0))
    TRY(tell(m, RESULT_INVALID, "the database knows no zone of the profile's time_zone"));
  m->id = db_rows_i64(rows, 0, 0);
cleanup:
  db_rows_free(rows);
  return result;
}

static enum result flush(struct importing *m)
{
  struct db_args args;
  if (m->batch.count == 0) return RESULT_OK;
  enum result result = query(m, store_statement_lines_add(fresh(&args), m->id, &m->profile, &m->batch), &args, NULL);
  statement_batch_clear(&m->batch);
  return result;
}

static enum result on_line(void *ctx, const struct statement_line *line)
{
  struct importing *m = ctx;
  statement_batch_add(&m->batch, line);
  return statement_batch_is_full(&m->batch) ? flush(m) : RESULT_OK;
}

// The reader's word, if it has one: else the database has said why.
static enum result judge(struct importing *m, enum result result)
{
  const char *why = statement_reader_why(m->reader);
  return result != RESULT_OK && why[0] != '\0' ? tell(m, result, why) : result;
}

static enum result read_all(struct importing *m, char *piece)
{
  enum result result;
  size_t len = 0;
  for (;;) {
    result = m->job->read(m->job->ctx, piece, PIECE_BYTES, &len);
    if (result != RESULT_OK) return tell(m, result, "the file cannot be read");
    if (len == 0) break;
    m->bytes += (int64_t)len;
    if ((uint64_t)m->bytes > m->job->conf->statement_bytes_max)
      return tell(m, RESULT_TOO_BIG, "the file is larger than reconciler.statement_bytes_max");
    signature_sha256_add(m->signature, piece, len);
    result = judge(m, statement_reader_feed(m->reader, piece, len));
    if (result != RESULT_OK) return result;
  }
  TRY(judge(m, statement_reader_end(m->reader)));
  TRY(flush(m));
cleanup:
  return result;
}

static enum result close_statement(struct importing *m, struct statement_imported *out)
{
  enum result result;
  struct db_args args;
  struct db_rows *rows = NULL;
  struct statement_end end = {.id = m->id,
                              .bytes = m->bytes,
                              .findings_max = m->job->conf->audit.findings_max,
                              .date = m->job->date,
                              .checksum = m->checksum,
                              .actor = m->job->actor,
                              .reason = m->job->reason};
  TRY(query(m, store_statement_close(fresh(&args), &end), &args, &rows));
  if (strcmp(db_rows_text(rows, 0, 0), "no_date") == 0)
    TRY(tell(m, RESULT_INVALID, "no line says which date it is of: the date must be given"));
  *out = (struct statement_imported){db_rows_i64(rows, 0, 1), strcmp(db_rows_text(rows, 0, 0), "again") == 0};
  if (!out->is_again) {
    TRY(script(m, "commit"));
  } else {
    TRY(script(m, "rollback"));
    end.id = out->id;
    TRY(query(m, store_statement_reinstate(fresh(&args), &end), &args, NULL));
  }
cleanup:
  db_rows_free(rows);
  return result;
}

static enum result run(struct importing *m, struct statement_imported *out)
{
  enum result result;
  char *piece = mem_zalloc(PIECE_BYTES, 1);
  signature_sha256_begin(m->signature);
  TRY(begin(m));
  TRY(read_all(m, piece));
  signature_sha256_end(m->signature, m->checksum);
  TRY(close_statement(m, out));
cleanup:
  mem_free(piece);
  if (result != RESULT_OK) {
    enum result undone = db_session_script(m->session, "rollback");  // a lost session has done it by itself
    (void)undone;
  }
  return result;
}

enum result statement_import(const struct statement_job *job, struct db_session *session,
                             struct statement_imported *out_imported, char out_why[STATEMENT_IMPORT_WHY_BYTES])
{
  struct importing m = {.job = job, .session = session, .why = out_why};
  struct conf_fault fault = {.text = ""};
  struct statement_imported imported;
  const struct statement_conf *conf = statement_profile_find(&job->conf->statements, job->provider);
  if (conf == NULL) return tell(&m, RESULT_NOT_FOUND, "reconciler.statements has no profile of this provider");
  enum result result = statement_profile_compile(job->provider, conf, &m.profile, &fault);
  if (result != RESULT_OK) return tell(&m, RESULT_UNEXPECTED, fault.text);
  if (statement_reader_new(&m.profile, on_line, &m, &m.reader) != RESULT_OK)
    return tell(&m, RESULT_INVALID, "the profile's encoding is not known");
  statement_batch_init(&m.batch);
  m.signature = signature_new();
  result = run(&m, &imported);
  signature_free(m.signature);
  statement_batch_release(&m.batch);
  statement_reader_free(m.reader);
  if (result == RESULT_OK) *out_imported = imported;
  return result;
}
