// SPDX-License-Identifier: Apache-2.0
// What claim_batch.c (requests, lanes, arrivals) and claim_batch_run.c (statements under way) share.
// Owner: the batcher; loop thread. Nobody else includes this.
#pragma once

#include "common/loop.h"
#include "scheduler/claim_batch.h"
#include "scheduler/claim_lane.h"

struct batch {
  struct list spare;  // in the batcher's list of batches that are not under way
  struct claim_batcher *owner;
  struct claim_lane *lane;
  struct lane_batch part;
  struct claim_answer *answers;  // of part.rows
  bool *is_answered;
  struct claim_accepted *accepted;
  struct db_request req;
  struct wall_time sent;
  struct wall_time database_at;
  bool is_lookup;
};

struct claim_batcher {
  struct runtime *rt;
  struct db_pool *db;
  struct activity_cache *cache;
  const struct scheduler_conf *conf;
  struct claim_hooks hooks;
  struct list lanes, ready, spare_batches;
  struct list spare_requests;
  size_t spare_request_count;
  size_t waiting, open;
  uint64_t seq;
  uint32_t segment;  // where this process looks for split stock first
  struct loop_task visit;
  struct loop_timer *gathered;  // some lane has waited long enough for company
  struct wall_time now;         // read once per turn
  struct mono_time now_of_turn;
  bool is_closed;
};

void claim_batcher_answer(struct claim_batcher *b, struct claim_request *r, const struct claim_answer *a);
void claim_batcher_answer_plainly(struct claim_batcher *b, struct claim_request *r, enum verdict v);
// Whether it may be judged; asked once.
bool claim_batcher_admit(struct claim_batcher *b, struct claim_request *r);
// At the end of this turn: sends what may leave, or drops the lane if nothing is left in it.
void claim_batcher_visit_soon(struct claim_batcher *b, struct claim_lane *lane);

// Sends all that may leave now.
void claim_batch_send_from(struct claim_batcher *b, struct claim_lane *lane);
void claim_batch_free(struct batch *t);  // not under way
