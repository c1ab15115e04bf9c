// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims: from the body to a struct claim_request.
// Owner: the batcher holds a request from here to claim_reply.
#pragma once

struct web_request;

void claim_api_create(struct web_request *req);
