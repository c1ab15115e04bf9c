// SPDX-License-Identifier: Apache-2.0
// Makes the report of each night that is due, in a thread of its own, one at a time; several reconcilers share the
// work. Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "reconciler/config.h"

struct figures;
struct night_worker;
// conf lives as long as the worker does, or until night_worker_reload names another.
struct night_worker *night_worker_new(struct runtime *rt, struct db_pool *db, const struct reconciler_conf *conf,
                                      struct figures *figures);
void night_worker_start(struct night_worker *w);
void night_worker_reload(struct night_worker *w, const struct reconciler_conf *conf);
void night_worker_stop(struct night_worker *w);  // what is under way is left, for others or later
bool night_worker_is_idle(const struct night_worker *w);
void night_worker_free(struct night_worker *w);  // after the pool; NULL is allowed
