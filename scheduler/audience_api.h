// SPDX-License-Identifier: Apache-2.0
// /v1/activities/{code}/numbers, qualifications, blocked-users: what there is to have, who may claim and who may not.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void audience_api_numbers(struct web_request *req);
void audience_api_qualifications(struct web_request *req);
void audience_api_blocked(struct web_request *req);
void audience_api_block(struct web_request *req);
void audience_api_unblock(struct web_request *req);
