// SPDX-License-Identifier: Apache-2.0
// One claim being worked on, from take to the end of its follow-up message. Its states are a closed table; job_enter is
// the only way between them. Owner: the loop thread.
#pragma once

#include <stdbool.h>

#include "common/clk.h"
#include "common/list.h"
#include "common/trace.h"
#include "fulfiller/decision.h"
#include "fulfiller/intake_codec.h"
#include "fulfiller/outcome.h"
#include "fulfiller/template.h"

struct lane;
struct parcel;

#define JOB_STATE_LIST(X)                                                                     \
  X(JOB_TAKEN, "taken", JOB_BIT(JOB_INQUIRING) | JOB_BIT(JOB_ACTING) | JOB_BIT(JOB_SETTLING)) \
  X(JOB_INQUIRING, "inquiring", JOB_BIT(JOB_ACTING) | JOB_BIT(JOB_SETTLING))                  \
  X(JOB_ACTING, "acting", JOB_BIT(JOB_SETTLING))                                              \
  X(JOB_SETTLING, "settling", JOB_BIT(JOB_FOLLOWING) | JOB_BIT(JOB_FINISHED))                 \
  X(JOB_FOLLOWING, "following", JOB_BIT(JOB_FINISHED))                                        \
  X(JOB_FINISHED, "finished", 0)

#define JOB_BIT(state) (1u << (state))
enum job_state {
#define X(state, name, allowed) state,
  JOB_STATE_LIST(X)
#undef X
};

// A call as it was made and judged; or why none could be made.
struct job_call {
  enum call_kind kind;
  struct wall_time started_at;
  struct mono_time called_at;
  struct render_moment moment;  // when it was written
  uint64_t span;                // its id in the claim's trace
  struct span duration;
  struct verdict verdict;
  char *request, *answer;  // as they are recorded; NULL: they are not
};

#define JOB_CAUSE_BYTES 48

struct job {
  struct list node;  // in the settler's queue
  enum job_state state;
  struct lane *lane;
  struct parcel *parcel;              // the message that named the claim
  struct claim_key key;               // attempt: of this lease
  struct claim_facts facts;           // texts point into `texts`
  char id[REQUEST_ID_BYTES];          // the claim's, as everybody knows it
  char request_id[REQUEST_ID_BYTES];  // of the action
  char trace[TRACE_ID_BYTES];
  enum provider_action action;
  int64_t tries;
  bool is_probe;                   // of a breaker that is half open
  bool must_inquire;               // an earlier attempt's outcome is unknown
  bool is_wanted;                  // the action may be made; false: only what became of it is of interest
  bool may_close;                  // it is a charge of a claim that has ended: an order that is not paid may be closed
  struct wall_time created_at;     // the claim
  struct wall_time pending_since;  // how long the provider has been saying so; the take, where it has not
  struct mono_time taken_at, lease_until;
  struct mono_time trust_at;  // a "not found" counts from here on
  struct job_call call;       // the last one under this lease, which decides
  struct job_call *earlier;   // an inquiry that came before it; NULL: none
  int call_number;            // of the last one, from 1
  bool has_acted;             // the action itself was sent under this lease
  const char *review;         // found before any call: the request cannot be made
  struct decision decision;
  bool goes_to_review, owes_reversal, owes_refund;  // the database says so
  char cause[JOB_CAUSE_BYTES];                      // of the review, where only the database knows it
  json_t *params;                                   // NULL unless the profile wants them
  char texts[];
};

const char *job_state_name(enum job_state state);
// What the last call was: the name of the request, as the database knows steps.
const char *job_step(const struct job *job);
// Makes place for the next call under this lease; what was said by the one before is kept.
void job_begin_call(struct job *job, enum call_kind kind);
void job_free(struct job *job);  // NULL is allowed
// Contract: the move is in the table.
void job_enter(struct job *job, enum job_state state);
