// SPDX-License-Identifier: Apache-2.0
// Claims as the scheduler shows them, what a claim would be answered, and everything that is known about one. Claims
// are made at the scheduler only.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_claim_dry_run(struct web_request *req);
void desk_claim_get(struct web_request *req);
void desk_claim_get_by_biz(struct web_request *req);
void desk_claim_of_activity(struct web_request *req);
void desk_claim_trail(struct web_request *req);
