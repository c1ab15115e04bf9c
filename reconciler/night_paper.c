// SPDX-License-Identifier: Apache-2.0
// A night's report for people: whether it is clean, what was found, what happened, what became of money, and what has
// changed since the night before. Pure; any thread.
#include "reconciler/night_paper.h"

#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "common/text.h"
#include "reconciler/paper_doc.h"

#define RETURNS_MAILED_MAX 20

bool night_is_date(const char *text)
{
  char instant[32];
  struct wall_time t;
  if (strlen(text) != 10 || snprintf(instant, sizeof instant, "%sT00:00:00Z", text) >= (int)sizeof instant)
    return false;
  return text_to_time(instant, strlen(instant), &t) == RESULT_OK;
}

static const char *text_of(const json_t *doc, const char *pointer)
{
  const char *text = paper_doc_text(doc, pointer);
  return text != NULL ? text : "";
}

// --- how it stands

static void set_verdict(struct paper *p, const json_t *doc)
{
  char text[160];
  int64_t findings = paper_doc_number(doc, "/findings"), failed = paper_doc_number(doc, "/failed");
  if (json_object_get(doc, "report") == NULL) {
    paper_set_verdict(p, PAPER_PLAIN, "night: under way");
    return;
  }
  if (json_is_true(json_object_get(doc, "clean"))) {
    paper_set_verdict(p, PAPER_GOOD, "night: clean");
    return;
  }
  bool is_changed = json_is_false(jsonx_pointer(doc, "/moment/figuresUnchanged"));
  int len = snprintf(text, sizeof text, "night: %lld finding%s", (long long)findings, findings == 1 ? "" : "s");
  if (failed > 0)
    len += snprintf(text + len, sizeof text - (size_t)len, ", %lld audit%s did not finish", (long long)failed,
                    failed == 1 ? "" : "s");
  if (is_changed) (void)snprintf(text + len, sizeof text - (size_t)len, ", figures have changed");
  paper_set_verdict(p, PAPER_BAD, text);
}

static void add_unmatched(struct paper *p, const json_t *unmatched)
{
  char text[320];
  for (size_t i = 0; i < json_array_size(unmatched); i++) {
    const json_t *u = json_array_get(unmatched, i);
    (void)snprintf(text, sizeof text, "those of %s are not matched: %.200s", text_of(u, "/provider"),
                   text_of(u, "/fault"));
    paper_add_fact_of(p, "statements", text, "");
  }
}

static void add_moment_facts(struct paper *p, const json_t *moment)
{
  char text[160];
  if (moment == NULL) return;
  if (json_is_false(json_object_get(moment, "figuresUnchanged")))
    paper_add_fact_of(p, "figures", "not those of the first time: rows of that night were changed", "");
  (void)snprintf(text, sizeof text, "%lld activities", (long long)paper_doc_number(moment, "/audited"));
  paper_add_fact_of(p, "audited", text, "");
  if (json_object_get(moment, "since") != NULL) {
    (void)snprintf(text, sizeof text, "%lld opened, %lld gone since the report of %s",
                   (long long)paper_doc_number(moment, "/since/opened"),
                   (long long)paper_doc_number(moment, "/since/gone"), text_of(moment, "/since/date"));
    paper_add_fact_of(p, "findings", text, "");
  }
  add_unmatched(p, json_object_get(moment, "statementsNotMatched"));
  const char *hash = text_of(moment, "/log/hash");
  if (strlen(hash) == 64) {  // in two parts, so that a line of a mail has room for it
    (void)snprintf(text, sizeof text, "entry %lld: %.32s %s", (long long)paper_doc_number(moment, "/log/seq"), hash,
                   hash + 32);
    paper_add_fact_of(p, "log", text, "");
  }
}

