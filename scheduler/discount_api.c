// SPDX-License-Identifier: Apache-2.0
// /v1/discount-rules, /v1/discounts/quote and /v1/orders/{orderId}/redemption.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/discount_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/web_answer.h"
#include "common/web_list.h"
#include "common/web_query.h"
#include "scheduler/app.h"
#include "scheduler/discount_doc.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

// Quotes and redemptions say why something is left out.
static void reply_told(struct web_call *call, int status, const struct db_rows *rows, size_t column)
{
  static const char *const members[] = {"detail", NULL};
  static const struct web_told told = {.at = "/rejected", .members = members};
  web_reply_told(call->req, status, db_rows_text(rows, 0, column), db_rows_text_len(rows, 0, column), &told);
}

static void on_told(struct web_call *call, const struct db_rows *rows)
{
  if (db_rows_is_null(rows, 0, 0))
    web_reply_missing(call->req, "NOT_FOUND");
  else
    reply_told(call, 200, rows, 0);
}

// --- rules

void discount_api_rules(struct web_request *req)
{
  static const struct web_query list = {&SQL_DISCOUNT_RULE_LIST, web_list_on_codes,
                                        WEB_ARGS(WEB_AFTER_CODE, WEB_LIMIT)};
  web_query_run(req, &list);
}

void discount_api_rule_get(struct web_request *req)
{
  static const struct web_query get = {&SQL_DISCOUNT_RULE_GET, web_answer_doc, WEB_ARGS(WEB_CODE("id"))};
  web_query_run(req, &get);
}

static void log_rule(struct web_call *call, const char *outcome)
{
  LOG(app_of(call)->rt->log, EV_DISCOUNT_RULE_EDITED, F_STR("rule_id", web_param(call->req, "id")),
      F_STR("action", outcome), F_STR("actor", web_actor(call->req)));
}

void discount_api_rule_put(struct web_request *req)
{
  static const struct web_query put = {&SQL_DISCOUNT_RULE_PUT, web_answer_change, .on_changed = log_rule,
                                       WEB_ARGS(WEB_WHOLE_BODY, WEB_PATH("id"), WEB_ACTOR, WEB_REASON)};
  web_query_run(req, &put);
}

// --- orders

// Reads the body with one of the checks and hands it to a new call as its first argument. NULL: the request is
// answered.
typedef enum result doc_check_fn(const json_t *body, const char *path_id, json_t **out_doc,
                                 char out_fault[JSONX_WHY_BYTES]);
static struct web_call *call_with_doc(struct web_request *req, doc_check_fn *check, const char *path_id,
                                      const struct db_statement *statement, web_rows_fn *rows_fn)
{
  json_t *body = NULL, *doc = NULL;
  char fault[JSONX_WHY_BYTES];
  if (!web_read_body(req, &body)) return NULL;
  enum result result = check(body, path_id, &doc, fault);
  json_decref(body);
  if (result != RESULT_OK) {
    web_reply_invalid(req, fault);
    return NULL;
  }
  struct web_call *call = web_call_new(req, statement, rows_fn);
  char *text = json_dumps(doc, JSON_COMPACT);
  db_args_text(&call->db.args, text);
  free(text);
  json_decref(doc);
  return call;
}

void discount_api_quote(struct web_request *req)
{
  bool has_at = false;
  struct wall_time at = {0};
  char text[TEXT_TIME_BYTES];
  if (!web_read_time(req, "at", &has_at, &at)) return;
  struct web_call *call = call_with_doc(req, discount_order_check, NULL, &SQL_DISCOUNT_QUOTE, on_told);
  if (call == NULL) return;
  text_from_time(at, text);
  db_args_text(&call->db.args, has_at ? text : NULL);
  web_call_send(call);
}

// False: the request is answered.
static bool read_order_id(struct web_request *req, const char **out_id)
{
  const char *id = web_param(req, "orderId");
  *out_id = id;
  if (text_is_biz_id(id, strlen(id))) return true;
  web_reply_invalid(req, "orderId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
  return false;
}

void discount_api_redemption_get(struct web_request *req)
{
  const char *id = NULL;
  if (!read_order_id(req, &id)) return;
  struct web_call *call = web_call_new(req, &SQL_REDEMPTION_GET, on_told);
  db_args_text(&call->db.args, id);
  web_call_send(call);
}

static void reply_refused(struct web_call *call, const struct db_rows *rows)
{
  struct buf extra;
  buf_init(&extra, WEB_REPLY_BYTES_MAX);
  if (!db_rows_is_null(rows, 0, 2)) buf_printf(&extra, "\"coupons\":%s", db_rows_text(rows, 0, 2));
  web_reply_refusal(call->req, db_rows_text(rows, 0, 0), db_rows_text(rows, 0, 1),
                    extra.len > 0 ? buf_text(&extra) : NULL);
  buf_release(&extra);
}

static void log_order(const struct web_call *call, int event)
{
  LOG(app_of(call)->rt->log, event, F_STR("order_id", web_param(call->req, "orderId")),
      F_STR("actor", web_actor(call->req)));
}

static void on_redeemed(struct web_call *call, const struct db_rows *rows)
{
  bool is_new = strcmp(db_rows_text(rows, 0, 0), "redeemed") == 0;
  if (db_rows_is_null(rows, 0, 3)) {
    reply_refused(call, rows);
    return;
  }
  if (is_new) log_order(call, EV_ORDER_REDEEMED);
  web_reply_header(call->req, is_new ? "Location" : "Idempotent-Replayed", is_new ? web_path(call->req) : "true");
  reply_told(call, is_new ? 201 : 200, rows, 3);
}

void discount_api_redeem(struct web_request *req)
{
  const char *id = NULL;
  if (!read_order_id(req, &id)) return;
  struct web_call *call = call_with_doc(req, discount_order_check, id, &SQL_DISCOUNT_REDEEM, on_redeemed);
  if (call == NULL) return;
  db_args_text(&call->db.args, web_actor(req));
  web_call_send(call);
}

static void on_released(struct web_call *call, const struct db_rows *rows)
{
  if (db_rows_is_null(rows, 0, 1)) {
    web_reply_missing(call->req, "NOT_FOUND");
    return;
  }
  if (strcmp(db_rows_text(rows, 0, 0), "replayed") == 0)
    web_reply_header(call->req, "Idempotent-Replayed", "true");
  else
    log_order(call, EV_ORDER_RELEASED);
  reply_told(call, 200, rows, 1);
}

void discount_api_release(struct web_request *req)
{
  const char *id = NULL;
  if (!read_order_id(req, &id)) return;
  struct web_call *call = web_call_new(req, &SQL_DISCOUNT_RELEASE, on_released);
  db_args_text(&call->db.args, id);
  db_args_text(&call->db.args, web_actor(req));
  web_call_send(call);
}
