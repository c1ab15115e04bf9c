// SPDX-License-Identifier: Apache-2.0
// Queued intake: judges the requests that wait, at its own pace and fair to all activities, and publishes what was
// accepted. Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "scheduler/activity_cache.h"
#include "scheduler/config.h"
#include "scheduler/peers.h"
#include "scheduler/publish.h"

struct intake_queue;
struct intake_queue *intake_queue_new(struct runtime *rt, struct db_pool *db, struct activity_cache *cache,
                                      struct lane_publisher *lanes, const struct peers *peers,
                                      const struct scheduler_conf *conf);
void intake_queue_free(struct intake_queue *q);
void intake_queue_start(struct intake_queue *q);
void intake_queue_stop(struct intake_queue *q);
bool intake_queue_is_idle(const struct intake_queue *q);  // nothing that it judged waits to be told
