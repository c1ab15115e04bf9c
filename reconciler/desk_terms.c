// SPDX-License-Identifier: Apache-2.0
// Rewards and discount rules as the scheduler serves them.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "reconciler/desk_terms.h"

#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "reconciler/app.h"
#include "sql_shared.inc"

void desk_terms_rewards(struct web_request *req)
{
  static const struct web_query list = {&SQL_REWARD_LIST, web_list_on_codes, WEB_ARGS(WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}

void desk_terms_reward(struct web_request *req)
{
  static const struct web_query get = {&SQL_REWARD_GET, web_answer_doc, .missing = "NOT_FOUND",
                                       WEB_ARGS(WEB_CODE("code"))};
  web_query_run(req, &get);
}

static void log_changed(struct web_call *call, const char *outcome)
{
  LOG(app_of(call)->rt->log, EV_TERMS_EDITED, F_STR("path", web_path(call->req)), F_STR("action", outcome),
      F_STR("actor", web_actor(call->req)));
}

static bool put_providers(struct web_call *call)
{
  web_put_names(&call->db.args, &app_of(call)->conf.providers);
  return true;
}

void desk_terms_reward_put(struct web_request *req)
{
  static const struct web_query put = {
      &SQL_REWARD_PUT, web_answer_change, .on_changed = log_changed,
      WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("code"), WEB_OWN(put_providers), WEB_ACTOR, WEB_REASON)};
  web_query_run(req, &put);
}

void desk_terms_rules(struct web_request *req)
{
  static const struct web_query list = {&SQL_DISCOUNT_RULE_LIST, web_list_on_codes,
                                        WEB_ARGS(WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}

void desk_terms_rule(struct web_request *req)
{
  static const struct web_query get = {&SQL_DISCOUNT_RULE_GET, web_answer_doc, .missing = "NOT_FOUND",
                                       WEB_ARGS(WEB_CODE("id"))};
  web_query_run(req, &get);
}

void desk_terms_rule_put(struct web_request *req)
{
  static const struct web_query put = {&SQL_DISCOUNT_RULE_PUT, web_answer_change, .on_changed = log_changed,
                                       WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("id"), WEB_ACTOR, WEB_REASON)};
  web_query_run(req, &put);
}
