// SPDX-License-Identifier: Apache-2.0
// The statements of the webhooks: arguments in, rows out.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/list.h"
#include "fulfiller/webhook_decision.h"
#include "fulfiller/webhook_profile.h"

// A delivery on its way, with its texts behind it.
struct webhook_job {
  struct list node;
  struct webhook *owner;
  int64_t id;
  int32_t attempt;  // fencing token
  int64_t tries;
  struct mono_time taken_at;
  struct webhook_decision decision;
  const char *event_id, *type, *trace, *body;
  size_t body_len;
  char texts[];
};

// hashes: of the addresses, as hex digits.
const struct db_statement *webhook_store_register(struct db_args *args, const struct webhook_profile *const *profiles,
                                                  const char *const *hashes, size_t count);
// forget_after: endpoints that no fulfiller has named for so long are told nothing any more; NULL: none is forgotten.
const struct db_statement *webhook_store_name(struct db_args *args, const struct webhook_profile *const *profiles,
                                              size_t count, const struct span *forget_after);
const struct db_statement *webhook_store_take(struct db_args *args, const char *endpoint, size_t limit,
                                              struct span lease);
struct webhook_job *webhook_store_job(const struct db_rows *rows, size_t row);  // heap; without owner and times
const struct db_statement *webhook_store_settle(struct db_args *args, const struct webhook_profile *p,
                                                const struct list *jobs, size_t count);
const struct db_statement *webhook_store_figures(struct db_args *args);
struct webhook_figures_row {
  const char *name;
  int64_t waiting, lag_ms;
  bool is_disabled;
};
struct webhook_figures_row webhook_store_figures_row(const struct db_rows *rows, size_t row);
const struct db_statement *webhook_store_purge(struct db_args *args, struct span retention, int64_t limit);
