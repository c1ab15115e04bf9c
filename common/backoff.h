// SPDX-License-Identifier: Apache-2.0
// Retry delays as a pure function of (policy, attempt, seed): capped, exponential, with jitter. No clock, no state.
#pragma once

#include <stdint.h>

#include "common/clk.h"

struct backoff_policy {
  struct span base;    // delay after the first failure
  struct span cap;     // no delay is longer
  int jitter_percent;  // 0..100: the delay is shortened by up to this share
};

// attempt counts from 0. The same arguments give the same delay; the seed spreads several callers.
struct span backoff_delay(const struct backoff_policy *policy, uint32_t attempt, uint64_t seed);
