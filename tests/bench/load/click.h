// SPDX-License-Identifier: Apache-2.0
// The workload: the n-th click of a run, as a pure function of (plan, n), so that a repeat needs no memory but n.
// Rendered as a complete HTTP request.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

#define CLICK_ACTIVITIES_MAX    256
#define CLICK_BIZ_BYTES         65
#define CLICK_REQUEST_BYTES     2048
#define CLICK_CHANNEL_BYTES_MAX 64

struct click_plan {
  const char *activities[CLICK_ACTIVITIES_MAX];
  size_t activity_count;
  const char *biz_prefix;
  bool users_sequential;
  uint64_t user_first, user_count;  // users are of [first, first + count); sequential ones start again after the last
  int64_t quantity_min, quantity_max;  // 0: the member is left out
  bool has_numbers;                    // one of [number_first, number_last] each, in turn
  uint64_t number_first, number_last;
  const char *channel;  // NULL: left out
  uint64_t seed;
  bool credits;  // POST /credits of the simulator instead of POST /v1/claims
};

struct click {
  uint64_t number;
  const char *activity;
  uint64_t user;
  int64_t quantity;
  char biz_id[CLICK_BIZ_BYTES];
};

void click_make(const struct click_plan *plan, uint64_t number, struct click *out_click);
// The part of each request that never changes: request line and headers up to "Content-Length: ".
void click_render_head(const struct click_plan *plan, const char *host, const char *extra_headers, struct buf *out);
// Empties out and writes the whole request.
void click_render(const struct click_plan *plan, const struct buf *head, const struct click *click, struct buf *out);
