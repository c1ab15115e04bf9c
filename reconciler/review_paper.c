// SPDX-License-Identifier: Apache-2.0
// The review of an activity or an event for people: what it came to, over time, by reason, at providers, and why what
// failed did so. Pure; any thread.
#include "reconciler/review_paper.h"

#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "reconciler/paper_doc.h"

static const char *text_of(const json_t *doc, const char *pointer)
{
  const char *text = paper_doc_text(doc, pointer);
  return text != NULL ? text : "";
}

// --- what it came to

static void add_totals(struct paper *p, const json_t *doc)
{
  static const struct paper_column columns[] = {
      {.title = "figure", .is_key = true, .words = PAPER_WORDS " claim"}, {.title = "value"}, {.title = NULL}};
  static const struct paper_table table = {.id = "totals", .title = "In figures", .columns = columns, .is_tiles = true};
  const char *status;
  json_t *count;
  paper_add_table(p, &table);
  paper_doc_tile(p, "claims", paper_doc_number(doc, "/claims/count"));
  paper_doc_tile(p, "units", paper_doc_number(doc, "/claims/quantity"));
  json_object_foreach(json_object_get(json_object_get(doc, "claims"), "byStatus"), status, count)
      paper_doc_tile(p, status, paper_doc_number(count, "/count"));
  paper_doc_tile_if(p, "under review", paper_doc_number(doc, "/claims/underReview"));
  paper_doc_tile(p, "refused", paper_doc_number(doc, "/refused"));
  paper_doc_tile_millis(p, "delivered, half within", paper_doc_millis(doc, "/timeToDelivery/p50Ms"));
  paper_doc_tile_millis(p, "delivered, 90 % within", paper_doc_millis(doc, "/timeToDelivery/p90Ms"));
  paper_doc_tile_millis(p, "delivered, 99 % within", paper_doc_millis(doc, "/timeToDelivery/p99Ms"));
  paper_doc_tile_millis(p, "slowest delivery", paper_doc_millis(doc, "/timeToDelivery/maxMs"));
}

static void add_stock(struct paper *p, const json_t *stock)
{
  static const struct paper_column columns[] = {
      {.title = "figure", .is_key = true, .words = PAPER_WORDS}, {.title = "units"}, {.title = NULL}};
  static const struct paper_table table = {.id = "stock",
                                           .title = "Stock",
                                           .columns = columns,
                                           .note =
                                               "Held and remaining are together the total and its adjustments, as the "
                                               "audit has it; the difference is nothing."};
  static const char *const names[][2] = {{"total", "/total"},
                                         {"adjustments", "/adjustments"},
                                         {"held by claims", "/held"},
                                         {"remaining", "/remaining"},
                                         {"difference", "/difference"}};
  paper_add_table(p, &table);
  for (size_t i = 0; stock != NULL && i < ARRAY_LEN(names); i++) {
    paper_text(p, names[i][0]);
    paper_number(p, paper_doc_number(stock, names[i][1]));
  }
}

// --- over time

// A moment of the series, as short as tells it from the others: the time of day, with the date where a piece is long.
static void put_moment(struct paper *p, const char *at, int64_t width)
{
  char label[32];
  if (width >= 86400)
    (void)snprintf(label, sizeof label, "%.10s", at);
  else if (width >= 3600)
    (void)snprintf(label, sizeof label, "%.5s %.5s", at + 5, at + 11);
  else
    (void)snprintf(label, sizeof label, "%.*s", width >= 60 ? 5 : 8, at + 11);
  paper_text(p, label);
}

static const char *moment_of(const json_t *item)
{
  const char *at = paper_doc_text(item, "/at");
  return at != NULL && strlen(at) >= 20 ? at : "0000-00-00T00:00:00.";
}

