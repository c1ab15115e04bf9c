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

// --- for people; lists: where the next page begins and the item as JSON. Changes: outcome ok, NOT_FOUND or INVALID,
// its detail, whether anything changed, the provider as JSON
const struct db_statement *guard_store_list(struct db_args *args, const char *provider);  // NULL: all
const struct db_statement *guard_store_history(struct db_args *args, const char *provider, int64_t before,
                                               int64_t limit);  // before 0: from the newest
struct provider_pause {
  bool has_until, has_span;  // neither: until resumed
  struct wall_time until;
  struct span span;  // from now
};
const struct db_statement *guard_store_pause(struct db_args *args, const char *provider,
                                             const struct provider_pause *pause, const char *actor, const char *reason);
const struct db_statement *guard_store_resume(struct db_args *args, const char *provider, const char *actor,
                                              const char *reason);
// Texts as people write them, the database judges them; NULL: stays as it is.
struct provider_limits {
  const char *concurrency, *rate, *breaker;
};
const struct db_statement *guard_store_set(struct db_args *args, const char *provider,
                                           const struct provider_limits *limits, const char *actor, const char *reason);
