// SPDX-License-Identifier: Apache-2.0
// What papers of several documents have in common. Pure; any thread.
#include "reconciler/paper_doc.h"

#include <math.h>
#include <string.h>

#include "common/compiler.h"
#include "common/jsonx.h"

const char *paper_doc_text(const json_t *doc, const char *pointer)
{
  return json_string_value(jsonx_pointer(doc, pointer));
}

int64_t paper_doc_number(const json_t *doc, const char *pointer)
{
  return (int64_t)json_integer_value(jsonx_pointer(doc, pointer));
}

int64_t paper_doc_millis(const json_t *doc, const char *pointer)
{
  const json_t *value = jsonx_pointer(doc, pointer);
  return json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
}

double paper_doc_real(const json_t *doc, const char *pointer)
{
  const json_t *value = jsonx_pointer(doc, pointer);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

int64_t paper_doc_sum(const json_t *object)
{
  int64_t sum = 0;
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value) sum += (int64_t)json_integer_value(value);
  return sum;
}

void paper_doc_tile(struct paper *p, const char *name, int64_t number)
{
  paper_text(p, name);
  paper_number(p, number);
}

void paper_doc_tile_if(struct paper *p, const char *name, int64_t number)
{
  if (number != 0) paper_doc_tile(p, name, number);
}

void paper_doc_tile_millis(struct paper *p, const char *name, int64_t ms)
{
  if (ms < 0) return;
  paper_text(p, name);
  paper_millis(p, ms);
}

static void put_money(struct paper *p, const char *what, const json_t *item, bool has_count)
{
  if (paper_doc_text(item, "/currency") == NULL) return;
  paper_text(p, what);
  paper_text(p, paper_doc_text(item, "/provider"));
  paper_text(p, paper_doc_text(item, "/rewardCode"));
  paper_text(p, paper_doc_text(item, "/currency"));
  if (has_count)
    paper_number(p, paper_doc_number(item, "/count"));
  else
    paper_nothing(p);
  paper_money(p, paper_doc_number(item, "/amount"), paper_doc_text(item, "/currency"));
}

void paper_doc_add_money(struct paper *p, const json_t *money, const json_t *net)
{
  static const struct paper_column columns[] = {{.title = "what", .is_key = true, .words = "money " PAPER_WORDS},
                                                {.title = "provider", .is_key = true},
                                                {.title = "reward", .is_key = true},
                                                {.title = "currency", .is_key = true},
                                                {.title = "claims"},
                                                {.title = "amount"},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "money",
      .title = "Money",
      .columns = columns,
      .note = "Each currency with its own decimal places; net: paid less refunded, delivered less reversed."};
  const char *what;
  json_t *items;
  paper_add_table(p, &table);
  json_object_foreach((json_t *)(uintptr_t)money, what, items)
  {
    for (size_t i = 0; i < json_array_size(items); i++) put_money(p, what, json_array_get(items, i), true);
  }
  for (size_t i = 0; i < json_array_size(net); i++) {
    const json_t *item = json_array_get(net, i);
    bool is_payment = strcmp(paper_doc_text(item, "/of") != NULL ? paper_doc_text(item, "/of") : "", "payments") == 0;
    put_money(p, is_payment ? "net of payments" : "net of deliveries", item, false);
  }
}

void paper_doc_add_providers(struct paper *p, const json_t *providers)
{
  static const struct paper_column columns[] = {{.title = "provider", .is_key = true},
                                                {.title = "calls"},
                                                {.title = "repeated", .is_minor = true},
                                                {.title = "done", .is_drawn = true, .tone = 1},
                                                {.title = "pending", .is_drawn = true, .is_minor = true, .tone = 0},
                                                {.title = "retry", .is_drawn = true, .tone = 2},
                                                {.title = "refused", .is_drawn = true, .tone = 5},
                                                {.title = "unknown", .is_drawn = true, .tone = 3},
                                                {.title = "p50", .is_minor = true},
                                                {.title = "p90", .is_minor = true},
                                                {.title = "p99"},
                                                {.title = "longest", .is_minor = true},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "providers",
                                           .title = "Calls at providers",
                                           .note = "What came of each call, and how long it took.",
                                           .columns = columns,
                                           .chart = CHART_STACKED};
  static const char *const outcomes[] = {"/outcomes/done", "/outcomes/pending", "/outcomes/retry", "/outcomes/refused",
                                         "/outcomes/unknown"};
  static const char *const times[] = {"/latency/p50Ms", "/latency/p90Ms", "/latency/p99Ms", "/latency/maxMs"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(providers); i++) {
    const json_t *item = json_array_get(providers, i);
    paper_text(p, paper_doc_text(item, "/provider"));
    paper_number(p, paper_doc_number(item, "/calls"));
    if (json_object_get(item, "repeated") != NULL)
      paper_number(p, paper_doc_number(item, "/repeated"));
    else
      paper_nothing(p);
    for (size_t k = 0; k < ARRAY_LEN(outcomes); k++) paper_number(p, paper_doc_number(item, outcomes[k]));
    for (size_t k = 0; k < ARRAY_LEN(times); k++) paper_millis(p, paper_doc_millis(item, times[k]));
  }
}

void paper_doc_add_counts(struct paper *p, const struct paper_table *table, const json_t *object)
{
  const char *name;
  json_t *count;
  paper_add_table(p, table);
  json_object_foreach((json_t *)(uintptr_t)object, name, count)
  {
    paper_text(p, name);
    paper_number(p, (int64_t)json_integer_value(count));
  }
}
