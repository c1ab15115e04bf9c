// SPDX-License-Identifier: Apache-2.0
// The HTTP/1.1 server of every daemon: bounded, strict, on the loop. A request belongs to its handler until it is
// answered exactly once; if the client leaves first the answer is dropped silently. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/conf.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/result.h"
#include "common/runtime.h"
#include "common/web_route.h"

struct web_conf {
  char *listen;  // "127.0.0.1:7401"; port 0: any free one
  int64_t connections_max;
  uint64_t body_max;
  struct span request_timeout;  // a whole request, from its first byte; total, not per byte
  struct span idle_timeout;     // between two requests of one connection
  int auth;                     // 0 none (loopback only), 1 keys
};
// clang-format off
#define WEB_CONF_KEYS(config_type, member, section, default_listen)                                       \
  {section ".listen",                                                                                     \
   CONF_TEXT,                                                                                             \
   offsetof(config_type, member.listen),                                                                  \
   default_listen,                                                                                        \
   0,                                                                                                     \
   256,                                                                                                   \
   0,                                                                                                     \
   NULL,                                                                                                  \
   NULL,                                                                                                  \
   "address and port of the HTTP server"},                                                                \
      {section ".connections_max",                                                                        \
       CONF_INT,                                                                                          \
       offsetof(config_type, member.connections_max),                                                     \
       "2048",                                                                                            \
       8,                                                                                                 \
       65536,                                                                                             \
       0,                                                                                                 \
       NULL,                                                                                              \
       NULL,                                                                                              \
       "open client connections; more wait in the kernel's queue"},                                       \
      {section ".body_max",                                                                               \
       CONF_SIZE,                                                                                         \
       offsetof(config_type, member.body_max),                                                            \
       "64KiB",                                                                                           \
       1024,                                                                                              \
       1073741824,                                                                                        \
       0,                                                                                                 \
       NULL,                                                                                              \
       NULL,                                                                                              \
       "largest request body, unless a route allows more"},                                               \
      {section ".request_timeout",                                                                        \
       CONF_SPAN,                                                                                         \
       offsetof(config_type, member.request_timeout),                                                     \
       "10s",                                                                                             \
       100000,                                                                                            \
       600000000,                                                                                         \
       0,                                                                                                 \
       NULL,                                                                                              \
       NULL,                                                                                              \
       "a request must be complete within this time"},                                                    \
      {section ".idle_timeout",                                                                           \
       CONF_SPAN,                                                                                         \
       offsetof(config_type, member.idle_timeout),                                                        \
       "75s",                                                                                             \
       100000,                                                                                            \
       3600000000,                                                                                        \
       0,                                                                                                 \
       NULL,                                                                                              \
       NULL,                                                                                              \
       "a silent kept-alive connection is closed after this"},                                            \
  {                                                                                                       \
    section ".auth", CONF_CHOICE, offsetof(config_type, member.auth), "none", 0, 0, 0, "none|keys", NULL, \
        "API keys; none is refused unless the address is loopback"                                        \
  }
// clang-format on

struct web_server;
struct web_request;
struct web_calls;

struct web_server *web_server_new(struct runtime *rt, const struct web_conf *conf, const struct web_routes *routes,
                                  void *handler_ctx);
// Binds and listens. RESULT_UNAVAILABLE with one line naming address and reason in out_why.
#define WEB_WHY_BYTES 256
MUST_CHECK enum result web_server_start(struct web_server *s, char out_why[WEB_WHY_BYTES]);
int web_server_port(const struct web_server *s);
// For half a second whoever still comes is answered, with Connection: close (and /readyz with 503); then it stops
// accepting and closes what idles.
void web_server_drain(struct web_server *s);
size_t web_server_open_requests(
    const struct web_server *s);             // while draining also connections that are owed something: 0 means done
void web_server_free(struct web_server *s);  // requests that handlers still have may be answered later; nobody hears it
// Health: what /readyz says. NULL: ready.
void web_server_set_not_ready(struct web_server *s, const char *why);
// Ready, but something is missing: /readyz stays 200 and says what ("degraded: broker away"). NULL: nothing is missing.
void web_server_set_degraded(struct web_server *s, const char *what);
// The Content-Security-Policy of answers whose handler sets none; the text is the caller's. Until it is called: nothing
// may be loaded or framed, which is right for answers that are no pages.
void web_server_set_policy(struct web_server *s, const char *policy);
void web_server_set_calls(struct web_server *s, struct web_calls *calls);  // for web_call.h; it outlives the server