static void add_claims_over_time(struct paper *p, const json_t *doc)
{
  static const struct paper_column columns[] = {{.title = "UTC", .is_key = true},
                                                {.title = "claims"},
                                                {.title = "succeeded", .is_drawn = true, .tone = 1},
                                                {.title = "issuing", .is_drawn = true, .tone = 0},
                                                {.title = "kept or waiting", .is_drawn = true, .tone = 4},
                                                {.title = "cancelled or expired", .is_drawn = true, .tone = 5},
                                                {.title = "failed", .is_drawn = true, .tone = 3},
                                                {.title = "rolled back", .is_drawn = true, .tone = 2},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "claims",
                                           .title = "Claims over time, by what became of them",
                                           .columns = columns,
                                           .chart = CHART_STACKED,
                                           .is_not_mailed = true};
  static const char *const outcomes[][3] = {{"/outcomes/succeeded", NULL, NULL},
                                            {"/outcomes/issuing", NULL, NULL},
                                            {"/outcomes/held", "/outcomes/offered", "/outcomes/waiting"},
                                            {"/outcomes/cancelled", "/outcomes/expired", NULL},
                                            {"/outcomes/failed", NULL, NULL},
                                            {"/outcomes/rolled_back", NULL, NULL}};
  const json_t *series = json_object_get(doc, "series");
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(series); i++) {
    const json_t *item = json_array_get(series, i);
    put_moment(p, moment_of(item), paper_doc_number(doc, "/bucketSeconds"));
    paper_number(p, paper_doc_number(item, "/claims"));
    for (size_t k = 0; k < ARRAY_LEN(outcomes); k++) {
      int64_t count = 0;
      for (size_t n = 0; n < 3 && outcomes[k][n] != NULL; n++) count += paper_doc_number(item, outcomes[k][n]);
      paper_number(p, count);
    }
  }
}

static void add_curve(struct paper *p, const json_t *doc)
{
  static const struct paper_column columns[] = {
      {.title = "UTC", .is_key = true}, {.title = "remaining", .is_drawn = true, .tone = 0}, {.title = NULL}};
  static const struct paper_table table = {.id = "curve",
                                           .title = "Stock over time",
                                           .columns = columns,
                                           .chart = CHART_LINES,
                                           .note = "What was left at the end of each piece of time.",
                                           .is_not_mailed = true};
  const json_t *series = json_object_get(doc, "series");
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(series); i++) {
    const json_t *item = json_array_get(series, i);
    if (json_object_get(item, "remaining") == NULL) continue;
    put_moment(p, moment_of(item), paper_doc_number(doc, "/bucketSeconds"));
    paper_number(p, paper_doc_number(item, "/remaining"));
  }
}

static void add_deliveries(struct paper *p, const json_t *doc)
{
  static const struct paper_column columns[] = {{.title = "UTC", .is_key = true},
                                                {.title = "came to success", .is_drawn = true, .tone = 1},
                                                {.title = "ended without", .is_drawn = true, .tone = 3},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "ends",
                                           .title = "When claims came to their end",
                                           .columns = columns,
                                           .chart = CHART_LINES,
                                           .is_not_mailed = true};
  const json_t *series = json_object_get(doc, "series");
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(series); i++) {
    const json_t *item = json_array_get(series, i);
    put_moment(p, moment_of(item), paper_doc_number(doc, "/bucketSeconds"));
    paper_number(p, paper_doc_number(item, "/succeeded"));
    paper_number(p, paper_doc_number(item, "/ended"));
  }
}

// --- refusals: the commonest reasons as series of their own

#define REASONS_MAX 6

struct reasons {
  const char *codes[REASONS_MAX];
  size_t count;
  struct paper_column columns[REASONS_MAX + 3];
};

static bool is_taken(const struct reasons *r, const char *code)
{
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->codes[i], code) == 0) return true;
  }
  return false;
}

static void pick_reasons(struct reasons *r, const json_t *refusals)
{
  static const int tones[REASONS_MAX] = {2, 3, 4, 0, 6, 7};
  *r = (struct reasons){.columns = {{.title = "UTC", .is_key = true}}};
  while (r->count < REASONS_MAX && r->count < json_object_size(refusals)) {
    const char *code, *best = NULL;
    json_t *count;
    json_int_t most = -1;
    json_object_foreach((json_t *)(uintptr_t)refusals, code, count)
    {
      if (is_taken(r, code) || json_integer_value(count) <= most) continue;
      best = code;
      most = json_integer_value(count);
    }
    r->columns[r->count + 1] = (struct paper_column){.title = best, .is_drawn = true, .tone = tones[r->count]};
    r->codes[r->count++] = best;
  }
  r->columns[r->count + 1] = (struct paper_column){.title = "others", .is_drawn = true, .tone = 5};
}

