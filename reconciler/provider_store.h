// SPDX-License-Identifier: Apache-2.0
// Statements about the protection of providers: their arguments. Owner: the caller.
#pragma once

#include "common/db.h"

// --- for people; lists: where the next page begins and the item as JSON. Changes: outcome ok, NOT_FOUND or INVALID,
// its detail, whether anything changed, the provider as JSON
const struct db_statement *provider_store_list(struct db_args *args, const char *provider);  // NULL: all
const struct db_statement *provider_store_history(struct db_args *args, const char *provider, int64_t before,
                                                  int64_t limit);  // before 0: from the newest
struct provider_pause {
  bool has_until, has_span;  // neither: until resumed
  struct wall_time until;
  struct span span;  // from now
};
const struct db_statement *provider_store_pause(struct db_args *args, const char *provider,
                                                const struct provider_pause *pause, const char *actor,
                                                const char *reason);
const struct db_statement *provider_store_resume(struct db_args *args, const char *provider, const char *actor,
                                                 const char *reason);
// Texts as people write them, the database judges them; NULL: stays as it is.
struct provider_limits {
  const char *concurrency, *rate, *breaker;
};
const struct db_statement *provider_store_set(struct db_args *args, const char *provider,
                                              const struct provider_limits *limits, const char *actor,
                                              const char *reason);
