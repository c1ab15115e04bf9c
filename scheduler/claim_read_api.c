// SPDX-License-Identifier: Apache-2.0
// Reading claims: by id, by the click that made them, by user, by activity.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/claim_read_api.h"

#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/intake_api.h"
#include "sql_shared.inc"

void claim_read_api_by_id(struct web_request *req)
{
  static const struct web_query get = {&SQL_CLAIM_GET, web_answer_doc, .missing = "CLAIM_NOT_FOUND",
                                       WEB_ARGS(WEB_PAIR("claimId"))};
  web_query_run(req, &get);
}

void claim_read_api_by_biz(struct web_request *req)
{
  static const struct web_query get = {&SQL_CLAIM_GET_BY_BIZ, intake_api_show, .missing = "CLAIM_NOT_FOUND",
                                       WEB_ARGS(WEB_CODE("activityCode"), WEB_KEY("bizId"))};
  web_query_run(req, &get);
}

void claim_read_api_of_user(struct web_request *req)
{
  static const struct web_query list = {&SQL_CLAIM_LIST_BY_USER, web_list_on_ids,
                                        WEB_ARGS(WEB_ID("userId"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}

void claim_read_api_of_activity(struct web_request *req)
{
  static const char *const statuses[] = {"waiting",   "offered", "held",   "issuing",     "succeeded",
                                         "cancelled", "expired", "failed", "rolled_back", NULL};
  static const struct web_query list = {
      &SQL_CLAIM_LIST_BY_ACTIVITY, web_list_reply_of, .missing = "ACTIVITY_NOT_FOUND",
      WEB_ARGS(WEB_CODE("code"), WEB_CHOICE("status", statuses), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}
