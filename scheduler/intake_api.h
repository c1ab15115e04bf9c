// SPDX-License-Identifier: Apache-2.0
// What became of a click: its claim, or where it stands in the queue, or why it was refused there.
// Owner: nobody; loop thread.
#pragma once

#include "common/web_call.h"

// Answers from a row of claim_get_by_biz.
void intake_api_show(struct web_call *call, const struct db_rows *rows);
