// SPDX-License-Identifier: Apache-2.0
// Claims of users and activities, points, attributes and progress, as the scheduler shows them.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_user_claims(struct web_request *req);
void desk_user_points(struct web_request *req);
void desk_user_attributes(struct web_request *req);
void desk_user_progress_list(struct web_request *req);
void desk_user_progress(struct web_request *req);
