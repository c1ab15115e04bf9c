// SPDX-License-Identifier: Apache-2.0
// A rig for tests of common/mq: a loop, a log that can be searched, and counters for everything that comes back.
// It is driven by the test itself, which turns the loop until what it waits for has happened.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/loop.h"
#include "common/mq.h"
#include "common/runtime.h"

#define MQ_HELD_MAX 4096

struct mq_rig {
  struct runtime rt;
  struct mq_conf conf;
  int log_fd;
};
void mq_rig_init(struct mq_rig *rig, char *url);  // url stays the caller's
void mq_rig_release(struct mq_rig *rig);
int mq_rig_count_log(struct mq_rig *rig, const char *text);        // lines of the log that contain text
void mq_rig_show_log(struct mq_rig *rig);                          // to stderr, for a case that fails
double mq_rig_metric(struct mq_rig *rig, const char *line_start);  // -1 if there is none
void mq_rig_turn(struct mq_rig *rig);                              // once, waiting a little
struct mq_publisher *mq_rig_publisher(struct mq_rig *rig);         // and waits until it is up
struct mq_consumer *mq_rig_consumer(struct mq_rig *rig);

// Outcomes of published messages.
struct mq_outcomes {
  int confirmed, returned, nacked, lost;
};
int mq_outcomes_total(const struct mq_outcomes *o);
void mq_on_outcome(void *outcomes, enum mq_outcome outcome);
// Body is the text of n; false: RESULT_FULL.
bool mq_send_number(struct mq_publisher *p, const char *exchange, const char *key, int n, mq_outcome_fn *on_outcome,
                    void *ctx);

// What a subscription delivered. With hold, acks are the test's business.
struct mq_received {
  struct mq_consumer *consumer;
  bool hold;
  int count, redelivered;
  struct mq_tag held[MQ_HELD_MAX];
  int seen[MQ_HELD_MAX];                             // how often a body with this number came
  char message_id[64], traceparent[128], body[256];  // of the last one
};
void mq_on_delivery(void *received, const struct mq_delivery *d);

struct mq_depth {
  int calls;
  enum result result;
  uint64_t messages;
};
void mq_on_depth(void *depth, enum result r, uint64_t messages);
// Asks and waits.
struct mq_depth mq_rig_depth(struct mq_rig *rig, struct mq_publisher *p, const char *queue);

#define MQ_WAIT(rig, condition, seconds)                                                                  \
  do {                                                                                                    \
    struct mono_time end_ = mono_after(clk_mono(), span_ms((int64_t)(waiting_patience(seconds) * 1000))); \
    while (!(condition) && mono_before(clk_mono(), end_)) mq_rig_turn(rig);                               \
    if (!(condition)) support_die("%s:%d: waited in vain for: %s", __FILE__, __LINE__, #condition);       \
  } while (0)
