// SPDX-License-Identifier: Apache-2.0
// Counts findings, dead letters and operations now and then, for the metrics.
// Owner: app; loop thread.
#include "reconciler/figures.h"

#include <string.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "reconciler/app.h"
#include "reconciler/store.h"

#define LABELS_MAX 64

struct figures {
  struct runtime *rt;
  struct periodic count;
  char *providers[LABELS_MAX];  // whose number was put; it falls to 0 when it is not answered any more
  size_t provider_count;
};

static void remember_provider(struct figures *f, const char *provider)
{
  for (size_t i = 0; i < f->provider_count; i++) {
    if (strcmp(f->providers[i], provider) == 0) return;
  }
  if (f->provider_count < LABELS_MAX) f->providers[f->provider_count++] = mem_strdup(provider);
}

static void put_plain(struct metric_set *metrics, const struct figure_row *row)
{
  static const struct {
    const char *figure;
    int metric;
    double unit;  // of the amount
  } plain[] = {{"operations", M_OPERATIONS_RUNNING, 1}, {"unmatched", M_STATEMENTS_UNMATCHED, 1},
               {"success", M_AUDIT_LAST_SUCCESS, 1e6},  {"night_until", M_NIGHT_LAST, 1e6},
               {"night_took", M_NIGHT_DURATION, 1e6},   {"night_claims", M_NIGHT_CLAIMS, 1},
               {"night_findings", M_NIGHT_FINDINGS, 1}};
  for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
    if (strcmp(row->figure, plain[i].figure) == 0)
      metric_put(metrics, plain[i].metric, (double)row->amount / plain[i].unit);
  }
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
    put_plain(metrics, row);
  }
}

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  (void)ctx;
  return store_figures(args);
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct figures *f = ctx;
  for (size_t i = 0; i < f->provider_count; i++)
    metric_series_put(METRIC_SERIES(f->rt->metrics, M_DEAD_LETTERS, f->providers[i]), 0);
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    struct figure_row row = store_figure_row(rows, i);
    put_figure(f, &row);
  }
  return f->count.every;
}

struct figures *figures_new(struct runtime *rt, struct db_pool *db, struct span every)
{
  static const struct periodic_spec spec = {"figures", prepare, on_rows, NULL};
  struct figures *f = MEM_NEW(struct figures);
  f->rt = rt;
  periodic_init(&f->count, &spec, f, rt, db, every);
  metric_put(rt->metrics, M_AUDIT_LAST_SUCCESS, 0);
  metric_put(rt->metrics, M_NIGHT_LAST, 0);
  return f;
}

void figures_start(struct figures *f) { periodic_soon(&f->count); }
void figures_soon(struct figures *f) { periodic_soon(&f->count); }
void figures_stop(struct figures *f) { periodic_stop(&f->count); }
void figures_set_every(struct figures *f, struct span every) { f->count.every = every; }

void figures_free(struct figures *f)
{
  if (f == NULL) return;
  periodic_release(&f->count);
  for (size_t i = 0; i < f->provider_count; i++) mem_free(f->providers[i]);
  mem_free(f);
}
