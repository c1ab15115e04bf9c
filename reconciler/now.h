// SPDX-License-Identifier: Apache-2.0
// What is going on now: the call that the console asks every two seconds, and the worker that writes down how much is
// taken, so that rates and the last half hour are known when somebody looks.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "common/web_route.h"

struct now_worker;

struct now_worker *now_worker_new(struct runtime *rt, struct db_pool *db);
void now_worker_start(struct now_worker *w);
void now_worker_stop(struct now_worker *w);
void now_worker_free(struct now_worker *w);  // the pool is gone by then

web_handler now_api;  // GET /v1/now