static void add_totals(struct paper *p, const json_t *report)
{
  static const struct paper_column columns[] = {
      {.title = "figure", .is_key = true, .words = PAPER_WORDS}, {.title = "value"}, {.title = NULL}};
  static const struct paper_table table = {.id = "totals", .title = "In figures", .columns = columns, .is_tiles = true};
  const json_t *totals = json_object_get(report, "totals");
  static const char *const states[][2] = {{"cancelled", "/cancelled/count"},
                                          {"expired", "/expired/count"},
                                          {"failed", "/failed/count"},
                                          {"rolled back", "/rolledBack/count"}};
  paper_add_table(p, &table);
  paper_doc_tile(p, "claims", paper_doc_number(totals, "/claims/count"));
  paper_doc_tile(p, "units", paper_doc_number(totals, "/claims/quantity"));
  paper_doc_tile(p, "succeeded", paper_doc_number(totals, "/succeeded/count"));
  for (size_t i = 0; i < ARRAY_LEN(states); i++)
    paper_doc_tile_if(p, states[i][0], paper_doc_number(totals, states[i][1]));
  paper_doc_tile_if(p, "refused", paper_doc_sum(json_object_get(totals, "refusals")));
  paper_doc_tile_millis(p, "delivered, half within", paper_doc_millis(report, "/timeToDelivery/p50Ms"));
  paper_doc_tile_millis(p, "delivered, 90 % within", paper_doc_millis(report, "/timeToDelivery/p90Ms"));
  paper_doc_tile_millis(p, "delivered, 99 % within", paper_doc_millis(report, "/timeToDelivery/p99Ms"));
  paper_doc_tile_if(p, "points taken", paper_doc_number(totals, "/points/taken"));
  paper_doc_tile_if(p, "points returned", paper_doc_number(totals, "/points/returned"));
  paper_doc_tile_if(p, "points granted", paper_doc_number(report, "/pointsGranted/points"));
}

static void add_findings(struct paper *p, const json_t *findings)
{
  static const struct paper_column columns[] = {{.title = "kind", .is_minor = true, .words = "finding"},
                                                {.title = "severity", .words = "severity"},
                                                {.title = "state", .words = "finding-state"},
                                                {.title = "activity"},
                                                {.title = "claim"},
                                                {.title = "expected", .words = ""},
                                                {.title = "actual", .words = ""},
                                                {.title = "cause", .words = ""},
                                                {.title = "next step", .words = ""},
                                                {.title = "key", .is_key = true},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "findings", .title = "Findings", .columns = columns, .is_listed = true};
  static const char *const members[] = {"/kind",     "/severity", "/state", "/activityCode", "/claimId",
                                        "/expected", "/actual",   "/cause", "/nextStep",     "/key"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(findings); i++) {
    for (size_t k = 0; k < ARRAY_LEN(members); k++)
      paper_text(p, paper_doc_text(json_array_get(findings, i), members[k]));
  }
}

// --- what happened

// Hours by the clocks of the zone; where these change that night, counted from its beginning.
static void add_hours(struct paper *p, const json_t *hours)
{
  static const struct paper_column columns[] = {
      {.title = "hour", .is_key = true}, {.title = "claims", .is_drawn = true}, {.title = NULL}};
  static const struct paper_table table = {
      .id = "hours", .title = "Claims by hour", .columns = columns, .chart = CHART_BARS, .is_not_mailed = true};
  size_t count = json_array_size(hours);
  char label[24];
  paper_add_table(p, &table);
  for (size_t i = 0; i < count; i++) {
    (void)snprintf(label, sizeof label, count == 24 ? "%02zu:00" : "+%zu h", i);
    paper_text(p, label);
    paper_number(p, (int64_t)json_integer_value(json_array_get(hours, i)));
  }
}

static const struct paper_column figure_columns[] = {{.title = "code", .is_key = true},
                                                     {.title = "kind", .is_minor = true, .words = "kind"},
                                                     {.title = "claims"},
                                                     {.title = "units", .is_minor = true},
                                                     {.title = "succeeded"},
                                                     {.title = "cancelled", .is_minor = true},
                                                     {.title = "expired", .is_minor = true},
                                                     {.title = "failed"},
                                                     {.title = "rolled back", .is_minor = true},
                                                     {.title = "refused", .is_minor = true},
                                                     {.title = "stock adjusted", .is_minor = true},
                                                     {.title = "p50", .is_minor = true},
                                                     {.title = "p99", .is_minor = true},
                                                     {.title = NULL}};

