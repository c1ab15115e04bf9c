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
    [VERDICT_ACCEPTED] = {"ACCEPTED", "accepted", 201, NULL, 0, ""},
    [VERDICT_REPLAYED] = {"REPLAYED", "replayed", 200, NULL, 0, ""},
    [VERDICT_QUEUED] = {"QUEUED", "queued", 202, NULL, 0, ""},
    [VERDICT_BIZ_ID_REUSED] = {"BIZ_ID_REUSED", "biz_id_reused", 422, NULL, 0,
                               "this bizId was used for another request"},
    [VERDICT_ACTIVITY_NOT_FOUND] = {"ACTIVITY_NOT_FOUND", "activity_not_found", 404, NULL, 0,
                                    "there is no such activity"},
    [VERDICT_NOT_STARTED] = {"NOT_STARTED", "not_started", 409, "window", 0, "the activity has not started"},
    [VERDICT_PAUSED] = {"PAUSED", "paused", 409, "status", 0, "the activity is paused"},
    [VERDICT_ENDED] = {"ENDED", "ended", 410, "window", 0, "the activity has ended"},
    [VERDICT_LIMIT_REACHED] = {"LIMIT_REACHED", "limit_reached", 409, NULL, 0, "the limit for one user is reached"},
    [VERDICT_SOLD_OUT] = {"SOLD_OUT", "sold_out", 409, "stock", 0, "there is not enough left"},
    [VERDICT_ALREADY_REGISTERED] = {"ALREADY_REGISTERED", "already_registered", 409, "registration", 0,
                                    "this user is already registered"},
    [VERDICT_BLOCKED] = {"BLOCKED", "blocked", 403, "blocked", 0, "this user may not take part in this activity"},
    [VERDICT_CHANNEL_NOT_ALLOWED] = {"CHANNEL_NOT_ALLOWED", "channel_not_allowed", 403, "channel", 0,
                                     "the activity cannot be claimed through this channel"},
    [VERDICT_NOT_QUALIFIED] = {"NOT_QUALIFIED", "not_qualified", 403, "qualification", 0,
                               "this user is not qualified for the activity"},
    [VERDICT_QUALIFICATION_USED] = {"QUALIFICATION_USED", "qualification_used", 403, "qualification", 0,
                                    "this user's qualification has been used"},
    [VERDICT_NOT_ELIGIBLE] = {"NOT_ELIGIBLE", "not_eligible", 403, "eligibility", 0,
                              "this user does not meet the conditions of the activity"},
    [VERDICT_EXCLUSIVE_GROUP] = {"EXCLUSIVE_GROUP", "exclusive_group", 409, "exclusiveGroup", 0,
                                 "this user takes part in another activity that excludes this one"},
    [VERDICT_INSUFFICIENT_POINTS] = {"INSUFFICIENT_POINTS", "insufficient_points", 409, "points", 0,
                                     "there are not enough points"},
    [VERDICT_NUMBER_TAKEN] = {"NUMBER_TAKEN", "number_taken", 409, "numbers", 0,
                              "not all of these numbers are available"},
    [VERDICT_INVALID_REQUEST] = {"INVALID_REQUEST", "invalid_request", 400, NULL, 0,
                                 "numbers: required for activities of kind number, and only for them"},
    [VERDICT_RATE_LIMITED] = {"RATE_LIMITED", "rate_limited", 429, NULL, 1,
                              "too many requests; try again later with the same bizId"},
    [VERDICT_OVERLOADED] = {"OVERLOADED", "overloaded", 503, NULL, 1,
                            "too many requests are waiting; try again with the same bizId"},
    [VERDICT_UNAVAILABLE] = {"UNAVAILABLE", "unavailable", 503, NULL, 1,
                             "the answer is not known; try again with the same bizId"},
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
