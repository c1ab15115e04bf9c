// SPDX-License-Identifier: Apache-2.0
// The statement about callbacks: arguments in, row out.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/callback_read.h"

// trace: the traceparent of the request.
void store_callback(struct db_request *req, const char *provider, const struct callback_event *e, const char *trace,
                    bool can_inquire);
struct callback_row {
  const char *verdict;
  int64_t letter_id;                           // 0: none
  const char *biz_id, *activity_code, *trace;  // "" without a claim
};
struct callback_row store_callback_row(const struct db_rows *rows);
