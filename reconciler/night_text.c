// SPDX-License-Identifier: Apache-2.0
// A night's report in words, fit for a mail: what happened, by activity, what became of money, what was found; the
// verdict as the last line. Pure; any thread.
#include "reconciler/night_text.h"

#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/text.h"

bool night_is_date(const char *text)
{
  char instant[32];
  struct wall_time t;
  if (strlen(text) != 10 || snprintf(instant, sizeof instant, "%sT00:00:00Z", text) >= (int)sizeof instant)
    return false;
  return text_to_time(instant, strlen(instant), &t) == RESULT_OK;
}

static const char *text_of(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
  return json_integer_value(json_object_get(object, name));
}

static void put_counts(const json_t *figures, struct buf *out)
{
  static const struct {
    const char *member, *title;
  } lines[] = {{"claims", "claims"},   {"succeeded", "succeeded"}, {"cancelled", "cancelled"},
               {"expired", "expired"}, {"failed", "failed"},       {"rolledBack", "rolled back"}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const json_t *count = json_object_get(figures, lines[i].member);
    if (i > 0 && number_of(count, "count") == 0) continue;
    buf_printf(out, "  %-12s %12lld  of %lld units\n", lines[i].title, number_of(count, "count"),
               number_of(count, "quantity"));
  }
}

static void put_refusals(const json_t *refusals, struct buf *out)
{
  const char *code;
  json_t *count;
  json_object_foreach((json_t *)(uintptr_t)refusals, code, count)
      buf_printf(out, "  %-12s %12lld  %s\n", "refused", (long long)json_integer_value(count), code);
}

// Amounts are minor units of their currency; they are not added up over currencies.
static void put_money(const json_t *money, struct buf *out)
{
  const char *what;
  json_t *items;
  json_object_foreach((json_t *)(uintptr_t)money, what, items)
  {
    for (size_t i = 0; i < json_array_size(items); i++) {
      const json_t *item = json_array_get(items, i);
      buf_printf(out, "  %-12s %12lld  at ", what, number_of(item, "count"));
      cmdline_put_text(out, text_of(item, "provider"));
      if (json_object_get(item, "amount") != NULL)
        buf_printf(out, ", %lld %s in minor units", number_of(item, "amount"), text_of(item, "currency"));
      buf_putc(out, '\n');
    }
  }
}

static void put_activities(const json_t *activities, struct buf *out)
{
  if (json_array_size(activities) == 0) return;
  buf_printf(out, "\n  %-40s %12s %12s %12s\n", "ACTIVITY", "CLAIMS", "SUCCEEDED", "FAILED");
  for (size_t i = 0; i < json_array_size(activities); i++) {
    const json_t *a = json_array_get(activities, i);
    buf_printf(out, "  %-40s %12lld %12lld %12lld\n", text_of(a, "code"),
               number_of(json_object_get(a, "claims"), "count"), number_of(json_object_get(a, "succeeded"), "count"),
               number_of(json_object_get(a, "failed"), "count"));
  }
}

static void put_finding(const json_t *f, struct buf *out)
{
  buf_printf(out, "\n%s %s (%s)", text_of(f, "severity"), text_of(f, "kind"), text_of(f, "state"));
  if (text_of(f, "activityCode")[0] != '\0') buf_printf(out, ", activity %s", text_of(f, "activityCode"));
  if (text_of(f, "claimId")[0] != '\0') buf_printf(out, ", claim %s", text_of(f, "claimId"));
  static const char *const members[] = {"expected", "actual", "cause", "nextStep"};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    buf_printf(out, "\n  %-9s ", members[i]);
    cmdline_put_text(out, text_of(f, members[i]));
  }
  buf_putc(out, '\n');
}

static void put_verdict(const json_t *doc, const json_t *moment, struct buf *out)
{
  long long findings = number_of(doc, "findings"), failed = number_of(doc, "failed");
  buf_putc(out, '\n');
  if (!json_is_true(json_object_get(moment, "figuresUnchanged")))
    buf_puts(out, "the figures are not those of the first time: rows of that night were changed\n");
  if (json_is_true(json_object_get(doc, "clean"))) {
    buf_puts(out, "night: clean\n");
    return;
  }
  buf_printf(out, "night: %lld finding%s", findings, findings == 1 ? "" : "s");
  if (failed > 0) buf_printf(out, ", %lld audit%s did not finish", failed, failed == 1 ? "" : "s");
  buf_putc(out, '\n');
}

void night_put_text(const json_t *doc, struct buf *out)
{
  const json_t *report = json_object_get(doc, "report"), *totals = json_object_get(report, "totals");
  const json_t *moment = json_object_get(doc, "moment"), *findings = json_object_get(moment, "findings");
  buf_printf(out, "Night of %s (%s): from %s until %s\n\n", text_of(doc, "date"), text_of(doc, "timeZone"),
             text_of(doc, "from"), text_of(doc, "until"));
  if (report == NULL) {
    buf_puts(out, "night: under way\n");
    return;
  }
  put_counts(totals, out);
  put_refusals(json_object_get(totals, "refusals"), out);
  put_money(json_object_get(totals, "money"), out);
  put_activities(json_object_get(report, "activities"), out);
  for (size_t i = 0; i < json_array_size(findings); i++) put_finding(json_array_get(findings, i), out);
  put_verdict(doc, moment, out);
}
