// SPDX-License-Identifier: Apache-2.0
// A lane: one provider's queue, the messages of it that are in hand, and how many claims are being worked on.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/http_client.h"
#include "common/list.h"
#include "common/loop.h"
#include "common/metric.h"
#include "common/mq.h"
#include "fulfiller/intake_codec.h"
#include "fulfiller/outcome.h"
#include "fulfiller/provider.h"

#define TAKE_ROWS_MAX 256

struct guard;
struct lane_guard;
struct settler;
struct letters;
struct lane;

// A claim that a message names, waiting to be taken.
struct claim_ref {
  struct list node;
  struct claim_key key;
  struct parcel *parcel;
};
// A message. It is acknowledged when nothing of it is open.
struct parcel {
  struct list node;
  struct lane *lane;
  struct mq_tag tag;
  struct mono_time since;
  size_t open;
  bool goes_back;  // at least one claim was not looked at: back to the queue instead
  size_t count;
  struct claim_ref refs[];
};
struct parcel *parcel_new(struct lane *lane, const struct mq_delivery *d, const struct claim_key *keys, size_t count);
void parcel_claim_done(struct parcel *parcel);

// The request for claims that is under way.
struct take {
  struct db_request req;
  struct claim_ref *refs[TAKE_ROWS_MAX];
  const struct claim_key *keys[TAKE_ROWS_MAX];
  size_t count;  // 0: none is under way
  struct mono_time asked_at;
};

// What lanes share; filled by the app, outlives them.
struct lane_means {
  struct runtime *rt;
  struct db_pool *db;
  struct mq_consumer *consumer;
  struct settler *settler;
  struct letters *letters;
  struct guard *guard;
};

struct lane {
  struct lane_means means;
  struct provider provider;
  struct lane_guard *guard;
  struct http_client *http;
  struct mq_subscription *subscription;
  struct provider_call call;     // rendering storage
  struct trace_source spans;     // one for each call
  struct list parcels, waiting;  // struct parcel, struct claim_ref
  size_t parcel_count, waiting_count;
  size_t busy;  // claims being taken or called about
  struct take take;
  struct loop_task pump;
  struct loop_timer *resume;  // set while the database is given a rest
  uint32_t generation;        // of the broker connection that brought the newest message
  bool is_draining, is_stopping;
  struct metric_series *outcomes[ACTION_COUNT][OUTCOME_COUNT], *closes[OUTCOME_COUNT];
  struct metric_series *call_seconds, *in_progress, *held, *taken, *skipped;
};

// provider is moved into the lane.
struct lane *lane_new(const struct lane_means *means, struct provider *provider);
// Subscribes or returns what waits, as the provider's state wants it, and takes what may be taken. For the guard.
void lane_look(void *lane);
void lane_drain(struct lane *lane);  // no new messages; what was not taken goes back
bool lane_is_idle(const struct lane *lane);
// Ends the open calls; their outcomes are left to the next inquiry.
void lane_stop(struct lane *lane);
void lane_free(struct lane *lane);
void lane_slot_free(struct lane *lane);  // a claim needs no call any more
