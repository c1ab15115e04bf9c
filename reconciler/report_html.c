// SPDX-License-Identifier: Apache-2.0
// The report of an audit as a page, in the look of all reports. Pure; any thread.
#include <stdio.h>

#include "common/text.h"
#include "reconciler/paper.h"
#include "reconciler/report.h"

static void add_findings(struct paper *p, const struct finding_set *set)
{
  static const struct paper_column columns[] = {{.title = "kind", .is_key = true},
                                                {.title = "severity"},
                                                {.title = "state"},
                                                {.title = "activity"},
                                                {.title = "claim"},
                                                {.title = "expected"},
                                                {.title = "actual"},
                                                {.title = "cause"},
                                                {.title = "next step"},
                                                {.title = NULL}};
  static const struct paper_table table = {.id = "findings", .title = "Findings", .columns = columns};
  struct buf claim;
  buf_init(&claim, 64);
  paper_add_table(p, &table);
  for (size_t i = 0; i < set->count; i++) {
    const struct finding *f = &set->items[i];
    buf_clear(&claim);
    report_put_claim_id(f, &claim);
    const char *const cells[] = {f->kind,
                                 finding_severity_name(f->severity),
                                 finding_state_name(f->state),
                                 f->activity_code,
                                 buf_text(&claim),
                                 f->expected,
                                 f->actual,
                                 f->cause,
                                 f->next_step};
    for (size_t k = 0; k < ARRAY_LEN(cells); k++) paper_text(p, cells[k]);
  }
  buf_release(&claim);
}

static void add_failures(struct paper *p, const struct audit_report *report)
{
  static const struct paper_column columns[] = {
      {.title = "audit", .is_key = true}, {.title = "activity"}, {.title = "reason"}, {.title = NULL}};
  static const struct paper_table table = {.id = "failures", .title = "Not finished", .columns = columns};
  paper_add_table(p, &table);
  for (size_t i = 0; i < report->failure_count; i++) {
    paper_text(p, report->failures[i].kind);
    paper_text(p, report->failures[i].activity_code);
    paper_text(p, report->failures[i].reason);
  }
}

void report_put_html(const struct audit_report *report, struct buf *out)
{
  char from[TEXT_TIME_BYTES], until[TEXT_TIME_BYTES], scope[96];
  struct finding_counts counts = finding_set_count(&report->findings);
  struct buf verdict;
  struct paper *p = paper_new("Audit");
  buf_init(&verdict, 1024);
  report_put_verdict(report, &verdict);
  paper_set_verdict(p, counts.live == 0 && report->failed == 0 ? PAPER_GOOD : PAPER_BAD, buf_text(&verdict));
  text_from_time(report->from, from);
  text_from_time(report->until, until);
  (void)snprintf(scope, sizeof scope, "%lld activities, %lld audits each", (long long)report->activities,
                 (long long)report->audits);
  paper_add_time_fact(p, "from", from);
  paper_add_time_fact(p, "until", until);
  paper_add_fact(p, "covers", scope);
  add_findings(p, &report->findings);
  add_failures(p, report);
  paper_put_html(p, out);
  paper_free(p);
  buf_release(&verdict);
}
