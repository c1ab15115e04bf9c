// SPDX-License-Identifier: Apache-2.0
// Makes the report of one night. Two sessions: one that reads, whose statements may be long, and one that keeps the
// night meanwhile and writes its end. Owner: the command, or the worker's thread; blocking.
#include "reconciler/night.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"
#include "reconciler/audit.h"
#include "reconciler/cli.h"
#include "reconciler/statement_fetch.h"

#define APPLICATION   "largesse-reconciler-night"
#define DOC_BYTES_MAX (256u * 1024u * 1024u)

struct making {
  const struct night_job *job;
  struct db_session *reader, *keeper;
  struct night_made *made;
  int64_t token, run_id;
  struct mono_time kept_at;
  char *why;  // DB_WHY_BYTES
};

// --- stopping

void night_stop_init(struct night_stop *stop) { REQUIRE(pthread_mutex_init(&stop->lock, NULL) == 0); }
void night_stop_release(struct night_stop *stop) { pthread_mutex_destroy(&stop->lock); }

void night_stop_now(struct night_stop *stop)
{
  pthread_mutex_lock(&stop->lock);
  stop->wanted = true;
  if (stop->session != NULL) db_session_cancel(stop->session);
  pthread_mutex_unlock(&stop->lock);
}

static bool is_stopped(const struct making *m)
{
  struct night_stop *stop = m->job->stop;
  if (stop == NULL) return false;
  pthread_mutex_lock(&stop->lock);
  bool wanted = stop->wanted;
  pthread_mutex_unlock(&stop->lock);
  return wanted;
}

static void tell_session(const struct making *m, struct db_session *session)
{
  struct night_stop *stop = m->job->stop;
  if (stop == NULL) return;
  pthread_mutex_lock(&stop->lock);
  stop->session = session;
  pthread_mutex_unlock(&stop->lock);
}

// --- statements

static enum result query(struct making *m, struct db_session *session, const struct db_statement *statement,
                         struct db_args *args, struct db_rows **out_rows)
{
  enum result result = db_session_query(session, statement->sql, args, out_rows);
  db_args_release(args);
  if (result == RESULT_OK) return RESULT_OK;
  const struct db_error *e = db_session_error(session);
  bool is_missing = strcmp(e->sqlstate, "42883") == 0 || strcmp(e->sqlstate, "42P01") == 0;
  (void)snprintf(m->why, DB_WHY_BYTES, "%s%s", e->message, is_missing ? "; was `scheduler migrate` run?" : "");
  return result;
}

static struct db_args *fresh(struct db_args *args)
{
  db_args_init(args);
  return args;
}

static struct span lease_of(const struct reconciler_conf *conf)
{
  return span_us(conf->night.lease.us + conf->audit.statement_timeout.us);
}

static enum result keep(struct making *m, struct span lease)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  const struct db_statement *statement = store_night_extend(fresh(&args), m->made->date, m->token, lease);
  enum result result = query(m, m->keeper, statement, &args, &rows);
  if (result == RESULT_OK && !db_rows_bool(rows, 0, 0)) {
    (void)snprintf(m->why, DB_WHY_BYTES, "another reconciler goes on with the night");
    result = RESULT_CONFLICT;
  }
  db_rows_free(rows);
  m->kept_at = clk_mono();
  return result;
}

static enum result go_on(struct making *m)
{
  struct span lease = lease_of(m->job->conf);
  if (is_stopped(m)) {
    (void)snprintf(m->why, DB_WHY_BYTES, "stopped");
    return RESULT_CONFLICT;
  }
  // Whatever comes next may take as long as one audit: the night is kept for that and the lease beyond it.
  if (mono_since(clk_mono(), m->kept_at).us < m->job->conf->night.lease.us / 3) return RESULT_OK;
  return keep(m, lease);
}

static bool may_go_on(void *ctx) { return go_on(ctx) == RESULT_OK; }

// --- the steps

static enum result take(struct making *m)
{
  enum result result;
  struct db_args args;
  struct db_rows *rows = NULL;
  struct night_take_row row;
  const struct night_job *job = m->job;
  const struct db_statement *statement =
      store_night_take(fresh(&args), &job->conf->night, job->date, job->holder, lease_of(job->conf), job->again);
  TRY(query(m, m->keeper, statement, &args, &rows));
  TRY(store_night_take_row(rows, &row));
  m->made->outcome = row.outcome;
  m->made->is_resumed = row.is_resumed;
  m->token = row.token;
  m->kept_at = clk_mono();
  (void)snprintf(m->made->date, sizeof m->made->date, "%s", row.date);

cleanup:
  db_rows_free(rows);
  return result;
}

