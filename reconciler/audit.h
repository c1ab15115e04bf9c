// SPDX-License-Identifier: Apache-2.0
// One run of the audit: asks the database which audits it declares, runs each read only and with a time limit, one
// short statement per activity, and records what they found activity by activity, so that an interrupted run can go on.
// Owner: the command; blocking.
#pragma once

#include "common/db.h"
#include "reconciler/config.h"
#include "reconciler/finding.h"

struct audit_request {
  const char *mode;           // "recent", "date", "night" (a date for its report), "all"
  const char *date;           // "2026-11-29" with mode date and night; else NULL
  const char *time_zone;      // of the date
  const char *activity_code;  // only this one; NULL: all that the mode selects
  bool resume;                // go on with the newest run of the same kind that has no end, if there is one
  // Asked before each audit of an activity; false ends this with RESULT_CONFLICT, for somebody to go on. NULL: true.
  bool (*may_go_on)(void *ctx);
  void *ctx;
};

// An audit of an activity that could not be run to its end, or that found more than is recorded.
struct audit_failure {
  char *kind, *activity_code, *reason;
};
struct audit_report {
  struct wall_time from, until;
  int64_t run_id, activities, audits;
  int64_t failed;  // over the whole run, also before it was interrupted
  bool is_resumed, has_unfinished;
  struct finding_set findings;
  struct audit_failure *failures;  // of this process
  size_t failure_count;
};

// RESULT_NOT_FOUND: no such activity; RESULT_CONFLICT: another process goes on with this run; else as db_session_query.
// One line in out_why.
MUST_CHECK enum result audit_run(struct db_session *session, const struct audit_conf *conf,
                                 const struct audit_request *request, struct audit_report *out_report,
                                 char out_why[DB_WHY_BYTES]);
void audit_report_init(struct audit_report *report);
void audit_report_release(struct audit_report *report);
