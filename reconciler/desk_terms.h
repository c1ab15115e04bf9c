// SPDX-License-Identifier: Apache-2.0
// /v1/rewards and /v1/discount-rules as the scheduler serves them.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_terms_rewards(struct web_request *req);
void desk_terms_reward(struct web_request *req);
void desk_terms_reward_put(struct web_request *req);
void desk_terms_rules(struct web_request *req);
void desk_terms_rule(struct web_request *req);
void desk_terms_rule_put(struct web_request *req);
