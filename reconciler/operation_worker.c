// SPDX-License-Identifier: Apache-2.0
// Goes on with operations whose next step is due, whoever began them; several reconcilers share the work.
// Owner: app; loop thread.
#include "reconciler/operation_worker.h"

#include <string.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "reconciler/app.h"
#include "reconciler/store_operation.h"

struct operation_worker {
  struct runtime *rt;
  struct periodic step;
  struct operations_conf conf;
};

void operation_worker_count(struct runtime *rt, const struct db_rows *step_rows)
{
  struct operation_step_row row = {.outcome = ""};
  for (size_t i = 0; i < db_rows_count(step_rows); i++) {
    row = store_operation_step_row(step_rows, i);
    if (row.outcome[0] != '\0')
      metric_series_add(METRIC_SERIES(rt->metrics, M_OPERATION_ITEMS, row.kind, row.outcome), (double)row.items);
  }
  if (row.outcome[0] != '\0' && row.done == row.total)
    LOG(rt->log, EV_OPERATION_FINISHED, F_INT("operation_id", row.id), F_STR("kind", row.kind),
        F_INT("total", row.total));
}

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct operation_worker *w = ctx;
  return store_operation_step(args, 0, w->conf.batch_rows);
}

// Something was due: perhaps more is.
static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct operation_worker *w = ctx;
  operation_worker_count(w->rt, rows);
  return db_rows_count(rows) > 0 ? span_us(0) : w->step.every;
}

struct operation_worker *operation_worker_new(struct runtime *rt, struct db_pool *db,
                                              const struct operations_conf *conf)
{
  static const struct periodic_spec spec = {"operations", prepare, on_rows, NULL};
  struct operation_worker *w = MEM_NEW(struct operation_worker);
  w->rt = rt;
  w->conf = *conf;
  periodic_init(&w->step, &spec, w, rt, db, conf->every);
  return w;
}

void operation_worker_start(struct operation_worker *w) { periodic_soon(&w->step); }
void operation_worker_stop(struct operation_worker *w) { periodic_stop(&w->step); }
bool operation_worker_is_idle(const struct operation_worker *w) { return !w->step.is_busy; }

void operation_worker_reload(struct operation_worker *w, const struct operations_conf *conf)
{
  w->conf = *conf;
  w->step.every = conf->every;
}

void operation_worker_free(struct operation_worker *w)
{
  if (w == NULL) return;
  periodic_release(&w->step);
  mem_free(w);
}
