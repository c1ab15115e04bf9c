// SPDX-License-Identifier: Apache-2.0
// One night held against another, for people: figures with what has changed, also by activity, and findings that were
// opened, are still open, or are gone. Pure; any thread.
#include <stdio.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "reconciler/night_paper.h"
#include "reconciler/paper_doc.h"

static const struct {
  const char *member, *title;
  bool is_time;
} figures[] = {{"claims", "claims", false},
               {"units", "units", false},
               {"succeeded", "succeeded", false},
               {"cancelled", "cancelled", false},
               {"expired", "expired", false},
               {"failed", "failed", false},
               {"rolledBack", "rolled back", false},
               {"refused", "refused", false},
               {"p50Ms", "delivered, half within", true},
               {"p90Ms", "delivered, 90 % within", true},
               {"p99Ms", "delivered, 99 % within", true}};

static void put_values(struct paper *p, const json_t *figure, bool is_time)
{
  if (is_time) {
    paper_millis(p, paper_doc_millis(figure, "/before"));
    paper_millis(p, paper_doc_millis(figure, "/after"));
  } else {
    paper_number(p, paper_doc_number(figure, "/before"));
    paper_number(p, paper_doc_number(figure, "/after"));
  }
  if (is_time)
    paper_change_millis(p, paper_doc_number(figure, "/change"));
  else
    paper_change(p, paper_doc_number(figure, "/change"));
  paper_percent(p, paper_doc_real(figure, "/percent"));
}

static void add_totals(struct paper *p, const json_t *totals)
{
  static const struct paper_column columns[] = {{.title = "figure", .is_key = true, .words = PAPER_WORDS},
                                                {.title = "before"},
                                                {.title = "after"},
                                                {.title = "change"},
                                                {.title = "per cent"},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "totals", .title = "In figures", .columns = columns};
  paper_add_table(p, &table);
  for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
    const json_t *figure = json_object_get(totals, figures[i].member);
    if (figure == NULL) continue;
    paper_text(p, figures[i].title);
    put_values(p, figure, figures[i].is_time);
  }
}

static void add_money(struct paper *p, const json_t *money)
{
  static const struct paper_column columns[] = {{.title = "what", .is_key = true, .words = "money"},
                                                {.title = "provider", .is_key = true},
                                                {.title = "before"},
                                                {.title = "after"},
                                                {.title = "change"},
                                                {.title = "per cent"},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "money", .title = "Money", .columns = columns};
  static const char *const amounts[] = {"/amount/before", "/amount/after", "/amount/change"};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(money); i++) {
    const json_t *m = json_array_get(money, i);
    paper_text(p, paper_doc_text(m, "/what"));
    paper_text(p, paper_doc_text(m, "/provider"));
    for (size_t k = 0; k < ARRAY_LEN(amounts); k++)
      paper_money(p, paper_doc_number(m, amounts[k]), paper_doc_text(m, "/currency"));
    paper_percent(p, paper_doc_real(m, "/amount/percent"));
  }
}

static void add_findings(struct paper *p, const json_t *findings)
{
  static const struct paper_column columns[] = {{.title = "kind", .is_minor = true, .words = "finding"},
                                                {.title = "state", .words = "finding-state"},
                                                {.title = "severity", .words = "severity"},
                                                {.title = "activity"},
                                                {.title = "claim"},
                                                {.title = "expected", .words = ""},
                                                {.title = "actual", .words = ""},
                                                {.title = "key", .is_key = true},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "findings", .title = "Findings", .columns = columns, .is_listed = true};
  static const char *const members[] = {"/kind",    "/state",    "/severity", "/activityCode",
                                        "/claimId", "/expected", "/actual",   "/key"};
  const json_t *items = json_object_get(findings, "items");
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(items); i++) {
    for (size_t k = 0; k < ARRAY_LEN(members); k++) paper_text(p, paper_doc_text(json_array_get(items, i), members[k]));
  }
}

static void add_activities(struct paper *p, const json_t *activities)
{
  static const struct paper_column columns[] = {{.title = "code", .is_key = true},
                                                {.title = "claims before", .is_drawn = true, .tone = 5},
                                                {.title = "claims", .is_drawn = true, .tone = 0},
                                                {.title = "change"},
                                                {.title = "per cent"},
                                                {.title = "succeeded", .is_minor = true},
                                                {.title = "change of these", .is_minor = true},
                                                {.title = "failed", .is_minor = true},
                                                {.title = "change of these", .is_minor = true},
                                                {.title = NULL}};
  static const struct paper_table table = {
      .id = "activities", .title = "Activities", .columns = columns, .chart = CHART_BARS};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(activities); i++) {
    const json_t *a = json_array_get(activities, i);
    paper_text(p, paper_doc_text(a, "/code"));
    put_values(p, jsonx_pointer(a, "/figures/claims"), false);
    paper_number(p, paper_doc_number(a, "/figures/succeeded/after"));
    paper_change(p, paper_doc_number(a, "/figures/succeeded/change"));
    paper_number(p, paper_doc_number(a, "/figures/failed/after"));
    paper_change(p, paper_doc_number(a, "/figures/failed/change"));
  }
}

static void add_providers(struct paper *p, const json_t *providers)
{
  static const struct paper_column columns[] = {{.title = "provider", .is_key = true},
                                                {.title = "calls before"},
                                                {.title = "calls"},
                                                {.title = "change"},
                                                {.title = "per cent"},
                                                {.title = "not done", .is_minor = true},
                                                {.title = "p99", .is_minor = true},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "providers", .title = "Calls at providers", .columns = columns};
  paper_add_table(p, &table);
  for (size_t i = 0; i < json_array_size(providers); i++) {
    const json_t *item = json_array_get(providers, i);
    paper_text(p, paper_doc_text(item, "/provider"));
    put_values(p, json_object_get(item, "calls"), false);
    paper_number(p, paper_doc_number(item, "/notDone/after"));
    paper_millis(p, paper_doc_millis(item, "/p99Ms/after"));
  }
}

static void set_verdict(struct paper *p, const json_t *doc)
{
  char text[160];
  bool is_clean = json_is_true(jsonx_pointer(doc, "/clean/after"));
  (void)snprintf(text, sizeof text, "findings: %lld opened, %lld still open, %lld gone",
                 (long long)paper_doc_number(doc, "/findings/opened"),
                 (long long)paper_doc_number(doc, "/findings/open"),
                 (long long)paper_doc_number(doc, "/findings/gone"));
  paper_set_verdict(p, is_clean ? PAPER_GOOD : PAPER_BAD, text);
}

struct paper *night_paper_new_comparison(const json_t *doc)
{
  char title[160];
  const char *date = paper_doc_text(doc, "/date"), *with = paper_doc_text(doc, "/with");
  (void)snprintf(title, sizeof title, "Night of %s, compared with %s", date != NULL ? date : "",
                 with != NULL ? with : "");
  struct paper *p = paper_new(title);
  set_verdict(p, doc);
  add_totals(p, json_object_get(doc, "totals"));
  add_money(p, json_object_get(doc, "money"));
  add_findings(p, json_object_get(doc, "findings"));
  add_activities(p, json_object_get(doc, "activities"));
  add_providers(p, json_object_get(doc, "providers"));
  return p;
}
