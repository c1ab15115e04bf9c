// SPDX-License-Identifier: Apache-2.0
// One claim being worked on, from take to the end of its follow-up message. Its states are a closed table; job_enter is
// the only way between them. Owner: the loop thread.
#pragma once

#include <stdbool.h>

#include "common/clk.h"
#include "common/list.h"
#include "fulfiller/decision.h"
#include "fulfiller/intake_codec.h"
#include "fulfiller/outcome.h"
#include "fulfiller/template.h"

struct lane;
struct parcel;

#define JOB_STATE_LIST(X)                                                                         \
  X(JOB_TAKEN, "taken", JOB_BIT(JOB_INQUIRING) | JOB_BIT(JOB_DELIVERING) | JOB_BIT(JOB_SETTLING)) \
  X(JOB_INQUIRING, "inquiring", JOB_BIT(JOB_DELIVERING) | JOB_BIT(JOB_SETTLING))                  \
  X(JOB_DELIVERING, "delivering", JOB_BIT(JOB_SETTLING))                                          \
  X(JOB_SETTLING, "settling", JOB_BIT(JOB_FOLLOWING) | JOB_BIT(JOB_FINISHED))                     \
  X(JOB_FOLLOWING, "following", JOB_BIT(JOB_FINISHED))                                            \
  X(JOB_FINISHED, "finished", 0)

#define JOB_BIT(state) (1u << (state))
enum job_state {
#define X(state, name, allowed) state,
  JOB_STATE_LIST(X)
#undef X
};

struct job {
  struct list node;  // in the settler's queue
  enum job_state state;
  struct lane *lane;
  struct parcel *parcel;     // the message that named the claim
  struct claim_key key;      // attempt: of this lease
  struct claim_facts facts;  // texts point into `texts`
  char request_id[REQUEST_ID_BYTES];
  int64_t tries;
  bool must_inquire;  // an earlier attempt's outcome is unknown
  struct wall_time created_at;
  struct mono_time taken_at, lease_until;
  struct mono_time trust_at;  // a "not found" counts from here on
  // The last call
  int calls;  // made under this lease
  bool has_called, has_delivered;
  struct wall_time started_at;
  struct mono_time called_at;
  struct span duration;
  struct verdict verdict;
  const char *review;  // found before any call: the request cannot be made
  struct decision decision;
  bool goes_to_review;  // the database says so
  json_t *params;       // NULL unless the profile wants them
  char texts[];
};

const char *job_state_name(enum job_state state);
// Contract: the move is in the table.
void job_enter(struct job *job, enum job_state state);
