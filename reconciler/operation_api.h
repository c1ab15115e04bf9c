// SPDX-License-Identifier: Apache-2.0
// POST /v1/dead-letters/retry|refund|resolve {ids | filter, reason?, proof?, as?, rate?, key?, dryRun?}, POST
// /v1/findings/repair|resolve {ids | filter, reason?, rate?, key?, dryRun?}, POST /v1/claims/{claimId}/roll-back
// {reason?, dryRun?}, POST /v1/operations/{id}/cancel {reason?}. What finishes at once is answered 200 with its items,
// else 202 with the place to ask. Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler operation_api_retry, operation_api_refund, operation_api_resolve, operation_api_repair,
    operation_api_explain, operation_api_roll_back, operation_api_cancel;
