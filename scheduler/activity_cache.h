// SPDX-License-Identifier: Apache-2.0
// What this scheduler remembers of each activity, kept in step by polling; and the database's clock.
// Owner: app; loop thread. An entry may go away at the next turn unless it is pinned.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/db.h"
#include "common/limits.h"
#include "common/list.h"
#include "scheduler/claim.h"
#include "scheduler/config.h"
#include "scheduler/rate_limit.h"

struct claim_lane;
struct metric_series;

struct activity {
  struct activity *next_in_bucket;
  int64_t id;
  char code[CODE_BYTES_MAX + 1];
  char reward_code[CODE_BYTES_MAX + 1];       // "" without a reward
  char provider[NAME_CHARS_MAX + 1];          // "" without a reward
  char payment_provider[NAME_CHARS_MAX + 1];  // "" where nothing is paid
  bool has_numbers;                           // of kind number
  uint32_t segments;                          // of its stock
  struct activity_facts facts;
  bool is_queued;  // intake: requests wait in a queue to be judged
  struct rate_limit rate_limit;
  struct wall_time warmed_for;       // the start for which it was warmed up here
  struct token_bucket tokens;        // of rate_limit.total
  uint32_t seen_in_read;             // number of the full read that held it last
  unsigned pins;                     // lanes and counters that point here
  struct claim_lane *lane;           // of the batcher; NULL while nothing waits
  struct list refused;               // in the list of refusal_counts
  uint32_t refusals[VERDICT_COUNT];  // not written to the database yet
  struct metric_series *outcomes[VERDICT_COUNT];
  struct metric_series *stock_taken, *stock_remaining;
};

struct activity_cache;
struct activity_cache *activity_cache_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf);
void activity_cache_free(struct activity_cache *c);
void activity_cache_start(struct activity_cache *c);
void activity_cache_close(
    struct activity_cache *c);  // no further reads; searches that wait are answered; before the pool is freed
bool activity_cache_is_loaded(const struct activity_cache *c);  // the first full read is here
bool activity_cache_is_fresh(const struct activity_cache *c);   // read within the last seconds
void activity_cache_poke(struct activity_cache *c);             // something changed: read now
// Told after a read that brought changes.
void activity_cache_on_change(struct activity_cache *c, void (*fn)(void *ctx), void *ctx);

struct activity *activity_cache_find(struct activity_cache *c, const char *code);  // NULL: not in memory
// Asks the database for a code that memory does not know; on_found gets NULL if there is none, or if the database is
// away (then found is false).
struct activity_search {
  struct list node;
  char code[CODE_BYTES_MAX + 1];
  void *ctx;
  void (*on_found)(struct activity_search *s, struct activity *a, bool is_answered);
};
void activity_cache_search(struct activity_cache *c, struct activity_search *s);

// What the answer of a batch says about an activity (row 0): fresher than the last poll.
void activity_refresh(struct activity *a, const char *status, bool is_limited, int64_t remaining);
// The database's clock as seen from here.
struct clock_view activity_cache_clock(const struct activity_cache *c);
void activity_cache_clock_sample(struct activity_cache *c, struct wall_time sent, struct wall_time database,
                                 struct wall_time received);