// What a request shows of who sends it.
#define WEB_SESSION_COOKIE "largesse_session"
struct web_credential {
  const char *key;  // of Authorization: Bearer; NULL: none
  size_t key_len;
  const char *session;  // of the cookie, where no key is shown; NULL: none
  size_t session_len;
  const char *token;  // X-CSRF-Token, with a session; NULL: none
  bool is_change;     // neither GET nor HEAD
  bool may_wait;      // the answer may come later
};
struct web_caller {
  unsigned scopes;         // bits of web_scope
  bool is_person;          // known by a session, not by a key
  struct wall_time until;  // when key or session end; 0: not by themselves
  char name[65];           // stable, for logs
};
enum web_auth_answer {
  WEB_AUTH_KNOWN,
  WEB_AUTH_NOBODY,  // 401
  WEB_AUTH_FORGED,  // 403: a session changes something without its token
  WEB_AUTH_AWAY,    // 503 with Retry-After: it cannot be found out now
  WEB_AUTH_LATER,   // web_auth_resolve follows, once; only for a request that may wait
};
// Who sends it. Called with auth = keys, for routes that are not open. req is for web_auth_resolve, and to be read.
typedef enum web_auth_answer web_auth_fn(void *ctx, struct web_request *req, const struct web_credential *credential,
                                         struct web_caller *out_caller);
void web_server_set_auth(struct web_server *s, web_auth_fn *fn, void *ctx);
// The request goes on, or is answered; not from within the web_auth_fn that said LATER. caller: of WEB_AUTH_KNOWN.
void web_auth_resolve(struct web_request *req, enum web_auth_answer answer, const struct web_caller *caller);
// Asked before each handler of a route that is not open: true if it has answered the request, for rules that hold for
// many routes.
typedef bool web_gate_fn(struct web_request *req);
void web_server_set_gate(struct web_server *s, web_gate_fn *fn);

// Reading a request. Everything stays valid until the reply.
const char *web_method(const struct web_request *req);
const char *web_path(const struct web_request *req);  // decoded
const char *web_param(const struct web_request *req,
                      const char *name);  // {name} of the route's path, decoded; NULL if the route has none
const char *web_query(const struct web_request *req, const char *name);            // decoded; NULL if absent
bool web_query_has_only(const struct web_request *req, const char *const *names);  // nothing but these, ended by NULL
const char *web_header(const struct web_request *req, const char *name);           // case-insensitive; NULL if absent
const char *web_body(const struct web_request *req, size_t *out_len);              // NUL-terminated
const char *web_actor(const struct web_request *req);  // name of the key, "anonymous" without
unsigned web_scopes(const struct web_request *req);
const struct web_caller *web_caller(const struct web_request *req);  // name "": nobody was asked for
const struct web_route *web_route_of(const struct web_request *req);
// The value of a cookie, not NUL-terminated; NULL if absent.
const char *web_cookie(const struct web_request *req, const char *name, size_t *out_len);
const char *web_trace(const struct web_request *req);   // traceparent: the caller's if valid, else a new one
bool web_wants_chinese(const struct web_request *req);  // Accept-Language, unless it was chosen:
void web_choose_language(struct web_request *req, bool is_chinese);
struct mono_time web_started(const struct web_request *req);  // when the request was complete
void *web_context(const struct web_request *req);             // handler_ctx
struct web_calls *web_calls(const struct web_request *req);   // of the server; NULL without

// Answering: exactly one of these per request. Headers set before are sent with it.
void web_reply_header(struct web_request *req, const char *name,
                      const char *value);  // copied; control characters are refused
void web_reply(struct web_request *req, int status, const char *content_type, const char *body, size_t len);  // copied
void web_reply_json(struct web_request *req, int status, const char *body, size_t len);
void web_reply_empty(struct web_request *req, int status);
// Closes the connection without an answer, also in the middle of other work: what a broken server does. For the
// provider simulator of the tests.
void web_reply_close(struct web_request *req);

// problem+json (RFC 9457): type, title and status come from the code's row.
struct web_problem {
  const char *code;  // "SOLD_OUT"
  int status;
  const char *detail;      // for people; English, told in the language of the request
  const char *rule;        // NULL: left out
  const char *extra_json;  // further members without braces: "\"limit\":1,\"count\":1"; NULL: none
  int retry_after_s;       // > 0: Retry-After header and retryable: true
};
// Its JSON alone, for answers that hold one; then web_reply_language goes with it.
void web_put_problem(struct buf *b, const struct web_request *req, const struct web_problem *p);
// A text for people in the language of the request, where there is one for it (message.h); else in English.
void web_put_text(struct buf *b, const struct web_request *req, const char *english);
// Headers of an answer with such texts: Content-Language and Vary. Problems have them by themselves.
void web_reply_language(struct web_request *req);
void web_reply_problem(struct web_request *req, const struct web_problem *p);
