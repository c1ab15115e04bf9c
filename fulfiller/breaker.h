// SPDX-License-Identifier: Apache-2.0
// Whether a provider is sick: failures among the calls of the last moments. What follows is decided in the database,
// for all fulfillers. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/http_client.h"

// Which answers count as failures, besides having none.
enum breaker_counts { BREAKER_COUNTS_5XX, BREAKER_COUNTS_GATEWAY /* 502, 503, 504 */, BREAKER_COUNTS_NO_ANSWER };

struct breaker_terms {
  struct span window;
  int64_t min_calls;        // fewer prove nothing
  int64_t failure_percent;  // from so many on it is sick; 0: never
  struct span open_for, open_max;
  enum breaker_counts counts;
};

#define BREAKER_SLOTS 10
struct breaker {
  struct breaker_slot {
    int64_t tick;  // which tenth of a window, since the clock began
    int64_t calls, failures;
  } slots[BREAKER_SLOTS];
};
struct breaker_count {
  int64_t calls, failures;
};

// Never sent, no answer, or a fault of the provider's own as far as the terms count it. A refusal or "too many" is an
// answer of somebody who is well.
bool breaker_is_failure(const struct breaker_terms *terms, enum http_stage stage, int status);
void breaker_clear(struct breaker *b);
void breaker_note(struct breaker *b, const struct breaker_terms *terms, bool failed, struct mono_time now);
struct breaker_count breaker_count(const struct breaker *b, const struct breaker_terms *terms, struct mono_time now);
bool breaker_is_tripped(const struct breaker_terms *terms, struct breaker_count count);
