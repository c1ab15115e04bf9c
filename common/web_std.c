// SPDX-License-Identifier: Apache-2.0
// What every daemon answers alike: health, metrics, HEAD, OPTIONS, 404, 405, content types, who may call what.
// Owner: the server; loop thread.
#include <string.h>

#include "common/contract.h"
#include "common/web_conn.h"

#define DEGRADED_BYTES_MAX 1024

// --- health and metrics

static void handle_live(struct web_request *req)
{
  static const char body[] = "{\"status\":\"live\"}";
  web_reply_json(req, 200, body, sizeof body - 1);
}

static void handle_ready(struct web_request *req)
{
  static const char body[] = "{\"status\":\"ready\"}";
  const struct web_server *s = web_request_conn(req)->server;
  const char *why = s->draining ? "draining" : s->not_ready;
  if (why) {
    web_reply_problem(req,
                      &(struct web_problem){.code = "UNAVAILABLE", .status = 503, .detail = why, .retry_after_s = 1});
  } else if (s->degraded) {
    struct buf text, degraded;
    buf_init(&text, DEGRADED_BYTES_MAX);
    buf_init(&degraded, 2 * DEGRADED_BYTES_MAX);
    web_put_text(&text, req, s->degraded);
    buf_puts(&degraded, "{\"status\":\"degraded\",\"detail\":");
    buf_put_json(&degraded, buf_text(&text), text.len);
    buf_putc(&degraded, '}');
    web_reply_language(req);
    web_reply_json(req, 200, buf_text(&degraded), degraded.len);
    buf_release(&degraded);
    buf_release(&text);
  } else {
    web_reply_json(req, 200, body, sizeof body - 1);
  }
}

static void handle_metrics(struct web_request *req)
{
  struct web_server *s = web_request_conn(req)->server;
  buf_clear(&s->page);
  if (s->rt->metrics) {
    metric_put(s->rt->metrics, M_HTTP_CONNECTIONS, (double)s->conn_count);
    metric_render(s->rt->metrics, &s->page);
  }
  web_reply(req, 200, "text/plain; version=0.0.4; charset=utf-8", buf_text(&s->page), s->page.len);
}

const struct web_routes *web_std_routes(void)
{
  static const struct web_route items[] = {
      {"GET", "/livez", WEB_OPEN, WEB_BODY_NONE, 0, handle_live, "livez"},
      {"GET", "/readyz", WEB_OPEN, WEB_BODY_NONE, 0, handle_ready, "readyz"},
      {"GET", "/healthz", WEB_OPEN, WEB_BODY_NONE, 0, handle_live, "livez"},
      {"GET", "/metrics", WEB_OPEN, WEB_BODY_NONE, 0, handle_metrics, "metrics"},
  };
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}

void web_std_route(struct web_request *req)
{
  struct web_conn *c = web_request_conn(req);
  const char *path = c->in + req->parse.path.at;
  web_route_find(web_std_routes(), web_method(req), path, req->parse.path.len, &req->match);
  if (!req->match.route && req->match.allowed[0] == '\0')
    web_route_find(c->server->routes, web_method(req), path, req->parse.path.len, &req->match);
  req->route = req->match.route;
  req->routed_in = c->in;
}

// --- content types (B97)

static const char *skip_space(const char *p)
{
  while (*p == ' ' || *p == '\t') p++;
  return p;
}

// One parameter: *io_p is behind its semicolon and moves behind it. False if it is malformed or a charset other than
// UTF-8.
static bool check_parameter(const char **io_p)
{
  const char *p = skip_space(*io_p);
  size_t name_len = strcspn(p, "=; \t");
  const char *value = p + name_len;
  if (name_len == 0 || *value != '=') return false;
  value++;
  bool is_quoted = *value == '"';
  if (is_quoted) value++;
  size_t len = strcspn(value, is_quoted ? "\"" : "; \t");
  const char *end = value + len;
  if (is_quoted && *end++ != '"') return false;
  if (web_parse_same(p, name_len, "charset", 7) && !web_parse_same(value, len, "utf-8", 5)) return false;
  *io_p = end;
  return true;
}

