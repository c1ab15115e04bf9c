// SPDX-License-Identifier: Apache-2.0
// The clock: published -> ongoing -> finished, on time by the database's clock. Any number may run at once.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "scheduler/config.h"

struct activity_clock;
// on_moved: after moves were made here.
struct activity_clock *activity_clock_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf,
                                          void (*on_moved)(void *ctx), void *ctx);
void activity_clock_free(struct activity_clock *c);
void activity_clock_start(struct activity_clock *c);
void activity_clock_stop(struct activity_clock *c);
void activity_clock_wake(struct activity_clock *c);  // something changed: what is due next may be another one
