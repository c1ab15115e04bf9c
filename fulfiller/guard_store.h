// SPDX-License-Identifier: Apache-2.0
// The guard's statements: arguments in, rows out. Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/provider.h"

struct guard_row {
  int64_t version;  // of the provider's state: what is older than another row is old news
  const char *provider;
  bool is_paused;
  const char *breaker;   // closed, open, half_open
  bool moves_by_itself;  // left is how long a probe is to wait, or has
  struct span left;
  bool is_forced, is_probe_mine;
  int64_t concurrency;  // over all fulfillers; 0: as configured
  int64_t rate_micro;   // millionths per second; -1: as configured
  int64_t live, place;
};

const struct db_statement *guard_store_register(struct db_args *args, const char *instance,
                                                const struct provider *const *providers, size_t count);
const struct db_statement *guard_store_poll(struct db_args *args, const char *instance,
                                            const struct provider *const *providers, size_t count);
const struct db_statement *guard_store_leave(struct db_args *args, const char *instance);
struct guard_row guard_store_row(const struct db_rows *rows, size_t row);

// A breaker is to move; the answer has a row of the provider and whether it was this call that moved it.
const struct db_statement *guard_store_breaker(struct db_args *args, const char *provider, const char *instance,
                                               const char *to, struct span time, struct span time_max,
                                               const char *reason);
struct guard_row guard_store_breaker_row(const struct db_rows *rows, bool *out_moved);
