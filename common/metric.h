// SPDX-License-Identifier: Apache-2.0
// Metrics declared once in .def files, written in the Prometheus text format 0.0.4. Labels come from closed sets or
// configuration, never from users. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };  // histograms observe seconds or rows

// A row of a metrics.def: METRIC(id, type, "largesse_x_total", "label1,label2" or "", "help text").
struct metric_def {
  const char *name;
  enum metric_type type;
  const char *labels;
  const char *help;
};

// Like the log events: the library's ids first, a daemon's own start at METRIC_COMMON_COUNT (common/daemon_ids.h).
enum metric_common {
#define METRIC(id, type, name, labels, help) id,
#include "common/metrics.def"
#undef METRIC
  METRIC_COMMON_COUNT
};

struct metric_set;
struct metric_series;

struct metric_set *metric_set_new(const struct metric_def *defs, size_t count);  // defs outlive the set
void metric_set_free(struct metric_set *set);

// Metrics without labels.
void metric_add(struct metric_set *set, int id, double amount);
void metric_put(struct metric_set *set, int id, double value);
void metric_observe(struct metric_set *set, int id, double value);

// The series of these label values (NULL-terminated list, as many as the metric has labels), made when new. Never
// NULL: over METRIC_SERIES_MAX all further ones share one series whose labels are "other". Keep the pointer where it is
// hot.
struct metric_series *metric_series(struct metric_set *set, int id, const char *const *label_values);
#define METRIC_SERIES(set, id, ...) metric_series((set), (id), (const char *const[]){__VA_ARGS__, NULL})
void metric_series_add(struct metric_series *s, double amount);
void metric_series_put(struct metric_series *s, double value);
void metric_series_observe(struct metric_series *s, double value);

void metric_render(const struct metric_set *set, struct buf *out);
