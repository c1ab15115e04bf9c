// SPDX-License-Identifier: Apache-2.0
// A claim on its way through the scheduler, and how it ended.
// Owner: the batcher from claim_batcher_add until the answer.
#pragma once

#include <stdint.h>
#include <string.h>

#include "common/limits.h"
#include "common/list.h"
#include "scheduler/activity_cache.h"
#include "scheduler/claim.h"

#define CLAIM_NUMBERS_MAX 100

struct web_request;

// Which token bucket had no token for a request.
enum claim_limit { CLAIM_NOT_LIMITED, CLAIM_LIMITED_USER, CLAIM_LIMITED_ACTIVITY, CLAIM_LIMITED_OVERALL };
#define CLAIM_LIMIT_COUNT 4

struct claim_mark {
  bool has_token;
  enum claim_limit limited_by;
  int retry_after_s;  // when limited
};

struct claim_request {
  struct list node;  // in a lane's waiting line
  struct web_request *web;
  struct activity *activity;  // NULL while its code is looked for
  uint64_t seq;               // order of arrival
  int64_t user_id;
  int32_t quantity;
  struct claim_mark mark;  // of admission
  bool has_channel;
  uint8_t biz_id_len;
  uint16_t channel_len;
  uint16_t number_count;
  int64_t *numbers;  // distinct, ascending; the request's own; NULL without numbers
  char biz_id[BIZ_ID_BYTES_MAX + 1];
  char channel[CHANNEL_CHARS_MAX * 4 + 1];
  struct activity_search search;  // search.code: the activity's code as the client gave it
};

struct claim_answer {
  enum verdict verdict;
  bool has_claim;  // claim_id is set
  int64_t claim_id;
  const char *status;             // of the claim; "" without one
  struct wall_time at;            // the instant of the judgement
  struct wall_time next_attempt;  // ACCEPTED: when the sweeper would look
  const char *detail;  // the claim (REPLAYED, and ACCEPTED where a plain claim cannot be told from the request), or
                       // what explains a refusal, JSON; "" if none
  size_t detail_len;
};

// Nothing was judged for this request: the click was known already.
static inline bool claim_was_known(const struct claim_answer *a)
{
  return a->verdict == VERDICT_REPLAYED || a->verdict == VERDICT_BIZ_ID_REUSED || strcmp(a->status, "known") == 0;
}

struct claim_accepted {
  int64_t claim_id;
  bool is_held;             // its payment is due, not its delivery
  const char *traceparent;  // valid
};

// What the batcher tells the rest of the scheduler.
struct claim_hooks {
  void *ctx;
  // After the commit, before the answers: claims of one activity that wait to be delivered or paid; at least one.
  void (*on_accepted)(void *ctx, const struct activity *a, const struct claim_accepted *claims, size_t count);
  // Whether a request may be judged now. False: it is refused RATE_LIMITED unless the look-up knows it. NULL: always.
  bool (*admit)(void *ctx, struct claim_request *r);
  // Exactly once per request; r is gone afterwards.
  void (*on_answer)(void *ctx, const struct claim_request *r, const struct claim_answer *answer);
};
