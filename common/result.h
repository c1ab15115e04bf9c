// SPDX-License-Identifier: Apache-2.0
// One result for every function that can fail, and the one way to leave such a function.
// A function that returns anything but RESULT_OK has left its out_ parameters untouched.
#pragma once

#include "common/compiler.h"

#define RESULT_LIST(X)                                                              \
  X(RESULT_OK, "ok")                                                                \
  X(RESULT_INVALID, "invalid input") /* malformed, out of range */                  \
  X(RESULT_TOO_BIG, "too big")       /* over a cap of limits.h */                   \
  X(RESULT_NOT_FOUND, "not found")                                                  \
  X(RESULT_CONFLICT, "conflict") /* exists, stale, wrong state */                   \
  X(RESULT_DENIED, "denied")     /* no right, bad signature */                      \
  X(RESULT_FULL, "full")         /* a bounded queue is full; try later */           \
  X(RESULT_TIMEOUT, "timed out")                                                    \
  X(RESULT_UNAVAILABLE, "unavailable")      /* the other side is away; try later */ \
  X(RESULT_IO, "input/output error")        /* errno tells more */                  \
  X(RESULT_UNEXPECTED, "unexpected answer") /* the other side broke the protocol */

enum result {
#define X(name, text) name,
  RESULT_LIST(X)
#undef X
};

// The fixed English text of a result. Never NULL.
const char *result_text(enum result r);

// Runs a call inside a function that has a variable `result` and a label `cleanup`.
#define TRY(call)                          \
  do {                                     \
    result = (call);                       \
    if (result != RESULT_OK) goto cleanup; \
  } while (0)
