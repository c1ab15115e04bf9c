// SPDX-License-Identifier: Apache-2.0
// What ends by itself, by the database's clock: holds, offers, waiting lists; and free places that somebody waits for.
// Any number may run at once. Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "scheduler/config.h"

struct deadline_worker;
struct deadline_worker *deadline_worker_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf);
void deadline_worker_free(struct deadline_worker *w);
void deadline_worker_start(struct deadline_worker *w);
void deadline_worker_stop(struct deadline_worker *w);
