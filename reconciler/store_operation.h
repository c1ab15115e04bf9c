// SPDX-License-Identifier: Apache-2.0
// The statements about operations: their arguments and their rows. Texts of rows live as long as the rows.
// Owner: the caller, who runs them on a session (commands) or the pool (serve).
#pragma once

#include "common/db.h"
#include "reconciler/store.h"

// The last two are about findings, the others about letters and claims.
enum operation_kind {
  OPERATION_RETRY,
  OPERATION_REFUND,
  OPERATION_RESOLVE,
  OPERATION_ROLL_BACK,
  OPERATION_REPAIR,
  OPERATION_EXPLAIN
};
#define OPERATION_KINDS "retry|refund|resolve|roll_back|repair|explain"

// What somebody asks for. Texts are borrowed; NULL where nothing is said.
struct operation_order {
  enum operation_kind kind;
  bool by_filter;  // else what is named
  int64_t *letters;
  struct claim_ref *claims;
  const char **keys;  // of findings
  size_t letter_count, claim_count, key_count, room;
  struct dead_letter_filter filter;
  struct finding_filter findings;
  const char *actor, *reason, *proof, *key;
  bool is_not_delivered;  // of a resolve
  bool is_dry_run;
  int64_t rate;           // items a second
  int64_t preview_items;  // how many of the first
};

const struct db_statement *store_operation_preview(struct db_args *args, const struct operation_order *o);
const struct db_statement *store_operation_begin(struct db_args *args, const struct operation_order *o);
struct operation_begun {
  int64_t id;
  bool is_replayed, is_key_reused;
};
struct operation_begun store_operation_begun(const struct db_rows *rows);

// id 0: any that is due.
const struct db_statement *store_operation_step(struct db_args *args, int64_t id, int64_t limit);
struct operation_step_row {
  int64_t id, total, done, wait_ms, items;
  const char *kind, *state, *outcome;  // outcome "": nothing was done
};
struct operation_step_row store_operation_step_row(const struct db_rows *rows, size_t row);

const struct db_statement *store_operation_show(struct db_args *args, int64_t id, bool has_items);
const struct db_statement *store_operation_cancel(struct db_args *args, int64_t id, const char *actor,
                                                  const char *reason);
// Of both: the document, and whether the operation still runs.
bool store_operation_is_running(const struct db_rows *rows);

// Lists as those of store.h. state and kind: NULL: any; after 0: from the newest, or from the first item.
const struct db_statement *store_operation_list(struct db_args *args, const char *state, const char *kind,
                                                int64_t after, int64_t limit);
const struct db_statement *store_operation_items(struct db_args *args, int64_t id, int64_t after, int64_t limit);

// A claim as JSON; no row or null: there is none.
const struct db_statement *store_claim_show(struct db_args *args, struct claim_ref claim);
