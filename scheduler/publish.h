// SPDX-License-Identifier: Apache-2.0
// Messages to the lanes of the providers, by commit. What is not taken is left to the sweeper.
// Owner: app; loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/mq.h"

struct lane_item {
  int64_t activity_id, claim_id, attempt;
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
// False while every known lane is full or not looked at yet: then sweeping would only rewrite claims that are in the
// queues already.
bool lane_publisher_has_room(struct lane_publisher *p, int64_t low_water);
// Makes a lane known before the first claim for it.
void lane_publisher_add(struct lane_publisher *p, const char *provider);
// Asks for the depths of all known lanes.
void lane_publisher_look(struct lane_publisher *p);
