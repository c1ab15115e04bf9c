// SPDX-License-Identifier: Apache-2.0
// What memory may say about a claim before the database is asked. Pure: no clock, no I/O; facts in, decision out.
// Owner: nobody; any thread.
#include "scheduler/claim.h"

#include <string.h>

#include "common/compiler.h"
#include "common/contract.h"

// Clocks drift apart by some 50 ppm: knowledge of the difference gets this much worse with each exchange a fraction of
// a second apart.
#define DRIFT_PER_SAMPLE_US 50

static struct claim_decision ask(void) { return (struct claim_decision){.ask = true, .refusal = VERDICT_ACCEPTED}; }
static struct claim_decision refuse(enum verdict v) { return (struct claim_decision){.ask = false, .refusal = v}; }

// Judged as the database does it (activity_open_state), with the present known to lie within [earliest, latest].
static struct claim_decision decide(const struct activity_facts *f, int64_t earliest_us, int64_t latest_us,
                                    int64_t quantity)
{
  switch (f->status) {
    case ACTIVITY_DRAFT: return refuse(VERDICT_ACTIVITY_NOT_FOUND);
    case ACTIVITY_FINISHED:
    case ACTIVITY_ARCHIVED: return refuse(VERDICT_ENDED);
    case ACTIVITY_UNKNOWN: return ask();
    case ACTIVITY_PUBLISHED:
    case ACTIVITY_ONGOING:
    case ACTIVITY_PAUSED: break;
  }
  if (earliest_us >= f->end.us) return refuse(VERDICT_ENDED);
  if (f->status == ACTIVITY_PAUSED) return refuse(VERDICT_PAUSED);
  if (latest_us < f->start.us) return refuse(VERDICT_NOT_STARTED);
  if (f->is_limited && f->remaining < quantity && !f->asks_when_out) return refuse(VERDICT_SOLD_OUT);
  return ask();
}

struct claim_decision claim_decide(const struct activity_facts *facts, const struct clock_view *clock,
                                   struct wall_time now, struct span margin, int64_t quantity)
{
  if (!clock->is_known) return decide(facts, INT64_MIN, INT64_MAX, quantity);
  int64_t there = now.us + clock->difference.us;
  int64_t doubt = clock->uncertainty.us + margin.us;
  return decide(facts, there - doubt, there + doubt, quantity);
}

struct claim_decision claim_decide_at(const struct activity_facts *facts, struct wall_time at, int64_t quantity)
{
  return decide(facts, at.us, at.us, quantity);
}

enum activity_status activity_status_of(const char *text)
{
  static const char *const names[] = {"draft", "published", "ongoing", "paused", "finished", "archived"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (strcmp(text, names[i]) == 0) return (enum activity_status)i;
  return ACTIVITY_UNKNOWN;
}

static const struct verdict_info infos[VERDICT_COUNT] = {
#define VERDICT(code, outcome, status, rule, retry_after_s, detail) \
  [VERDICT_##code] = {#code, outcome, status, rule, retry_after_s, detail},
#include "sql/verdicts.def"
#undef VERDICT
};

const struct verdict_info *verdict_info(enum verdict v)
{
  REQUIRE(v < VERDICT_COUNT);
  return &infos[v];
}

enum verdict verdict_of(const char *text)
{
  for (size_t i = 0; i < VERDICT_RATE_LIMITED; i++)
    if (strcmp(text, infos[i].code) == 0) return (enum verdict)i;
  return strcmp(text, "QUEUE_FULL") == 0 ? VERDICT_OVERLOADED : VERDICT_COUNT;
}

struct clock_view clock_view_update(const struct clock_view *old, struct wall_time sent, struct wall_time database,
                                    struct wall_time received)
{
  // The database read its clock somewhere between sent and received of ours.
  int64_t low = database.us - received.us, high = database.us - sent.us;
  if (high < low) high = low;  // our own clock was set back meanwhile
  struct clock_view fresh = {{low + (high - low) / 2}, {(high - low + 1) / 2}, true};
  if (!old->is_known) return fresh;
  struct clock_view aged = {old->difference, {old->uncertainty.us + DRIFT_PER_SAMPLE_US}, true};
  bool contradicts = aged.difference.us + aged.uncertainty.us < low || aged.difference.us - aged.uncertainty.us > high;
  return contradicts || fresh.uncertainty.us <= aged.uncertainty.us ? fresh : aged;
}
