// SPDX-License-Identifier: Apache-2.0
// /v1/activities as the scheduler serves it: see desk_activity.h.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "reconciler/desk_activity.h"

#include "common/limits.h"
#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "reconciler/app.h"
#include "sql_shared.inc"

#define UNKNOWN "ACTIVITY_NOT_FOUND"

// --- reading

void desk_activity_list(struct web_request *req)
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
void desk_activity_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_ACTIVITY_GET, web_answer_versioned, .missing = UNKNOWN,
                                       WEB_ARGS(WEB_CODE("code"))};
  web_query_run(req, &get);
}

void desk_activity_history(struct web_request *req) { web_list_send_of(req, &SQL_ACTIVITY_HISTORY_LIST, UNKNOWN); }

void desk_activity_refusals(struct web_request *req)
{
  static const struct web_query list = {
      &SQL_REFUSAL_LIST, web_list_reply_of, .missing = UNKNOWN,
      WEB_ARGS(WEB_CODE("code"), WEB_TIME("from"), WEB_TIME("until"), WEB_AFTER(0), WEB_LIMIT)};
  web_query_run(req, &list);
}

// --- changing

static void log_changed(struct web_call *call, const char *outcome)
{
  LOG(app_of(call)->rt->log, EV_ACTIVITY_EDITED, F_STR("activity_code", web_param(call->req, "code")),
      F_STR("action", call->action != NULL ? call->action : outcome), F_STR("actor", web_actor(call->req)));
}

static bool put_providers(struct web_call *call)
{
  const struct reconciler_conf *conf = &app_of(call)->conf;
  web_put_names(&call->db.args, &conf->providers);
  web_put_names(&call->db.args, &conf->charging_providers);
  return true;
}

void desk_activity_put(struct web_request *req)
{
  static const struct web_query put = {
      &SQL_ACTIVITY_PUT, web_answer_change, .on_changed = log_changed,
      WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("code"), WEB_OWN(put_providers), WEB_ACTOR, WEB_VERSION, WEB_REASON)};
  web_query_run(req, &put);
}

// What people do to an activity as a whole.
#define ACTION(verb)                                                                                          \
  void desk_activity_##verb(struct web_request *req)                                                          \
  {                                                                                                           \
    static const struct web_query act = {&SQL_ACTIVITY_ACTION,                                                \
                                         web_answer_change,                                                   \
                                         .missing = UNKNOWN,                                                  \
                                         .action = #verb,                                                     \
                                         .on_changed = log_changed,                                           \
                                         WEB_ARGS(WEB_CODE("code"), WEB_WORD(#verb), WEB_ACTOR,               \
                                                  WEB_TEXT("reason", REASON_CHARS_MAX, false), WEB_VERSION)}; \
    web_query_run(req, &act);                                                                                 \
  }
ACTION(publish)
ACTION(pause)
ACTION(resume)
ACTION(finish)
ACTION(archive)

void desk_activity_adjust(struct web_request *req)
{
  static const struct web_query adjust = {
      &SQL_STOCK_ADJUST,
      web_answer_change,
      .missing = UNKNOWN,
      .action = "adjusted",
      .on_changed = log_changed,
      WEB_ARGS(WEB_CODE("code"), WEB_MEMBER_KEY("key"), WEB_INT("by", -STOCK_UNITS_MAX, STOCK_UNITS_MAX),
               WEB_TEXT("reason", REASON_CHARS_MAX, true), WEB_ACTOR)};
  web_query_run(req, &adjust);
}

// --- warm-up

static void on_warm(struct web_call *call, const struct db_rows *rows)
{
  static const char *const members[] = {"detail", NULL};
  static const struct web_told told = {.at = "/warnings", .members = members};
  if (db_rows_is_null(rows, 0, 3))
    web_reply_missing(call->req, UNKNOWN);
  else
    web_reply_told(call->req, 200, db_rows_text(rows, 0, 3), db_rows_text_len(rows, 0, 3), &told);
}

static bool ignore_reason(struct web_call *call)
{
  json_t *body = NULL;
  struct jsonx_reader r;
  if (!web_read_body(call->req, &body)) return false;
  jsonx_reader_init(&r, body, "");
  (void)jsonx_read_text(&r, "reason", false, REASON_CHARS_MAX);
  bool is_read = jsonx_reader_finish(&r) == RESULT_OK;
  if (!is_read) web_reply_invalid(call->req, r.fault);
  json_decref(body);
  return is_read;
}

void desk_activity_warm_up(struct web_request *req)
{
  static const struct web_query warm = {&SQL_ACTIVITY_WARM_UP, on_warm, .missing = UNKNOWN,
                                        WEB_ARGS(WEB_CODE("code"), WEB_OWN(ignore_reason))};
  web_query_run(req, &warm);
}
