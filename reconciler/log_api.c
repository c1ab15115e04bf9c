// SPDX-License-Identifier: Apache-2.0
// The operator log over HTTP. Owner: web routes; loop thread.
#include "reconciler/log_api.h"

#include "common/web_read.h"
#include "reconciler/call_list.h"
#include "reconciler/log_store.h"

void log_api_list(struct web_request *web)
{
  struct log_filter f = {.actor = NULL};
  int64_t limit, after = 0;
  if (!call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after) ||
      !call_text(web, "actor", &f.actor) || !call_text(web, "action", &f.action) ||
      !call_text(web, "target", &f.target) || !web_read_time(web, "since", &f.has_since, &f.since) ||
      !web_read_time(web, "until", &f.has_until, &f.until))
    return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, log_store_list(call_args(c), &f, after, limit + 1));
}
