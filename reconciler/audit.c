// SPDX-License-Identifier: Apache-2.0
// One run of the audit: lists what the database declares, runs it activity by activity, records what was found.
// Owner: the command; blocking.
#include "reconciler/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "reconciler/store.h"

#define ACTIVITY_PAGE 200
#define AUDITS_MAX    256
#define KEY_BYTES_MAX 1024
#define TRIES_MAX     5  // of recording: two runs over the same activity may meet in a deadlock

struct run {
  struct db_session *session;
  const struct audit_conf *conf;
  const struct audit_request *request;
  struct audit_report *report;
  char *why;                // DB_WHY_BYTES
  char *names[AUDITS_MAX];  // the audits declared
  size_t name_count;
  int64_t run_id;
};

void audit_report_init(struct audit_report *report)
{
  *report = (struct audit_report){.run_id = 0};
  finding_set_init(&report->findings);
}

void audit_report_release(struct audit_report *report)
{
  for (size_t i = 0; i < report->failure_count; i++) {
    mem_free(report->failures[i].kind);
    mem_free(report->failures[i].activity_code);
    mem_free(report->failures[i].reason);
  }
  mem_free(report->failures);
  finding_set_release(&report->findings);
  audit_report_init(report);
}

static void add_failure(struct audit_report *report, const char *kind, const char *activity_code, const char *reason)
{
  report->failures = mem_resize(report->failures, report->failure_count + 1, sizeof *report->failures);
  report->failures[report->failure_count++] =
      (struct audit_failure){mem_strdup(kind), mem_strdup(activity_code), mem_strdup(reason)};
}

// Runs one statement; a failure leaves the server's words in why. P0002 and 55000 are raised by our own functions.
static enum result query(struct run *r, const struct db_statement *statement, const struct db_args *args,
                         struct db_rows **out_rows)
{
  enum result result = db_session_query(r->session, statement->sql, args, out_rows);
  if (result == RESULT_OK) return RESULT_OK;
  const struct db_error *e = db_session_error(r->session);
  bool is_missing =
      strcmp(e->sqlstate, "42P01") == 0 || strcmp(e->sqlstate, "42883") == 0 || strcmp(e->sqlstate, "3F000") == 0;
  (void)snprintf(r->why, DB_WHY_BYTES, "%s%s", e->message, is_missing ? "; was `scheduler migrate` run?" : "");
  if (strcmp(e->sqlstate, "P0002") == 0) return RESULT_NOT_FOUND;
  return strcmp(e->sqlstate, "55000") == 0 ? RESULT_CONFLICT : result;
}

static enum result script(struct run *r, const char *sql)
{
  enum result result = db_session_script(r->session, sql);
  if (result != RESULT_OK) (void)snprintf(r->why, DB_WHY_BYTES, "%s", db_session_error(r->session)->message);
  return result;
}

// --- beginning

static enum result read_names(struct run *r)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  enum result result = query(r, store_audit_list(&args), &args, &rows);
  for (size_t i = 0; result == RESULT_OK && i < db_rows_count(rows); i++) {
    if (r->name_count == AUDITS_MAX) {
      (void)snprintf(r->why, DB_WHY_BYTES, "the database declares more than %d audits", AUDITS_MAX);
      result = RESULT_TOO_BIG;
    } else {
      r->names[r->name_count++] = mem_strdup(db_rows_text(rows, i, 0));
    }
  }
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result keep_findings(struct run *r, const struct db_rows *rows)
{
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    struct finding f;
    if (store_finding_row(rows, i, &f) != RESULT_OK) {
      (void)snprintf(r->why, DB_WHY_BYTES, "a finding has a state or a severity that this program does not know");
      return RESULT_UNEXPECTED;
    }
    finding_set_add(&r->report->findings, &f);
  }
  return RESULT_OK;
}

