// SPDX-License-Identifier: Apache-2.0
// The report as a page of its own: no script, nothing fetched, light and dark, and fit for paper.
// Pure; any thread.
#include "common/html_out.h"
#include "common/text.h"
#include "reconciler/report.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<title>Audit</title>\n<style>\n"
    ":root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }\n"
    "body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .4rem "
    ".6rem; border-bottom: 1px solid #8886; }\n"
    "td { overflow-wrap: anywhere; } .verdict { font-size: 1.2rem; font-weight: 600; } .clean { color: #18794e; } "
    ".found { color: #c62a2f; }\n"
    "@media (prefers-color-scheme: dark) { .clean { color: #4cc38a; } .found { color: #ff8589; } }\n"
    "@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } thead { display: "
    "table-header-group; } }\n"
    "</style></head><body>\n<h1>Audit</h1>\n";

static void put_cell(struct buf *out, const char *text)
{
  buf_puts(out, "<td>");
  html_put_text(out, text);
}

static void put_finding(struct buf *out, const struct finding *f)
{
  struct buf claim;
  buf_init(&claim, 64);
  report_put_claim_id(f, &claim);
  buf_puts(out, "<tr>");
  put_cell(out, finding_severity_name(f->severity));
  put_cell(out, finding_state_name(f->state));
  put_cell(out, f->kind);
  put_cell(out, f->activity_code);
  if (f->has_claim) buf_printf(out, "<br>claim %s", buf_text(&claim));
  put_cell(out, f->expected);
  put_cell(out, f->actual);
  put_cell(out, f->cause);
  buf_puts(out, "<br><strong>Next:</strong> ");
  html_put_text(out, f->next_step);
  buf_puts(out, "</tr>\n");
  buf_release(&claim);
}

static void put_findings(struct buf *out, const struct finding_set *set)
{
  if (set->count == 0) return;
  buf_puts(out,
           "<table><thead><tr><th>Severity<th>State<th>Kind<th>Activity<th>Expected<th>Actual<th>Cause and next "
           "step</tr></thead><tbody>\n");
  for (size_t i = 0; i < set->count; i++) put_finding(out, &set->items[i]);
  buf_puts(out, "</tbody></table>\n");
}

static void put_failures(struct buf *out, const struct audit_report *report)
{
  if (report->failure_count == 0) return;
  buf_puts(out, "<h2>Not finished</h2>\n<ul>\n");
  for (size_t i = 0; i < report->failure_count; i++) {
    const struct audit_failure *f = &report->failures[i];
    buf_puts(out, "<li>");
    html_put_text(out, f->kind);
    buf_puts(out, ", activity ");
    html_put_text(out, f->activity_code);
    buf_puts(out, ": ");
    html_put_text(out, f->reason);
    buf_puts(out, "</li>\n");
  }
  buf_puts(out, "</ul>\n");
}

void report_put_html(const struct audit_report *report, struct buf *out)
{
  char from[TEXT_TIME_BYTES], until[TEXT_TIME_BYTES];
  struct finding_counts counts = finding_set_count(&report->findings);
  text_from_time(report->from, from);
  text_from_time(report->until, until);
  buf_puts(out, head);
  buf_printf(out, "<p>From %s until %s: %lld activities, %lld audits each.</p>\n<p class=\"verdict %s\">", from, until,
             (long long)report->activities, (long long)report->audits,
             counts.live == 0 && report->failed == 0 ? "clean" : "found");
  report_put_verdict(report, out);
  buf_puts(out, "</p>\n");
  put_findings(out, &report->findings);
  put_failures(out, report);
  buf_puts(out, "</body></html>\n");
}
