// SPDX-License-Identifier: Apache-2.0
// The scheduler's configuration: the sections all daemons share, and `scheduler`.
// Owner: the daemon; a new struct per load, read only.
#pragma once

#include "common/conf.h"
#include "common/daemon.h"
#include "common/web.h"

struct claim_conf {
  int64_t queue_max;  // requests that wait for a batch
  int64_t batch_max_rows;
  int64_t batches_in_flight;  // per activity
  struct span gather;         // in a rush, from one statement of an activity to the next
  struct span sweep_after;    // how long the first message may take before the sweeper looks
  struct span time_margin;    // on top of the measured uncertainty of the clock difference
};
// Over all claims and all schedulers together.
struct admission_conf {
  int64_t rate, burst;  // rate 0: no limit
};
struct intake_conf {
  int64_t queue_max;  // requests of one activity that may wait
  int64_t rows, rate;
  struct span every;
};
struct cache_conf {
  struct span poll, overlap, full_read;
};
struct sweep_conf {
  struct span every, base, full_pass;
  int64_t rows, rate, low_water;
};
struct deadline_conf {
  struct span every;
  int64_t rows;
};
struct relay_conf {
  struct span every, lease;
  int64_t rows, unconfirmed_max, tries;
  struct span parked_retention;
};

struct scheduler_conf {
  struct daemon_conf daemon;  // first: daemon.h relies on it
  struct web_conf web;
  struct claim_conf claims;
  struct admission_conf admission;
  struct intake_conf intake;
  struct cache_conf cache;
  struct sweep_conf sweep;
  struct relay_conf events;
  struct deadline_conf deadlines;
  struct span warm_up_before;                       // of a start; 0: never by itself
  int64_t clock_rows;                               // activities moved by one statement
  struct conf_texts providers, charging_providers;  // names; those that can take payments
};

const struct conf_table *scheduler_conf_table(void);
