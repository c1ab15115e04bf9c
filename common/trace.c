// SPDX-License-Identifier: Apache-2.0
// Reading and writing trace context. Any thread; a source belongs to one.
#include "common/trace.h"

#include <string.h>
#include <sys/random.h>

#include "common/clk.h"

void trace_source_init(struct trace_source *source)
{
  if (getrandom(source->state, sizeof source->state, 0) != (ssize_t)sizeof source->state)
    source->state[0] = (uint64_t)clk_wall().us ^ (uint64_t)(uintptr_t)source;
  source->state[1] |= 1;
}

static uint64_t random_next(struct trace_source *source)  // xorshift128+
{
  uint64_t a = source->state[0], b = source->state[1];
  source->state[0] = b;
  a ^= a << 23;
  source->state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
  return source->state[1] + b;
}

uint64_t trace_next(struct trace_source *source) { return random_next(source) | 1; }

static bool is_hex(const char *s, size_t len, bool *out_all_zero)
{
  bool zero = true;
  for (size_t i = 0; i < len; i++) {
    if (!((s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f'))) return false;
    if (s[i] != '0') zero = false;
  }
  *out_all_zero = zero;
  return true;
}

bool trace_id_is_valid(const char *id, size_t len)
{
  bool is_zero;
  return len == TRACE_ID_DIGITS && is_hex(id, len, &is_zero) && !is_zero;
}

bool trace_parent_is_valid(const char *t)
{
  size_t len = strlen(t);
  bool version_0, trace_0, parent_0, flags_0;
  if (len < TRACE_PARENT_BYTES - 1 || t[2] != '-' || t[35] != '-' || t[52] != '-') return false;
  if (!is_hex(t, 2, &version_0) || !is_hex(t + TRACE_PARENT_ID_AT, TRACE_ID_DIGITS, &trace_0) ||
      !is_hex(t + 36, 16, &parent_0) || !is_hex(t + 53, 2, &flags_0))
    return false;
  if (trace_0 || parent_0 || memcmp(t, "ff", 2) == 0) return false;
  return len == TRACE_PARENT_BYTES - 1 || (!version_0 && t[TRACE_PARENT_BYTES - 1] == '-');
}

static void put_hex(char *to, uint64_t n)
{
  for (int i = 15; i >= 0; i--, n >>= 4) to[i] = "0123456789abcdef"[n & 15];
}

void trace_parent_of(const char *trace_id, uint64_t span, char out[TRACE_PARENT_BYTES])
{
  memcpy(out, "00-", TRACE_PARENT_ID_AT);
  memcpy(out + TRACE_PARENT_ID_AT, trace_id, TRACE_ID_DIGITS);
  out[35] = '-';
  put_hex(out + 36, span);
  memcpy(out + 52, "-01", 4);
}

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
  out[0] = '\0';
  if (trace_id_is_valid(trace_id, strlen(trace_id))) trace_parent_of(trace_id, mix(seed) | 1, out);
}

void trace_parent_new(struct trace_source *source, char out[TRACE_PARENT_BYTES])
{
  char id[TRACE_ID_BYTES] = "";
  put_hex(id, trace_next(source));
  put_hex(id + 16, random_next(source));
  trace_parent_of(id, trace_next(source), out);
}
