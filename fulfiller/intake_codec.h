// SPDX-License-Identifier: Apache-2.0
// The body of a lane's message: {"v":1,"claims":[{"id":"12-345","attempt":0,"trace":"…"}, …]}, read strictly and
// written.
// Pure; any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/limits.h"
#include "common/result.h"
#include "common/trace.h"

struct claim_key {
  int64_t activity_id, claim_id;
  int32_t attempt;             // attempts made when the message was written; the row must agree
  char trace[TRACE_ID_BYTES];  // that the claim goes on with; no part of the key. "": none
};

#define INTAKE_WHY_BYTES 200
// At most MESSAGE_CLAIMS_MAX keys into out_keys. RESULT_INVALID: out_why has one line.
MUST_CHECK enum result intake_decode(const char *body, size_t len, struct claim_key out_keys[MESSAGE_CLAIMS_MAX],
                                     size_t *out_count, char out_why[INTAKE_WHY_BYTES]);
void intake_encode(const struct claim_key *keys, size_t count, struct buf *out);
