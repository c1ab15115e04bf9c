// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims: from the body to a struct claim_request.
// Owner: the batcher holds a request from here to claim_reply.
#pragma once

#include "common/result.h"
#include "scheduler/claim_request.h"

struct web_request;

void claim_api_create(struct web_request *req);

// Pure: body to request. RESULT_INVALID with one line for the caller in out_why.
#define CLAIM_WHY_BYTES 240
MUST_CHECK enum result claim_api_decode(const char *body, size_t len, struct claim_request *out,
                                        char out_why[CLAIM_WHY_BYTES]);
