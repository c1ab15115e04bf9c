// SPDX-License-Identifier: Apache-2.0
// The report for a terminal: each finding as a paragraph, the verdict as the last line.
// Pure; any thread.
#include "common/cmdline.h"
#include "common/text.h"
#include "reconciler/report.h"

static void put_line(struct buf *out, const char *label, const char *text)
{
  buf_printf(out, "  %-10s ", label);
  cmdline_put_text(out, text);
  buf_putc(out, '\n');
}

static void put_finding(struct buf *out, const struct finding *f)
{
  buf_printf(out, "%s %s (%s)", finding_severity_name(f->severity), f->kind, finding_state_name(f->state));
  if (f->activity_code[0] != '\0') buf_printf(out, ", activity %s", f->activity_code);
  if (f->has_claim) buf_puts(out, ", claim ");
  report_put_claim_id(f, out);
  buf_putc(out, '\n');
  put_line(out, "expected", f->expected);
  put_line(out, "actual", f->actual);
  put_line(out, "cause", f->cause);
  put_line(out, "next step", f->next_step);
  put_line(out, "key", f->key);
  buf_putc(out, '\n');
}

void report_put_text(const struct audit_report *report, struct buf *out)
{
  char from[TEXT_TIME_BYTES], until[TEXT_TIME_BYTES];
  text_from_time(report->from, from);
  text_from_time(report->until, until);
  buf_printf(out, "Audit from %s until %s: %lld activit%s, %lld audits each%s\n\n", from, until,
             (long long)report->activities, report->activities == 1 ? "y" : "ies", (long long)report->audits,
             report->is_resumed ? " (resumed)" : "");
  for (size_t i = 0; i < report->findings.count; i++) put_finding(out, &report->findings.items[i]);
  for (size_t i = 0; i < report->failure_count; i++) {
    const struct audit_failure *f = &report->failures[i];
    buf_printf(out, "not finished: %s of activity %s: ", f->kind, f->activity_code);
    cmdline_put_text(out, f->reason);
    buf_putc(out, '\n');
  }
  report_put_verdict(report, out);
  buf_putc(out, '\n');
}
