// SPDX-License-Identifier: Apache-2.0
// /v1/rewards: what is delivered for a claim.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/reward_api.h"

#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/activity_cache.h"
#include "scheduler/app.h"
#include "sql_shared.inc"

void reward_api_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_REWARD_GET, web_answer_doc, .missing = "NOT_FOUND",
                                       WEB_ARGS(WEB_CODE("code"))};
  web_query_run(req, &get);
}

void reward_api_list(struct web_request *req)
{
  static const struct web_query list = {&SQL_REWARD_LIST, web_list_on_codes, WEB_ARGS(WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}

// Activities that have not started take the new terms, perhaps with another provider.
static void tell_changed(struct web_call *call, const char *outcome)
{
  (void)outcome;
  activity_cache_poke(app_of(call)->cache);
}

static bool put_providers(struct web_call *call)
{
  web_put_names(&call->db.args, &app_of(call)->conf.providers);
  return true;
}

void reward_api_put(struct web_request *req)
{
  static const struct web_query put = {
      &SQL_REWARD_PUT, web_answer_change, .on_changed = tell_changed,
      WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("code"), WEB_OWN(put_providers), WEB_ACTOR, WEB_REASON)};
  web_query_run(req, &put);
}