static enum result read_recorded(struct run *r)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  enum result result = query(r, store_audit_recorded(&args, r->run_id), &args, &rows);
  if (result == RESULT_OK) result = keep_findings(r, rows);
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result begin(struct run *r, int64_t *out_reached)
{
  const struct audit_request *q = r->request;
  enum result result;
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  TRY(query(r, store_audit_begin(&args, q->mode, q->date, q->activity_code, q->resume, q->time_zone), &args, &rows));
  struct audit_run_row row = store_audit_run_row(rows);
  r->run_id = r->report->run_id = row.run_id;
  r->report->from = row.from;
  r->report->until = row.until;
  r->report->is_resumed = row.is_resumed;
  r->report->has_unfinished = row.has_unfinished;
  r->report->audits = (int64_t)r->name_count;
  if (row.is_resumed) TRY(read_recorded(r));
  *out_reached = row.reached;

cleanup:
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

// --- one activity

// Read committed: each audit has a snapshot of its own that ends with it. One pass over an activity sorts and hashes
// its users, which wants memory; compiling the plan of each small activity would cost more than running it.
static enum result begin_reading(struct run *r)
{
  char sql[192];
  (void)snprintf(sql, sizeof sql,
                 "begin isolation level read committed read only; set local jit = off; set local work_mem = '64MB'; "
                 "set local statement_timeout = %" PRId64,
                 span_to_ms(r->conf->statement_timeout));
  return script(r, sql);
}

static void add_fault(struct finding_set *set, const char *kind, int64_t activity_id, const struct fault_row *fault)
{
  struct buf key;
  buf_init(&key, KEY_BYTES_MAX);
  finding_key(kind, activity_id, fault->subject, &key);
  struct finding f = {
      .key = key.data,
      .kind = (char *)(uintptr_t)kind,
      .activity_id = activity_id,
      .activity_code = (char *)(uintptr_t) "",
      .has_claim = fault->has_claim,
      .claim_id = fault->claim_id,
      .expected = (char *)(uintptr_t)fault->expected,
      .actual = (char *)(uintptr_t)fault->actual,
      .cause = (char *)(uintptr_t) "",
      .next_step = (char *)(uintptr_t) "",
  };
  finding_set_add(set, &f);
  buf_release(&key);
}

static void mark_needed(const struct run *r, const struct db_rows *rows, bool *is_needed, char **out_to_keep)
{
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    if (db_rows_is_null(rows, row, 0)) {
      *out_to_keep = mem_strdup(db_rows_text(rows, row, 1));
      continue;
    }
    for (size_t i = 0; i < r->name_count; i++)
      if (strcmp(r->names[i], db_rows_text(rows, row, 0)) == 0) is_needed[i] = true;
  }
}

// One pass over the claims says which audits cannot have a row here: is_needed of each; *out_to_keep: what of it is to
// be kept for the next time, or NULL; the caller's. When it fails all are run.
static enum result screen(struct run *r, const struct audit_activity_row *activity, bool *is_needed, char **out_to_keep)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_whole = strcmp(r->request->mode, "all") == 0;
  enum result result = query(r, store_audit_screen(&args, activity->id, is_whole), &args, &rows);
  bool is_told = result == RESULT_OK;
  for (size_t i = 0; i < r->name_count; i++) is_needed[i] = !is_told;
  if (is_told) mark_needed(r, rows, is_needed, out_to_keep);
  db_rows_free(rows);
  db_args_release(&args);
  if (is_told || result == RESULT_UNAVAILABLE || result == RESULT_DENIED) return result;
  result = script(r, "rollback");
  return result == RESULT_OK ? begin_reading(r) : result;
}

static enum result keep(struct run *r, const struct audit_activity_row *activity, const char *to_keep)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  if (to_keep == NULL) return RESULT_OK;
  db_args_init(&args);
  enum result result = query(r, store_audit_keep(&args, activity->id, to_keep), &args, &rows);
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

// RESULT_TOO_BIG: there are more faults than are recorded. RESULT_TIMEOUT, RESULT_INVALID: this audit failed, others
// may work.
static enum result run_audit(struct run *r, const char *name, const struct audit_activity_row *activity,
                             struct finding_set *set)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t limit = r->conf->findings_max;
  db_args_init(&args);
  enum result result = query(r, store_audit_run(&args, name, activity->id, limit + 1), &args, &rows);
  if (result == RESULT_OK) {
    size_t count = db_rows_count(rows);
    if (count > (size_t)limit) {
      count = (size_t)limit;
      result = RESULT_TOO_BIG;
    }
    for (size_t i = 0; i < count; i++) {
      struct fault_row fault = store_fault_row(rows, i);
      add_fault(set, name, activity->id, &fault);
    }
  }
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

