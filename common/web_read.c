// SPDX-License-Identifier: Apache-2.0
// Reading the path, query, headers and body of a request: see web_read.h.
// Owner: the handler of the request; loop thread.
#include "common/web_read.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/web_call.h"

#define LIST_ITEMS_MAX       1000
#define LIST_ITEMS_DEFAULT   100
#define QUERY_TEXT_BYTES_MAX 1024

bool web_read_code(struct web_request *req, const char *name, const char *missing_code, const char **out_code)
{
  const char *code = web_param(req, name);
  size_t len = strlen(code);
  if (text_is_code(code, len)) {
    *out_code = code;
    return true;
  }
  if (text_is_utf8(code, len))
    web_reply_missing(req, missing_code);
  else
    web_reply_invalid(req, "the path is not UTF-8");
  return false;
}

static bool id_of(struct web_request *req, const char *name, const char *text, int64_t *out_id)
{
  char detail[96];
  if (text_to_i64(text, strlen(text), out_id) == RESULT_OK && *out_id >= 1) return true;
  (void)snprintf(detail, sizeof detail, "%s: must be an id from 1 to 9223372036854775807", name);
  web_reply_invalid(req, detail);
  return false;
}

bool web_read_id(struct web_request *req, const char *name, int64_t *out_id)
{
  return id_of(req, name, web_param(req, name), out_id);
}

bool web_read_pair(struct web_request *req, const char *name, const char *missing_code, int64_t *out_first,
                   int64_t *out_second)
{
  char detail[96];
  enum result result = text_to_pair(web_param(req, name), out_first, out_second);
  if (result == RESULT_OK) return true;
  (void)snprintf(detail, sizeof detail, "%s: must look like 683000001-17", name);
  if (result == RESULT_NOT_FOUND)
    web_reply_missing(req, missing_code);
  else
    web_reply_invalid(req, detail);
  return false;
}

bool web_read_query_id(struct web_request *req, const char *name, int64_t *out_id)
{
  const char *text = web_query(req, name);
  *out_id = 0;
  return text == NULL || id_of(req, name, text, out_id);
}

bool web_read_query_code(struct web_request *req, const char *name, const char **out_code)
{
  const char *text = web_query(req, name);
  char detail[160];
  *out_code = text;
  if (text == NULL || text_is_code(text, strlen(text))) return true;
  (void)snprintf(detail, sizeof detail,
                 "%s: must be 1 to 64 letters, digits, dots, underscores or hyphens, beginning with a letter or digit",
                 name);
  web_reply_invalid(req, detail);
  return false;
}

static bool is_place(const char *text)
{
  const char *slash = strchr(text, '/'), *code = slash != NULL ? slash + 1 : text;
  struct wall_time at;
  return text_is_code(code, strlen(code)) &&
         (slash == NULL || text_to_time(text, (size_t)(slash - text), &at) == RESULT_OK);
}

bool web_read_after_place(struct web_request *req, const char **out_key)
{
  const char *after = web_query(req, "after");
  *out_key = after;
  if (after == NULL || is_place(after)) return true;
  web_reply_invalid(req, "after: must be what the page before gave as next");
  return false;
}

bool web_read_after_code(struct web_request *req, const char **out_code)
{
  const char *after = web_query(req, "after");
  *out_code = after != NULL ? after : "";
  if (after == NULL || text_is_code(after, strlen(after))) return true;
  web_reply_invalid(req, "after: must be what the page before gave as next");
  return false;
}

bool web_read_body(struct web_request *req, json_t **out_body)
{
  size_t len = 0;
  char why[JSONX_WHY_BYTES] = "";
  const char *body = web_body(req, &len);
  if (len == 0) {  // only where the route allows it
    *out_body = json_object();
    return true;
  }
  if (jsonx_parse(body, len, out_body, why) == RESULT_OK) return true;
  web_reply_invalid(req, why);
  return false;
}

bool web_read_limit(struct web_request *req, size_t *out_limit)
{
  const char *text = web_query(req, "limit");
  uint64_t limit = LIST_ITEMS_DEFAULT;
  if (text != NULL && (text_to_u64(text, strlen(text), &limit) != RESULT_OK || limit < 1 || limit > LIST_ITEMS_MAX)) {
    web_reply_invalid(req, "limit: must be an integer from 1 to 1000");
    return false;
  }
  *out_limit = (size_t)limit;
  return true;
}

bool web_read_after_id(struct web_request *req, int64_t *out_after)
{
  const char *text = web_query(req, "after");
  int64_t after = 0;
  if (text != NULL && (text_to_i64(text, strlen(text), &after) != RESULT_OK || after < 0)) {
    web_reply_invalid(req, "after: must be what the page before gave as next");
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

bool web_read_time(struct web_request *req, const char *name, bool *out_has, struct wall_time *out_at)
{
  const char *text = web_query(req, name);
  char why[128];
  *out_has = text != NULL;
  if (text == NULL || time_of_query(text, out_at) == RESULT_OK) return true;
  (void)snprintf(why, sizeof why, "%s: must be a time such as 2026-10-01T11:00:00+08:00", name);
  web_reply_invalid(req, why);
  return false;
}

bool web_read_choice(struct web_request *req, const char *name, const char *const *words, const char **out_word)
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
  web_reply_invalid(req, detail);
  return false;
}

void web_put_if_match(struct web_request *req, struct db_args *args)
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

bool web_read_text(struct web_request *req, const char *name, const char **out_text)
{
  const char *text = web_query(req, name);
  size_t len = text != NULL ? strlen(text) : 0;
  char detail[96];
  if (len <= QUERY_TEXT_BYTES_MAX && (text == NULL || text_is_utf8(text, len))) {
    *out_text = text;
    return true;
  }
  (void)snprintf(detail, sizeof detail, "%s: must be UTF-8 of at most %d bytes", name, QUERY_TEXT_BYTES_MAX);
  web_reply_invalid(req, detail);
  return false;
}

bool web_read_reason(struct web_request *req, const char **out_reason)
{
  const char *reason = NULL;
  if (!web_read_text(req, "reason", &reason)) return false;
  if (reason != NULL && text_utf8_length(reason, strlen(reason)) > REASON_CHARS_MAX) {
    web_reply_invalid(req, "reason: has at most 500 characters");
    return false;
  }
  *out_reason = reason;
  return true;
}

bool web_read_number(struct web_request *req, const char *name, int64_t min, int64_t max, int64_t *io_value)
{
  const char *text = web_query(req, name);
  int64_t number = 0;
  char detail[96];
  if (text == NULL) return true;
  if (text_to_i64(text, strlen(text), &number) == RESULT_OK && number >= min && number <= max) {
    *io_value = number;
    return true;
  }
  (void)snprintf(detail, sizeof detail, "%s: must be a number from %lld to %lld", name, (long long)min, (long long)max);
  web_reply_invalid(req, detail);
  return false;
}

void web_put_names(struct db_args *args, const struct conf_texts *names)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < names->count; i++) db_args_array_text(args, names->items[i], strlen(names->items[i]));
  db_args_array_end(args);
}
