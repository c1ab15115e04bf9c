// SPDX-License-Identifier: Apache-2.0
// The safety net: overdue claims are published again, at a bounded rate, into lanes that are nearly empty.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "scheduler/config.h"
#include "scheduler/publish.h"

struct sweeper;
struct sweeper *sweeper_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *mq,
                            struct lane_publisher *lanes, const struct scheduler_conf *conf);
void sweeper_free(struct sweeper *s);
void sweeper_start(struct sweeper *s);
void sweeper_stop(struct sweeper *s);
