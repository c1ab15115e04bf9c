// SPDX-License-Identifier: Apache-2.0
// Who is asking, and signing in and out of the console. Owner: web routes; loop thread.
#include "reconciler/session_api.h"

#include <string.h>

#include "reconciler/call.h"

// What a person may do in the console. NULL: a key for services only.
static const char *role_of(unsigned scopes)
{
  if ((scopes & WEB_ADMIN) != 0) return "admin";
  if ((scopes & (WEB_ACTIVITIES | WEB_REVIEW)) != 0) return "operator";
  return (scopes & WEB_READ) != 0 ? "viewer" : NULL;
}

static void put_scopes(struct buf *b, unsigned scopes)
{
  static const struct {
    enum web_scope scope;
    const char *name;
  } names[] = {{WEB_READ, "read"},
               {WEB_CLAIMS, "claims"},
               {WEB_ACTIVITIES, "activities"},
               {WEB_REVIEW, "review"},
               {WEB_ADMIN, "admin"}};
  const char *gap = "[\"";
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if ((scopes & names[i].scope) == 0) continue;
    buf_printf(b, "%s%s\"", gap, names[i].name);
    gap = ",\"";
  }
  buf_putc(b, ']');
}

static void answer(struct web_request *web)
{
  struct app *app = web_context(web);
  struct buf *b = &app->scratch;
  const char *role = role_of(web_scopes(web));
  buf_clear(b);
  buf_puts(b, "{\"name\":");
  buf_put_json(b, web_actor(web), strlen(web_actor(web)));
  buf_puts(b, ",\"scopes\":");
  put_scopes(b, web_scopes(web));
  if (role != NULL) buf_printf(b, ",\"role\":\"%s\"", role);
  buf_puts(b, ",\"csrf\":\"\"}");
  web_reply_header(web, "Cache-Control", "no-store");
  web_reply_json(web, 200, buf_text(b), b->len);
}

void session_api_show(struct web_request *web) { answer(web); }

void session_api_begin(struct web_request *web) { answer(web); }

void session_api_end(struct web_request *web)
{
  web_reply_header(web, "Cache-Control", "no-store");
  web_reply_empty(web, 204);
}
