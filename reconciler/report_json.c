// SPDX-License-Identifier: Apache-2.0
// The report as JSON: {from, until, clean, findings: […]} as contract.md has it, and what a run could not finish.
// Pure; any thread.
#include <string.h>

#include "common/text.h"
#include "reconciler/report.h"

static void put_member(struct buf *out, const char *opening, const char *text)
{
  buf_puts(out, opening);
  buf_put_json(out, text, strlen(text));
}

static void put_finding(struct buf *out, const struct finding *f)
{
  put_member(out, "{\"key\":", f->key);
  put_member(out, ",\"kind\":", f->kind);
  put_member(out, ",\"severity\":", finding_severity_name(f->severity));
  if (f->activity_code[0] != '\0') put_member(out, ",\"activityCode\":", f->activity_code);
  if (f->has_claim) {
    buf_puts(out, ",\"claimId\":\"");
    report_put_claim_id(f, out);
    buf_putc(out, '"');
  }
  put_member(out, ",\"expected\":", f->expected);
  put_member(out, ",\"actual\":", f->actual);
  put_member(out, ",\"cause\":", f->cause);
  put_member(out, ",\"nextStep\":", f->next_step);
  put_member(out, ",\"state\":", finding_state_name(f->state));
  buf_putc(out, '}');
}

static void put_failure(struct buf *out, const struct audit_failure *f)
{
  put_member(out, "{\"kind\":", f->kind);
  put_member(out, ",\"activityCode\":", f->activity_code);
  put_member(out, ",\"reason\":", f->reason);
  buf_putc(out, '}');
}

static const char *line_start(size_t i) { return i == 0 ? "\n" : ",\n"; }

void report_put_json(const struct audit_report *report, struct buf *out)
{
  char from[TEXT_TIME_BYTES], until[TEXT_TIME_BYTES];
  struct finding_counts counts = finding_set_count(&report->findings);
  text_from_time(report->from, from);
  text_from_time(report->until, until);
  buf_printf(out, "{\"from\":\"%s\",\"until\":\"%s\",\"clean\":%s,\"activities\":%lld,\"audits\":%lld,\"findings\":[",
             from, until, counts.live == 0 && report->failed == 0 ? "true" : "false", (long long)report->activities,
             (long long)report->audits);
  for (size_t i = 0; i < report->findings.count; i++) {
    buf_puts(out, line_start(i));
    put_finding(out, &report->findings.items[i]);
  }
  buf_puts(out, "],\"failed\":");
  buf_put_i64(out, report->failed);
  buf_puts(out, ",\"failures\":[");
  for (size_t i = 0; i < report->failure_count; i++) {
    buf_puts(out, line_start(i));
    put_failure(out, &report->failures[i]);
  }
  buf_puts(out, "]}\n");
}
