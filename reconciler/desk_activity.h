// SPDX-License-Identifier: Apache-2.0
// /v1/activities as the scheduler serves it: the same functions of the database, so that people need one origin only.
// The schedulers hear of a change by looking for changed activities.
// Owner: each request belongs to its handler until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_activity_list(struct web_request *req);
void desk_activity_get(struct web_request *req);
void desk_activity_put(struct web_request *req);
void desk_activity_publish(struct web_request *req);
void desk_activity_pause(struct web_request *req);
void desk_activity_resume(struct web_request *req);
void desk_activity_finish(struct web_request *req);
void desk_activity_archive(struct web_request *req);
// Reads what the first claims will need, and says what there is; connections and memory of the schedulers are their
// own.
void desk_activity_warm_up(struct web_request *req);
void desk_activity_history(struct web_request *req);
void desk_activity_refusals(struct web_request *req);
void desk_activity_adjust(struct web_request *req);
