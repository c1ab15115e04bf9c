// SPDX-License-Identifier: Apache-2.0
// Webhook endpoints over HTTP. Owner: web routes; loop thread.
#include "reconciler/webhook_api.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "reconciler/call_change.h"
#include "reconciler/call_list.h"
#include "sql_reconciler.inc"

#define ENDPOINTS_MAX  10000
#define REPLAY_ROWS    10000  // of one request
#define TIME_CHARS_MAX 40

static const struct change_target endpoint = {.unknown = "there is no such webhook endpoint", .needs_reason = true};

// --- lists

void webhook_api_list(struct web_request *web)
{
  struct call *c = call_list_new(web, 0, CALL_PLACE_NUMBER);
  struct db_args *args = call_args(c);
  db_args_null(args);
  db_args_i64(args, ENDPOINTS_MAX);  // more than any configuration has
  call_send(c, &SQL_WEBHOOK_LIST);
}

void webhook_api_deliveries(struct web_request *web)
{
  int64_t limit, after = INT64_MAX;
  const char *name = call_name(web, endpoint.unknown), *state = NULL;
  if (name == NULL || !call_text(web, "state", &state) || !call_list_limit(web, &limit) ||
      !call_number(web, "after", 1, INT64_MAX, &after))
    return;
  if (state != NULL && strcmp(state, "waiting") != 0 && strcmp(state, "done") != 0 && strcmp(state, "dead") != 0) {
    call_refuse(web, "state: must be waiting, done or dead");
    return;
  }
  struct call *c = call_list_of(web, limit, CALL_PLACE_NUMBER, endpoint.unknown);
  struct db_args *args = call_args(c);
  db_args_text(args, name);
  db_args_text(args, state);
  db_args_i64(args, after);
  db_args_i64(args, limit + 1);
  call_send(c, &SQL_WEBHOOK_DELIVERIES);
}

// --- changes

static void log_change(const struct change_call *ch)
{
  LOG(ch->call.app->rt->log, EV_WEBHOOK_CHANGED, F_STR("endpoint", ch->name), F_STR("action", ch->action),
      F_STR("actor", web_actor(ch->call.web)), F_STR("reason", ch->reason));
}

static void on_switched(struct call *c, const struct db_rows *rows)
{
  const struct change_call *ch = change_call_of(c);
  char text[64];
  if (db_rows_is_null(rows, 0, 0)) {
    call_not_found(c->web, endpoint.unknown);
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
  struct change_call *ch = change_call_new(web, &endpoint, action, on_switched, &reader);
  if (ch == NULL || !change_call_is_read(ch, &reader)) return;
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
    call_not_found(c->web, endpoint.unknown);
  } else {
    int64_t count = db_rows_i64(rows, 0, 0);
    log_change(change_call_of(c));
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

// An instant, or a time ago.
static bool is_since(const char *text, struct wall_time *out_since)
{
  struct span ago;
  size_t len = strlen(text);
  if (text_to_time(text, len, out_since) == RESULT_OK) return true;
  if (text_to_span(text, len, &ago) != RESULT_OK) return false;
  *out_since = wall_after(clk_wall(), span_us(-ago.us));
  return true;
}

void webhook_api_replay(struct web_request *web)
{
  struct jsonx_reader reader;
  struct wall_time since = {0};
  struct change_call *ch = change_call_new(web, &endpoint, "replay", on_replayed, &reader);
  if (ch == NULL) return;
  int64_t id = 0, after = 0;  // left out
  bool has_all = false;
  jsonx_read_id(&reader, "id", false, &id);
  jsonx_read_id(&reader, "after", false, &after);
  jsonx_read_bool(&reader, "all", false, &has_all);
  const char *text = jsonx_read_text(&reader, "since", false, TIME_CHARS_MAX);
  if ((id == 0) == (text == NULL))
    jsonx_reader_fail(&reader, "since", "or id is needed");
  else if (text != NULL && !is_since(text, &since))
    jsonx_reader_fail(&reader, "since", "must be an instant such as 2027-01-31T08:00:00Z, or a time ago such as 1h");
  if (!change_call_is_read(ch, &reader)) return;
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
