// SPDX-License-Identifier: Apache-2.0
// The header `traceparent` (W3C Trace Context) for a call that goes on with a known trace.
// Pure; any thread.
#pragma once

#include <stdint.h>

#define TRACE_ID_CHARS     32
#define TRACE_PARENT_BYTES 56

// "00-<trace>-<span>-01" with a span of its own per seed; "" where trace_id is not 32 lower-case hex digits, or only
// zeros.
void trace_parent_make(const char *trace_id, uint64_t seed, char out[TRACE_PARENT_BYTES]);
