// SPDX-License-Identifier: Apache-2.0
// Reading a request: decoded path, parameters and query, headers, body, trace, language.
// Owner: the handler of the request; loop thread.
#include <string.h>

#include "common/clk.h"
#include "common/contract.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/web_conn.h"

struct web_conn *web_request_conn(const struct web_request *req) { return CONTAINER_OF(req, struct web_conn, request); }

static const char *at(const struct web_request *req, struct web_piece p) { return web_request_conn(req)->in + p.at; }

const char *web_method(const struct web_request *req) { return at(req, req->parse.method); }
const char *web_path(const struct web_request *req) { return req->path; }
const char *web_actor(const struct web_request *req) { return req->caller.name[0] ? req->caller.name : "anonymous"; }
unsigned web_scopes(const struct web_request *req) { return req->caller.scopes; }
const struct web_caller *web_caller(const struct web_request *req) { return &req->caller; }
const struct web_route *web_route_of(const struct web_request *req) { return req->route; }
struct mono_time web_started(const struct web_request *req) { return req->started; }
struct web_calls *web_calls(const struct web_request *req) { return web_request_conn(req)->calls; }
void *web_context(const struct web_request *req) { return web_request_conn(req)->handler_ctx; }

const char *web_param(const struct web_request *req, const char *name)
{
  for (size_t i = 0; i < req->param_count; i++) {
    const char *pattern_name = req->match.params[i].name;
    size_t len = req->match.params[i].name_len;
    if (strncmp(pattern_name, name, len) == 0 && name[len] == '\0') return req->params[i].value;
  }
  return NULL;
}

const char *web_query(const struct web_request *req, const char *name)
{
  for (size_t i = 0; i < req->query_count; i++)
    if (strcmp(req->query[i].name, name) == 0) return req->query[i].value;
  return NULL;
}

bool web_query_has_only(const struct web_request *req, const char *const *names)
{
  size_t known = 0;
  for (; *names != NULL; names++) known += web_query(req, *names) != NULL;  // none is there twice
  return known == req->query_count;
}

const char *web_header(const struct web_request *req, const char *name)
{
  size_t len = strlen(name);
  for (size_t i = 0; i < req->parse.header_count; i++) {
    const struct web_header_line *h = &req->parse.headers[i];
    if (web_parse_same(at(req, h->name), h->name.len, name, len)) return at(req, h->value);
  }
  return NULL;
}

const char *web_cookie(const struct web_request *req, const char *name, size_t *out_len)
{
  const char *at = web_header(req, "cookie");
  size_t name_len = strlen(name);
  while (at && *at) {
    at += strspn(at, " \t;");
    size_t len = strcspn(at, ";");
    if (len > name_len && at[name_len] == '=' && memcmp(at, name, name_len) == 0) {
      *out_len = len - name_len - 1;
      return at + name_len + 1;
    }
    at += len;
  }
  return NULL;
}

const char *web_body(const struct web_request *req, size_t *out_len)
{
  size_t len = req->parse.body_len;
  if (len == 0) {
    bool is_object = req->route && req->route->body == WEB_BODY_JSON_OPTIONAL;
    *out_len = is_object ? 2 : 0;
    return is_object ? "{}" : "";
  }
  *out_len = len;
  return web_request_conn(req)->in + req->parse.body_at;
}

// --- decoding

static int hex_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Percent-decodes into the scratch; NULL if a % is malformed or the result is no text.
static const char *decode(char **io_to, const char *from, size_t len, bool plus_is_space)
{
  char *start = *io_to, *to = start;
  for (size_t i = 0; i < len; i++) {
    char c = from[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      int high = len - i > 2 ? hex_value(from[i + 1]) : -1, low = len - i > 2 ? hex_value(from[i + 2]) : -1;
      if (high < 0 || low < 0) return NULL;
      c = (char)(high << 4 | low);
      i += 2;
    }
    *to++ = c;
  }
  if (!text_is_utf8(start, (size_t)(to - start))) return NULL;
  *to++ = '\0';
  *io_to = to;
  return start;
}

static void need_scratch(struct web_request *req, size_t bytes)
{
  if (req->scratch_cap >= bytes) return;
  mem_free(req->scratch);
  req->scratch = mem_zalloc(bytes, 1);
  req->scratch_cap = bytes;
}

