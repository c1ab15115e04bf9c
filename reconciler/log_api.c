// SPDX-License-Identifier: Apache-2.0
// The operator log over HTTP. Owner: web routes; loop thread.
#include "reconciler/log_api.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "reconciler/call_list.h"
#include "reconciler/log_store.h"

// An instant of the query. False after a 400.
static bool read_time(struct web_request *web, const char *name, bool *out_has, struct wall_time *out_time)
{
  const char *value = web_query(web, name);
  char detail[96];
  *out_has = value != NULL;
  if (value == NULL || text_to_time(value, strlen(value), out_time) == RESULT_OK) return true;
  (void)snprintf(detail, sizeof detail, "%s: must be a time such as 2026-10-01T11:00:00+08:00", name);
  call_refuse(web, detail);
  return false;
}

void log_api_list(struct web_request *web)
{
  struct log_filter f = {NULL};
  int64_t limit, after = 0;
  if (!call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after) ||
      !call_text(web, "actor", &f.actor) || !call_text(web, "action", &f.action) ||
      !call_text(web, "target", &f.target) || !read_time(web, "since", &f.has_since, &f.since) ||
      !read_time(web, "until", &f.has_until, &f.until))
    return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, log_store_list(call_args(c), &f, after, limit + 1));
}
