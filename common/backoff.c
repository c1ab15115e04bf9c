// SPDX-License-Identifier: Apache-2.0
// Retry delays: base doubled per attempt, capped, shortened by a share that the seed decides.
// Pure; any thread.
#include "common/backoff.h"

#include "common/contract.h"

// splitmix64 (public domain, S. Vigna): neighbouring inputs give unrelated outputs.
static uint64_t scatter(uint64_t x)
{
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

struct span backoff_delay(const struct backoff_policy *policy, uint32_t attempt, uint64_t seed)
{
  REQUIRE(policy->base.us >= 0 && policy->cap.us >= 0);
  REQUIRE(policy->jitter_percent >= 0 && policy->jitter_percent <= 100);
  int64_t delay = policy->base.us < policy->cap.us ? policy->base.us : policy->cap.us;
  for (uint32_t i = 0; i < attempt && delay > 0 && delay < policy->cap.us; i++) {
    delay = delay > policy->cap.us / 2 ? policy->cap.us : delay * 2;
  }
  // 32 bits of chance are plenty; the share is split so that the product of a long delay cannot overflow.
  uint64_t chance = scatter(seed ^ scatter(attempt)) >> 32;
  int64_t range = delay / 100 * policy->jitter_percent + delay % 100 * policy->jitter_percent / 100;
  int64_t cut = (int64_t)(((uint64_t)range >> 32) * chance + ((((uint64_t)range & 0xFFFFFFFFu) * chance) >> 32));
  return (struct span){delay - cut};
}
