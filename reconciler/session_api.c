// SPDX-License-Identifier: Apache-2.0
// Who is asking, and signing in and out of the console. Owner: web routes; loop thread.
#include "reconciler/session_api.h"

#include <string.h>
#include <strings.h>

#include "common/access.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/session.h"
#include "sql_reconciler.inc"

#define KEY_TEXT_MAX 200

// What a person may do in the console. NULL: a key for services only.
static const char *role_of(unsigned scopes)
{
  if ((scopes & WEB_ADMIN) != 0) return "admin";
  if ((scopes & (WEB_ACTIVITIES | WEB_REVIEW)) != 0) return "operator";
  return (scopes & WEB_READ) != 0 ? "viewer" : NULL;
}

static void answer(struct web_request *web, const struct web_caller *caller, const char *token)
{
  struct app *app = web_context(web);
  struct buf *b = &app->scratch;
  const char *role = role_of(caller->scopes), *name = caller->name[0] != '\0' ? caller->name : "anonymous";
  char until[TEXT_TIME_BYTES];
  buf_clear(b);
  buf_puts(b, "{\"name\":");
  buf_put_json(b, name, strlen(name));
  buf_puts(b, ",\"scopes\":[\"");
  web_scopes_put(b, caller->scopes, "\",\"");
  buf_puts(b, "\"]");
  if (role != NULL) buf_printf(b, ",\"role\":\"%s\"", role);
  buf_printf(b, ",\"csrf\":\"%s\"", token);
  if (caller->until.us != 0) {
    text_from_time(caller->until, until);
    buf_printf(b, ",\"expiresAt\":\"%s\"", until);
  }
  buf_putc(b, '}');
  web_reply_header(web, "Cache-Control", "no-store");
  web_reply_json(web, 200, buf_text(b), b->len);
}

void session_api_show(struct web_request *web)
{
  const struct app *app = web_context(web);
  const struct web_caller *caller = web_caller(web);
  char token[KEY_SECRET_CHARS + 1] = "";
  size_t len = 0;
  const char *session = caller->is_person ? web_cookie(web, WEB_SESSION_COOKIE, &len) : NULL;
  if (session != NULL) sessions_token(app->sessions, session, len, token);
  answer(web, caller, token);
}

// --- signing in

// The cookie is for this server alone; over https also never sent without. A gateway says which it is.
static void put_cookie(struct web_request *web, const char *session, bool is_end)
{
  const char *scheme = web_header(web, "X-Forwarded-Proto");
  struct buf b;
  buf_init(&b, 256);
  buf_printf(&b, WEB_SESSION_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s%s", session, is_end ? "; Max-Age=0" : "",
             scheme != NULL && strcasecmp(scheme, "https") == 0 ? "; Secure" : "");
  web_reply_header(web, "Set-Cookie", buf_text(&b));
  buf_wipe(&b);
}

struct begin_call {
  struct call call;
  char session[KEY_SECRET_CHARS + 1];
};

static void on_end(struct call *c)
{
  struct begin_call *b = CONTAINER_OF(c, struct begin_call, call);
  explicit_bzero(b->session, sizeof b->session);
}

static void refuse(struct call *c, int status, const char *code, const char *detail)
{
  LOG(c->app->rt->log, EV_SESSION_REFUSED, F_STR("reason", code));
  web_reply_header(c->web, "Cache-Control", "no-store");
  if (status == 401) web_reply_header(c->web, "WWW-Authenticate", "Bearer realm=\"largesse\"");
  web_reply_problem(c->web, &(struct web_problem){.code = code, .status = status, .detail = detail});
}