static void add_refusals_over_time(struct paper *p, const json_t *doc, const struct reasons *r)
{
  const struct paper_table table = {.id = "refused",
                                    .title = "Refused over time, by reason",
                                    .columns = r->columns,
                                    .chart = CHART_STACKED,
                                    .is_not_mailed = true};
  const json_t *series = json_object_get(doc, "series");
  paper_add_table(p, &table);
  for (size_t i = 0; r->count > 0 && i < json_array_size(series); i++) {
    const json_t *item = json_array_get(series, i), *codes = json_object_get(item, "refusals");
    int64_t others = paper_doc_number(item, "/refused");
    put_moment(p, moment_of(item), paper_doc_number(doc, "/bucketSeconds"));
    for (size_t k = 0; k < r->count; k++) {
      int64_t count = (int64_t)json_integer_value(json_object_get(codes, r->codes[k]));
      others -= count;
      paper_number(p, count);
    }
    paper_number(p, others);
  }
}

static void add_refusals(struct paper *p, const json_t *refusals)
{
  static const struct paper_column columns[] = {
      {.title = "reason", .is_key = true, .words = "code"}, {.title = "refused"}, {.title = NULL}};
  static const struct paper_table table = {.id = "refusals", .title = "Refused, by reason", .columns = columns};
  paper_doc_add_counts(p, &table, refusals);
}

// --- limits and causes

static void add_limits(struct paper *p, const json_t *limits)
{
  static const struct paper_column columns[] = {{.title = "period", .is_key = true, .words = "period"},
                                                {.title = "at most", .is_key = true},
                                                {.title = "users and periods"},
                                                {.title = "at the limit"},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "limits",
      .title = "Limits",
      .columns = columns,
      .note = "How many users have used a limit, in how many periods, and how often up to its end."};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(limits); i++) {
    const json_t *l = json_array_get(limits, i);
    paper_text(p, paper_doc_text(l, "/period"));
    paper_number(p, paper_doc_number(l, "/max"));
    paper_number(p, paper_doc_number(l, "/users"));
    paper_number(p, paper_doc_number(l, "/atLimit"));
  }
}

static void add_causes(struct paper *p, const json_t *causes)
{
  static const struct paper_column failure_columns[] = {
      {.title = "code", .is_key = true}, {.title = "claims"}, {.title = NULL}};
  static const struct paper_column letter_columns[] = {{.title = "fingerprint", .is_key = true},
                                                       {.title = "provider", .is_key = true},
                                                       {.title = "cause", .words = "cause"},
                                                       {.title = "letters"},
                                                       {.title = "open"},
                                                       {.title = NULL}};
  static const struct paper_table failures = {
      .id = "failures", .title = "Why claims failed or were rolled back", .columns = failure_columns};
  static const struct paper_table letters = {.id = "letters", .title = "Dead letters", .columns = letter_columns};
  const json_t *items = json_object_get(causes, "failures");
  paper_add_table(p, &failures);
  for (size_t i = 0; i < json_array_size(items); i++) {
    paper_text(p, paper_doc_text(json_array_get(items, i), "/code"));
    paper_number(p, paper_doc_number(json_array_get(items, i), "/count"));
  }
  items = json_object_get(causes, "deadLetters");
  paper_add_table(p, &letters);
  for (size_t i = 0; i < json_array_size(items); i++) {
    const json_t *l = json_array_get(items, i);
    paper_text(p, paper_doc_text(l, "/fingerprint"));
    paper_text(p, paper_doc_text(l, "/provider"));
    paper_text(p, paper_doc_text(l, "/cause"));
    paper_number(p, paper_doc_number(l, "/count"));
    paper_number(p, paper_doc_number(l, "/open"));
  }
}

