// SPDX-License-Identifier: Apache-2.0
// The statements about archives and retention: their arguments. What they return stands with each.
// Owner: the caller, who runs them on a session or the pool.
#pragma once

#include "common/db.h"
#include "reconciler/archive_file.h"
#include "reconciler/config.h"

// outcome, detail, activity id, month, instant, state
const struct db_statement *store_archive_begin(struct db_args *args, const char *code);
const struct db_statement *store_archive_tables(struct db_args *args);  // name, whether nothing may change there
const struct db_statement *store_archive_open(struct db_args *args, int64_t activity_id, const char *table);
const struct db_statement *store_archive_fetch(struct db_args *args);  // a row's JSON
const struct db_statement *store_archive_close(struct db_args *args);
struct archive_confirmation {
  const struct archive_contents *contents;
  const char *path, *manifest, *state, *actor, *reason;
};
const struct db_statement *store_archive_confirm(struct db_args *args,
                                                 const struct archive_confirmation *c);  // outcome, detail
const struct db_statement *store_archive_show(struct db_args *args,
                                              int64_t activity_id);  // code, path, sha256, whether its claims are kept
const struct db_statement *store_archive_verified(struct db_args *args, const struct archive_contents *contents);
// id, code
const struct db_statement *store_archive_candidates(struct db_args *args, const char *before, const char *zone,
                                                    int64_t after, int64_t limit);
const struct db_statement *store_archive_list(struct db_args *args, const char *month, int64_t after, int64_t limit);

// --- months, as "2026-11"

const struct db_statement *store_archive_blockers(struct db_args *args, const char *month,
                                                  struct span age);                       // code, why
const struct db_statement *store_archive_files(struct db_args *args, const char *month);  // code, path
const struct db_statement *store_archive_month_state(struct db_args *args, const char *month);
const struct db_statement *store_archive_months_away(struct db_args *args);  // their names; null: none
const struct db_statement *store_archive_partitions(struct db_args *args, const char *month);  // parent, name, state
const struct db_statement *store_archive_owner(struct db_args *args);  // whether the login owns the tables
const struct db_statement *store_archive_lock(struct db_args *args, const char *month);  // whether nobody else has it
struct archive_month_order {
  const char *month, *actor, *reason;
  struct span age;  // for how long it must be over
};
const struct db_statement *store_archive_seal(struct db_args *args,
                                              const struct archive_month_order *o);  // outcome, detail
const struct db_statement *store_archive_detached(struct db_args *args,
                                                  const struct archive_month_order *o);                      // outcome
const struct db_statement *store_archive_attach(struct db_args *args, const struct archive_month_order *o);  // outcome

// kind, rows that went
const struct db_statement *store_retention_step(struct db_args *args, const struct retention_conf *conf);
