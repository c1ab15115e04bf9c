// SPDX-License-Identifier: Apache-2.0
// GET /v1/activities/{code}/refusals: how many claims were refused, by minute and code.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

struct web_request;
void refusal_api_list(struct web_request *req);
