// SPDX-License-Identifier: Apache-2.0
// The provider at its worst: each user's orders have a fate, which follows from a seed and the user id alone, so that
// the same seed treats the same users alike, whatever the order of arrival and whatever request ids they get. A fate
// says what the first calls meet; most heal then. Each has one right final state of the claim behind it. Pure: no I/O,
// no clock; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/jsonx.h"
#include "common/result.h"
#include "tests/simulator/sim_script.h"

// What the claim must have come to. REVERSED: it failed, was paid all the same, and the provider took it back.
#define SIM_END_LIST(X)             \
  X(SIM_END_SUCCEEDED, "succeeded") \
  X(SIM_END_FAILED, "failed")       \
  X(SIM_END_REVERSED, "reversed")   \
  X(SIM_END_REVIEW, "review")

enum sim_end {
#define X(name, text) name,
  SIM_END_LIST(X)
#undef X
};
const char *sim_end_name(enum sim_end end);

// name in the mix, the end, the weight without a mix. "N times" is once or twice, by the user.
#define SIM_FATE_LIST(X)                                                                                               \
  X(SIM_FATE_PLAIN, "plain", SIM_END_SUCCEEDED, 4)                       /* nothing happens to it */                   \
  X(SIM_FATE_LOST_ANSWER, "lostAnswer", SIM_END_SUCCEEDED, 2)            /* effect, then the connection closes */      \
  X(SIM_FATE_LOST_REQUEST, "lostRequest", SIM_END_SUCCEEDED, 2)          /* it closes N times without effect */        \
  X(SIM_FATE_SLOW_PAID, "slowPaid", SIM_END_SUCCEEDED, 2)                /* effect at once, the answer too late */     \
  X(SIM_FATE_SLOW_PAYING, "slowPaying", SIM_END_SUCCEEDED, 2)            /* the effect when nobody listens any more */ \
  X(SIM_FATE_SLOW_UNPAID, "slowUnpaid", SIM_END_SUCCEEDED, 2)            /* no effect, the answer too late */          \
  X(SIM_FATE_ERROR, "error", SIM_END_SUCCEEDED, 2)                       /* 500 N times without effect */              \
  X(SIM_FATE_ERROR_PAID, "errorPaid", SIM_END_SUCCEEDED, 2)              /* 500 after the effect */                    \
  X(SIM_FATE_UNAVAILABLE, "unavailable", SIM_END_SUCCEEDED, 2)           /* 502, 503 or 504 N times without effect */  \
  X(SIM_FATE_GATEWAY, "gateway", SIM_END_SUCCEEDED, 2)                   /* 502, and the effect behind it */           \
  X(SIM_FATE_RATE_SECONDS, "rateSeconds", SIM_END_SUCCEEDED, 1)          /* 429, Retry-After in seconds */             \
  X(SIM_FATE_RATE_DATE, "rateDate", SIM_END_SUCCEEDED, 1)                /* … as an HTTP date */                     \
  X(SIM_FATE_RATE_PAST, "ratePast", SIM_END_SUCCEEDED, 1)                /* … a date that is over */                 \
  X(SIM_FATE_RATE_NONSENSE, "rateNonsense", SIM_END_SUCCEEDED, 1)        /* … "soon" */                              \
  X(SIM_FATE_RATE_HUGE, "rateHuge", SIM_END_SUCCEEDED, 1)                /* … 99999999 */                            \
  X(SIM_FATE_WRONG_JSON, "wrongJson", SIM_END_SUCCEEDED, 1)              /* 200 and a page, after the effect */        \
  X(SIM_FATE_WRONG_JSON_UNPAID, "wrongJsonUnpaid", SIM_END_SUCCEEDED, 1) /* … without effect, N times */             \
  X(SIM_FATE_TWO_TRUTHS, "twoTruths", SIM_END_SUCCEEDED, 1)              /* 200, a key twice, after the effect */      \
  X(SIM_FATE_TWO_TRUTHS_UNPAID, "twoTruthsUnpaid", SIM_END_SUCCEEDED, 1) /* … without effect, N times */             \
  X(SIM_FATE_ERROR_INSIDE, "errorInside", SIM_END_FAILED, 1)             /* 200 {"status":"FAILED"} for ever */        \
  X(SIM_FATE_BUSY_INSIDE, "busyInside", SIM_END_SUCCEEDED, 1)            /* 200 {"status":"ERROR"} N times */          \
  X(SIM_FATE_REFUSED, "refused", SIM_END_FAILED, 2)                      /* a 4xx for ever */                          \
  X(SIM_FATE_REFUSED_LATER, "refusedLater", SIM_END_FAILED, 1)           /* 500 without effect, then the same */       \
  X(SIM_FATE_NEVER, "never", SIM_END_REVIEW, 1)                          /* 500, 503 or closed for ever */             \
  X(SIM_FATE_PENDING, "pending", SIM_END_SUCCEEDED, 1)                   /* 202, the callback soon */                  \
  X(SIM_FATE_PENDING_EARLY, "pendingEarly", SIM_END_SUCCEEDED, 1)        /* the callback before the 202 */             \
  X(SIM_FATE_PENDING_LATE, "pendingLate", SIM_END_SUCCEEDED, 1)          /* the callback late */                       \
  X(SIM_FATE_PENDING_DOUBLE, "pendingDouble", SIM_END_SUCCEEDED, 1)      /* the callback three times */                \
  X(SIM_FATE_PENDING_MUTE, "pendingMute", SIM_END_SUCCEEDED, 1)          /* paid behind the 202, no callback */        \
  X(SIM_FATE_PENDING_FAILED, "pendingFailed", SIM_END_FAILED, 1)         /* the callback says FAILED */                \
  X(SIM_FATE_FORGED_FAILURE, "forgedFailure", SIM_END_SUCCEEDED, 1)      /* badly signed and unsigned FAILED; paid */  \
  X(SIM_FATE_FORGED_SUCCESS, "forgedSuccess", SIM_END_FAILED, 1)         /* badly signed SUCCESS; late FAILED */       \
  X(SIM_FATE_TAKEN_BACK, "takenBack", SIM_END_SUCCEEDED, 1)              /* SUCCESS, later a FAILED that is none */    \
  X(SIM_FATE_PAID_AFTER_ALL, "paidAfterAll", SIM_END_REVERSED, 1)        /* FAILED, late SUCCESS: owes a reversal */

