// SPDX-License-Identifier: Apache-2.0
// What a run counted: outcomes, refusals by code, errors by kind, and latencies in a histogram of fixed size.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"

#define TALLY_NAMES_MAX   64
#define TALLY_NAME_BYTES  48
#define TALLY_SUB_BUCKETS 64
#define TALLY_BUCKETS     (TALLY_SUB_BUCKETS * 32)

struct tally_names {
  struct {
    char name[TALLY_NAME_BYTES];
    size_t len;
    uint64_t count;
  } items[TALLY_NAMES_MAX];
  size_t count;
};

struct tally {
  uint64_t sent;        // requests, repeats included
  uint64_t clicks;      // begun
  uint64_t accepted;    // answered 201, 202, or 200 after our own repeat
  uint64_t recovered;   // of these, by a replay: the first answer was lost
  uint64_t replays;     // answered 200 on the first try: the click was known before
  uint64_t refused;     // other complete answers
  uint64_t repeats;     // requests sent again
  uint64_t unanswered;  // clicks that never got an answer
  struct tally_names codes, errors, repeat_causes;
  uint64_t latency[TALLY_BUCKETS];
  uint64_t latency_count;
  int64_t latency_sum_us, latency_max_us;
  struct span elapsed;  // until the last click was sent off
};

void tally_name(struct tally_names *names, const char *name, size_t len);  // over the maximum: counted as "OTHER"
void tally_latency(struct tally *t, struct span latency);
int64_t tally_percentile_us(const struct tally *t, double share);  // of [0, 1]; within 1.6 %
void tally_write_text(const struct tally *t, struct buf *out);
void tally_write_json(const struct tally *t, struct buf *out);
