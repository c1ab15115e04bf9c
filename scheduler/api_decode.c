// SPDX-License-Identifier: Apache-2.0
// What API calls have in common when they read a request and write an answer.
// Owner: the handler of the request; loop thread.
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/api_call.h"

#define LIST_ITEMS_MAX     1000
#define LIST_ITEMS_DEFAULT 100

// --- answers

void api_reply_invalid(struct web_request *req, const char *detail)
{
  web_reply_problem(req, &(struct web_problem){.code = "INVALID_REQUEST", .status = 400, .detail = detail});
}

void api_reply_refusal(struct web_request *req, const char *code, const char *detail, const char *extra_json)
{
  static const struct {
    const char *code;
    int status;
  } statuses[] = {
      {"INVALID_REQUEST", 400}, {"NOT_FOUND", 404},     {"ACTIVITY_NOT_FOUND", 404},
      {"CLAIM_NOT_FOUND", 404}, {"STALE", 412},         {"STATE_CONFLICT", 409},
      {"STOCK_IN_USE", 409},    {"BIZ_ID_REUSED", 422}, {"COUPON_USED", 409},
  };
  for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
    if (strcmp(statuses[i].code, code) != 0) continue;
    web_reply_problem(
        req, &(struct web_problem){
                 .code = statuses[i].code, .status = statuses[i].status, .detail = detail, .extra_json = extra_json});
    return;
  }
  web_reply_problem(req, &(struct web_problem){.code = "INTERNAL", .status = 500, .detail = "an unknown refusal"});
}

void api_reply_missing(struct web_request *req, const char *code)
{
  web_reply_problem(req, &(struct web_problem){.code = code, .status = 404, .detail = "there is no such thing"});
}

void api_reply_etag(struct web_request *req, int64_t version)
{
  char etag[32];
  (void)snprintf(etag, sizeof etag, "\"%lld\"", (long long)version);
  web_reply_header(req, "ETag", etag);
}

static void put_next(struct buf *b, const struct db_rows *rows, size_t row, size_t column, bool key_is_text)
{
  if (key_is_text) {
    buf_put_json(b, db_rows_text(rows, row, column), db_rows_text_len(rows, row, column));
    return;
  }
  buf_putc(b, '"');  // 64-bit ids travel as text
  buf_put_i64(b, db_rows_i64(rows, row, column));
  buf_putc(b, '"');
}

void api_reply_list(struct api_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text)
{
  api_reply_page(call, rows, key_column, key_is_text, "", "items");
}

void api_reply_page(struct api_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text,
                    const char *head, const char *member)
{
  struct buf b;
  size_t count = db_rows_count(rows), shown = count < call->limit ? count : call->limit;
  if (shown == 1 && db_rows_is_null(rows, 0, key_column)) shown = 0;  // the row that only says that its parent exists
  buf_init(&b, WEB_REPLY_BYTES_MAX);
  buf_printf(&b, "{%s\"%s\":[", head, member);
  for (size_t i = 0; i < shown; i++) {
    if (i > 0) buf_putc(&b, ',');
    buf_append(&b, db_rows_text(rows, i, key_column + 1), db_rows_text_len(rows, i, key_column + 1));
  }
  buf_puts(&b, "],\"next\":");
  if (count > call->limit)
    put_next(&b, rows, shown - 1, key_column, key_is_text);
  else
    buf_puts(&b, "null");
  buf_putc(&b, '}');
  if (buf_result(&b) == RESULT_OK)
    web_reply_json(call->req, 200, buf_text(&b), b.len);
  else
    api_reply_invalid(call->req, "limit: so many items do not fit into one answer");
  buf_release(&b);
}

void api_reply_activity_list(struct api_call *call, const struct db_rows *rows)
{
  if (!db_rows_bool(rows, 0, 0))
    api_reply_missing(call->req, "ACTIVITY_NOT_FOUND");
  else
    api_reply_list(call, rows, 1, false);
}

// --- requests

bool api_read_code(struct web_request *req, const char *name, const char *missing_code, const char **out_code)
{
  const char *code = web_param(req, name);
  size_t len = strlen(code);
  if (text_is_code(code, len)) {
    *out_code = code;
    return true;
  }
  if (text_is_utf8(code, len))
    api_reply_missing(req, missing_code);
  else
    api_reply_invalid(req, "the path is not UTF-8");
  return false;
}