enum sim_fate {
#define X(name, text, end, weight) name,
  SIM_FATE_LIST(X)
#undef X
      SIM_FATES
};
const char *sim_fate_name(enum sim_fate fate);
enum sim_end sim_fate_end(enum sim_fate fate);

struct sim_chaos {
  bool on;
  uint64_t seed;
  uint32_t weights[SIM_FATES];
  uint64_t total;                // of the weights
  struct span slow, soon, late;  // an answer nobody waits for; callbacks
};

#define SIM_NEWS_MAX          3
#define SIM_RETRY_AFTER_BYTES 40
// What one call meets. The texts of step are constants or retry_after: never released.
struct sim_act {
  struct sim_step step;
  struct sim_step_callback news[SIM_NEWS_MAX];
  bool is_forged[SIM_NEWS_MAX];  // such news is nobody's: no money moves with it
  size_t news_count;
  char retry_after[SIM_RETRY_AFTER_BYTES];
};

// From {seed, mix?: {fate: weight}, slowMs?, callbackMs?, lateMs?}. RESULT_INVALID with one line in out_why.
MUST_CHECK enum result sim_chaos_parse(const json_t *object, struct sim_chaos *out_chaos,
                                       char out_why[JSONX_WHY_BYTES]);
enum sim_fate sim_chaos_fate(const struct sim_chaos *c, const char *user_id);
// What the nth POST of a credit (of a reversal) meets; false: an ordinary answer. now is for dates.
bool sim_chaos_credit(const struct sim_chaos *c, const char *user_id, uint32_t nth, struct wall_time now,
                      struct sim_act *out_act);
bool sim_chaos_reversal(const struct sim_chaos *c, const char *user_id, uint32_t nth, struct sim_act *out_act);
