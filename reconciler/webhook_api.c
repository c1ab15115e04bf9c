// SPDX-License-Identifier: Apache-2.0
// Webhook endpoints over HTTP. Owner: web routes; loop thread.
#include "reconciler/webhook_api.h"

#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/operation.h"
#include "sql_reconciler.inc"

#define LIMIT_DEFAULT    100
#define LIMIT_MAX        1000
#define ENDPOINTS_MAX    10000
#define REPLAY_ROWS      10000  // of one request
#define TIME_CHARS_MAX   40
#define UNKNOWN_ENDPOINT "there is no such webhook endpoint"

// The name in the path; NULL after a 404.
static const char *name_of(struct web_request *web)
{
  const char *name = web_param(web, "name");
  if (text_is_utf8(name, strlen(name))) return name;
  call_not_found(web, UNKNOWN_ENDPOINT);
  return NULL;
}

// --- lists

struct list_call {
  struct call call;
  int64_t limit;  // one row more was asked for: it only says that there is a next page
};

static void on_list(struct call *c, const struct db_rows *rows)
{
  const struct list_call *l = CONTAINER_OF(c, struct list_call, call);
  struct buf *b = &c->app->scratch;
  size_t count = db_rows_count(rows);
  bool is_more = l->limit > 0 && count > (size_t)l->limit;
  if (is_more) count = (size_t)l->limit;
  buf_clear(b);
  buf_puts(b, "{\"items\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) buf_putc(b, ',');
    buf_append(b, db_rows_text(rows, i, 1), db_rows_text_len(rows, i, 1));
  }
  buf_puts(b, "],\"next\":");
  if (is_more)
    buf_printf(b, "\"%lld\"}", (long long)db_rows_i64(rows, count - 1, 0));
  else
    buf_puts(b, "null}");
  web_reply_json(c->web, 200, buf_text(b), b->len);
  call_end(c);
}

void webhook_api_list(struct web_request *web)
{
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  struct db_args *args = call_args(&l->call);
  db_args_null(args);
  db_args_i64(args, ENDPOINTS_MAX);  // more than any configuration has
  call_send(&l->call, &SQL_WEBHOOK_LIST);
}

void webhook_api_deliveries(struct web_request *web)
{
  int64_t limit = LIMIT_DEFAULT, after = INT64_MAX;
  const char *name = name_of(web), *state = NULL;
  if (name == NULL || !call_text(web, "state", &state) || !call_number(web, "limit", 1, LIMIT_MAX, &limit) ||
      !call_number(web, "after", 1, INT64_MAX, &after))
    return;
  if (state != NULL && strcmp(state, "waiting") != 0 && strcmp(state, "done") != 0 && strcmp(state, "dead") != 0) {
    call_refuse(web, "state: must be waiting, done or dead");
    return;
  }
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  struct db_args *args = call_args(&l->call);
  l->limit = limit;
  db_args_text(args, name);
  db_args_text(args, state);
  db_args_i64(args, after);
  db_args_i64(args, limit + 1);
  call_send(&l->call, &SQL_WEBHOOK_DELIVERIES);
}

// --- changes

struct change_call {
  struct call call;
  json_t *body;
  const char *name, *reason, *action;
};

static struct change_call *of(struct call *c) { return CONTAINER_OF(c, struct change_call, call); }
static void on_end(struct call *c) { json_decref(of(c)->body); }

static void log_change(const struct change_call *ch)
{
  LOG(ch->call.app->rt->log, EV_WEBHOOK_CHANGED, F_STR("endpoint", ch->name), F_STR("action", ch->action),
      F_STR("actor", web_actor(ch->call.web)), F_STR("reason", ch->reason));
}

// The body as an object, its reason read. NULL after an answer.
static struct change_call *change_new(struct web_request *web, const char *action,
                                      void (*on_rows)(struct call *c, const struct db_rows *rows),
                                      struct jsonx_reader *reader)
{
  size_t len;
  const char *bytes = web_body(web, &len), *name = name_of(web);
  char why[JSONX_WHY_BYTES] = "";
  if (name == NULL) return NULL;
  struct change_call *ch = of(call_new(web, sizeof *ch, on_rows));
  ch->call.on_end = on_end;
  ch->name = name;
  ch->action = action;
  if (jsonx_parse(bytes, len, &ch->body, why) == RESULT_OK && !json_is_object(ch->body))
    (void)snprintf(why, sizeof why, "must be an object");
  if (why[0] != '\0') {
    call_refuse(web, why);
    call_end(&ch->call);
    return NULL;
  }
  jsonx_reader_init(reader, ch->body, "");
  ch->reason = jsonx_read_text(reader, "reason", true, REASON_CHARS_MAX);
  return ch;
}

