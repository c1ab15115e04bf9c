// SPDX-License-Identifier: Apache-2.0
// Counting calls and failures in a sliding window of ten slots. Pure; any thread.
#include "fulfiller/breaker.h"

bool breaker_is_failure(const struct breaker_terms *terms, enum http_stage stage, int status)
{
  if (stage != HTTP_ANSWERED) return true;
  switch (terms->counts) {
    case BREAKER_COUNTS_5XX: return status >= 500 && status <= 599;
    case BREAKER_COUNTS_GATEWAY: return status >= 502 && status <= 504;
    case BREAKER_COUNTS_NO_ANSWER: break;
  }
  return false;
}

void breaker_clear(struct breaker *b) { *b = (struct breaker){0}; }

static int64_t tick_of(const struct breaker_terms *terms, struct mono_time now)
{
  int64_t slot_us = terms->window.us / BREAKER_SLOTS;
  return now.us / (slot_us > 0 ? slot_us : 1);
}

void breaker_note(struct breaker *b, const struct breaker_terms *terms, bool failed, struct mono_time now)
{
  int64_t tick = tick_of(terms, now);
  struct breaker_slot *slot = &b->slots[tick % BREAKER_SLOTS];
  if (slot->tick != tick) *slot = (struct breaker_slot){.tick = tick};
  slot->calls++;
  if (failed) slot->failures++;
}

struct breaker_count breaker_count(const struct breaker *b, const struct breaker_terms *terms, struct mono_time now)
{
  struct breaker_count count = {0};
  int64_t oldest = tick_of(terms, now) - BREAKER_SLOTS + 1;
  for (int i = 0; i < BREAKER_SLOTS; i++) {
    if (b->slots[i].tick < oldest) continue;
    count.calls += b->slots[i].calls;
    count.failures += b->slots[i].failures;
  }
  return count;
}

bool breaker_is_tripped(const struct breaker_terms *terms, struct breaker_count count)
{
  if (terms->failure_percent == 0 || count.calls < terms->min_calls) return false;
  return count.failures * 100 >= terms->failure_percent * count.calls;
}
