// SPDX-License-Identifier: Apache-2.0
// The header `traceparent` (W3C Trace Context) for a call that goes on with a known trace.
// Pure; any thread.
#include "common/trace_parent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// splitmix64: neighbouring seeds give unrelated numbers.
static uint64_t mix(uint64_t n)
{
  n += UINT64_C(0x9e3779b97f4a7c15);
  n = (n ^ (n >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  n = (n ^ (n >> 27)) * UINT64_C(0x94d049bb133111eb);
  return n ^ (n >> 31);
}

void trace_parent_make(const char *trace_id, uint64_t seed, char out[TRACE_PARENT_BYTES])
{
  uint64_t span = mix(seed);
  out[0] = '\0';
  if (strlen(trace_id) != TRACE_ID_CHARS || strspn(trace_id, "0123456789abcdef") != TRACE_ID_CHARS) return;
  if (strspn(trace_id, "0") == TRACE_ID_CHARS) return;
  (void)snprintf(out, TRACE_PARENT_BYTES, "00-%.32s-%016" PRIx64 "-01", trace_id, span != 0 ? span : 1);
}
