// SPDX-License-Identifier: Apache-2.0
// Finding the route of a request: see web_route.h. Pure; any thread.
#include "common/web_route.h"

#include <string.h>

#include "common/buf.h"

static size_t segment_len(const char *at, const char *end)
{
  const char *slash = memchr(at, '/', (size_t)(end - at));
  return slash ? (size_t)(slash - at) : (size_t)(end - at);
}

// Does the path fit the pattern? out_literal gets a bit per segment, the first one highest: 1 for a literal. So of two
// patterns that fit, the greater number is the one with the earlier literal.
static bool fits(const char *pattern, const char *path, size_t path_len, struct web_match *m, uint32_t *out_literal)
{
  const char *a = pattern, *a_end = pattern + strlen(pattern), *b = path, *b_end = path + path_len;
  uint32_t bit = 0x80000000u, literal = 0;
  m->param_count = 0;
  while (a < a_end && b < b_end) {
    if (*a++ != '/' || *b++ != '/') return false;
    size_t a_len = segment_len(a, a_end), b_len = segment_len(b, b_end);
    if (a_len > 1 && a[0] == '{') {
      if (b_len == 0 || m->param_count == WEB_PATH_PARAMS_MAX) return false;
      m->params[m->param_count].name = a + 1;
      m->params[m->param_count].name_len = a_len - 2;
      m->params[m->param_count].value = b;
      m->params[m->param_count++].value_len = b_len;
    } else {
      if (a_len != b_len || memcmp(a, b, a_len) != 0) return false;
      literal |= bit;
    }
    a += a_len;
    b += b_len;
    bit >>= 1;
  }
  *out_literal = literal;
  return a == a_end && b == b_end;
}

static void allow(struct web_match *m, const char *method)
{
  size_t have = strlen(m->allowed), len = strlen(method);
  for (const char *at = m->allowed; (at = strstr(at, method)) != NULL; at += len)
    if ((at == m->allowed || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0')) return;
  if (have + len + 3 > sizeof m->allowed) return;
  if (have > 0) {
    memcpy(m->allowed + have, ", ", 2);
    have += 2;
  }
  memcpy(m->allowed + have, method, len + 1);
}

static void list_allowed(const struct web_routes *routes, const char *path, size_t path_len, struct web_match *m)
{
  bool any = false;
  for (size_t i = 0; i < routes->count; i++) {
    uint32_t literal;
    struct web_match ignored;
    if (!fits(routes->items[i].path, path, path_len, &ignored, &literal)) continue;
    any = true;
    allow(m, routes->items[i].method);
    if (strcmp(routes->items[i].method, "GET") == 0) allow(m, "HEAD");
  }
  if (any) allow(m, "OPTIONS");
}

void web_route_find(const struct web_routes *routes, const char *method, const char *path, size_t path_len,
                    struct web_match *out_match)
{
  const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
  uint32_t best = 0;
  out_match->route = NULL;
  out_match->allowed[0] = '\0';
  out_match->param_count = 0;
  for (size_t i = 0; i < routes->count; i++) {
    const struct web_route *r = &routes->items[i];
    uint32_t literal;
    struct web_match m;
    if (strcmp(r->method, wanted) != 0 || !fits(r->path, path, path_len, &m, &literal)) continue;
    if (out_match->route && literal <= best) continue;
    best = literal;
    out_match->route = r;
    out_match->param_count = m.param_count;
    memcpy(out_match->params, m.params, m.param_count * sizeof m.params[0]);
  }
  // Only a refusal and OPTIONS need the list; it is not made for the rest.
  if (!out_match->route) list_allowed(routes, path, path_len, out_match);
}

static const struct {
  enum web_scope scope;
  const char *name;
} scope_names[] = {{WEB_READ, "read"},
                   {WEB_CLAIMS, "claims"},
                   {WEB_ACTIVITIES, "activities"},
                   {WEB_REVIEW, "review"},
                   {WEB_ADMIN, "admin"}};

unsigned web_scopes_read(const char *names)
{
  unsigned scopes = 0;
  while (*names != '\0') {
    size_t len = strcspn(names, ",");
    for (size_t i = 0; i < ARRAY_LEN(scope_names); i++)
      if (strlen(scope_names[i].name) == len && memcmp(scope_names[i].name, names, len) == 0)
        scopes |= scope_names[i].scope;
    names += len + (names[len] == ',');
  }
  return scopes;
}

void web_scopes_put(struct buf *b, unsigned scopes, const char *gap)
{
  bool is_first = true;
  for (size_t i = 0; i < ARRAY_LEN(scope_names); i++) {
    if ((scopes & scope_names[i].scope) == 0) continue;
    if (!is_first) buf_puts(b, gap);
    buf_puts(b, scope_names[i].name);
    is_first = false;
  }
}
