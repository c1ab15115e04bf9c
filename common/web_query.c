// SPDX-License-Identifier: Apache-2.0
// A call that a table describes: see web_query.h.
// Owner: the handler of the request; loop thread.
#include "common/web_query.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/web_read.h"

// One request while its arguments are read.
struct reading {
  struct web_request *req;
  const struct web_query *query;
  struct web_call *call;
  json_t *body;  // NULL: not asked for yet
  struct jsonx_reader reader;
};

static struct db_args *args_of(struct reading *r) { return &r->call->db.args; }

static bool put_key(struct reading *r, const char *name)
{
  const char *key = web_param(r->req, name);
  char detail[128];
  if (text_is_biz_id(key, strlen(key))) {
    db_args_text(args_of(r), key);
    return true;
  }
  (void)snprintf(detail, sizeof detail, "%s: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -", name);
  web_reply_invalid(r->req, detail);
  return false;
}

static bool put_path(struct reading *r, const char *name)
{
  const char *text = web_param(r->req, name);
  if (text_is_utf8(text, strlen(text))) {
    db_args_text(args_of(r), text);
    return true;
  }
  web_reply_invalid(r->req, "the path is not UTF-8");
  return false;
}

static bool put_after(struct reading *r, int64_t beginning)
{
  int64_t after = 0;
  if (!web_read_after_id(r->req, &after)) return false;
  db_args_i64(args_of(r), web_query(r->req, "after") != NULL ? after : beginning);
  return true;
}

static bool put_limit(struct reading *r)
{
  if (!web_read_limit(r->req, &r->call->limit)) return false;
  db_args_i64(args_of(r), (int64_t)r->call->limit + 1);
  return true;
}

// --- of the path and the query

static bool put_code(struct reading *r, const char *name)
{
  const char *code = NULL;
  if (!web_read_code(r->req, name, r->query->missing, &code)) return false;
  db_args_text(args_of(r), code);
  return true;
}

static bool put_id(struct reading *r, const char *name)
{
  int64_t id = 0;
  if (!web_read_id(r->req, name, &id)) return false;
  db_args_i64(args_of(r), id);
  return true;
}

static bool put_pair(struct reading *r, const char *name)
{
  int64_t first = 0, second = 0;
  if (!web_read_pair(r->req, name, r->query->missing, &first, &second)) return false;
  db_args_i64(args_of(r), first);
  db_args_i64(args_of(r), second);
  return true;
}

static bool put_query_id(struct reading *r, const char *name)
{
  int64_t id = 0;
  if (!web_read_query_id(r->req, name, &id)) return false;
  if (id > 0)
    db_args_i64(args_of(r), id);
  else
    db_args_null(args_of(r));
  return true;
}

static bool read_query_text(struct web_request *req, const struct web_arg *a, const char **out_text)
{
  switch (a->kind) {
    case WEB_ARG_CHOICE: return web_read_choice(req, a->name, a->words, out_text);
    case WEB_ARG_QUERY_CODE: return web_read_query_code(req, a->name, out_text);
    case WEB_ARG_AFTER_CODE: return web_read_after_code(req, out_text);
    case WEB_ARG_AFTER_PLACE: return web_read_after_place(req, out_text);
    case WEB_ARG_REASON: return web_read_reason(req, out_text);
    default: return web_read_text(req, a->name, out_text);
  }
}

static bool put_query_text(struct reading *r, const struct web_arg *a)
{
  const char *text = NULL;
  bool is_read = read_query_text(r->req, a, &text);
  if (is_read) db_args_text(args_of(r), text);
  return is_read;
}

static bool put_time(struct reading *r, const char *name)
{
  bool has = false;
  struct wall_time at = {0};
  if (!web_read_time(r->req, name, &has, &at)) return false;
  if (has)
    db_args_time(args_of(r), at);
  else
    db_args_null(args_of(r));
  return true;
}

// --- of the body

