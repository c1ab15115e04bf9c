// SPDX-License-Identifier: Apache-2.0
// Counts from the database for the metrics: due claims, open dead letters.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/config.h"

struct figures;
struct figures *figures_new(struct runtime *rt, struct db_pool *db, const struct conf_map *providers,
                            struct span every);
void figures_set_every(struct figures *f, struct span every);
void figures_stop(struct figures *f);
void figures_free(struct figures *f);  // after the database
