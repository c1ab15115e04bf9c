// SPDX-License-Identifier: Apache-2.0
// /v1/activities/{code}/numbers, qualifications, blocked-users.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/audience_api.h"

#include <string.h>

#include "common/limits.h"
#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/app.h"
#include "sql_shared.inc"

#define RANDOM_MAX 1000
#define UNKNOWN    "ACTIVITY_NOT_FOUND"

// --- numbers

static bool put_random(struct web_call *call)
{
  int64_t count = 0;
  const char *status = web_query(call->req, "status");
  if (!web_read_number(call->req, "random", 1, RANDOM_MAX, &count)) return false;
  if (web_query(call->req, "after") != NULL || web_query(call->req, "limit") != NULL) {
    web_reply_invalid(call->req, "random: goes without after and limit");
    return false;
  }
  if (status != NULL && strcmp(status, "available") != 0) {
    web_reply_invalid(call->req, "random: numbers are picked among those that are available");
    return false;
  }
  call->limit = (size_t)count;
  db_args_i64(&call->db.args, count);
  return true;
}

void audience_api_numbers(struct web_request *req)
{
  static const char *const statuses[] = {"available", "held", "sold", NULL};
  static const struct web_query pick = {&SQL_NUMBERS_RANDOM, web_list_reply_of, .missing = UNKNOWN,
                                        WEB_ARGS(WEB_CODE("code"), WEB_OWN(put_random))};
  static const struct web_query list = {
      &SQL_NUMBERS_LIST, web_list_reply_of, .missing = UNKNOWN,
      WEB_ARGS(WEB_CODE("code"), WEB_CHOICE("status", statuses), WEB_AFTER(-1), WEB_LIMIT)};  // 0 is a number
  web_query_run(req, web_query(req, "random") != NULL ? &pick : &list);
}

// --- qualifications

void audience_api_qualifications(struct web_request *req)
{
  static const char *const statuses[] = {"used", "unused", NULL};
  static const struct web_query list = {
      &SQL_QUALIFICATION_LIST, web_list_reply_of, .missing = UNKNOWN,
      WEB_ARGS(WEB_CODE("code"), WEB_QUERY_ID("userId"), WEB_CHOICE("status", statuses), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}

// --- blocked users

void audience_api_blocked(struct web_request *req) { web_list_send_of(req, &SQL_BLOCKED_USER_LIST, UNKNOWN); }

static void log_user(struct web_call *call, const char *outcome)
{
  (void)outcome;
  LOG(app_of(call)->rt->log, EV_USER_EDITED, F_STR("activity_code", web_param(call->req, "code")),
      F_STR("user_id", web_param(call->req, "id")), F_STR("action", call->action),
      F_STR("actor", web_actor(call->req)));
}

void audience_api_block(struct web_request *req)
{
  static const struct web_query block = {
      &SQL_BLOCKED_USER_PUT,
      web_answer_change,
      .missing = UNKNOWN,
      .action = "blocked",
      .on_changed = log_user,
      WEB_ARGS(WEB_CODE("code"), WEB_ID("id"), WEB_TEXT("reason", REASON_CHARS_MAX, false), WEB_ACTOR)};
  web_query_run(req, &block);
}

void audience_api_unblock(struct web_request *req)
{
  static const struct web_query unblock = {
      &SQL_BLOCKED_USER_DELETE, web_answer_change,
      .missing = UNKNOWN,       .action = "unblocked",
      .on_changed = log_user,   WEB_ARGS(WEB_CODE("code"), WEB_ID("id"), WEB_ACTOR, WEB_REASON)};
  web_query_run(req, &unblock);
}
