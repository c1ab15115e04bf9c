// SPDX-License-Identifier: Apache-2.0
// Asking the database now and then how much waits. Loop thread.
#include "fulfiller/figures.h"

#include "common/loop.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/store.h"

struct figures {
  struct runtime *rt;
  struct db_pool *db;
  const struct conf_map *providers;
  struct span every;
  struct loop_timer *timer;
  struct db_request req;
  bool is_stopping;
};

static void again(struct figures *f)
{
  if (!f->is_stopping) loop_timer_set(f->timer, f->every);
}

// Only configured providers have a series of their own; letters of others are for the reports.
static const char *configured(const struct figures *f, const char *provider)
{
  for (size_t i = 0; i < f->providers->count; i++) {
    if (strcmp(f->providers->items[i].name, provider) == 0) return f->providers->items[i].name;
  }
  return NULL;
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct figures *f = CONTAINER_OF(req, struct figures, req);
  for (size_t i = 0; i < f->providers->count; i++) {
    metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, f->providers->items[i].name), 0);
  }
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct figure_row figure = store_figure_row(rows, row);
    const char *provider = figure.is_due ? NULL : configured(f, figure.provider);
    if (figure.is_due) metric_put(f->rt->metrics, M_DUE_CLAIMS, (double)figure.amount);
    else if (provider != NULL) metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, provider), (double)figure.amount);
  }
  again(f);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  (void)error;  // the pool logs it; the next one will tell
  again(CONTAINER_OF(req, struct figures, req));
}

static void on_timeout(struct db_request *req) { again(CONTAINER_OF(req, struct figures, req)); }

static void ask(void *ctx)
{
  struct figures *f = ctx;
  store_figures(&f->req);
  if (db_pool_submit(f->db, &f->req) != RESULT_OK) again(f);
}

struct figures *figures_new(struct runtime *rt, struct db_pool *db, const struct conf_map *providers, struct span every)
{
  struct figures *f = MEM_NEW(struct figures);
  *f = (struct figures){.rt = rt, .db = db, .providers = providers, .every = every,
                        .req = {.on_rows = on_rows, .on_error = on_error, .on_timeout = on_timeout}};
  db_args_init(&f->req.args);
  f->timer = loop_timer_new(rt->loop, ask, f);
  loop_timer_set(f->timer, span_ms(100));
  return f;
}

void figures_set_every(struct figures *f, struct span every) { f->every = every; }

void figures_stop(struct figures *f)
{
  f->is_stopping = true;
  loop_timer_clear(f->timer);
}

void figures_free(struct figures *f)
{
  if (f == NULL) return;
  loop_timer_free(f->timer);
  db_args_release(&f->req.args);
  mem_free(f);
}
