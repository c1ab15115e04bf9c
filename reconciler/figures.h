// SPDX-License-Identifier: Apache-2.0
// Counts findings, dead letters and operations now and then, for the metrics.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"

struct figures;
struct figures *figures_new(struct runtime *rt, struct db_pool *db, struct span every);
void figures_start(struct figures *f);
void figures_stop(struct figures *f);
void figures_soon(struct figures *f);  // something has changed
void figures_set_every(struct figures *f, struct span every);
void figures_free(struct figures *f);  // after the pool; NULL is allowed
