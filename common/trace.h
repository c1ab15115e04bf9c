// SPDX-License-Identifier: Apache-2.0
// Trace context (W3C): "00-<32 hex: trace id>-<16 hex: span id>-<2 hex: flags>", and the bare trace id that is kept
// with a claim. Pure but for the source of random ids; a source belongs to one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_ID_DIGITS    32
#define TRACE_ID_BYTES     (TRACE_ID_DIGITS + 1)
#define TRACE_PARENT_BYTES 56
#define TRACE_PARENT_ID_AT 3  // where the trace id stands in a traceparent

// Ids must differ, not be secret.
struct trace_source {
  uint64_t state[2];
};
void trace_source_init(struct trace_source *source);  // seeded by the system
uint64_t trace_next(struct trace_source *source);     // a span id; never 0

bool trace_id_is_valid(const char *id, size_t len);  // 32 lower-case hex digits, not all zero
// A later version may go on with "-…".
bool trace_parent_is_valid(const char *traceparent);
void trace_parent_new(struct trace_source *source, char out[TRACE_PARENT_BYTES]);  // a trace of its own
// A traceparent for a call within a trace. trace_id is valid.
void trace_parent_of(const char *trace_id, uint64_t span, char out[TRACE_PARENT_BYTES]);
// The same for any text, with a span that follows from the seed; "" where the text is no trace id. Pure.
void trace_parent_make(const char *trace_id, uint64_t seed, char out[TRACE_PARENT_BYTES]);
