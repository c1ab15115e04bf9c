// SPDX-License-Identifier: Apache-2.0
// Asking the database now and then how much waits. Loop thread.
#include "fulfiller/figures.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "fulfiller/app.h"
#include "fulfiller/store.h"

struct figures {
  struct runtime *rt;
  const struct conf_map *providers;
  struct periodic count;
};

// Only configured providers have a series of their own; letters of others are for the reports.
static const char *configured(const struct figures *f, const char *provider)
{
  for (size_t i = 0; i < f->providers->count; i++) {
    if (strcmp(f->providers->items[i].name, provider) == 0) return f->providers->items[i].name;
  }
  return NULL;
}

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  (void)ctx;
  return store_figures(args);
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct figures *f = ctx;
  for (size_t i = 0; i < f->providers->count; i++) {
    metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, f->providers->items[i].name), 0);
  }
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct figure_row figure = store_figure_row(rows, row);
    const char *provider = figure.is_due ? NULL : configured(f, figure.provider);
    if (figure.is_due)
      metric_put(f->rt->metrics, M_DUE_CLAIMS, (double)figure.amount);
    else if (provider != NULL)
      metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, provider), (double)figure.amount);
  }
  return f->count.every;
}

struct figures *figures_new(struct runtime *rt, struct db_pool *db, const struct conf_map *providers, struct span every)
{
  static const struct periodic_spec spec = {"figures", prepare, on_rows, NULL};
  struct figures *f = MEM_NEW(struct figures);
  f->rt = rt;
  f->providers = providers;
  periodic_init(&f->count, &spec, f, rt, db, every);
  periodic_soon(&f->count);
  return f;
}

void figures_set_every(struct figures *f, struct span every) { f->count.every = every; }
void figures_stop(struct figures *f) { periodic_stop(&f->count); }

void figures_free(struct figures *f)
{
  if (f == NULL) return;
  periodic_release(&f->count);
  mem_free(f);
}