static bool is_type(const char *content_type, const char *wanted)
{
  size_t len = strcspn(content_type, "; \t");
  if (!web_parse_same(content_type, len, wanted, strlen(wanted))) return false;
  for (const char *p = skip_space(content_type + len); *p; p = skip_space(p)) {
    if (*p++ != ';') return false;
    if (*skip_space(p) == '\0') return true;
    if (!check_parameter(&p)) return false;
  }
  return true;
}

bool web_std_is_json(const char *content_type) { return is_type(content_type, "application/json"); }

static bool type_fits(const struct web_request *req)
{
  uint8_t known = req->parse.known[WEB_CONTENT_TYPE];
  const char *type = known > 0 ? web_request_conn(req)->in + req->parse.headers[known - 1].value.at : "";
  switch (req->route->body) {
    case WEB_BODY_NONE:
    case WEB_BODY_ANY: return true;
    case WEB_BODY_JSON: return web_std_is_json(type);
    case WEB_BODY_JSON_OPTIONAL: return (!req->parse.chunked && req->parse.length == 0) || web_std_is_json(type);
    case WEB_BODY_CSV: return is_type(type, "text/csv");
    case WEB_BODY_JSON_OR_CSV: return web_std_is_json(type) || is_type(type, "text/csv");
  }
  return false;
}

// --- who may

static bool is_method(const struct web_request *req, const char *method)
{
  return strcmp(web_method(req), method) == 0;
}

// The cookie is looked at only where no key is shown: who shows one means it, and a browser does not send keys by
// itself.
static bool read_credential(const struct web_request *req, struct web_credential *out)
{
  uint8_t known = req->parse.known[WEB_AUTHORIZATION];
  if (known > 0) {
    const char *value = web_request_conn(req)->in + req->parse.headers[known - 1].value.at;
    if (strlen(value) < 8 || !web_parse_same(value, 7, "bearer ", 7)) return false;
    out->key = skip_space(value + 7);
    out->key_len = strlen(out->key);
    return true;
  }
  out->session = web_cookie(req, WEB_SESSION_COOKIE, &out->session_len);
  if (!out->session) return false;
  out->token = web_header(req, "x-csrf-token");
  out->is_change = !is_method(req, "GET") && !is_method(req, "HEAD");
  return true;
}

static enum web_auth_answer authenticate(struct web_request *req, bool may_wait, struct web_caller *out_caller)
{
  struct web_server *s = web_request_conn(req)->server;
  struct web_credential credential = {.may_wait = may_wait};
  if (s->conf.auth == 0) {
    out_caller->scopes = WEB_ALL_SCOPES;
    return WEB_AUTH_KNOWN;
  }
  if (req->route->need == WEB_OPEN) return WEB_AUTH_KNOWN;
  if (!read_credential(req, &credential) || !s->auth) return WEB_AUTH_NOBODY;
  return s->auth(s->auth_ctx, req, &credential, out_caller);
}

static bool is_allowed(const struct web_request *req, const struct web_caller *caller)
{
  return req->route->need == WEB_OPEN || (caller->scopes & req->route->need) != 0;
}

static void problem(struct web_request *req, int status, const char *code, const char *detail)
{
  web_reply_problem(req, &(struct web_problem){.code = code, .status = status, .detail = detail});
}

static bool shows_session(const struct web_request *req)
{
  size_t len;
  return req->parse.known[WEB_AUTHORIZATION] == 0 && web_cookie(req, WEB_SESSION_COOKIE, &len) != NULL;
}

