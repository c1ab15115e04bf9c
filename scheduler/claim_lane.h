// SPDX-License-Identifier: Apache-2.0
// One activity's waiting lines, and the choice of what its next batch takes. Pure order: no database, no loop.
// Owner: the batcher; loop thread.
#pragma once

#include "scheduler/claim_request.h"
#include "scheduler/key_set.h"

struct claim_lane {
  struct activity *activity;
  struct list submits, lookups;  // struct claim_request, by seq
  struct list submitting;        // struct lane_batch under way
  size_t submit_count, lookup_count;
  size_t submitting_count;
  size_t row_cap;  // halved when a row spoils its batch
  bool is_looking_up;
  struct mono_time last_sent;  // its last submits
  size_t last_rows;            // how many they were
  struct list ready;           // in the batcher's list of lanes to visit at the end of the turn
  struct list all;             // in the batcher's list of lanes
};

// What leaves together.
struct lane_batch {
  struct list node;             // in lane->submitting
  struct claim_request **rows;  // in order of arrival
  size_t count, max_rows;
  uint64_t first_seq;
  struct key_set keys;         // users, bizIds and numbers in it
  struct key_set passed_over;  // those that it left behind; for the choice alone
};

void lane_batch_init(struct lane_batch *b, size_t max_rows);
void lane_batch_release(struct lane_batch *b);

void claim_lane_init(struct claim_lane *lane, struct activity *a, size_t row_cap);
void claim_lane_add(struct claim_lane *lane, struct claim_request *r, bool ask);
void claim_lane_put_back(struct claim_lane *lane, struct claim_request *r);  // before all that wait to be submitted
bool claim_lane_is_idle(const struct claim_lane *lane);
// Moves what may leave now into the batch; it is then under way until claim_lane_returned. False: nothing may.
// No user, no bizId and no number is twice in a batch or in two at once, unless most of the line is repeats: then they
// go in order.
bool claim_lane_take_submits(struct claim_lane *lane, struct lane_batch *b, size_t batches_max);
void claim_lane_returned(struct claim_lane *lane, struct lane_batch *b);
// Look-ups wait for the submits that came before them: one of those may be the same click.
bool claim_lane_take_lookups(struct claim_lane *lane, struct lane_batch *b);
