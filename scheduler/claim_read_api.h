// SPDX-License-Identifier: Apache-2.0
// Reading claims: by id, by the click that made them, by user, by activity.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void claim_read_api_by_id(struct web_request *req);
void claim_read_api_by_biz(struct web_request *req);
void claim_read_api_of_user(struct web_request *req);
void claim_read_api_of_activity(struct web_request *req);
