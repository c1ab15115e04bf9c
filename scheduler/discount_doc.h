// SPDX-License-Identifier: Apache-2.0
// Checks the shape of discount rules of event files (calls: discount_doc_fault in SQL, by the same words) and of orders
// to be discounted, wherever they come from (API, event file, command). Whether names exist, and what an order costs,
// is judged by SQL (discount_rule_put, discount_evaluate). Pure; any thread.
#pragma once

#include <jansson.h>

#include "common/jsonx.h"
#include "common/result.h"

// path_id: the id in the URL or of the key in an event file, which may then be left out of the body and must not
// differ; NULL: required in the body. *out_doc: a new object for discount_rule_put. RESULT_INVALID: out_fault names the
// path of the fault and the rule.
MUST_CHECK enum result discount_doc_check(const json_t *body, const char *path_id, json_t **out_doc,
                                          char out_fault[JSONX_WHY_BYTES]);

// {orderId, currency?, lines: [{lineId, amount}], coupons?: [claimId]}; path_id as above. *out_doc: a new object for
// discount_quote and discount_redeem.
MUST_CHECK enum result discount_order_check(const json_t *body, const char *path_id, json_t **out_doc,
                                            char out_fault[JSONX_WHY_BYTES]);