static void add_sessions(struct paper *p, const json_t *sessions)
{
  static const struct paper_column columns[] = {{.title = "code", .is_key = true},
                                                {.title = "name", .is_minor = true},
                                                {.title = "status", .is_minor = true, .words = "status"},
                                                {.title = "start", .is_minor = true},
                                                {.title = "claims", .is_drawn = true, .tone = 0},
                                                {.title = "succeeded", .is_drawn = true, .tone = 1},
                                                {.title = "failed"},
                                                {.title = "refused", .is_minor = true},
                                                {.title = "stock", .is_minor = true},
                                                {.title = "remaining"},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "sessions", .title = "Sessions", .columns = columns, .chart = CHART_BARS};
  static const char *const words[] = {"/code", "/name", "/status", "/startAt"};
  static const char *const counts[] = {"/claims", "/succeeded", "/failed", "/refused"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(sessions); i++) {
    const json_t *s = json_array_get(sessions, i);
    for (size_t k = 0; k < ARRAY_LEN(words); k++) paper_text(p, paper_doc_text(s, words[k]));
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) paper_number(p, paper_doc_number(s, counts[k]));
    if (json_object_get(s, "stock") != NULL) {
      paper_number(p, paper_doc_number(s, "/stock/total") + paper_doc_number(s, "/stock/adjustments"));
      paper_number(p, paper_doc_number(s, "/stock/remaining"));
    } else {
      paper_nothing(p);
      paper_nothing(p);
    }
  }
}

static void add_facts(struct paper *p, const json_t *doc, const json_t *subject)
{
  static const struct {
    const char *name, *pointer, *words;
  } facts[] = {{"name", "/name", NULL},
               {"kind", "/kind", "kind"},
               {"status", "/status", "status"},
               {"event", "/eventCode", NULL},
               {"zone", "/timeZone", NULL}};
  for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
    const char *value = paper_doc_text(subject, facts[i].pointer);
    if (value != NULL) paper_add_fact_of(p, facts[i].name, value, facts[i].words);
  }
  paper_add_time_fact(p, "start", paper_doc_text(subject, "/startAt"));
  paper_add_time_fact(p, "end", paper_doc_text(subject, "/endAt"));
  paper_add_time_fact(p, "made", paper_doc_text(doc, "/at"));
}

static void set_verdict(struct paper *p, const json_t *doc)
{
  char text[160];
  int64_t difference = paper_doc_number(doc, "/stock/difference");
  if (difference != 0)
    (void)snprintf(text, sizeof text, "the stock does not match the claims: %lld units too %s",
                   (long long)(difference > 0 ? difference : -difference), difference > 0 ? "many" : "few");
  else
    (void)snprintf(text, sizeof text, "%lld claims, %lld succeeded, %lld refused",
                   (long long)paper_doc_number(doc, "/claims/count"),
                   (long long)paper_doc_number(doc, "/claims/byStatus/succeeded/count"),
                   (long long)paper_doc_number(doc, "/refused"));
  paper_set_verdict(p, difference != 0 ? PAPER_BAD : PAPER_PLAIN, text);
}

struct paper *review_paper_new(const json_t *doc)
{
  char title[160];
  struct reasons reasons;
  const json_t *event = json_object_get(doc, "event"),
               *subject = event != NULL ? event : json_object_get(doc, "activity");
  (void)snprintf(title, sizeof title, "Review of %s %s", event != NULL ? "event" : "activity",
                 text_of(subject, "/code"));
  struct paper *p = paper_new(title);
  set_verdict(p, doc);
  add_facts(p, doc, subject);
  add_totals(p, doc);
  add_claims_over_time(p, doc);
  add_stock(p, json_object_get(doc, "stock"));
  add_curve(p, doc);
  pick_reasons(&reasons, json_object_get(doc, "refusals"));
  add_refusals_over_time(p, doc, &reasons);
  add_refusals(p, json_object_get(doc, "refusals"));
  add_deliveries(p, doc);
  add_sessions(p, json_object_get(doc, "sessions"));
  paper_doc_add_money(p, json_object_get(doc, "money"), NULL);
  paper_doc_add_providers(p, json_object_get(doc, "providers"));
  add_limits(p, json_object_get(doc, "limits"));
  add_causes(p, json_object_get(doc, "causes"));
  return p;
}
