// SPDX-License-Identifier: Apache-2.0
// Stands between the lanes and their providers: pauses, breakers, and this fulfiller's share of concurrency and rate,
// as the database has them for all fulfillers. Polls it four times a second; while it cannot, nothing may be taken.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/http_client.h"
#include "common/loop.h"
#include "common/metric.h"
#include "common/periodic.h"
#include "common/runtime.h"
#include "fulfiller/breaker.h"
#include "fulfiller/guard_store.h"
#include "fulfiller/limit.h"

#define GUARD_INSTANCE_BYTES 96

enum breaker_state { BREAKER_CLOSED, BREAKER_HALF_OPEN, BREAKER_OPEN };
enum probe_state {
  PROBE_NONE,
  PROBE_TAKING,  // a claim is being taken for it
  PROBE_OUT,     // its calls run
};

// One provider, as this fulfiller may use it.
struct lane_guard {
  struct guard *guard;
  const struct provider *provider;
  struct breaker_terms terms;
  void (*on_change)(void *ctx);
  void *ctx;
  // As last heard
  int64_t version;
  bool is_known, is_paused, is_forced, is_probe_mine, moves_by_itself;
  enum breaker_state breaker;
  struct mono_time moves_at;    // open: a probe may go out; half open: the one under way is given up
  size_t concurrency;           // this fulfiller's share; 0: the others have it all
  struct mono_time settles_at;  // others may not have made room for us before
  // Its own
  struct bucket bucket;
  struct breaker window;
  enum probe_state probe;
  struct db_request move;
  bool is_moving;
  struct loop_timer *tokens_due;
  struct metric_series *breaker_figure, *paused_figure, *share_figure;
};

struct guard {
  struct runtime *rt;
  struct db_pool *db;
  char instance[GUARD_INSTANCE_BYTES];
  struct periodic poll;
  struct db_request leave;
  bool is_leaving, has_left;
  bool is_registered;
  struct mono_time heard_at;  // when the newest poll was sent that was answered; 0: never
  struct mono_time asked_at;
  const struct provider **providers;
  struct lane_guard **lanes;
  size_t count, room;
};

// room: how many providers there will be at most.
struct guard *guard_new(struct runtime *rt, struct db_pool *db, size_t room);
// on_change: it may be possible now to do what was not before, or the other way round.
struct lane_guard *guard_add(struct guard *g, const struct provider *p, void (*on_change)(void *ctx), void *ctx);
void guard_start(struct guard *g);
// At the end of a drain: the others get our share at once. True when that is done, or cannot be; ask again.
bool guard_has_left(struct guard *g);
void guard_stop(struct guard *g);  // nothing is submitted any more
void guard_free(struct guard *g);  // after the database; NULL is allowed

// Whether messages of the lane are wanted at all: not while it is paused, held open, or the share is 0.
bool lane_guard_wants_messages(const struct lane_guard *lg);
size_t lane_guard_concurrency(const struct lane_guard *lg);
// How many claims may be taken now, of so many that wait while so many are busy. 0: on_change tells when to look again.
size_t lane_guard_allows(struct lane_guard *lg, size_t waiting, size_t busy);
// So many are being taken; then, after lane_guard_starts for each that was there, how many that were.
void lane_guard_taking(struct lane_guard *lg, size_t count);
void lane_guard_taken(struct lane_guard *lg, size_t asked, size_t taken);
bool lane_guard_starts(struct lane_guard *lg);  // a claim was taken; whether it is the probe
void lane_guard_heard(struct lane_guard *lg, bool is_probe, enum http_stage stage, int status);  // of each call
void lane_guard_probe_ended(struct lane_guard *lg);                                              // whatever came of it
