// SPDX-License-Identifier: Apache-2.0
// Shares and tokens. Pure; any thread.
#include "fulfiller/limit.h"

#include <string.h>

#define SAVED_UP_S   0.01
#define BURST_S      0.1
#define RATE_MIN     0.01
#define RATE_MAX     1000000.0
#define DECIMALS_MAX 6
#define DIGITS_MAX   7

// A token more or less by rounding is none.
static const double rounding = 1e-6;

size_t limit_share(size_t limit, size_t live, size_t place)
{
  if (live <= 1) return limit;
  return limit / live + (place < limit % live ? 1 : 0);
}

enum result limit_rate_parse(const char *text, double *out_rate)
{
  static const char digits[] = "0123456789";
  size_t whole = strspn(text, digits), decimals = 0;
  double value = 0, unit = 1;
  for (size_t i = 0; i < whole; i++) value = value * 10 + (text[i] - '0');
  const char *rest = text + whole;
  if (*rest == '.') {
    decimals = strspn(++rest, digits);
    for (size_t i = 0; i < decimals; i++) value += (rest[i] - '0') * (unit /= 10);
    if (decimals == 0) return RESULT_INVALID;
  }
  if (rest[decimals] != '\0' || whole == 0 || whole > DIGITS_MAX || decimals > DECIMALS_MAX) return RESULT_INVALID;
  if (value > 0 && (value < RATE_MIN - rounding || value > RATE_MAX)) return RESULT_INVALID;
  *out_rate = value;
  return RESULT_OK;
}

void bucket_init(struct bucket *b, struct mono_time now) { *b = (struct bucket){.burst = 1, .tokens = 1, .at = now}; }

static void refill(struct bucket *b, struct mono_time now)
{
  double gained = span_to_seconds(mono_since(now, b->at)) * b->rate;
  b->at = now;
  if (gained > 0) b->tokens += gained;
  if (b->tokens > b->burst) b->tokens = b->burst;
}

void bucket_set(struct bucket *b, double rate, double burst, struct mono_time now)
{
  refill(b, now);
  b->rate = rate;
  b->burst = burst > 0 ? burst : 1 + rate * BURST_S;  // 1: being called a little late loses nothing
  if (b->burst < 1) b->burst = 1;
  if (b->tokens > b->burst) b->tokens = b->burst;
}

static double needed(const struct bucket *b, size_t wanted)
{
  double saved = b->rate * SAVED_UP_S;
  if (saved > b->burst) saved = b->burst;
  if (saved > (double)wanted) saved = (double)wanted;
  return saved < 1 ? 1 : saved;
}

size_t bucket_available(struct bucket *b, size_t wanted, struct mono_time now)
{
  refill(b, now);
  if (b->rate <= 0 || wanted == 0) return wanted;
  if (b->tokens + rounding < needed(b, wanted)) return 0;
  return b->tokens >= (double)wanted ? wanted : (size_t)(b->tokens + rounding);
}

struct span bucket_wait(const struct bucket *b, size_t wanted)
{
  double missing = needed(b, wanted) - b->tokens;
  if (b->rate <= 0 || missing <= 0) return span_us(0);
  return span_us((int64_t)(missing / b->rate * 1e6) + 1);
}

void bucket_spend(struct bucket *b, size_t count)
{
  if (b->rate > 0) b->tokens -= (double)count;
}

void bucket_give_back(struct bucket *b, size_t count)
{
  if (b->rate <= 0) return;
  b->tokens += (double)count;
  if (b->tokens > b->burst) b->tokens = b->burst;
}
