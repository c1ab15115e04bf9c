// SPDX-License-Identifier: Apache-2.0
// The nights' reports over HTTP: the list, newest first, and one with everything.
// Owner: web routes; loop thread.
#include "reconciler/night_api.h"

#include "reconciler/call_list.h"
#include "reconciler/night_text.h"
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

static void on_report(struct call *c, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    call_not_found(c->web, "there is no report of this date");
  else
    web_reply_json(c->web, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  call_end(c);
}

void night_api_show(struct web_request *web)
{
  const char *date = web_param(web, "date");
  if (!night_is_date(date)) {
    call_not_found(web, "a report has a date such as 2026-11-29");
    return;
  }
  struct call *c = call_new(web, sizeof *c, on_report);
  call_send(c, store_night_show(call_args(c), date));
}