static void put_figures(struct paper *p, const char *name, const char *kind, const json_t *figures)
{
  static const char *const counts[] = {"/claims/count",  "/claims/quantity", "/succeeded/count", "/cancelled/count",
                                       "/expired/count", "/failed/count",    "/rolledBack/count"};
  paper_text(p, name);
  paper_text(p, kind);
  for (size_t i = 0; i < ARRAY_LEN(counts); i++) paper_number(p, paper_doc_number(figures, counts[i]));
  paper_number(p, paper_doc_sum(json_object_get(figures, "refusals")));
  if (json_object_get(figures, "stockAdjusted") != NULL)
    paper_change(p, paper_doc_number(figures, "/stockAdjusted"));
  else
    paper_nothing(p);
  paper_millis(p, paper_doc_millis(figures, "/timeToDelivery/p50Ms"));
  paper_millis(p, paper_doc_millis(figures, "/timeToDelivery/p99Ms"));
}

static void add_activities(struct paper *p, const json_t *report)
{
  static const struct paper_table activities = {.id = "activities", .title = "Activities", .columns = figure_columns};
  struct paper_column kind_columns[ARRAY_LEN(figure_columns)];
  const struct paper_table kinds = {
      .id = "kinds", .title = "Kinds of activities", .columns = kind_columns, .is_not_mailed = true};
  const json_t *list = json_object_get(report, "activities");
  const char *kind;
  json_t *figures;
  paper_add_table(p, &activities);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *a = json_array_get(list, i);
    put_figures(p, text_of(a, "/code"), text_of(a, "/kind"), a);
  }
  memcpy(kind_columns, figure_columns, sizeof kind_columns);
  kind_columns[0].words = "kind";
  paper_add_table(p, &kinds);
  json_object_foreach(json_object_get(report, "byKind"), kind, figures) put_figures(p, kind, NULL, figures);
}

static void add_refusals(struct paper *p, const json_t *refusals)
{
  static const struct paper_column columns[] = {
      {.title = "reason", .is_key = true, .words = "code"}, {.title = "refused"}, {.title = NULL}};
  static const struct paper_table table = {.id = "refusals", .title = "Refused, by reason", .columns = columns};
  paper_doc_add_counts(p, &table, refusals);
}

// --- what was given back

static void put_return_sums(struct paper *p, const json_t *sums)
{
  static const struct paper_column columns[] = {{.title = "what", .is_key = true, .words = "money"},
                                                {.title = "of", .is_key = true},
                                                {.title = "provider", .is_key = true},
                                                {.title = "currency", .is_key = true},
                                                {.title = "claims"},
                                                {.title = "amount"},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "returns",
      .title = "Given back, by the day on which it was paid or delivered",
      .columns = columns,
      .note = "The report of that day stays as it is; over both the amounts add up to nothing."};
  static const char *const keys[] = {"/what", "/madeOn", "/provider", "/currency"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(sums); i++) {
    const json_t *s = json_array_get(sums, i);
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) paper_text(p, paper_doc_text(s, keys[k]));
    paper_number(p, paper_doc_number(s, "/count"));
    paper_money(p, paper_doc_number(s, "/amount"), paper_doc_text(s, "/currency"));
  }
}

static void add_returns(struct paper *p, const json_t *returns)
{
  static const struct paper_column columns[] = {{.title = "claim", .is_key = true},
                                                {.title = "what", .is_key = true, .words = "money"},
                                                {.title = "activity", .is_minor = true},
                                                {.title = "provider", .is_minor = true},
                                                {.title = "of"},
                                                {.title = "at", .is_minor = true},
                                                {.title = "amount"},
                                                {.title = NULL}};
  static const char *const members[] = {"/claimId", "/what", "/activityCode", "/provider", "/madeOn", "/at"};
  const json_t *items = json_object_get(returns, "items");
  const struct paper_table table = {.id = "returned",
                                    .title = "Given back, claim by claim",
                                    .columns = columns,
                                    .is_not_mailed = json_array_size(items) > RETURNS_MAILED_MAX};
  put_return_sums(p, json_object_get(returns, "byDate"));
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(items); i++) {
    const json_t *item = json_array_get(items, i);
    for (size_t k = 0; k < ARRAY_LEN(members); k++) paper_text(p, paper_doc_text(item, members[k]));
    paper_money(p, paper_doc_number(item, "/amount"), paper_doc_text(item, "/currency"));
  }
}

