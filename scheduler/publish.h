// SPDX-License-Identifier: Apache-2.0
// Messages to the lanes of the providers, by commit. What is not taken is left to the sweeper.
// Owner: app; loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/mq.h"
#include "common/trace.h"

struct lane_item {
  int64_t activity_id, claim_id, attempt;
  const char *trace;  // TRACE_ID_DIGITS bytes; NULL: none
};

struct lane_publisher;
struct lane_publisher *lane_publisher_new(struct runtime *rt, struct mq_publisher *mq);
void lane_publisher_free(struct lane_publisher *p);
// Declares the provider's queue when it is named for the first time. Returns how many items were handed to the
// publisher.
size_t lane_publish(struct lane_publisher *p, const char *provider, const struct lane_item *items, size_t count,
                    const char *traceparent);

// Whether the sweeper may add to a lane: below its low water as last seen, and seen recently. Asks the broker again
// when asked.
bool lane_has_room(struct lane_publisher *p, const char *provider, int64_t low_water);
// The providers whose lanes are full or not looked at yet: sweeping for them would only rewrite claims that are in the
// queue already. Writes at most LANES_MAX names, which live as long as the publisher, and returns how many.
// *out_is_any_open: some known lane has room, or no lane is known yet.
#define LANES_MAX 256
size_t lane_publisher_held_back(struct lane_publisher *p, int64_t low_water, const char *out_names[LANES_MAX],
                                bool *out_is_any_open);
// Messages ready in a provider's lane, as last told by the broker. False: nothing is known yet.
bool lane_depth(struct lane_publisher *p, const char *provider, uint64_t *out_messages);
// Makes a lane known before the first claim for it.
void lane_publisher_add(struct lane_publisher *p, const char *provider);
// Asks for the depths of all known lanes.
void lane_publisher_look(struct lane_publisher *p);
