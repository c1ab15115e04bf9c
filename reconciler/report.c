// SPDX-License-Identifier: Apache-2.0
// What the forms of a report have in common: which there are, the verdict in one line.
// Pure; any thread.
#include "reconciler/report.h"

#include <string.h>

enum result report_format_parse(const char *name, enum report_format *out_format)
{
  static const char *const names[] = {"text", "json", "csv", "html"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *out_format = (enum report_format)i;
    return RESULT_OK;
  }
  return RESULT_INVALID;
}

bool report_format_is_told(enum report_format format) { return format == REPORT_TEXT || format == REPORT_HTML; }

void report_put(const struct audit_report *report, enum report_format format, struct buf *out)
{
  switch (format) {
    case REPORT_TEXT: report_put_text(report, out); break;
    case REPORT_JSON: report_put_json(report, out); break;
    case REPORT_CSV: report_put_csv(report, out); break;
    case REPORT_HTML: report_put_html(report, out); break;
  }
}

void report_put_claim_id(const struct finding *f, struct buf *out)
{
  if (!f->has_claim) return;
  buf_put_i64(out, f->activity_id);
  buf_putc(out, '-');
  buf_put_i64(out, f->claim_id);
}

static void put_count(struct buf *out, bool *io_is_first, const char *separator, size_t count, const char *name)
{
  if (count == 0) return;
  if (!*io_is_first) buf_puts(out, separator);
  buf_printf(out, "%zu %s", count, name);
  *io_is_first = false;
}

void report_put_verdict(const struct audit_report *report, struct buf *out)
{
  struct finding_counts c = finding_set_count(&report->findings);
  bool is_first = true;
  if (c.live > 0) {
    buf_printf(out, "audit: %zu finding%s (", c.live, c.live == 1 ? "" : "s");
    for (size_t i = 0; i < SEVERITY_COUNT; i++)
      put_count(out, &is_first, ", ", c.by_severity[i], finding_severity_name((enum finding_severity)i));
    is_first = true;
    buf_puts(out, "; ");
    for (size_t i = 0; i < FINDING_GONE; i++)
      put_count(out, &is_first, ", ", c.by_state[i], finding_state_name((enum finding_state)i));
    buf_putc(out, ')');
  } else {
    buf_puts(out, report->failed > 0 ? "audit: incomplete, nothing found so far" : "audit: clean");
  }
  if (c.by_state[FINDING_GONE] > 0) buf_printf(out, ", %zu gone since the last audit", c.by_state[FINDING_GONE]);
  if (report->failed > 0)
    buf_printf(out, ", %lld audit%s did not finish", (long long)report->failed, report->failed == 1 ? "" : "s");
}
