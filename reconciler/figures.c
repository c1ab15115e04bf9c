// SPDX-License-Identifier: Apache-2.0
// Counts findings and dead letters now and then, for the metrics.
// Owner: app; loop thread.
#include "reconciler/figures.h"

#include <string.h>

#include "common/loop.h"
#include "common/mem.h"
#include "reconciler/app.h"
#include "reconciler/store.h"

#define LABELS_MAX 64
#define RETRY_AFTER span_s(1)

struct figures {
  struct runtime *rt;
  struct db_pool *db;
  struct db_request req;
  struct loop_timer *timer;
  struct span every;
  char *providers[LABELS_MAX];   // whose number was put; it falls to 0 when it is not answered any more
  size_t provider_count;
  bool is_stopped;
};

static void remember_provider(struct figures *f, const char *provider)
{
  for (size_t i = 0; i < f->provider_count; i++) {
    if (strcmp(f->providers[i], provider) == 0) return;
  }
  if (f->provider_count < LABELS_MAX) f->providers[f->provider_count++] = mem_strdup(provider);
}

static void put_figure(struct figures *f, const struct figure_row *row)
{
  struct metric_set *metrics = f->rt->metrics;
  if (strcmp(row->figure, "finding") == 0) {
    metric_series_put(METRIC_SERIES(metrics, M_AUDIT_FINDINGS, row->label), (double)row->amount);
  } else if (strcmp(row->figure, "dead") == 0) {
    remember_provider(f, row->label);
    metric_series_put(METRIC_SERIES(metrics, M_DEAD_LETTERS, row->label), (double)row->amount);
  } else {
    metric_put(metrics, M_AUDIT_LAST_SUCCESS, (double)row->amount / 1e6);
  }
}

static void again(struct figures *f, struct span pause)
{
  if (!f->is_stopped) loop_timer_set(f->timer, pause);
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct figures *f = CONTAINER_OF(req, struct figures, req);
  for (size_t i = 0; i < f->provider_count; i++) metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, f->providers[i]), 0);
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    struct figure_row row = store_figure_row(rows, i);
    put_figure(f, &row);
  }
  again(f, f->every);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  struct figures *f = CONTAINER_OF(req, struct figures, req);
  if (error->failure == DB_FAILED_STATEMENT) LOG(f->rt->log, EV_FIGURES_FAILED, F_STR("sqlstate", error->sqlstate), F_STR("message", error->message));
  again(f, f->every);
}

static void on_timeout(struct db_request *req)
{
  struct figures *f = CONTAINER_OF(req, struct figures, req);
  LOG(f->rt->log, EV_FIGURES_FAILED, F_STR("message", "timed out"));
  again(f, f->every);
}

static void on_due(void *ctx)
{
  struct figures *f = ctx;
  db_args_clear(&f->req.args);
  f->req.statement = store_figures(&f->req.args);
  if (db_pool_submit(f->db, &f->req) != RESULT_OK) again(f, RETRY_AFTER);
}

struct figures *figures_new(struct runtime *rt, struct db_pool *db, struct span every)
{
  struct figures *f = MEM_NEW(struct figures);
  f->rt = rt;
  f->db = db;
  f->every = every;
  f->timer = loop_timer_new(rt->loop, on_due, f);
  db_args_init(&f->req.args);
  f->req.on_rows = on_rows;
  f->req.on_error = on_error;
  f->req.on_timeout = on_timeout;
  metric_put(rt->metrics, M_AUDIT_LAST_SUCCESS, 0);
  return f;
}

void figures_start(struct figures *f) { loop_timer_set(f->timer, span_us(0)); }

void figures_stop(struct figures *f)
{
  f->is_stopped = true;
  loop_timer_clear(f->timer);
}

void figures_set_every(struct figures *f, struct span every) { f->every = every; }

void figures_free(struct figures *f)
{
  if (f == NULL) return;
  loop_timer_free(f->timer);
  for (size_t i = 0; i < f->provider_count; i++) mem_free(f->providers[i]);
  db_args_release(&f->req.args);
  mem_free(f);
}
