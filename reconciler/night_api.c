// SPDX-License-Identifier: Apache-2.0
// The nights' reports over HTTP: the list, newest first, one with everything, one held against another.
// Owner: web routes; loop thread.
#include "reconciler/night_api.h"

#include <stdio.h>
#include <string.h>

#include "reconciler/call_list.h"
#include "reconciler/night_paper.h"
#include "reconciler/report_api.h"
#include "reconciler/store_night.h"

void night_api_list(struct web_request *web)
{
  const char *after = NULL;
  int64_t limit;
  if (!call_list_limit(web, &limit) || !call_text(web, "after", &after)) return;
  if (after != NULL && !night_is_date(after)) {
    call_refuse(web, "after: must be a date such as 2026-11-29");
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_TEXT);
  call_send(c, store_night_list(call_args(c), after, limit + 1));
}

struct night_call {
  struct call call;
  enum report_format format;
  char name[64];
};

static const char *const words_of_finding[] = {"expected", "actual", "cause", "nextStep", NULL};
static const struct report_api_kind night_kind = {
    .paper_fn = night_paper_new,
    .told = &(const struct web_told){.at = "/moment/findings", .members = words_of_finding}};
static const struct report_api_kind comparison_kind = {
    .paper_fn = night_paper_new_comparison,
    .told = &(const struct web_told){.at = "/findings/items", .members = words_of_finding}};

static struct night_call *of(struct call *c) { return CONTAINER_OF(c, struct night_call, call); }

static void on_report(struct call *c, const struct db_rows *rows)
{
  struct night_call *n = of(c);
  if (db_rows_count(rows) == 0)
    call_not_found(c->web, "there is no report of this date");
  else
    report_api_reply(c->web, n->format, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &night_kind, n->name);
  call_end(c);
}

static void on_comparison(struct call *c, const struct db_rows *rows)
{
  struct night_call *n = of(c);
  const char *outcome = db_rows_text(rows, 0, 0);
  if (strcmp(outcome, "no_report") == 0)
    call_not_found(c->web, "there is no report of this date");
  else if (strcmp(outcome, "no_other") == 0)
    call_not_found(c->web, "there is no report to compare with");
  else
    report_api_reply(c->web, n->format, db_rows_text(rows, 0, 1), db_rows_text_len(rows, 0, 1), &comparison_kind,
                     n->name);
  call_end(c);
}

// NULL after a 400 or 404.
static struct night_call *begin(struct web_request *web, const char *what,
                                void (*on_rows)(struct call *c, const struct db_rows *rows))
{
  const char *date = web_param(web, "date");
  enum report_format format;
  if (!night_is_date(date)) {
    call_not_found(web, "a report has a date such as 2026-11-29");
    return NULL;
  }
  if (!report_api_format(web, &format)) return NULL;
  struct night_call *n = of(call_new(web, sizeof *n, on_rows));
  n->format = format;
  (void)snprintf(n->name, sizeof n->name, "%s-%s", what, date);
  return n;
}

void night_api_show(struct web_request *web)
{
  struct night_call *n = begin(web, "night", on_report);
  if (n != NULL) call_send(&n->call, store_night_show(call_args(&n->call), web_param(web, "date")));
}

void night_api_compare(struct web_request *web)
{
  const char *with = NULL;
  if (!call_text(web, "with", &with)) return;
  if (with != NULL && !night_is_date(with)) {
    call_refuse(web, "with: must be a date such as 2026-11-29");
    return;
  }
  struct night_call *n = begin(web, "comparison", on_comparison);
  if (n != NULL) call_send(&n->call, store_night_compare(call_args(&n->call), web_param(web, "date"), with));
}
