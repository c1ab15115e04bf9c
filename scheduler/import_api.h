// SPDX-License-Identifier: Apache-2.0
// Lists in CSV over HTTP: numbers, qualifications, points; and numbers by range. A body is read in slices between other
// work, so that no claim waits for it, then goes to the database as one statement: all or nothing.
// Owner: each request belongs to its import until the reply; loop thread.
#pragma once

#include "common/web.h"

void import_api_numbers(struct web_request *req);
void import_api_qualifications(struct web_request *req);
void import_api_points(struct web_request *req);
