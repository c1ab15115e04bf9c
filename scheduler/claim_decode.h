// SPDX-License-Identifier: Apache-2.0
// The body of a claim, read strictly. Pure.
// Owner: nobody; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/result.h"
#include "scheduler/claim_request.h"

#define CLAIM_WHY_BYTES 240
// RESULT_INVALID with one line for the caller in out_why. out is fresh (zeroed); its numbers are the caller's to free
// (mem_free).
MUST_CHECK enum result claim_decode(const char *body, size_t len, struct claim_request *out,
                                    char out_why[CLAIM_WHY_BYTES]);

// The two ways it is done. The quick one reads what nearly every claim looks like (one flat object of plain ASCII) and
// leaves everything else, faults too, to the other: false, and out is untouched.
bool claim_decode_quickly(const char *body, size_t len, struct claim_request *out);
MUST_CHECK enum result claim_decode_any(const char *body, size_t len, struct claim_request *out,
                                        char out_why[CLAIM_WHY_BYTES]);
