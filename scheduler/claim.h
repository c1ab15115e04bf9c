// SPDX-License-Identifier: Apache-2.0
// What memory may say about a claim before the database is asked. Pure: facts in, decision out.
// Owner: nobody; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"

enum activity_status {
  ACTIVITY_DRAFT,
  ACTIVITY_PUBLISHED,
  ACTIVITY_ONGOING,
  ACTIVITY_PAUSED,
  ACTIVITY_FINISHED,
  ACTIVITY_ARCHIVED,
  ACTIVITY_UNKNOWN
};

struct activity_facts {
  enum activity_status status;
  struct wall_time start, end;
  bool is_limited;  // stock has a number
  int64_t remaining;
  bool asks_when_out;  // without stock left a claim may still wait for it, or be refused for another reason that is
                       // said first
};

// Where the database's clock is: ours plus difference, give or take uncertainty.
struct clock_view {
  struct span difference, uncertainty;
  bool is_known;
};

// How a claim ends. The names are the codes of the API, apart from the first two.
enum verdict {
#define VERDICT(code, outcome, status, rule, retry_after_s, detail) VERDICT_##code,
#include "sql/verdicts.def"
#undef VERDICT
  VERDICT_COUNT
};

struct claim_decision {
  bool ask;              // the database judges it; else it is refused unless the look-up knows it
  enum verdict refusal;  // when !ask
};

// now: this host's clock. margin: on top of the measured uncertainty. Without a known clock memory never refuses on
// time.
struct claim_decision claim_decide(const struct activity_facts *facts, const struct clock_view *clock,
                                   struct wall_time now, struct span margin, int64_t quantity);
// The same at an instant of the database itself.
struct claim_decision claim_decide_at(const struct activity_facts *facts, struct wall_time at, int64_t quantity);

// A status as the database spells it; ACTIVITY_UNKNOWN for any other text.
enum activity_status activity_status_of(const char *text);
// A verdict as the database spells it; VERDICT_COUNT for any other text.
enum verdict verdict_of(const char *text);

// What a verdict is to the caller.
struct verdict_info {
  const char *code;     // "SOLD_OUT"
  const char *outcome;  // label of metrics and logs: "sold_out"
  int http_status;
  const char *rule;    // NULL: none
  int retry_after_s;   // 0: trying again does not help by itself
  const char *detail;  // its Chinese text stands in messages.def
};
const struct verdict_info *verdict_info(enum verdict v);

// Narrows what is known of the database's clock by one exchange. The tightest recent knowledge wins; a contradiction
// replaces it.
struct clock_view clock_view_update(const struct clock_view *old, struct wall_time sent, struct wall_time database,
                                    struct wall_time received);
