// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims?dryRun=true: what a claim would be answered, rule by rule; nothing is written.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include <stdbool.h>

struct web_request;

// Reads dryRun and at. False: the request is answered (400), so that nobody who asks "what if" gets a claim.
bool explain_api_read(struct web_request *req, bool *out_is_dry_run);
void explain_api_run(struct web_request *req);
