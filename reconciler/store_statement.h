// SPDX-License-Identifier: Apache-2.0
// The statements (of SQL) about statements (of providers): their arguments and their rows. Fill functions return the
// statement; texts of rows live as long as the rows. Owner: the caller, who runs them on a session or the pool.
#pragma once

#include "common/db.h"
#include "common/signature.h"
#include "reconciler/statement_profile.h"

#define STATEMENT_BATCH_LINES 4000

// What lists of lines can be asked for: everything a line may have come to, and finding for all that are findings.
#define STATEMENT_OUTCOMES                                                                              \
  "finding|matched|ignored|not_yet_due|missing_here|missing_at_provider|amount_differs|duplicate_line|" \
  "duplicate_effect|reversed|status_differs"

// Lines on their way to the database, column by column.
struct statement_batch {
  struct statement_line *lines;
  struct buf texts;  // of their ids
  size_t count;
};
void statement_batch_init(struct statement_batch *b);
void statement_batch_release(struct statement_batch *b);
void statement_batch_add(struct statement_batch *b, const struct statement_line *line);  // copies its texts
bool statement_batch_is_full(const struct statement_batch *b);
void statement_batch_clear(struct statement_batch *b);

const struct db_statement *store_statement_begin(struct db_args *args, const struct statement_profile *p,
                                                 const char *file, const char *actor);
const struct db_statement *store_statement_lines_add(struct db_args *args, int64_t id,
                                                     const struct statement_profile *p,
                                                     const struct statement_batch *b);
struct statement_end {
  int64_t id, bytes, findings_max;
  const char *date;  // NULL: by its lines
  const uint8_t *checksum;
  const char *actor, *reason;  // reason NULL: none
};
const struct db_statement *store_statement_close(struct db_args *args, const struct statement_end *end);
const struct db_statement *store_statement_reinstate(struct db_args *args, const struct statement_end *end);
const struct db_statement *store_statement_show(struct db_args *args, int64_t id);
const struct db_statement *store_statement_rematch(struct db_args *args, int64_t id, int64_t findings_max);
const struct db_statement *store_statement_match_open(struct db_args *args, const char *provider, int64_t findings_max);
const struct db_statement *store_statement_match_failed(struct db_args *args, const char *provider, const char *fault);
const struct db_statement *store_statement_list(struct db_args *args, const char *provider, int64_t after,
                                                int64_t limit);  // after 0: the newest
const struct db_statement *store_statement_lines(struct db_args *args, int64_t id, const char *outcome, int64_t after,
                                                 int64_t limit);
// One row with a date, or none.
const struct db_statement *store_statement_fetch_take(struct db_args *args, const char *provider,
                                                      const struct statement_conf *conf);
// fault NULL: it is here; actor NULL: it was due by itself.
const struct db_statement *store_statement_fetch_done(struct db_args *args, const char *provider, const char *date,
                                                      const char *fault, const char *actor, const char *reason);
