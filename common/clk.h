// SPDX-License-Identifier: Apache-2.0
// Time with types: instants of the monotonic clock, instants of the wall clock, and spans cannot be mixed up.
// Judging claims is the database's business (largesse.clock_now()); these clocks only run timers and stamp logs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mono_time {
  int64_t us;
};  // microseconds of CLOCK_MONOTONIC
struct wall_time {
  int64_t us;
};  // microseconds since 1970-01-01T00:00:00Z
struct span {
  int64_t us;
};  // microseconds, may be negative

struct mono_time clk_mono(void);
struct wall_time clk_wall(void);

static inline struct span span_us(int64_t n) { return (struct span){n}; }
static inline struct span span_ms(int64_t n) { return (struct span){n * 1000}; }
static inline struct span span_s(int64_t n) { return (struct span){n * 1000000}; }
static inline double span_to_seconds(struct span s) { return (double)s.us / 1e6; }
static inline int64_t span_to_ms(struct span s) { return s.us / 1000; }

static inline struct mono_time mono_after(struct mono_time t, struct span s) { return (struct mono_time){t.us + s.us}; }
static inline struct span mono_since(struct mono_time later, struct mono_time earlier)
{
  return (struct span){later.us - earlier.us};
}
static inline bool mono_before(struct mono_time a, struct mono_time b) { return a.us < b.us; }
static inline struct wall_time wall_after(struct wall_time t, struct span s) { return (struct wall_time){t.us + s.us}; }
static inline struct span wall_since(struct wall_time later, struct wall_time earlier)
{
  return (struct span){later.us - earlier.us};
}
