// SPDX-License-Identifier: Apache-2.0
// A statement that is run again and again, one at a time. It survives a database that is away.
// Owner: the worker that embeds it; loop thread.
#pragma once

#include <stdbool.h>

#include "common/db.h"
#include "common/loop.h"

struct periodic_spec {
  const char *name;
  // Fills args and says which statement; NULL: nothing to do now.
  const struct db_statement *(*prepare)(void *ctx, struct db_args *args);
  // Returns the pause before the next run.
  struct span (*on_rows)(void *ctx, const struct db_rows *rows);
  // may_have_worked: the connection was lost or the time ran out. May be NULL.
  void (*on_failed)(void *ctx, bool may_have_worked);
};

struct periodic {
  const struct periodic_spec *spec;
  void *ctx;
  struct runtime *rt;
  struct db_pool *db;
  struct loop_timer *timer;
  struct db_request req;
  struct span every;  // the pause when there is nothing to do, and after a failure
  struct wall_time sent;
  bool is_busy, is_stopped, run_again;
};

void periodic_init(struct periodic *p, const struct periodic_spec *spec, void *ctx, struct runtime *rt,
                   struct db_pool *db, struct span every);
void periodic_release(struct periodic *p);  // the pool is gone by then, or the request is not open
void periodic_soon(struct periodic *p);     // now, or right after the run that is under way
void periodic_stop(struct periodic *p);     // no further runs
