// SPDX-License-Identifier: Apache-2.0
// The id of a claim as people see it: <activityId>-<n>.
// Pure; any thread.
#pragma once

#include <stdint.h>

#include "common/result.h"

struct claim_id {
  int64_t activity_id, number;
};

// RESULT_NOT_FOUND: a number that may be an id of something, but of no claim; RESULT_INVALID: no id at all.
MUST_CHECK enum result claim_id_parse(const char *text, struct claim_id *out_id);
