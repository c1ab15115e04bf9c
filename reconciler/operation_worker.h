// SPDX-License-Identifier: Apache-2.0
// Goes on with operations whose next step is due, whoever began them; several reconcilers share the work.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "reconciler/config.h"

struct operation_worker;
struct operation_worker *operation_worker_new(struct runtime *rt, struct db_pool *db,
                                              const struct operations_conf *conf);
void operation_worker_start(struct operation_worker *w);
void operation_worker_stop(struct operation_worker *w);  // the step under way ends
void operation_worker_reload(struct operation_worker *w, const struct operations_conf *conf);
bool operation_worker_is_idle(const struct operation_worker *w);
void operation_worker_free(struct operation_worker *w);  // after the pool; NULL is allowed

// Counts what a step came to, and tells when it was the last of its operation.
void operation_worker_count(struct runtime *rt, const struct db_rows *step_rows);
