// SPDX-License-Identifier: Apache-2.0
// /v1/users/{id}/attributes and progress: what eligibility knows of a user.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void user_api_attributes_put(struct web_request *req);
void user_api_attributes_get(struct web_request *req);
void user_api_progress_put(struct web_request *req);
void user_api_progress_get(struct web_request *req);
void user_api_progress_list(struct web_request *req);
