// SPDX-License-Identifier: Apache-2.0
// /v1/activities/{code}/numbers, qualifications, blocked-users as the scheduler serves them.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_audience_numbers(struct web_request *req);
void desk_audience_qualifications(struct web_request *req);
void desk_audience_blocked(struct web_request *req);
void desk_audience_block(struct web_request *req);
void desk_audience_unblock(struct web_request *req);
