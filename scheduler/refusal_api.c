// SPDX-License-Identifier: Apache-2.0
// GET /v1/activities/{code}/refusals: how many claims were refused, by minute and code.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/refusal_api.h"

#include "common/web_list.h"
#include "common/web_query.h"
#include "sql_shared.inc"

void refusal_api_list(struct web_request *req)
{
  static const struct web_query list = {
      &SQL_REFUSAL_LIST, web_list_reply_of, .missing = "ACTIVITY_NOT_FOUND",
      WEB_ARGS(WEB_CODE("code"), WEB_TIME("from"), WEB_TIME("until"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}
