// SPDX-License-Identifier: Apache-2.0
// The two clocks of the host.
// Any thread.
#include "common/clk.h"

#include <time.h>

#include "common/contract.h"

static int64_t read_us(clockid_t clock)
{
  struct timespec now;
  int status = clock_gettime(clock, &now);
  ENSURE(status == 0);  // both clocks exist on every Linux
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct mono_time clk_mono(void) { return (struct mono_time){read_us(CLOCK_MONOTONIC)}; }

struct wall_time clk_wall(void) { return (struct wall_time){read_us(CLOCK_REALTIME)}; }
