// SPDX-License-Identifier: Apache-2.0
// /v1/activities: reading, putting, moving, history, stock. The scheduler's memory is told of every change.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/activity_api.h"

#include "common/limits.h"
#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/activity_cache.h"
#include "scheduler/app.h"
#include "sql_shared.inc"

#define UNKNOWN "ACTIVITY_NOT_FOUND"

// --- reading

void activity_api_list(struct web_request *req)
{
  static const char *const statuses[] = {"draft", "published", "ongoing", "paused", "finished", "archived", NULL};
  static const char *const kinds[] = {"reward", "registration", "number", "exchange", NULL};
  static const char *const sorts[] = {"code", "startAt", "-startAt", NULL};
  static const struct web_query list = {
      &SQL_ACTIVITY_SEARCH, web_list_on_codes,
      WEB_ARGS(WEB_AFTER_PLACE, WEB_CHOICE("sort", sorts), WEB_CHOICE("status", statuses), WEB_CHOICE("kind", kinds),
               WEB_QUERY_CODE("eventCode"), WEB_QUERY_TEXT("q"), WEB_LIMIT)};
  web_query_run(req, &list);
}

// No If-None-Match: the version is the configuration's, and availability and serverTime change without it.
void activity_api_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_ACTIVITY_GET, web_answer_versioned, .missing = UNKNOWN,
                                       WEB_ARGS(WEB_CODE("code"))};
  web_query_run(req, &get);
}

void activity_api_history(struct web_request *req) { web_list_send_of(req, &SQL_ACTIVITY_HISTORY_LIST, UNKNOWN); }

// --- changing

static void tell_changed(struct web_call *call, const char *outcome)
{
  activity_cache_poke(app_of(call)->cache);
  LOG(app_of(call)->rt->log, EV_ACTIVITY_EDITED, F_STR("activity_code", web_param(call->req, "code")),
      F_STR("action", call->action != NULL ? call->action : outcome), F_STR("actor", web_actor(call->req)));
}

static bool put_providers(struct web_call *call)
{
  const struct scheduler_conf *conf = &app_of(call)->conf;
  web_put_names(&call->db.args, &conf->providers);
  web_put_names(&call->db.args, &conf->charging_providers);
  return true;
}

void activity_api_put(struct web_request *req)
{
  static const struct web_query put = {
      &SQL_ACTIVITY_PUT, web_answer_change, .on_changed = tell_changed,
      WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("code"), WEB_OWN(put_providers), WEB_ACTOR, WEB_VERSION, WEB_REASON)};
  web_query_run(req, &put);
}

// What people do to an activity as a whole.
#define ACTION(verb)                                                                                          \
  void activity_api_##verb(struct web_request *req)                                                           \
  {                                                                                                           \
    static const struct web_query act = {&SQL_ACTIVITY_ACTION,                                                \
                                         web_answer_change,                                                   \
                                         .missing = UNKNOWN,                                                  \
                                         .action = #verb,                                                     \
                                         .on_changed = tell_changed,                                          \
                                         WEB_ARGS(WEB_CODE("code"), WEB_WORD(#verb), WEB_ACTOR,               \
                                                  WEB_TEXT("reason", REASON_CHARS_MAX, false), WEB_VERSION)}; \
    web_query_run(req, &act);                                                                                 \
  }
ACTION(publish)
ACTION(pause)
ACTION(resume)
ACTION(finish)
ACTION(archive)

void activity_api_adjust(struct web_request *req)
{
  static const struct web_query adjust = {
      &SQL_STOCK_ADJUST,
      web_answer_change,
      .missing = UNKNOWN,
      .action = "adjusted",
      .on_changed = tell_changed,
      WEB_ARGS(WEB_CODE("code"), WEB_MEMBER_KEY("key"), WEB_INT("by", -STOCK_UNITS_MAX, STOCK_UNITS_MAX),
               WEB_TEXT("reason", REASON_CHARS_MAX, true), WEB_ACTOR)};
  web_query_run(req, &adjust);
}