// True if the request has been answered.
static bool refused_caller(struct web_request *req, enum web_auth_answer answer)
{
  switch (answer) {
    case WEB_AUTH_KNOWN:
      if (is_allowed(req, &req->caller)) return false;
      problem(req, 403, "FORBIDDEN", "The key has none of the scopes that this call needs.");
      break;
    case WEB_AUTH_NOBODY:
      web_reply_header(req, "WWW-Authenticate", "Bearer realm=\"largesse\"");
      problem(req, 401, "UNAUTHENTICATED",
              shows_session(req) ? "The session has ended; sign in again."
                                 : "This call needs Authorization: Bearer with a valid key.");
      break;
    case WEB_AUTH_FORGED:
      problem(req, 403, "FORBIDDEN", "A call with a session's cookie needs its X-CSRF-Token.");
      break;
    case WEB_AUTH_AWAY:
    case WEB_AUTH_LATER:
      web_reply_problem(req, &(struct web_problem){.code = "UNAVAILABLE",
                                                   .status = 503,
                                                   .detail = "The key cannot be checked right now.",
                                                   .retry_after_s = 1});
      break;
  }
  return true;
}

// --- dispatch

static void answer_options(struct web_request *req)
{
  if (web_path(req)[0] == '*')
    web_reply_header(req, "Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
  else
    web_reply_header(req, "Allow", req->match.allowed);
  web_reply_empty(req, 204);
}

static void answer_no_route(struct web_request *req)
{
  if (req->match.allowed[0] == '\0' && !(is_method(req, "OPTIONS") && web_path(req)[0] == '*')) {
    problem(req, 404, "NOT_FOUND", "There is nothing at this path.");
    return;
  }
  if (is_method(req, "OPTIONS")) {
    answer_options(req);
    return;
  }
  web_reply_header(req, "Allow", req->match.allowed);
  problem(req, 405, "METHOD_NOT_ALLOWED", "This path knows other methods only; see Allow.");
}

bool web_std_refuses(struct web_request *req)
{
  struct web_caller caller = {.scopes = 0};
  if (!req->route || !type_fits(req)) return true;
  return authenticate(req, false, &caller) != WEB_AUTH_KNOWN || !is_allowed(req, &caller);
}

// It is known who sends it, or that it is not.
static void dispatch_known(struct web_request *req, enum web_auth_answer answer)
{
  struct web_server *s = web_request_conn(req)->server;
  if (refused_caller(req, answer)) return;
  bool is_whole = req->parse.state == WEB_AT_END;
  if (is_whole && req->route->body == WEB_BODY_JSON && req->parse.body_len == 0) {
    problem(req, 400, "INVALID_REQUEST", "The body is empty; this call needs a JSON object.");
    return;
  }
  if (!type_fits(req)) {
    problem(req, 415, "UNSUPPORTED_MEDIA_TYPE", "The body's Content-Type must be the one this call takes, in UTF-8.");
    return;
  }
  if (!is_whole) {  // asked twice, it got two answers
    web_reply_problem(req, &(struct web_problem){.code = "UNAVAILABLE",
                                                 .status = 503,
                                                 .detail = "The key could not be checked a moment ago; try again.",
                                                 .retry_after_s = 1});
    return;
  }
  if (s->gate && req->route->need != WEB_OPEN && s->gate(req)) return;
  req->route->handler(req);
}

void web_auth_resolve(struct web_request *req, enum web_auth_answer answer, const struct web_caller *caller)
{
  struct web_conn *c = web_request_conn(req);
  REQUIRE(answer != WEB_AUTH_LATER);
  if (!c->server || c->gone) {  // nobody waits for it any more
    web_reply_empty(req, 503);
    return;
  }
  if (answer == WEB_AUTH_KNOWN) req->caller = *caller;
  dispatch_known(req, answer);
}

void web_std_dispatch(struct web_request *req)
{
  struct web_conn *c = web_request_conn(req);
  req->is_head = is_method(req, "HEAD");
  // Routing left pointers into the buffer, which may have moved since as it grew with the body.
  if (req->match.param_count > 0 && req->routed_in != c->in) web_std_route(req);
  if (!web_request_decode(req)) {
    problem(req, 400, "INVALID_REQUEST",
            "The path or the query is malformed: percent-encoding of UTF-8, at most 16 parameters, no name twice.");
    return;
  }
  if (!req->route) {
    answer_no_route(req);
    return;
  }
  enum web_auth_answer answer = authenticate(req, req->parse.state == WEB_AT_END, &req->caller);
  if (answer != WEB_AUTH_LATER) dispatch_known(req, answer);
}