// Whether the run can go on after this audit failed; if so the failure is in the report.
static bool is_survived(struct run *r, enum result result, const char *name, const struct audit_activity_row *activity)
{
  if (result == RESULT_TOO_BIG) {
    char reason[96];
    (void)snprintf(reason, sizeof reason, "more than %" PRId64 " findings; the rest is not listed",
                   r->conf->findings_max);
    add_failure(r->report, name, activity->code, reason);
    return true;
  }
  if (result == RESULT_UNAVAILABLE || result == RESULT_DENIED) return false;
  add_failure(r->report, name, activity->code, r->why);
  return script(r, "rollback") == RESULT_OK && begin_reading(r) == RESULT_OK;
}

static enum result record(struct run *r, const struct audit_activity_row *activity, const char *const *kinds,
                          size_t kind_count, const struct finding_set *found)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  const struct db_statement *statement = store_audit_record(&args, r->run_id, activity->id, kinds, kind_count,
                                                            (int64_t)(r->name_count - kind_count), found);
  enum result result = RESULT_CONFLICT;
  for (int tries = 0; result == RESULT_CONFLICT && tries < TRIES_MAX; tries++)
    result = query(r, statement, &args, &rows);
  if (result == RESULT_OK) result = keep_findings(r, rows);
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result go_on(struct run *r)
{
  if (r->request->may_go_on == NULL || r->request->may_go_on(r->request->ctx)) return RESULT_OK;
  (void)snprintf(r->why, DB_WHY_BYTES, "the run was left, to be gone on with");
  return RESULT_CONFLICT;
}

static enum result audit_activity(struct run *r, const struct audit_activity_row *activity)
{
  enum result result;
  bool is_needed[AUDITS_MAX];
  char *to_keep = NULL;
  const char *seen_whole[AUDITS_MAX];
  size_t seen_count = 0;
  struct finding_set found;
  finding_set_init(&found);
  TRY(begin_reading(r));
  TRY(screen(r, activity, is_needed, &to_keep));
  for (size_t i = 0; i < r->name_count; i++) {
    TRY(go_on(r));
    result = !is_needed[i] ? RESULT_OK : run_audit(r, r->names[i], activity, &found);
    if (result == RESULT_OK) {
      seen_whole[seen_count++] = r->names[i];
      continue;
    }
    TRY(go_on(r));  // its own end is no failure of the audit
    if (!is_survived(r, result, r->names[i], activity)) goto cleanup;
  }
  TRY(script(r, "commit"));
  TRY(record(r, activity, seen_whole, seen_count, &found));
  TRY(keep(r, activity, to_keep));

cleanup:
  mem_free(to_keep);
  finding_set_release(&found);
  return result;
}

// --- all of them

// *io_after moves to the last activity of the page; *out_more: there may be further ones.
static enum result audit_page(struct run *r, int64_t *io_after, bool *out_more)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  enum result result = query(r, store_audit_activities(&args, r->run_id, *io_after, ACTIVITY_PAGE), &args, &rows);
  for (size_t i = 0; result == RESULT_OK && i < db_rows_count(rows); i++) {
    struct audit_activity_row activity = store_audit_activity_row(rows, i);
    if (activity.is_in_scope) result = audit_activity(r, &activity);
    if (result == RESULT_OK) *io_after = activity.id;
  }
  if (result == RESULT_OK) *out_more = db_rows_count(rows) == ACTIVITY_PAGE;
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result end(struct run *r)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  struct finding_counts counts = finding_set_count(&r->report->findings);
  db_args_init(&args);
  enum result result = query(r, store_audit_end(&args, r->run_id, (int64_t)counts.live), &args, &rows);
  if (result == RESULT_OK && db_rows_count(rows) > 0) {
    r->report->activities = db_rows_i64(rows, 0, 0);
    r->report->failed = db_rows_i64(rows, 0, 1);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

enum result audit_run(struct db_session *session, const struct audit_conf *conf, const struct audit_request *request,
                      struct audit_report *out_report, char out_why[DB_WHY_BYTES])
{
  enum result result;
  struct audit_report report;
  struct run r = {.session = session, .conf = conf, .request = request, .report = &report, .why = out_why};
  int64_t after = 0;
  bool is_more = true;
  audit_report_init(&report);
  TRY(read_names(&r));
  TRY(begin(&r, &after));
  while (is_more) TRY(audit_page(&r, &after, &is_more));
  TRY(end(&r));
  finding_set_sort(&report.findings);
  *out_report = report;

cleanup:
  if (result != RESULT_OK) audit_report_release(&report);
  for (size_t i = 0; i < r.name_count; i++) mem_free(r.names[i]);
  return result;
}