// What cannot be fetched or matched is written down and told in the moment; it does not keep the night from its report.
static void fetch_statements(struct making *m)
{
  char *why = m->made->statements_why;
  const struct statement_fetch_job job = {.conf = m->job->conf, .session = m->reader, .may_go_on = may_go_on, .ctx = m};
  enum result result = statement_fetch_due(&job, why);
  if (result != RESULT_OK && why[0] == '\0') (void)snprintf(why, STATEMENT_IMPORT_WHY_BYTES, "%s", result_text(result));
}

static enum result audit(struct making *m)
{
  struct audit_report report;
  struct audit_request request = {.mode = "night",
                                  .date = m->made->date,
                                  .time_zone = m->job->conf->night.time_zone,
                                  .resume = true,
                                  .may_go_on = may_go_on,
                                  .ctx = m};
  enum result result = audit_run(m->reader, &m->job->conf->audit, &request, &report, m->why);
  if (result != RESULT_OK) return result;
  m->run_id = report.run_id;
  audit_report_release(&report);
  return RESULT_OK;
}

static enum result step(struct making *m, bool *out_more)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  enum result result = query(m, m->reader, store_night_step(fresh(&args), m->made->date), &args, &rows);
  if (result == RESULT_OK) *out_more = db_rows_bool(rows, 0, 0);
  db_rows_free(rows);
  return result;
}

static enum result make_figures(struct making *m)
{
  enum result result;
  struct db_args args;
  bool is_more = true;
  TRY(query(m, m->reader, store_night_prepare(fresh(&args), m->made->date), &args, NULL));
  while (is_more) {
    TRY(go_on(m));
    TRY(step(m, &is_more));
  }

cleanup:
  return result;
}

static enum result finish(struct making *m)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  const struct db_statement *statement = store_night_finish(fresh(&args), m->made->date, m->token, m->run_id);
  enum result result = query(m, m->keeper, statement, &args, &rows);
  if (result == RESULT_OK && db_rows_count(rows) == 0) {
    (void)snprintf(m->why, DB_WHY_BYTES, "another reconciler goes on with the night");
    result = RESULT_CONFLICT;
  }
  if (result == RESULT_OK) {
    struct night_finish_row row = store_night_finish_row(rows);
    m->made->findings = row.findings;
    m->made->failed = row.failed;
    m->made->is_unchanged = row.is_unchanged;
    buf_append(&m->made->doc, row.doc, row.doc_len);
  }
  db_rows_free(rows);
  return result;
}

static enum result make_taken(struct making *m)
{
  enum result result;
  TRY(db_session_open(&m->job->conf->daemon.database, APPLICATION, RECONCILER_ROLE, &m->reader, m->why));
  tell_session(m, m->reader);
  fetch_statements(m);
  TRY(audit(m));
  TRY(make_figures(m));
  TRY(keep(m, lease_of(m->job->conf)));
  TRY(finish(m));

cleanup:
  tell_session(m, NULL);
  db_session_close(m->reader);
  return result;
}

// Left at once, so that nobody has to wait for the lease. The first reason is the one that is told.
static void leave(struct making *m)
{
  char why[DB_WHY_BYTES], *told = m->why;
  m->why = why;
  enum result result = keep(m, span_us(0));
  (void)result;
  m->why = told;
}

enum result night_make(const struct night_job *job, struct night_made *out_made, char out_why[DB_WHY_BYTES])
{
  enum result result;
  struct night_made made;
  struct making m = {.job = job, .made = &made, .why = out_why};
  night_made_init(&made);
  TRY(db_session_open(&job->conf->daemon.database, APPLICATION, RECONCILER_ROLE, &m.keeper, out_why));
  TRY(take(&m));
  if (made.outcome == NIGHT_TAKEN) {
    result = make_taken(&m);
    if (result != RESULT_OK) leave(&m);
  }

cleanup:
  db_session_close(m.keeper);
  if (result == RESULT_OK)
    *out_made = made;
  else
    night_made_release(&made);
  return result;
}

void night_made_init(struct night_made *made)
{
  *made = (struct night_made){.outcome = NIGHT_NONE};
  buf_init(&made->doc, DOC_BYTES_MAX);
}

void night_made_release(struct night_made *made) { buf_release(&made->doc); }

void night_holder(char out_holder[NIGHT_HOLDER_BYTES])
{
  char host[48] = "";
  (void)gethostname(host, sizeof host - 1);
  (void)snprintf(out_holder, NIGHT_HOLDER_BYTES, "%s:%d:%" PRIx64, host, (int)getpid(), (uint64_t)clk_wall().us);
}
