// SPDX-License-Identifier: Apache-2.0
// What people do about their own claims: giving them up, and accepting the place that is kept for them.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void claim_action_api_cancel(struct web_request *req);
void claim_action_api_accept(struct web_request *req);