// False after a 400.
static bool is_read(struct change_call *ch, struct jsonx_reader *reader)
{
  if (jsonx_reader_finish(reader) == RESULT_OK) return true;
  call_refuse(ch->call.web, reader->fault);
  call_end(&ch->call);
  return false;
}

static void on_switched(struct call *c, const struct db_rows *rows)
{
  const struct change_call *ch = of(c);
  char text[64];
  if (db_rows_is_null(rows, 0, 0)) {
    call_not_found(c->web, UNKNOWN_ENDPOINT);
  } else {
    bool is_changed = strcmp(db_rows_text(rows, 0, 0), "changed") == 0;
    if (is_changed) log_change(ch);
    int len =
        snprintf(text, sizeof text, "{\"status\":\"%sd\",\"changed\":%s}", ch->action, is_changed ? "true" : "false");
    web_reply_json(c->web, 200, text, (size_t)len);
  }
  call_end(c);
}

static void run_switch(struct web_request *web, const char *action, bool enables)
{
  struct jsonx_reader reader;
  struct change_call *ch = change_new(web, action, on_switched, &reader);
  if (ch == NULL || !is_read(ch, &reader)) return;
  struct db_args *args = call_args(&ch->call);
  db_args_text(args, ch->name);
  db_args_bool(args, enables);
  db_args_text(args, web_actor(web));
  db_args_text(args, ch->reason);
  call_send(&ch->call, &SQL_WEBHOOK_SWITCH);
}

void webhook_api_enable(struct web_request *web) { run_switch(web, "enable", true); }
void webhook_api_disable(struct web_request *web) { run_switch(web, "disable", false); }

static void on_replayed(struct call *c, const struct db_rows *rows)
{
  struct buf *b = &c->app->scratch;
  if (db_rows_count(rows) == 0) {
    call_not_found(c->web, UNKNOWN_ENDPOINT);
  } else {
    int64_t count = db_rows_i64(rows, 0, 0);
    log_change(of(c));
    buf_clear(b);
    buf_printf(b, "{\"replayed\":%lld,\"next\":", (long long)count);
    if (count == REPLAY_ROWS)
      buf_printf(b, "\"%lld\"}", (long long)db_rows_i64(rows, 0, 1));
    else
      buf_puts(b, "null}");
    web_reply_json(c->web, 200, buf_text(b), b->len);
  }
  call_end(c);
}

void webhook_api_replay(struct web_request *web)
{
  struct jsonx_reader reader;
  struct wall_time since = {0};
  struct change_call *ch = change_new(web, "replay", on_replayed, &reader);
  if (ch == NULL) return;
  int64_t id = 0, after = 0;  // left out
  bool has_all = false;
  jsonx_read_id(&reader, "id", false, &id);
  jsonx_read_id(&reader, "after", false, &after);
  jsonx_read_bool(&reader, "all", false, &has_all);
  const char *text = jsonx_read_text(&reader, "since", false, TIME_CHARS_MAX);
  if ((id == 0) == (text == NULL))
    jsonx_reader_fail(&reader, "since", "or id is needed");
  else if (text != NULL && text_to_time(text, strlen(text), &since) != RESULT_OK)
    jsonx_reader_fail(&reader, "since", "must be an instant such as 2027-01-31T08:00:00Z");
  if (!is_read(ch, &reader)) return;
  struct db_args *args = call_args(&ch->call);
  db_args_text(args, ch->name);
  if (id != 0)
    db_args_i64(args, id);
  else
    db_args_null(args);
  if (id != 0)
    db_args_null(args);
  else
    db_args_time(args, since);
  db_args_bool(args, has_all);
  db_args_i64(args, after);
  db_args_i64(args, REPLAY_ROWS);
  db_args_text(args, web_actor(web));
  db_args_text(args, ch->reason);
  call_send(&ch->call, &SQL_WEBHOOK_REPLAY);
}
