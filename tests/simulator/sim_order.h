// SPDX-License-Identifier: Apache-2.0
// Reading the body of POST /credits and /payments. Strict about types and sizes, lenient about further members, as
// providers are. Pure; any thread.
#pragma once

#include <jansson.h>

#include "tests/simulator/sim_ledger.h"

#define SIM_USER_DIGITS_BYTES 24

// A body taken apart. The texts of `order` point into json, idempotency_key or user_digits.
struct sim_order_body {
  struct sim_order order;
  json_t *json;  // owned
  char user_digits[SIM_USER_DIGITS_BYTES];
};

// idempotency_key: the header, or NULL. It stands for a missing requestId and must agree with a given one; quotes
// around it are part of its syntax. RESULT_INVALID and a provider's code in *out_code; nothing to release then.
MUST_CHECK enum result sim_order_read(const char *body, size_t len, const char *idempotency_key,
                                      struct sim_order_body *out_body, const char **out_code);
void sim_order_release(struct sim_order_body *body);
// [A-Za-z0-9._:-]{1,128}: what may stand in JSON, URLs and CSV without escaping.
bool sim_order_is_request_id(const char *bytes, size_t len);
