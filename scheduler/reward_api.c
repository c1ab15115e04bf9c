// SPDX-License-Identifier: Apache-2.0
// /v1/rewards: what is delivered for a claim.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/reward_api.h"

#include <stdlib.h>
#include <string.h>

#include "common/web_call.h"
#include "common/web_read.h"
#include "scheduler/activity_cache.h"
#include "scheduler/activity_doc.h"
#include "scheduler/app.h"
#include "sql_scheduler.inc"

static void on_reward(struct web_call *call, const struct db_rows *rows) { web_reply_doc(call, rows, 0); }

void reward_api_get(struct web_request *req)
{
  const char *code = NULL;
  if (!web_read_code(req, "code", "NOT_FOUND", &code)) return;
  struct web_call *call = web_call_new(req, &SQL_REWARD_GET, on_reward);
  db_args_text(&call->db.args, code);
  web_call_send(call);
}

static void on_put(struct web_call *call, const struct db_rows *rows)
{
  bool is_created = strcmp(db_rows_text(rows, 0, 0), "created") == 0;
  if (is_created) web_reply_header(call->req, "Location", web_path(call->req));
  // Activities that have not started take the new terms, perhaps with another provider.
  if (strcmp(db_rows_text(rows, 0, 0), "updated") == 0) activity_cache_poke(app_of(call)->cache);
  web_reply_json(call->req, is_created ? 201 : 200, db_rows_text(rows, 0, 1), db_rows_text_len(rows, 0, 1));
}

static void send_put(struct web_request *req, const struct reward_terms *terms, const char *reason)
{
  char *params = terms->params != NULL ? json_dumps(terms->params, JSON_COMPACT) : NULL;
  struct web_call *call = web_call_new(req, &SQL_REWARD_PUT, on_put);
  db_args_text(&call->db.args, terms->code);
  db_args_text(&call->db.args, terms->provider);
  if (terms->has_amount)
    db_args_i64(&call->db.args, terms->amount);
  else
    db_args_null(&call->db.args);
  db_args_text(&call->db.args, terms->has_amount ? terms->currency : NULL);
  db_args_text(&call->db.args, params);
  db_args_text(&call->db.args, web_actor(req));
  db_args_text(&call->db.args, reason);
  free(params);
  web_call_send(call);
}

void reward_api_put(struct web_request *req)
{
  struct app *app = web_context(req);
  json_t *body = NULL;
  struct reward_terms terms;
  const char *reason = NULL;
  char fault[JSONX_WHY_BYTES];
  if (!web_read_reason(req, &reason) || !web_read_body(req, &body)) return;
  const struct conf_texts *providers = &app->conf.providers;
  if (reward_doc_check(body, web_param(req, "code"), providers->items, providers->count, &terms, fault) == RESULT_OK)
    send_put(req, &terms, reason);
  else
    web_reply_invalid(req, fault);
  json_decref(body);
}
