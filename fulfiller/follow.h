// SPDX-License-Identifier: Apache-2.0
// Sends settled claims to the rungs of their ladders: claims of one lane and one delay travel together.
// Owner: the loop thread.
#pragma once

#include "common/metric.h"
#include "common/mq.h"
#include "fulfiller/job.h"

#define FOLLOW_JOBS_MAX 256

struct follow_list {
  struct mq_publisher *publisher;
  struct metric_set *metrics;
  void (*on_done)(void *ctx, struct job *job);  // once per job, when the broker has said something or was not reached
  void *ctx;
  struct job *jobs[FOLLOW_JOBS_MAX];  // JOB_FOLLOWING
  size_t count;
};
// Whatever the broker says, the claim's due time in the database stands behind it.
void follow_send(const struct follow_list *list);
