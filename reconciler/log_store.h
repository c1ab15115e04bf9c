// SPDX-License-Identifier: Apache-2.0
// Statements about the operator log. Owner: the caller.
#pragma once

#include "common/clk.h"
#include "common/db.h"

struct log_filter {
  const char *actor, *action, *target;  // NULL: any; an action is whole, or its noun alone
  bool has_since, has_until;
  struct wall_time since, until;  // from, and before
};

// Newest first; before: the last number seen, 0 to begin. Rows: number and JSON.
const struct db_statement *log_store_list(struct db_args *args, const struct log_filter *f, int64_t before,
                                          int64_t limit);
