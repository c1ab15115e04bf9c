// SPDX-License-Identifier: Apache-2.0
// Protection of providers over HTTP. Owner: web routes; loop thread.
#include "reconciler/provider_api.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "reconciler/call_change.h"
#include "reconciler/call_list.h"
#include "reconciler/provider_store.h"

#define VALUE_CHARS_MAX 40

static const struct change_target provider = {.unknown = "no fulfiller has served such a provider"};

// --- lists

void provider_api_list(struct web_request *web)
{
  struct call *c = call_list_new(web, 0, CALL_PLACE_NUMBER);
  call_send(c, provider_store_list(call_args(c), NULL));
}

void provider_api_history(struct web_request *web)
{
  int64_t limit, after = 0;
  const char *name = call_name(web, provider.unknown);
  if (name == NULL || !call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after)) return;
  struct call *c = call_list_of(web, limit, CALL_PLACE_NUMBER, provider.unknown);
  call_send(c, provider_store_history(call_args(c), name, after, limit + 1));
}

// --- changes

static void on_changed(struct call *c, const struct db_rows *rows)
{
  const struct change_call *ch = change_call_of(c);
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

void provider_api_pause(struct web_request *web)
{
  struct jsonx_reader reader;
  struct provider_pause pause = {0};
  struct change_call *ch = change_call_new(web, &provider, "pause", on_changed, &reader);
  if (ch == NULL) return;
  const char *until = jsonx_read_text(&reader, "until", false, VALUE_CHARS_MAX);
  if (until != NULL) {
    pause.has_until = text_to_time(until, strlen(until), &pause.until) == RESULT_OK;
    pause.has_span = !pause.has_until && text_to_span(until, strlen(until), &pause.span) == RESULT_OK;
    if (!pause.has_until && !pause.has_span)
      jsonx_reader_fail(&reader, "until",
                        "must be an instant such as 2027-01-31T08:00:00Z, or a time from now such as 30m");
  }
  if (!change_call_is_read(ch, &reader)) return;
  call_send(&ch->call, provider_store_pause(call_args(&ch->call), ch->name, &pause, web_actor(web), ch->reason));
}

void provider_api_resume(struct web_request *web)
{
  struct jsonx_reader reader;
  struct change_call *ch = change_call_new(web, &provider, "resume", on_changed, &reader);
  if (ch == NULL || !change_call_is_read(ch, &reader)) return;
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
  struct change_call *ch = change_call_new(web, &provider, "set", on_changed, &reader);
  if (ch == NULL) return;
  const struct provider_limits limits = {read_limit(&reader, "concurrency", concurrency),
                                         read_limit(&reader, "rate", rate),
                                         jsonx_read_text(&reader, "breaker", false, VALUE_CHARS_MAX)};
  if (limits.concurrency == NULL && limits.rate == NULL && limits.breaker == NULL)
    jsonx_reader_fail(&reader, "concurrency", "or rate or breaker is needed");
  if (!change_call_is_read(ch, &reader)) return;
  call_send(&ch->call, provider_store_set(call_args(&ch->call), ch->name, &limits, web_actor(web), ch->reason));
}
