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
  enum outcome
      outcome;  // OUTCOME_NOT_FOUND: an inquiry that could not be trusted yet, or had no time for a delivery behind it
  int64_t tries;            // since a person last retried it, this one included
  struct span age;          // since the claim was made
  struct span trust_left;   // a "not found" does not count for this long
  struct span retry_after;  // the provider asked for this much patience; 0: it did not
  bool is_repeat;           // the call repeated one whose outcome nobody could be asked about
  int status;               // of the answer; 0: none
  const char *review;       // a cause found elsewhere (the request cannot be made); NULL: none
};
struct decision {
  enum outcome outcome;  // never OUTCOME_NOT_FOUND
  const char *review;    // a literal; NULL: no person needed
  struct span due;       // the safety net publishes the claim after this
  struct span rung;      // the queue that brings it back earlier; 0: none, `due` does
};
struct decision decision_make(const struct provider *p, const struct attempt_facts *facts);
