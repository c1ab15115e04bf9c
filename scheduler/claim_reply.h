// SPDX-License-Identifier: Apache-2.0
// How a claim ended, told to the caller, the log and the metrics.
// Owner: app; loop thread.
#pragma once

#include "scheduler/claim_request.h"

struct app;
// on_answer of struct claim_hooks; ctx is the struct app.
void claim_reply(void *ctx, const struct claim_request *r, const struct claim_answer *a);
