// SPDX-License-Identifier: Apache-2.0
// What a provider can be asked to do. Each action has a request id of its own, so one claim can have several of them.
// Pure; any thread.
#pragma once

#include <stdbool.h>

// Name of the request, name of the inquiry about it, and what follows the claim's id in the request id.
#define PROVIDER_ACTION_LIST(X)                      \
  X(ACTION_DELIVER, "deliver", "inquire", "")        \
  X(ACTION_CHARGE, "charge", "inquire_charge", "-p") \
  X(ACTION_REFUND, "refund", "inquire_refund", "-f") \
  X(ACTION_REVERSE, "reverse", "inquire_reverse", "-r")

enum provider_action {
#define X(action, name, inquiry, suffix) action,
  PROVIDER_ACTION_LIST(X)
#undef X
      ACTION_COUNT
};

// The action itself, the question what became of it, or (of charges only) the request that ends an order nobody paid.
enum call_kind { CALL_ACT, CALL_INQUIRE, CALL_CLOSE };

// "reverse", "inquire_reverse", "close"
const char *action_request_name(enum provider_action action, enum call_kind kind);
const char *action_suffix(enum provider_action action);  // "-r"; "" for deliveries
// A step of a claim: the name of a request. False, and nothing is written: no such step. Closing is none: it follows an
// inquiry under the same lease.
bool action_of_step(const char *step, enum provider_action *out_action, enum call_kind *out_kind);
