// SPDX-License-Identifier: Apache-2.0
// Protection of providers over HTTP. Owner: web routes; loop thread.
#include "reconciler/provider_api.h"

#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/operation.h"
#include "reconciler/provider_store.h"

#define LIMIT_DEFAULT   100
#define LIMIT_MAX       1000
#define VALUE_CHARS_MAX 40

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

void provider_api_list(struct web_request *web)
{
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  call_send(&l->call, provider_store_list(call_args(&l->call), NULL));
}

// The name in the path; NULL after a 404: no provider is called so.
static const char *name_of(struct web_request *web)
{
  const char *name = web_param(web, "name");
  if (text_is_utf8(name, strlen(name))) return name;
  call_not_found(web, "no fulfiller has served such a provider");
  return NULL;
}

void provider_api_history(struct web_request *web)
{
  int64_t limit = LIMIT_DEFAULT, after = 0;
  const char *name = name_of(web);
  if (name == NULL || !call_number(web, "limit", 1, LIMIT_MAX, &limit) ||
      !call_number(web, "after", 1, INT64_MAX, &after))
    return;
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  l->limit = limit;
  call_send(&l->call, provider_store_history(call_args(&l->call), name, after, limit + 1));
}

// --- changes

struct change_call {
  struct call call;
  json_t *body;
  const char *name, *reason;
};

static struct change_call *of(struct call *c) { return CONTAINER_OF(c, struct change_call, call); }
static void on_end(struct call *c) { json_decref(of(c)->body); }

static void on_changed(struct call *c, const struct db_rows *rows)
{
  const struct change_call *ch = of(c);
  const char *outcome = db_rows_text(rows, 0, 0), *detail = db_rows_text(rows, 0, 1);
  if (strcmp(outcome, "ok") == 0) {
    if (db_rows_bool(rows, 0, 2))
      LOG(c->app->rt->log, EV_PROVIDER_CHANGED, F_STR("provider", ch->name), F_STR("actor", web_actor(c->web)),
          F_STR("reason", ch->reason), F_STR("state", db_rows_text(rows, 0, 3)));
    web_reply_json(c->web, 200, db_rows_text(rows, 0, 3), db_rows_text_len(rows, 0, 3));
  } else if (strcmp(outcome, "INVALID") == 0) {
    call_refuse(c->web, detail);
  } else {
    call_not_found(c->web, detail);
  }
  call_end(c);
}

// The body as an object, its reason read. NULL after an answer.
static struct change_call *change_new(struct web_request *web, struct jsonx_reader *reader)
{
  size_t len;
  const char *bytes = web_body(web, &len), *name = name_of(web);
  char why[JSONX_WHY_BYTES] = "";
  if (name == NULL) return NULL;
  struct change_call *ch = of(call_new(web, sizeof *ch, on_changed));
  ch->call.on_end = on_end;
  ch->name = name;
  if (jsonx_parse(bytes, len, &ch->body, why) == RESULT_OK && !json_is_object(ch->body))
    (void)snprintf(why, sizeof why, "must be an object");
  if (why[0] != '\0') {
    call_refuse(web, why);
    call_end(&ch->call);
    return NULL;
  }
  jsonx_reader_init(reader, ch->body, "");
  ch->reason = jsonx_read_text(reader, "reason", false, REASON_CHARS_MAX);
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

void provider_api_pause(struct web_request *web)
{
  struct jsonx_reader reader;
  struct provider_pause pause = {0};
  struct change_call *ch = change_new(web, &reader);
  if (ch == NULL) return;
  const char *until = jsonx_read_text(&reader, "until", false, VALUE_CHARS_MAX);
  if (until != NULL) {
    pause.has_until = text_to_time(until, strlen(until), &pause.until) == RESULT_OK;
    pause.has_span = !pause.has_until && text_to_span(until, strlen(until), &pause.span) == RESULT_OK;
    if (!pause.has_until && !pause.has_span)
      jsonx_reader_fail(&reader, "until",
                        "must be an instant such as 2027-01-31T08:00:00Z, or a time from now such as 30m");
  }
  if (!is_read(ch, &reader)) return;
  call_send(&ch->call, provider_store_pause(call_args(&ch->call), ch->name, &pause, web_actor(web), ch->reason));
}

void provider_api_resume(struct web_request *web)
{
  struct jsonx_reader reader;
  struct change_call *ch = change_new(web, &reader);
  if (ch == NULL || !is_read(ch, &reader)) return;
  call_send(&ch->call, provider_store_resume(call_args(&ch->call), ch->name, web_actor(web), ch->reason));
}

// A number, or null for what the configuration says; NULL: left out.
static const char *read_limit(struct jsonx_reader *r, const char *name, char out_text[VALUE_CHARS_MAX])
{
  if (!jsonx_has(r, name)) return NULL;
  const json_t *value = json_object_get(r->object, name);
  if (json_is_null(value))
    (void)snprintf(out_text, VALUE_CHARS_MAX, "default");
  else if (json_is_integer(value))
    (void)snprintf(out_text, VALUE_CHARS_MAX, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    (void)snprintf(out_text, VALUE_CHARS_MAX, "%.6f", json_real_value(value));
  else
    jsonx_reader_fail(r, name, "must be a number, or null for what is configured");
  return out_text;
}

void provider_api_set(struct web_request *web)
{
  struct jsonx_reader reader;
  char concurrency[VALUE_CHARS_MAX] = "", rate[VALUE_CHARS_MAX] = "";
  struct change_call *ch = change_new(web, &reader);
  if (ch == NULL) return;
  const struct provider_limits limits = {read_limit(&reader, "concurrency", concurrency),
                                         read_limit(&reader, "rate", rate),
                                         jsonx_read_text(&reader, "breaker", false, VALUE_CHARS_MAX)};
  if (limits.concurrency == NULL && limits.rate == NULL && limits.breaker == NULL)
    jsonx_reader_fail(&reader, "concurrency", "or rate or breaker is needed");
  if (!is_read(ch, &reader)) return;
  call_send(&ch->call, provider_store_set(call_args(&ch->call), ch->name, &limits, web_actor(web), ch->reason));
}