static bool open_body(struct reading *r)
{
  if (r->body != NULL) return true;
  if (!web_read_body(r->req, &r->body)) return false;
  jsonx_reader_init(&r->reader, r->body, "");
  return true;
}

static bool put_body(struct reading *r)
{
  size_t len = 0;
  json_t *body = NULL;
  const char *bytes = web_body(r->req, &len);
  if (!web_read_body(r->req, &body)) return false;
  json_decref(body);
  db_args_bytes(args_of(r), bytes, len);
  return true;
}

static void put_member_text(struct reading *r, const struct web_arg *a)
{
  const char *text = jsonx_read_text(&r->reader, a->name, a->needed,
                                     a->kind == WEB_ARG_MEMBER_KEY ? BIZ_ID_BYTES_MAX : (size_t)a->max);
  if (a->kind == WEB_ARG_MEMBER_KEY && text != NULL && !text_is_biz_id(text, strlen(text)))
    jsonx_reader_fail(&r->reader, a->name, "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
  db_args_text(args_of(r), text);
}

static void put_member_int(struct reading *r, const struct web_arg *a)
{
  int64_t value = 0;
  jsonx_read_i64(&r->reader, a->name, a->needed, a->min, a->max, &value);
  if (value == 0) jsonx_reader_fail(&r->reader, a->name, "must not be 0");
  db_args_i64(args_of(r), value);
}

static bool put_member(struct reading *r, const struct web_arg *a)
{
  if (!open_body(r)) return false;
  if (a->kind == WEB_ARG_MEMBER_INT)
    put_member_int(r, a);
  else
    put_member_text(r, a);
  return true;
}

// --- all of them

static bool put_arg(struct reading *r, const struct web_arg *a)
{
  switch (a->kind) {
    case WEB_ARG_CODE: return put_code(r, a->name);
    case WEB_ARG_ID: return put_id(r, a->name);
    case WEB_ARG_PAIR: return put_pair(r, a->name);
    case WEB_ARG_KEY: return put_key(r, a->name);
    case WEB_ARG_PATH: return put_path(r, a->name);
    case WEB_ARG_AFTER: return put_after(r, a->min);
    case WEB_ARG_LIMIT: return put_limit(r);
    case WEB_ARG_AFTER_CODE:
    case WEB_ARG_AFTER_PLACE:
    case WEB_ARG_CHOICE:
    case WEB_ARG_QUERY_CODE:
    case WEB_ARG_REASON:
    case WEB_ARG_QUERY_TEXT: return put_query_text(r, a);
    case WEB_ARG_QUERY_ID: return put_query_id(r, a->name);
    case WEB_ARG_TIME: return put_time(r, a->name);
    case WEB_ARG_ACTOR: db_args_text(args_of(r), web_actor(r->req)); return true;
    case WEB_ARG_IF_MATCH: web_put_if_match(r->req, args_of(r)); return true;
    case WEB_ARG_WORD: db_args_text(args_of(r), a->name); return true;
    case WEB_ARG_BODY: return put_body(r);
    case WEB_ARG_MEMBER_TEXT:
    case WEB_ARG_MEMBER_KEY:
    case WEB_ARG_MEMBER_INT: return put_member(r, a);
    case WEB_ARG_OWN: return a->put(r->call);
  }
  return false;
}

static bool is_read(struct reading *r)
{
  for (size_t i = 0; i < r->query->arg_count; i++)
    if (!put_arg(r, &r->query->args[i])) return false;
  if (r->body == NULL || jsonx_reader_finish(&r->reader) == RESULT_OK) return true;
  web_reply_invalid(r->req, r->reader.fault);
  return false;
}

void web_query_run(struct web_request *req, const struct web_query *query)
{
  struct reading r = {.req = req, .query = query, .call = web_call_new(req, query->statement, query->on_rows)};
  r.call->missing = query->missing;
  r.call->action = query->action;
  r.call->on_changed = query->on_changed;
  if (is_read(&r))
    web_call_send(r.call);
  else
    web_call_end(r.call);
  json_decref(r.body);
}
