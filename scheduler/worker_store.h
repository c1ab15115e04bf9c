// SPDX-License-Identifier: Apache-2.0
// Statements of the background workers: their arguments and rows. Fill functions return the statement.
// Owner: the calling worker.
#pragma once

#include "common/db.h"
#include "scheduler/event_batch.h"

// --- activities in memory
struct activity_row {
  struct wall_time at;  // the database's instant
  bool has_activity;    // false: the one row that comes when nothing changed
  int64_t id;
  const char *code, *status, *reward_code, *provider;  // "" for null
  struct wall_time start, end;
  bool is_limited;
  int64_t remaining;
  const char *kind, *payment_provider, *intake, *rate_limit;  // "" for null; rate_limit is JSON
  int64_t segments;
  bool has_waiting_list;
};
const struct db_statement *store_activity_read(struct db_args *args, struct wall_time changed_since);
const struct db_statement *store_activity_read_all(struct db_args *args);
const struct db_statement *store_activity_search(struct db_args *args);  // the caller then opens an array of texts
struct activity_row store_activity_row(const struct db_rows *rows, size_t row);

// --- the clock
struct move_row {
  const char *code, *to_status;
  struct wall_time due, moved;
};
const struct db_statement *store_clock_next(struct db_args *args);
bool store_clock_next_row(const struct db_rows *rows, struct span *out_due_in);  // false: nothing is due by itself
const struct db_statement *store_clock_advance(struct db_args *args, int64_t limit);
struct move_row store_clock_move(const struct db_rows *rows, size_t row);

// --- deadlines
struct deadline_row {
  const char *activity_code;
  int64_t claims;
  struct wall_time due, at;
};
const struct db_statement *store_deadline_step(struct db_args *args, int64_t limit);
struct deadline_row store_deadline_row(const struct db_rows *rows);

// --- overdue claims; rows come sorted by provider
struct overdue_row {
  struct wall_time at;
  bool has_claim;
  int64_t activity_id, claim_id, attempt;
  const char *provider;
  bool is_any_held;  // some providers were left out: paused, or their breaker waits
};
const struct db_statement *store_sweep(struct db_args *args, int64_t limit, bool from_the_oldest, struct wall_time from,
                                       struct span base, const char *const *held_back, size_t held_back_count);
struct overdue_row store_sweep_row(const struct db_rows *rows, size_t row);
const struct db_statement *store_due_count(struct db_args *args, int64_t limit);
int64_t store_due_count_row(const struct db_rows *rows);

// --- events
const struct db_statement *store_events_take(struct db_args *args, int64_t rows, int64_t events, struct span lease);
struct event_row store_event_row(const struct db_rows *rows, size_t row);
const struct db_statement *store_events_done(struct db_args *args, const int64_t *ids, size_t count);
// The failed events of the batch are left. The row says whether they are parked now.
const struct db_statement *store_events_postpone(struct db_args *args, const struct event_batch *b, struct span pause,
                                                 int64_t tries_max);
const struct db_statement *store_events_figures(struct db_args *args);  // lag in milliseconds, parked events
const struct db_statement *store_events_purge(struct db_args *args, struct span retention);

// --- counters of refusals
struct refusal_row {
  int64_t activity_id;
  const char *code;
  int64_t count;
};
const struct db_statement *store_refusals_add(struct db_args *args, const struct refusal_row *rows, size_t count);
// $n::interval of a span.
void store_span(struct db_args *args, struct span s);