static bool decode_query(struct web_request *req, char **io_to)
{
  const char *q = at(req, req->parse.query), *end = q + req->parse.query.len;
  while (q < end) {
    const char *amp = memchr(q, '&', (size_t)(end - q)), *stop = amp ? amp : end;
    const char *equals = memchr(q, '=', (size_t)(stop - q));
    if (stop > q) {
      const char *name = decode(io_to, q, (size_t)((equals ? equals : stop) - q), true);
      const char *value = equals ? decode(io_to, equals + 1, (size_t)(stop - equals - 1), true) : "";
      if (!name || !value || req->query_count == WEB_QUERY_PARAMS_MAX || web_query(req, name))
        return false;  // no name twice
      req->query[req->query_count++] = (struct web_name_value){name, value};
    }
    q = stop + 1;
  }
  return true;
}

bool web_request_decode(struct web_request *req)
{
  const struct web_parse *p = &req->parse;
  const char *raw = at(req, p->path);
  bool is_encoded = memchr(raw, '%', p->path.len) != NULL;
  req->path = raw;
  req->param_count = req->query_count = 0;
  if (!is_encoded && !p->has_query && req->match.param_count == 0) return true;
  need_scratch(req, 2 * (size_t)p->path.len + p->query.len + 2 * (WEB_QUERY_PARAMS_MAX + WEB_PATH_PARAMS_MAX) + 8);
  char *to = req->scratch;
  if (is_encoded && (req->path = decode(&to, raw, p->path.len, false)) == NULL) {
    req->path = raw;
    return false;
  }
  for (size_t i = 0; i < req->match.param_count; i++) {
    const char *value = decode(&to, req->match.params[i].value, req->match.params[i].value_len, false);
    if (!value) return false;
    req->params[req->param_count++].value = value;
  }
  return !p->has_query || decode_query(req, &to);
}

// --- trace context

const char *web_trace(const struct web_request *req)
{
  struct web_conn *c = web_request_conn(req);
  char *trace = c->request.trace;
  if (trace[0] != '\0') return trace;
  const char *given = web_header(req, "traceparent");
  if (given && trace_parent_is_valid(given)) {
    memcpy(trace, given, WEB_TRACE_BYTES - 1);
    memcpy(trace, "00", 2);
    trace[WEB_TRACE_BYTES - 1] = '\0';
  } else {
    struct trace_source clock = {{(uint64_t)req->started.us | 1, (uint64_t)(uintptr_t)c}};
    trace_parent_new(c->server ? &c->server->traces : &clock, trace);
  }
  return trace;
}

// --- language

// "zh-CN;q=0.8" → 800; what is malformed counts as 0.
static int quality(const char *item, size_t len)
{
  const char *semicolon = memchr(item, ';', len);
  if (!semicolon) return 1000;
  const char *p = semicolon + 1, *end = item + len;
  while (p < end && *p == ' ') p++;
  if (end - p < 3 || (p[0] != 'q' && p[0] != 'Q') || p[1] != '=' || (p[2] != '0' && p[2] != '1')) return 0;
  int q = (p[2] - '0') * 1000, place = 100;
  for (p += 3; p < end && (*p == '.' || (*p >= '0' && *p <= '9')); p++)
    if (*p != '.') {
      q += (*p - '0') * place;
      place /= 10;
    }
  return q > 1000 ? 1000 : q;
}

// Is the item of this language, whatever its region?
static bool is_language(const char *item, size_t len, const char *language)
{
  size_t own = strlen(language);
  return len >= own && web_parse_same(item, own, language, own) && (len == own || strchr("-; ", item[own]));
}

void web_choose_language(struct web_request *req, bool is_chinese)
{
  req->has_language = true;
  req->is_chinese = is_chinese;
}

// Between the two languages there are; others decide nothing.
bool web_wants_chinese(const struct web_request *req)
{
  if (req->has_language) return req->is_chinese;
  const char *header = web_header(req, "accept-language");
  int chinese = 0, english = 0;
  while (header && *header) {
    while (*header == ' ' || *header == ',' || *header == '\t') header++;
    size_t len = strcspn(header, ",");
    if (len == 0) break;
    int q = quality(header, len);
    if (is_language(header, len, "zh") && q > chinese && q > english)
      chinese = q;  // of equals the first one listed wins
    else if ((is_language(header, len, "en") || is_language(header, len, "*")) && q > english)
      english = q;
    header += len;
  }
  return chinese > 0 && chinese >= english;
}
