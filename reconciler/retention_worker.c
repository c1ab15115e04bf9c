// SPDX-License-Identifier: Apache-2.0
// Throws away what was kept for long enough: see retention_worker.h.
// Owner: app; loop thread.
#include "reconciler/retention_worker.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "reconciler/app.h"
#include "reconciler/store_archive.h"

#define BETWEEN_STEPS span_s(1)  // while there is more

struct retention_worker {
  struct runtime *rt;
  struct periodic step;
  struct retention_conf conf;
};

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct retention_worker *w = ctx;
  return store_retention_step(args, &w->conf);
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct retention_worker *w = ctx;
  bool is_full = false;
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    int64_t n = db_rows_i64(rows, i, 1);
    is_full = is_full || n >= w->conf.batch_rows;
    if (n > 0) metric_series_add(METRIC_SERIES(w->rt->metrics, M_RETENTION_ROWS, db_rows_text(rows, i, 0)), (double)n);
  }
  return is_full ? BETWEEN_STEPS : w->step.every;
}

struct retention_worker *retention_worker_new(struct runtime *rt, struct db_pool *db, const struct retention_conf *conf)
{
  static const struct periodic_spec spec = {"retention", prepare, on_rows, NULL};
  struct retention_worker *w = MEM_NEW(struct retention_worker);
  w->rt = rt;
  w->conf = *conf;
  periodic_init(&w->step, &spec, w, rt, db, conf->every);
  return w;
}

void retention_worker_start(struct retention_worker *w) { periodic_soon(&w->step); }
void retention_worker_stop(struct retention_worker *w) { periodic_stop(&w->step); }
bool retention_worker_is_idle(const struct retention_worker *w) { return !w->step.is_busy; }

void retention_worker_reload(struct retention_worker *w, const struct retention_conf *conf)
{
  w->conf = *conf;
  w->step.every = conf->every;
}

void retention_worker_free(struct retention_worker *w)
{
  if (w == NULL) return;
  periodic_release(&w->step);
  mem_free(w);
}
