// SPDX-License-Identifier: Apache-2.0
// Throws away, in small steps, what was kept for as long as the configuration says. Several reconcilers share the work.
// Owner: app; loop thread.
#pragma once

#include <stdbool.h>

#include "common/db.h"
#include "reconciler/config.h"

struct retention_worker;
struct retention_worker *retention_worker_new(struct runtime *rt, struct db_pool *db,
                                              const struct retention_conf *conf);
void retention_worker_start(struct retention_worker *w);
void retention_worker_reload(struct retention_worker *w, const struct retention_conf *conf);
void retention_worker_stop(struct retention_worker *w);
bool retention_worker_is_idle(const struct retention_worker *w);
void retention_worker_free(struct retention_worker *w);  // NULL is allowed
