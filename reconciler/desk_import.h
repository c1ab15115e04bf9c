// SPDX-License-Identifier: Apache-2.0
// Numbers and qualifications in CSV, numbers by range, as the scheduler takes them.
// Owner: each request belongs to its import until the reply; loop thread.
#pragma once

#include "common/web.h"

void desk_import_numbers(struct web_request *req);
void desk_import_qualifications(struct web_request *req);
void desk_import_points(struct web_request *req);