static void on_begun(struct call *c, const struct db_rows *rows)
{
  const struct begin_call *b = CONTAINER_OF(c, struct begin_call, call);
  const char *outcome = db_rows_text(rows, 0, 0), *name = db_rows_text(rows, 0, 1);
  struct web_caller caller = {.is_person = true, .until = db_rows_time(rows, 0, 3)};
  char token[KEY_SECRET_CHARS + 1];
  if (strcmp(outcome, "ok") == 0 && strlen(name) < sizeof caller.name) {
    caller.scopes = web_scopes_read(db_rows_text(rows, 0, 2));
    memcpy(caller.name, name, strlen(name) + 1);
    sessions_succeeded(c->app->sessions);
    LOG(c->app->rt->log, EV_SESSION_BEGUN, F_STR("actor", name));
    sessions_token(c->app->sessions, b->session, KEY_SECRET_CHARS, token);
    put_cookie(c->web, b->session, false);
    answer(c->web, &caller, token);
  } else if (strcmp(outcome, "FORBIDDEN") == 0) {
    refuse(c, 403, "FORBIDDEN", "This key is for services: it has no role in the console.");
  } else {
    refuse(c, 401, "UNAUTHENTICATED", "This is not a valid key.");
  }
  call_end(c);
}

// Whoever signs in gets a session of its own, never one that was there before; that one ends.
static void put_args(struct call *c, const char *key)
{
  struct begin_call *b = CONTAINER_OF(c, struct begin_call, call);
  struct db_args *args = call_args(c);
  uint8_t hash[KEY_HASH_BYTES];
  size_t len = 0;
  const char *old = web_cookie(c->web, WEB_SESSION_COOKIE, &len);
  access_hash(c->app->keys, key, strlen(key), hash);
  db_args_binary(args, hash, sizeof hash);
  access_secret_new(b->session);
  access_hash(c->app->keys, b->session, KEY_SECRET_CHARS, hash);
  db_args_binary(args, hash, sizeof hash);
  if (old == NULL) {
    db_args_null(args);
    return;
  }
  access_hash(c->app->keys, old, len, hash);
  db_args_binary(args, hash, sizeof hash);
}

static bool may_try(struct web_request *web)
{
  const struct app *app = web_context(web);
  int seconds = 0;
  if (sessions_may_try(app->sessions, &seconds)) return true;
  web_reply_problem(web, &(struct web_problem){.code = "RATE_LIMITED",
                                               .status = 429,
                                               .detail = "Too many attempts to sign in have failed.",
                                               .retry_after_s = seconds});
  return false;
}

void session_api_begin(struct web_request *web)
{
  struct jsonx_reader reader;
  if (web_scopes(web) != 0) {  // no key is asked for: everybody may do everything
    answer(web, web_caller(web), "");
    return;
  }
  json_t *body = call_body(web);
  if (body == NULL) return;
  jsonx_reader_init(&reader, body, "");
  const char *key = jsonx_read_text(&reader, "key", true, KEY_TEXT_MAX);
  if (call_is_read(web, &reader) && may_try(web)) {
    struct call *c = call_new(web, sizeof(struct begin_call), on_begun);
    c->on_end = on_end;
    put_args(c, key);
    call_send(c, &SQL_SESSION_BEGIN);
  }
  json_decref(body);
}

// --- signing out

static void on_ended(struct call *c, const struct db_rows *rows)
{
  (void)rows;
  LOG(c->app->rt->log, EV_SESSION_ENDED, F_STR("actor", web_actor(c->web)));
  put_cookie(c->web, "", true);
  web_reply_header(c->web, "Cache-Control", "no-store");
  web_reply_empty(c->web, 204);
  call_end(c);
}

void session_api_end(struct web_request *web)
{
  uint8_t hash[KEY_HASH_BYTES];
  size_t len = 0;
  const char *session = web_caller(web)->is_person ? web_cookie(web, WEB_SESSION_COOKIE, &len) : NULL;
  if (session == NULL) {  // a key is no session
    web_reply_empty(web, 204);
    return;
  }
  struct call *c = call_new(web, sizeof *c, on_ended);
  access_hash(c->app->keys, session, len, hash);
  db_args_binary(call_args(c), hash, sizeof hash);
  call_send(c, &SQL_SESSION_END);
}
