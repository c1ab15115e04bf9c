// SPDX-License-Identifier: Apache-2.0
// What ends by itself, by the database's clock: holds, offers, waiting lists; and free places that somebody waits for.
// Any number may run at once. Owner: app; loop thread.
#include "scheduler/deadlines.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

struct deadline_worker {
  struct runtime *rt;
  const struct scheduler_conf *conf;
  struct periodic work;
};

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct deadline_worker *w = ctx;
  return store_deadline_step(args, w->conf->deadlines.rows);
}

// A step is one activity's. After one that did something there may be more, after a long outage much more.
static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct deadline_worker *w = ctx;
  w->work.every = w->conf->deadlines.every;
  if (db_rows_count(rows) == 0) return w->conf->deadlines.every;
  struct deadline_row r = store_deadline_row(rows);
  struct span lag = wall_since(r.at, r.due);
  LOG(w->rt->log, EV_DEADLINE_PASSED, F_STR("activity_code", r.activity_code), F_INT("claims", r.claims),
      F_SPAN("lag_s", lag));
  metric_add(w->rt->metrics, M_DEADLINE_CLAIMS, (double)r.claims);
  metric_observe(w->rt->metrics, M_DEADLINE_LAG, span_to_seconds(lag));
  return span_us(0);
}

struct deadline_worker *deadline_worker_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf)
{
  static const struct periodic_spec spec = {"deadlines", prepare, on_rows, NULL};
  struct deadline_worker *w = MEM_NEW(struct deadline_worker);
  w->rt = rt;
  w->conf = conf;
  periodic_init(&w->work, &spec, w, rt, db, conf->deadlines.every);
  return w;
}

void deadline_worker_free(struct deadline_worker *w)
{
  if (!w) return;
  periodic_release(&w->work);
  mem_free(w);
}

void deadline_worker_start(struct deadline_worker *w) { periodic_soon(&w->work); }
void deadline_worker_stop(struct deadline_worker *w) { periodic_stop(&w->work); }
