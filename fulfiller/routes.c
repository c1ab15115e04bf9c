// SPDX-License-Identifier: Apache-2.0
// The fulfiller's table of HTTP routes. Callbacks carry a signature instead of a key.
// Owner: nobody; constant.
#include "fulfiller/routes.h"

#include "fulfiller/app.h"
#include "fulfiller/callback.h"

static void take_callback(struct web_request *req)
{
  const struct app *app = web_context(req);
  callback_handle(app->callbacks, req);
}

static const struct web_route items[] = {
    {"POST", "/v1/callbacks/{provider}", WEB_OPEN, WEB_BODY_ANY, 0, take_callback, "callbacks"},
};

const struct web_routes *fulfiller_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
