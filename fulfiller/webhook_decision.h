// SPDX-License-Identifier: Apache-2.0
// What becomes of a webhook delivery after an attempt.
// Pure: no I/O, no clock; any thread.
#pragma once

#include "common/http_client.h"
#include "fulfiller/webhook_config.h"

#define WEBHOOK_OUTCOME_LIST(X)                                      \
  X(WEBHOOK_DONE, "done")                                            \
  X(WEBHOOK_RETRY, "retry")                                          \
  X(WEBHOOK_DEAD, "dead") /* the last attempt; it can be replayed */ \
  X(WEBHOOK_GONE, "gone") /* the endpoint wants to be told no more */

enum webhook_outcome {
#define X(name, text) name,
  WEBHOOK_OUTCOME_LIST(X)
#undef X
      WEBHOOK_OUTCOME_COUNT
};
const char *webhook_outcome_name(enum webhook_outcome o);

#define WEBHOOK_DETAIL_BYTES 257
struct webhook_decision {
  enum webhook_outcome outcome;
  int status;                         // 0: no answer
  char detail[WEBHOOK_DETAIL_BYTES];  // of what is no success
  struct span due;                    // until the next attempt
};
// tries: this attempt's number since the delivery was made or replayed, from 1; seed spreads the pauses.
void webhook_decide(const struct webhook_conf *conf, const struct http_answer *answer, int64_t tries,
                    struct wall_time now, uint64_t seed, struct webhook_decision *out_decision);
// The header webhook-id: event ids with a dot in them are not allowed there.
void webhook_id_of(const char *event_id, char *out, size_t size);
