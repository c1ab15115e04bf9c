// SPDX-License-Identifier: Apache-2.0
// What becomes of a claim after an attempt: the outcome that is recorded, when it is due again, on which rung, or why a
// person must look. Pure; any thread.
#pragma once

#include <stdbool.h>

#include "common/clk.h"
#include "fulfiller/outcome.h"
#include "fulfiller/provider.h"

struct attempt_facts {
  enum provider_action action;
  enum call_kind kind;  // of the call that decides
  // OUTCOME_NOT_FOUND: an inquiry that could not be trusted yet, or had no time for the action behind it; or a reversal
  // or refund for which there is nothing to take back: those are made only when no delivery can be running any more.
  enum outcome outcome;
  int64_t tries;            // since a person last retried it, this one included
  struct span age;          // since the provider first said "pending"; about 0 where it had not
  struct span trust_left;   // a "not found" does not count for this long
  struct span retry_after;  // the provider asked for this much patience; 0: it did not
  bool is_again;            // a call before this one, under the same request id, may have taken effect
  bool is_repeat;           // and nobody could be asked about it
  bool is_unwanted;         // the action is not made any more: nobody wants what it pays for
  bool is_closable;         // nor has it been: the order can be closed, which tells as much as asking
  int status;               // of the answer; 0: none
  const char *review;       // a cause found elsewhere (the request cannot be made); NULL: none
};
struct decision {
  // OUTCOME_NOT_FOUND: of a reversal or refund that found nothing to take back, for certain; or an action that was
  // never made, and is not wanted any more.
  enum outcome outcome;
  const char *review;  // lives as long as the job; NULL: no person needed
  struct span due;     // the safety net publishes the claim after this
  struct span rung;    // the queue that brings it back earlier; 0: none, `due` does
};
struct decision decision_make(const struct provider *p, const struct attempt_facts *facts);
// An answer with which the provider itself says that it is not working on the call any more: 500, 501. Behind other
// faults (502 to 504, and what proxies made up themselves, such as 520 to 530) it may still be.
bool decision_has_call_ended(int status);
// The cause for a person to look when a provider has no request for this action.
const char *decision_not_possible(enum provider_action action);
