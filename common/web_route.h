// SPDX-License-Identifier: Apache-2.0
// The table of routes: method, path pattern, the scope a caller needs, the handler. A path that exists with other
// methods is 405 with Allow; HEAD is answered where GET is, OPTIONS everywhere.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/limits.h"
#include "common/result.h"

enum web_scope { WEB_OPEN = 0, WEB_READ = 1, WEB_CLAIMS = 2, WEB_ACTIVITIES = 4, WEB_REVIEW = 8, WEB_ADMIN = 16 };
#define WEB_ALL_SCOPES (WEB_READ | WEB_CLAIMS | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
// The bits of names that are separated by commas; unknown names count for nothing.
unsigned web_scopes_read(const char *names);
// The names of bits, one after the other: before each after the first stands the gap.
struct buf;
void web_scopes_put(struct buf *b, unsigned scopes, const char *gap);
enum web_body_kind {
  WEB_BODY_NONE,           // a body is ignored
  WEB_BODY_JSON,           // application/json required (415), charset utf-8 only
  WEB_BODY_JSON_OPTIONAL,  // an empty body is allowed and seen as "{}"
  WEB_BODY_CSV,            // text/csv
  WEB_BODY_JSON_OR_CSV,
  WEB_BODY_ANY,  // raw (callbacks)
};

struct web_request;
typedef void web_handler(struct web_request *req);

struct web_route {
  const char *method;
  const char *path;  // "/v1/claims/{activityCode}/{bizId}"; a literal segment wins over a parameter
  unsigned need;     // any one of these scopes; WEB_OPEN: no key asked for
  enum web_body_kind body;
  uint64_t body_max;  // 0: the server's
  web_handler *handler;
  const char *label;  // for metrics: "claims_create"
};
struct web_routes {
  const struct web_route *items;
  size_t count;
};

// What every daemon answers besides its own table: health and metrics.
const struct web_routes *web_std_routes(void);

struct web_match {
  const struct web_route *route;  // NULL: not found, or only other methods (allowed then not empty)
  char allowed[64];               // "GET, HEAD, OPTIONS"
  struct {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
  } params[WEB_PATH_PARAMS_MAX];  // into pattern and path, still encoded
  size_t param_count;
};
// Pure. path is the raw path, without query.
void web_route_find(const struct web_routes *routes, const char *method, const char *path, size_t path_len,
                    struct web_match *out_match);
