// SPDX-License-Identifier: Apache-2.0
// /v1/users/{id}/points: a user's account, its ledger, and grants.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void points_api_grant(struct web_request *req);
void points_api_show(struct web_request *req);
