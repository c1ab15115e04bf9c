// SPDX-License-Identifier: Apache-2.0
// An audit's report in words for a terminal, as JSON (contract.md), as CSV for spreadsheets, and as a page that also
// prints well. Pure; any thread. The same report gives the same bytes.
#pragma once

#include "common/buf.h"
#include "reconciler/audit.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_HTML };
#define REPORT_BYTES_MAX (512u * 1024u * 1024u)

// "text", "json", "csv", "html"; else RESULT_INVALID.
MUST_CHECK enum result report_format_parse(const char *name, enum report_format *out_format);
// What people read, in their language: text and HTML. Programs read the others by their English names.
bool report_format_is_told(enum report_format format);
void report_put(const struct audit_report *report, enum report_format format, struct buf *out);

// One line without its end: "audit: clean", "audit: 2 findings (1 critical, 1 high; 1 opened, 1 open)".
void report_put_verdict(const struct audit_report *report, struct buf *out);
// "683000001-17", or nothing.
void report_put_claim_id(const struct finding *f, struct buf *out);

// report_text.c, report_json.c, report_csv.c, report_html.c
void report_put_text(const struct audit_report *report, struct buf *out);
void report_put_json(const struct audit_report *report, struct buf *out);
void report_put_csv(const struct audit_report *report, struct buf *out);
void report_put_html(const struct audit_report *report, struct buf *out);
