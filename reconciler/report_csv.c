// SPDX-License-Identifier: Apache-2.0
// The report as CSV: a row per finding, safe to open in a spreadsheet.
// Pure; any thread.
#include "common/csv_out.h"
#include "reconciler/report.h"

void report_put_csv(const struct audit_report *report, struct buf *out)
{
  static const char *const header[] = {"key",    "kind",  "severity", "activityCode", "claimId", "expected",
                                       "actual", "cause", "nextStep", "state",        NULL};
  struct buf claim;
  buf_init(&claim, 64);
  csv_put_row(out, header);
  for (size_t i = 0; i < report->findings.count; i++) {
    const struct finding *f = &report->findings.items[i];
    buf_clear(&claim);
    report_put_claim_id(f, &claim);
    csv_put_row(out, (const char *const[]){f->key, f->kind, finding_severity_name(f->severity), f->activity_code,
                                           buf_text(&claim), f->expected, f->actual, f->cause, f->next_step,
                                           finding_state_name(f->state), NULL});
  }
  buf_release(&claim);
}
