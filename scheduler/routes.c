// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of HTTP routes; the handlers live in the *_api files.
// Owner: nobody; constant.
#include "scheduler/routes.h"

#include "common/compiler.h"
#include "scheduler/claim_api.h"

static const struct web_route items[] = {
  {"POST", "/v1/claims", WEB_CLAIMS, WEB_BODY_JSON, 0, claim_api_create, "claims_create"},
};

const struct web_routes *scheduler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
