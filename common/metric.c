// SPDX-License-Identifier: Apache-2.0
// Counters, gauges and histograms by label values, and their Prometheus text.
// Loop thread only.
#include "common/metric.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/contract.h"
#include "common/limits.h"
#include "common/mem.h"

#define LABELS_MAX 8

// Histograms of seconds, from half a millisecond to an hour; and of rows or bytes, in powers of two.
static const double second_bounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                       1,      2.5,   5,      10,    30,   60,    300,  900, 3600};
static const double count_bounds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

struct metric_series {
  const struct metric *metric;
  struct metric_series *next_in_slot;
  uint64_t hash;
  char *labels;       // rendered: code="200",route="x"; "" without labels
  double value;       // histograms: the sum
  uint64_t count;     // histograms
  uint64_t *buckets;  // histograms: one for each bound, not cumulated
};

struct metric {
  const struct metric_def *def;
  const double *bounds;
  size_t bound_count;
  size_t label_count;
  struct metric_series **slots;   // by hash of the rendered labels
  size_t slot_count;              // 0 or a power of two
  struct metric_series **series;  // in order of birth, which is the order of the page
  size_t series_count, series_cap;
};

struct metric_set {
  struct metric *metrics;
  size_t count;
  struct buf scratch;
};

static bool ends_with(const char *text, const char *end)
{
  size_t len = strlen(text);
  size_t end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static size_t count_labels(const char *labels)
{
  if (labels[0] == '\0') return 0;
  size_t count = 1;
  for (; *labels != '\0'; labels++) count += *labels == ',';
  return count;
}

static struct metric_series *add_series(struct metric *m, uint64_t hash, const char *labels);

static void metric_init(struct metric *m, const struct metric_def *def)
{
  m->def = def;
  m->label_count = count_labels(def->labels);
  REQUIRE(m->label_count <= LABELS_MAX);
  if (def->type == METRIC_HISTOGRAM) {
    bool is_seconds = ends_with(def->name, "_seconds");
    m->bounds = is_seconds ? second_bounds : count_bounds;
    m->bound_count = is_seconds ? ARRAY_LEN(second_bounds) : ARRAY_LEN(count_bounds);
  }
  // A metric without labels shows from the start, so that its first increase is seen as one.
  if (m->label_count == 0) add_series(m, 0, "");
}

struct metric_set *metric_set_new(const struct metric_def *defs, size_t count)
{
  struct metric_set *set = MEM_NEW(struct metric_set);
  set->metrics = MEM_ARRAY(struct metric, count);
  set->count = count;
  buf_init(&set->scratch, METRIC_PAGE_BYTES_MAX);
  for (size_t i = 0; i < count; i++) metric_init(&set->metrics[i], &defs[i]);
  return set;
}

static void metric_release(struct metric *m)
{
  for (size_t i = 0; i < m->series_count; i++) {
    mem_free(m->series[i]->labels);
    mem_free(m->series[i]->buckets);
    mem_free(m->series[i]);
  }
  mem_free(m->series);
  mem_free(m->slots);
}

void metric_set_free(struct metric_set *set)
{
  if (set == NULL) return;
  for (size_t i = 0; i < set->count; i++) metric_release(&set->metrics[i]);
  mem_free(set->metrics);
  buf_release(&set->scratch);
  mem_free(set);
}

// FNV-1a: the labels come from closed sets, nobody outside chooses them.
static uint64_t hash_of(const char *bytes, size_t len)
{
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash;
}

static void grow_slots(struct metric *m)
{
  m->slot_count = m->slot_count == 0 ? 16 : m->slot_count * 2;
  mem_free(m->slots);
  m->slots = MEM_ARRAY(struct metric_series *, m->slot_count);
  for (size_t i = 0; i < m->series_count; i++) {
    struct metric_series **slot = &m->slots[m->series[i]->hash & (m->slot_count - 1)];
    m->series[i]->next_in_slot = *slot;
    *slot = m->series[i];
  }
}

static struct metric_series *add_series(struct metric *m, uint64_t hash, const char *labels)
{
  if (m->series_count == m->series_cap) {
    m->series_cap = m->series_cap == 0 ? 1 : m->series_cap * 2;
    m->series = mem_resize(m->series, m->series_cap, sizeof(struct metric_series *));
  }
  struct metric_series *s = MEM_NEW(struct metric_series);
  s->metric = m;
  s->hash = hash;
  s->labels = mem_strdup(labels);
  if (m->bound_count > 0) s->buckets = MEM_ARRAY(uint64_t, m->bound_count);
  m->series[m->series_count++] = s;
  if (m->series_count > m->slot_count) {
    grow_slots(m);  // places the new one too
  } else {
    struct metric_series **slot = &m->slots[hash & (m->slot_count - 1)];
    s->next_in_slot = *slot;
    *slot = s;
  }
  return s;
}

static struct metric *metric_at(struct metric_set *set, int id)
{
  REQUIRE(id >= 0 && (size_t)id < set->count);
  return &set->metrics[id];
}

// Only backslash, quote and line feed need escaping in a label value (B103); a help text has no quotes to escape.
static void put_escaped(struct buf *out, const char *text, bool is_quoted)
{
  for (; *text != '\0'; text++) {
    if (*text == '\\')
      buf_puts(out, "\\\\");
    else if (*text == '\n')
      buf_puts(out, "\\n");
    else if (*text == '"' && is_quoted)
      buf_puts(out, "\\\"");
    else
      buf_putc(out, *text);
  }
}

static void put_labels(const struct metric *m, const char *const *values, struct buf *out)
{
  const char *name = m->def->labels;
  for (size_t i = 0; i < m->label_count; i++) {
    size_t name_len = strcspn(name, ",");
    if (i > 0) buf_putc(out, ',');
    buf_append(out, name, name_len);
    buf_puts(out, "=\"");
    put_escaped(out, values != NULL ? values[i] : "other", true);
    buf_putc(out, '"');
    name += name_len + 1;
  }
}

static struct metric_series *find_series(const struct metric *m, uint64_t hash, const char *labels)
{
  if (m->slot_count == 0) return NULL;
  struct metric_series *s = m->slots[hash & (m->slot_count - 1)];
  while (s != NULL && (s->hash != hash || strcmp(s->labels, labels) != 0)) s = s->next_in_slot;
  return s;
}

struct metric_series *metric_series(struct metric_set *set, int id, const char *const *label_values)
{
  struct metric *m = metric_at(set, id);
  size_t given = 0;
  while (label_values[given] != NULL) given++;
  REQUIRE(given == m->label_count && given > 0);
  buf_clear(&set->scratch);
  put_labels(m, label_values, &set->scratch);
  uint64_t hash = hash_of(set->scratch.data, set->scratch.len);
  struct metric_series *s = find_series(m, hash, buf_text(&set->scratch));
  if (s == NULL && m->series_count >= METRIC_SERIES_MAX - 1) {
    // The last place is for all the rest together.
    buf_clear(&set->scratch);
    put_labels(m, NULL, &set->scratch);
    hash = hash_of(set->scratch.data, set->scratch.len);
    s = find_series(m, hash, buf_text(&set->scratch));
  }
  return s != NULL ? s : add_series(m, hash, buf_text(&set->scratch));
}

static struct metric_series *only_series(struct metric_set *set, int id)
{
  struct metric *m = metric_at(set, id);
  REQUIRE(m->label_count == 0);
  return m->series[0];
}

void metric_add(struct metric_set *set, int id, double amount) { metric_series_add(only_series(set, id), amount); }

void metric_put(struct metric_set *set, int id, double value) { metric_series_put(only_series(set, id), value); }

void metric_observe(struct metric_set *set, int id, double value)
{
  metric_series_observe(only_series(set, id), value);
}

void metric_series_add(struct metric_series *s, double amount)
{
  REQUIRE(s->metric->def->type != METRIC_HISTOGRAM);
  REQUIRE(s->metric->def->type != METRIC_COUNTER || amount >= 0);
  s->value += amount;
}

void metric_series_put(struct metric_series *s, double value)
{
  REQUIRE(s->metric->def->type == METRIC_GAUGE);
  s->value = value;
}

void metric_series_observe(struct metric_series *s, double value)
{
  const struct metric *m = s->metric;
  REQUIRE(m->def->type == METRIC_HISTOGRAM);
  size_t i = 0;
  while (i < m->bound_count && value > m->bounds[i]) i++;
  if (i < m->bound_count) s->buckets[i]++;
  s->count++;
  s->value += value;
}

static void put_number(struct buf *out, double value)
{
  if (isnan(value))
    buf_puts(out, "NaN");
  else if (isinf(value))
    buf_puts(out, value > 0 ? "+Inf" : "-Inf");
  else if (fabs(value) < 9e15 && floor(value) >= value)
    buf_printf(out, "%.0f", value);
  else
    buf_printf(out, "%.15g", value);
}

// name_suffix{labels} value
static void put_sample(struct buf *out, const struct metric_series *s, const char *suffix, double value)
{
  buf_puts(out, s->metric->def->name);
  buf_puts(out, suffix);
  if (s->labels[0] != '\0') {
    buf_putc(out, '{');
    buf_puts(out, s->labels);
    buf_putc(out, '}');
  }
  buf_putc(out, ' ');
  put_number(out, value);
  buf_putc(out, '\n');
}

static void put_bucket(struct buf *out, const struct metric_series *s, double bound, uint64_t count)
{
  buf_puts(out, s->metric->def->name);
  buf_puts(out, "_bucket{");
  buf_puts(out, s->labels);
  buf_puts(out, s->labels[0] != '\0' ? ",le=\"" : "le=\"");
  put_number(out, bound);
  buf_puts(out, "\"} ");
  buf_put_u64(out, count);
  buf_putc(out, '\n');
}

static void render_histogram(const struct metric_series *s, struct buf *out)
{
  uint64_t count = 0;
  for (size_t i = 0; i < s->metric->bound_count; i++) {
    count += s->buckets[i];
    put_bucket(out, s, s->metric->bounds[i], count);
  }
  put_bucket(out, s, (double)INFINITY, s->count);
  put_sample(out, s, "_sum", s->value);
  put_sample(out, s, "_count", (double)s->count);
}

void metric_render(const struct metric_set *set, struct buf *out)
{
  static const char *const type_names[] = {"counter", "gauge", "histogram"};
  for (size_t i = 0; i < set->count; i++) {
    const struct metric *m = &set->metrics[i];
    buf_printf(out, "# HELP %s ", m->def->name);
    put_escaped(out, m->def->help, false);
    buf_printf(out, "\n# TYPE %s %s\n", m->def->name, type_names[m->def->type]);
    for (size_t j = 0; j < m->series_count; j++) {
      if (m->def->type == METRIC_HISTOGRAM)
        render_histogram(m->series[j], out);
      else
        put_sample(out, m->series[j], "", m->series[j]->value);
    }
  }
}
