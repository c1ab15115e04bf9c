// SPDX-License-Identifier: Apache-2.0
// The member rateLimit of an activity: {perUser?: {rate, burst}, total?: {rate, burst}}. Pure.
// Owner: nobody; any thread.
#pragma once

#include "common/result.h"
#include "scheduler/token.h"

struct rate_limit {
  struct token_terms per_user, total;  // rate 0: not limited
};
static inline bool rate_limit_is_set(const struct rate_limit *l)
{
  return l->per_user.rate_micro != 0 || l->total.rate_micro != 0;
}
// json: "" for none. RESULT_INVALID for what the database should not have let in.
MUST_CHECK enum result rate_limit_parse(const char *json, struct rate_limit *out);
