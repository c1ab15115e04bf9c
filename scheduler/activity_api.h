// SPDX-License-Identifier: Apache-2.0
// /v1/activities: reading, putting, moving, history, stock. The scheduler's memory is told of every change.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void activity_api_list(struct web_request *req);
void activity_api_get(struct web_request *req);
void activity_api_put(struct web_request *req);
void activity_api_publish(struct web_request *req);
void activity_api_pause(struct web_request *req);
void activity_api_resume(struct web_request *req);
void activity_api_finish(struct web_request *req);
void activity_api_archive(struct web_request *req);
void activity_api_history(struct web_request *req);
void activity_api_adjust(struct web_request *req);