bool api_read_user(struct web_request *req, const char *name, int64_t *out_user_id)
{
  const char *text = web_param(req, name);
  if (text_to_i64(text, strlen(text), out_user_id) == RESULT_OK && *out_user_id >= 1) return true;
  char detail[96];
  (void)snprintf(detail, sizeof detail, "%s: must be an id from 1 to 9223372036854775807", name);
  api_reply_invalid(req, detail);
  return false;
}

bool api_read_body(struct web_request *req, json_t **out_body)
{
  size_t len = 0;
  char why[JSONX_WHY_BYTES] = "";
  const char *body = web_body(req, &len);
  if (len == 0) {  // only where the route allows it
    *out_body = json_object();
    return true;
  }
  if (jsonx_parse(body, len, out_body, why) == RESULT_OK) return true;
  api_reply_invalid(req, why);
  return false;
}

bool api_read_limit(struct web_request *req, size_t *out_limit)
{
  const char *text = web_query(req, "limit");
  uint64_t limit = LIST_ITEMS_DEFAULT;
  if (text != NULL && (text_to_u64(text, strlen(text), &limit) != RESULT_OK || limit < 1 || limit > LIST_ITEMS_MAX)) {
    api_reply_invalid(req, "limit: must be an integer from 1 to 1000");
    return false;
  }
  *out_limit = (size_t)limit;
  return true;
}

bool api_read_after_id(struct web_request *req, int64_t *out_after)
{
  const char *text = web_query(req, "after");
  int64_t after = 0;
  if (text != NULL && (text_to_i64(text, strlen(text), &after) != RESULT_OK || after < 0)) {
    api_reply_invalid(req, "after: must be what the page before gave as next");
    return false;
  }
  *out_after = after;
  return true;
}

// The + of an offset that was not written as %2B has become a space, where no time has one.
static enum result time_of_query(const char *text, struct wall_time *out_at)
{
  char copy[64];
  size_t len = strlen(text);
  if (len < sizeof "+00:00" || len >= sizeof copy) return text_to_time(text, len, out_at);
  memcpy(copy, text, len + 1);
  char *sign = copy + len - strlen("+00:00");
  if (*sign == ' ') *sign = '+';
  return text_to_time(copy, len, out_at);
}

bool api_read_time(struct web_request *req, const char *name, bool *out_has, struct wall_time *out_at)
{
  const char *text = web_query(req, name);
  char why[128];
  *out_has = text != NULL;
  if (text == NULL || time_of_query(text, out_at) == RESULT_OK) return true;
  (void)snprintf(why, sizeof why, "%s: must be a time such as 2026-10-01T11:00:00+08:00", name);
  api_reply_invalid(req, why);
  return false;
}

bool api_read_choice(struct web_request *req, const char *name, const char *const *words, const char **out_word)
{
  const char *text = web_query(req, name);
  *out_word = NULL;
  if (text == NULL) return true;
  for (; *words != NULL; words++) {
    if (strcmp(*words, text) != 0) continue;
    *out_word = *words;
    return true;
  }
  char detail[64];
  (void)snprintf(detail, sizeof detail, "%s: there is no such %s", name, name);
  api_reply_invalid(req, detail);
  return false;
}

void api_put_if_match(struct web_request *req, struct db_args *args)
{
  const char *text = web_header(req, "If-Match");
  if (text == NULL || strcmp(text, "*") == 0) {
    db_args_null(args);
    return;
  }
  size_t len = strlen(text);
  int64_t version = 0;
  bool is_one = len > 2 && text[0] == '"' && text[len - 1] == '"' &&
                text_to_i64(text + 1, len - 2, &version) == RESULT_OK && version > 0;
  db_args_i64(args, is_one ? version : 0);
}

void api_send_activity_list(struct web_request *req, const struct db_statement *statement)
{
  const char *code = NULL;
  size_t limit = 0;
  int64_t after = 0;
  if (!api_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !api_read_limit(req, &limit) ||
      !api_read_after_id(req, &after))
    return;
  struct api_call *call = api_call_new(req, statement, api_reply_activity_list);
  call->limit = limit;
  db_args_text(&call->db.args, code);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  api_call_send(call);
}
