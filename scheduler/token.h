// SPDX-License-Identifier: Apache-2.0
// Token buckets in whole numbers, and a bounded table of one bucket per user and activity. Pure: the caller says what
// time it is. Owner: the caller; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/list.h"

#define TOKEN_RATE_MAX  1000000  // per second
#define TOKEN_BURST_MAX 1000000

struct token_terms {
  int64_t rate_micro;  // tokens per second, in millionths; 0: no limit
  int64_t burst;       // whole tokens that it holds at most, at least 1
};
// The part of one of `live` schedulers that share a limit; never so small that nothing could ever pass.
struct token_terms token_share(struct token_terms whole, int64_t live);

struct token_bucket {
  int64_t micro;        // tokens in millionths, as of at
  struct mono_time at;  // 0: never used, so full
};
// How long until there is a token; 0: there is one. Brings the bucket up to date.
struct span token_wait(struct token_bucket *b, const struct token_terms *t, struct mono_time now);
void token_spend(struct token_bucket *b, const struct token_terms *t);      // after token_wait said 0
void token_give_back(struct token_bucket *b, const struct token_terms *t);  // it was not needed after all
int64_t token_left(const struct token_bucket *b);                           // whole tokens, as of the last token_wait
// Seconds in which an empty bucket fills, rounded up: the window of a RateLimit-Policy.
int64_t token_window_s(const struct token_terms *t);

// Buckets by (activity, user). Of more than max the one that was not used for longest is forgotten: it has refilled
// most.
struct token_table;
struct token_table *token_table_new(size_t max);
void token_table_free(struct token_table *t);
// The user's bucket, made full where there is none yet; valid until the next call. Never NULL.
struct token_bucket *token_table_get(struct token_table *t, int64_t activity_id, int64_t user_id);
size_t token_table_count(const struct token_table *t);
