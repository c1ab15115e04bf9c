// SPDX-License-Identifier: Apache-2.0
// The statements of the reconciler: their arguments and their rows. Fill functions return the statement; texts of rows
// live as long as the rows. Owner: the caller, who runs them on a session (commands) or the pool (serve).
#pragma once

#include "common/db.h"
#include "reconciler/finding.h"

// --- a run of the audit
struct audit_run_row {
  int64_t run_id, reached;
  struct wall_time from, until;
  bool is_resumed, has_unfinished;
};
struct audit_activity_row {
  int64_t id;
  const char *code;
  bool is_in_scope;
};
struct fault_row {  // what one audit saw in one activity
  const char *subject, *expected, *actual;
  bool has_claim;
  int64_t claim_id;
};
const struct db_statement *store_audit_list(struct db_args *args);
// date and code: NULL where the mode has none.
const struct db_statement *store_audit_begin(struct db_args *args, const char *mode, const char *date, const char *code,
                                             bool resume, const char *zone);
// Lists of definitions: source NULL: any; after "": from the first.
const struct db_statement *store_audit_definition_list(struct db_args *args, const char *source, const char *after,
                                                       int64_t limit);
struct audit_run_row store_audit_run_row(const struct db_rows *rows);
const struct db_statement *store_audit_activities(struct db_args *args, int64_t run_id, int64_t after, int64_t limit);
struct audit_activity_row store_audit_activity_row(const struct db_rows *rows, size_t row);
// The audits that have to be run, one per row; the others have no row in this activity. A row whose first column is
// null has what store_audit_keep wants. is_whole: nothing of what was kept is used.
const struct db_statement *store_audit_screen(struct db_args *args, int64_t activity_id, bool is_whole);
const struct db_statement *store_audit_keep(struct db_args *args, int64_t activity_id, const char *to_keep);
const struct db_statement *store_audit_run(struct db_args *args, const char *name, int64_t activity_id, int64_t limit);
struct fault_row store_fault_row(const struct db_rows *rows, size_t row);
// kinds: the audits that ran to their end; findings: key, kind, claim, expected and actual are sent.
const struct db_statement *store_audit_record(struct db_args *args, int64_t run_id, int64_t activity_id,
                                              const char *const *kinds, size_t kind_count, int64_t failed,
                                              const struct finding_set *findings);
const struct db_statement *store_audit_recorded(struct db_args *args, int64_t run_id);
// RESULT_UNEXPECTED: the database holds a word that this program does not know.
MUST_CHECK enum result store_finding_row(const struct db_rows *rows, size_t row, struct finding *out_finding);
const struct db_statement *store_audit_end(struct db_args *args, int64_t run_id, int64_t findings);
const struct db_statement *store_audit_runs(struct db_args *args, int64_t after,
                                            int64_t limit);  // after 0: from the newest

// --- lists: the first column is where the next page begins, the second the item as JSON; shows: one column, the item
// as JSON
struct finding_filter {
  const char *state, *kind, *severity, *activity_code, *provider, *source;
};  // NULL: any (state: all but gone)
#define FINDING_STATES  "opened|open|gone|all"
#define FINDING_SORTS   "key|severity|openedAt|-openedAt"
#define FINDING_SOURCES "audit|statement"
#define SEVERITIES      "critical|high|medium"
// sort: one of FINDING_SORTS; after: the place of the last one seen, "" to begin.
const struct db_statement *store_finding_list(struct db_args *args, const struct finding_filter *f, const char *sort,
                                              const char *after, int64_t limit);
const struct db_statement *store_finding_show(struct db_args *args, const char *key);

#define FINGERPRINT_CHARS_MAX 400
struct dead_letter_filter {
  const char *provider, *cause, *activity_code, *fingerprint;
};  // NULL: any
const struct db_statement *store_dead_letter_list(struct db_args *args, const char *state,
                                                  const struct dead_letter_filter *f, int64_t after, int64_t limit);
// The order and the place of the last one seen are texts: see sql/functions/dead_letter_sorted.sql.
const struct db_statement *store_dead_letter_sorted(struct db_args *args, const char *sort, const char *state,
                                                    const struct dead_letter_filter *f, const char *after,
                                                    int64_t limit);
// after: how many groups have been seen.
const struct db_statement *store_dead_letter_groups(struct db_args *args, const char *state,
                                                    const struct dead_letter_filter *f, int64_t after, int64_t limit);
const struct db_statement *store_dead_letter_show(struct db_args *args, int64_t id);

struct claim_ref {
  int64_t activity_id, number;
};
const struct db_statement *store_dead_letter_of_claim(struct db_args *args, struct claim_ref claim);
int64_t store_letter_of_claim(const struct db_rows *rows);  // its newest; 0: it has none

// --- now
const struct db_statement *store_activity_sample(struct db_args *args);
const struct db_statement *store_now(struct db_args *args, int64_t limit);  // one column, the document

// --- metrics
struct figure_row {
  const char *figure, *label;
  int64_t amount;
};
const struct db_statement *store_figures(struct db_args *args);
struct figure_row store_figure_row(const struct db_rows *rows, size_t row);