static void add_redemptions(struct paper *p, const json_t *redemptions)
{
  static const struct paper_column columns[] = {{.title = "what", .is_key = true, .words = "redemption"},
                                                {.title = "currency", .is_key = true},
                                                {.title = "orders"},
                                                {.title = "total"},
                                                {.title = "discount"},
                                                {.title = "payable"},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "redemptions", .title = "Orders with a discount", .columns = columns};
  static const char *const amounts[] = {"/total", "/discount", "/payable"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(redemptions); i++) {
    const json_t *r = json_array_get(redemptions, i);
    paper_text(p, paper_doc_text(r, "/what"));
    paper_text(p, paper_doc_text(r, "/currency"));
    paper_number(p, paper_doc_number(r, "/count"));
    for (size_t k = 0; k < ARRAY_LEN(amounts); k++)
      paper_money(p, paper_doc_number(r, amounts[k]), paper_doc_text(r, "/currency"));
  }
}

// --- what waits for people

static void add_dead_letters(struct paper *p, const json_t *report, const json_t *moment)
{
  static const struct paper_column opened_columns[] = {{.title = "provider", .is_key = true},
                                                       {.title = "cause", .is_key = true, .words = "cause"},
                                                       {.title = "opened"},
                                                       {.title = NULL}};
  static const struct paper_column open_columns[] = {
      {.title = "provider", .is_key = true}, {.title = "open"}, {.title = NULL}};
  static const struct paper_table opened = {
      .id = "dead-letters", .title = "Dead letters opened that night", .columns = opened_columns};
  static const struct paper_table open = {
      .id = "open", .title = "Dead letters open when this was made", .columns = open_columns};
  const json_t *letters = json_object_get(report, "deadLetters");
  paper_add_table(p, &opened);
  for (size_t i = 0; i < json_array_size(letters); i++) {
    const json_t *l = json_array_get(letters, i);
    paper_text(p, paper_doc_text(l, "/provider"));
    paper_text(p, paper_doc_text(l, "/cause"));
    paper_number(p, paper_doc_number(l, "/opened"));
  }
  paper_doc_add_counts(p, &open, json_object_get(moment, "deadLettersOpen"));
}

static void add_statements(struct paper *p, const json_t *statements)
{
  static const struct paper_column columns[] = {
      {.title = "provider", .is_key = true}, {.title = "lines"}, {.title = "findings"}, {.title = "statement"},
      {.title = "file", .is_minor = true},   {.title = NULL}};
  static const struct paper_table table = {
      .id = "statements", .title = "Statements of providers for that day", .columns = columns};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(statements); i++) {
    const json_t *s = json_array_get(statements, i);
    paper_text(p, paper_doc_text(s, "/provider"));
    paper_number(p, paper_doc_number(s, "/lines"));
    paper_number(p, paper_doc_number(s, "/findings"));
    paper_text(p, paper_doc_text(s, "/statementId"));
    paper_text(p, paper_doc_text(s, "/file"));
  }
}

struct paper *night_paper_new(const json_t *doc)
{
  char title[160];
  const json_t *report = json_object_get(doc, "report"), *moment = json_object_get(doc, "moment");
  (void)snprintf(title, sizeof title, "Night of %s (%s)", text_of(doc, "/date"), text_of(doc, "/timeZone"));
  struct paper *p = paper_new(title);
  set_verdict(p, doc);
  paper_add_time_fact(p, "from", paper_doc_text(doc, "/from"));
  paper_add_time_fact(p, "until", paper_doc_text(doc, "/until"));
  paper_add_time_fact(p, "made", paper_doc_text(moment, "/at"));
  if (report == NULL) return p;
  add_moment_facts(p, moment);
  add_totals(p, report);
  paper_doc_add_money(p, jsonx_pointer(report, "/totals/money"), jsonx_pointer(report, "/totals/net"));
  add_findings(p, json_object_get(moment, "findings"));
  add_statements(p, json_object_get(moment, "statements"));
  add_hours(p, jsonx_pointer(report, "/totals/claimsByHour"));
  add_activities(p, report);
  add_refusals(p, jsonx_pointer(report, "/totals/refusals"));
  paper_doc_add_providers(p, json_object_get(report, "providers"));
  add_returns(p, json_object_get(report, "returns"));
  add_redemptions(p, json_object_get(report, "redemptions"));
  add_dead_letters(p, report, moment);
  return p;
}
