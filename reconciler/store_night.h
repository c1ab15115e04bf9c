// SPDX-License-Identifier: Apache-2.0
// The statements about nights and their reports: their arguments and their rows. Fill functions return the statement;
// texts of rows live as long as the rows. Owner: the caller, who runs them on a session or the pool.
#pragma once

#include "common/db.h"
#include "reconciler/config.h"

#define NIGHT_DATE_BYTES 11  // "2026-11-29"

enum night_outcome {
  NIGHT_TAKEN,
  NIGHT_NONE,  // nothing is due
  NIGHT_BUSY,  // another is making it
  NIGHT_DONE,
  NIGHT_NOT_OVER,
  NIGHT_ZONE_UNKNOWN
};
struct night_take_row {
  enum night_outcome outcome;
  const char *date;
  int64_t token;
  bool is_resumed;
};
struct night_finish_row {
  const char *doc;
  size_t doc_len;
  int64_t findings, failed;
  bool is_unchanged;
};

const struct db_statement *store_night_due(struct db_args *args, const struct night_conf *conf);
// "due", "none", "zone_unknown".
const char *store_night_due_outcome(const struct db_rows *rows);
const struct db_statement *store_night_latest(struct db_args *args, const struct night_conf *conf);
// date NULL: what is due.
const struct db_statement *store_night_take(struct db_args *args, const struct night_conf *conf, const char *date,
                                            const char *holder, struct span lease, bool again);
// RESULT_UNEXPECTED: a word that this program does not know.
MUST_CHECK enum result store_night_take_row(const struct db_rows *rows, struct night_take_row *out_row);
const struct db_statement *store_night_extend(struct db_args *args, const char *date, int64_t token, struct span lease);
const struct db_statement *store_night_prepare(struct db_args *args, const char *date);
const struct db_statement *store_night_step(struct db_args *args, const char *date);
const struct db_statement *store_night_finish(struct db_args *args, const char *date, int64_t token, int64_t run_id);
struct night_finish_row store_night_finish_row(const struct db_rows *rows);
const struct db_statement *store_night_list(struct db_args *args, const char *after, int64_t limit);  // NULL: newest
const struct db_statement *store_night_show(struct db_args *args, const char *date);
// with NULL: the latest report before it. A row of outcome ("compared", "no_report", "no_other") and document.
const struct db_statement *store_night_compare(struct db_args *args, const char *date, const char *with);
