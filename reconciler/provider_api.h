// SPDX-License-Identifier: Apache-2.0
// Protection of providers over HTTP: read, pause, resume, limits, history. Owner: web routes; loop thread.
#pragma once

#include "common/web.h"

void provider_api_list(struct web_request *web);     // GET /v1/providers
void provider_api_history(struct web_request *web);  // GET /v1/providers/{name}/history?limit=&after=
void provider_api_pause(struct web_request *web);    // POST /v1/providers/{name}/pause {until?, reason?}
void provider_api_resume(struct web_request *web);   // POST /v1/providers/{name}/resume {reason?}
void provider_api_set(
    struct web_request *web);  // POST /v1/providers/{name}/set {concurrency?, rate?, breaker?, reason?}
