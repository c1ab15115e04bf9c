// SPDX-License-Identifier: Apache-2.0
// Webhook endpoints over HTTP: how they are, what they were told, switched, told again. Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler webhook_api_list;        // GET /v1/webhooks
web_handler webhook_api_deliveries;  // GET /v1/webhooks/{name}/deliveries?state=&limit=&after=
web_handler webhook_api_enable;      // POST /v1/webhooks/{name}/enable {reason}
web_handler webhook_api_disable;     // POST /v1/webhooks/{name}/disable {reason}
// POST /v1/webhooks/{name}/replay {since | id, all?, after?, reason} -> {replayed, next}: next is the `after` of the
// next portion, null after the last one.
web_handler webhook_api_replay;
