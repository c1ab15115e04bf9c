// SPDX-License-Identifier: Apache-2.0
// /v1/discount-rules, /v1/discounts/quote and /v1/orders/{orderId}/redemption.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void discount_api_rules(struct web_request *req);
void discount_api_rule_get(struct web_request *req);
void discount_api_rule_put(struct web_request *req);
void discount_api_quote(struct web_request *req);  // ?at=T: what it would cost then
void discount_api_redemption_get(struct web_request *req);
void discount_api_redeem(struct web_request *req);
void discount_api_release(struct web_request *req);
