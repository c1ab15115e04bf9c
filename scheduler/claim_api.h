// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims: from the body to a struct claim_request, and from a verdict to the answer.
// Owner: the batcher holds a request from claim_batcher_add to claim_api_answer.
#pragma once

struct web_request;

void claim_api_create(struct web_request *req);
