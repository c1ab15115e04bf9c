// SPDX-License-Identifier: Apache-2.0
// The relay: events of event_out become CloudEvents on largesse.events, and a row is removed after the confirm of its
// last. Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "common/mq.h"
#include "scheduler/config.h"

struct event_relay;
struct event_relay *event_relay_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *mq,
                                    const struct scheduler_conf *conf);
void event_relay_free(struct event_relay *e);  // after the publisher: no outcome comes any more
void event_relay_start(struct event_relay *e);
void event_relay_stop(struct event_relay *e);  // takes no more; what is confirmed is still removed
void event_relay_wake(struct event_relay *e);
bool event_relay_is_idle(const struct event_relay *e);
