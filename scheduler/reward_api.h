// SPDX-License-Identifier: Apache-2.0
// /v1/rewards: what is delivered for a claim.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void reward_api_put(struct web_request *req);
void reward_api_list(struct web_request *req);
void reward_api_get(struct web_request *req);
