// SPDX-License-Identifier: Apache-2.0
// A crowd of clients beside a test: bench/load at a steady rate, repeating every unanswered click with the same bizId
// and writing down what it was told; and the comparison of that with the database, the provider and the audit. What
// goes wrong outside the thing under test ends the program.
#pragma once

#include <stdint.h>

#include "tests/support/stack.h"

struct crowd;

// Clicks per second at all schedulers of the stack, for an activity with one claim per user. The same seed makes the
// same clicks.
struct crowd *crowd_start(struct stack *s, const char *activity, int rate, uint64_t seed);
// No more clicks; returns when each one has its answer. Ends the program if one stays without.
void crowd_end(struct crowd *c);
// What does not agree, at most 20 lines each; "" if everything does: the clients' record and the claims, the claims and
// the provider (one effect each, all succeeded), the remaining stock, and the findings of `reconciler audit --all`. To
// be called when nothing is open any more. Heap.
char *crowd_faults(struct crowd *c, int64_t stock);
int64_t crowd_accepted(struct crowd *c);  // after crowd_faults: claims that clients were told of
// Kills what still sends; NULL is allowed. Belongs into the tear-down of each case, so that no clicks of a failed one
// go on beside the next.
void crowd_free(struct crowd *c);
