// SPDX-License-Identifier: Apache-2.0
// How much of a provider's limits one fulfiller may use: its share of them, and a token bucket for the rate.
// Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/clk.h"
#include "common/result.h"

#define LIMIT_CONCURRENCY_MAX 4096

// Part `place` (from 0) of a whole number divided among `live`; the parts add up to the limit exactly, so some may be
// 0.
size_t limit_share(size_t limit, size_t live, size_t place);
// "0", "0.1", "2500": per second; 0 is unlimited, else from 0.01 to 1,000,000 with at most six decimals.
MUST_CHECK enum result limit_rate_parse(const char *text, double *out_rate);

struct bucket {
  double rate;   // tokens per second; 0: unlimited
  double burst;  // the most it holds, at least 1
  double tokens;
  struct mono_time at;  // when tokens was true
};
// Begins with a single token: who joins brings no burst of its own. rate 0 as above. burst 0: one more than a tenth of
// a second's worth.
void bucket_init(struct bucket *b, struct mono_time now);
void bucket_set(struct bucket *b, double rate, double burst, struct mono_time now);
// How many of `wanted` may be had now. Small change is saved up: less than 10 ms worth is 0 unless that is all wanted.
size_t bucket_available(struct bucket *b, size_t wanted, struct mono_time now);
// After how long bucket_available would give something.
struct span bucket_wait(const struct bucket *b, size_t wanted);
void bucket_spend(struct bucket *b, size_t count);
void bucket_give_back(struct bucket *b, size_t count);  // they were not needed after all
