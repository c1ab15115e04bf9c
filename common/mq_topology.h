// SPDX-License-Identifier: Apache-2.0
// Inside mq_*.c only: the channel on which exchanges and queues are declared and queues are asked for their depth, one
// operation at a time and without waiting. Owner: functions say which thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/mq.h"
#include "common/mq_ring.h"
#include "common/result.h"

#define MQ_TOPOLOGY_CHANNEL 1
#define MQ_ASKS_MAX         256

struct amqp_frame_t_;
struct mq_conn;
struct mq_entry;  // an exchange or a queue
struct mq_ask;    // a depth that somebody waits for

enum mq_topology_state { MQ_TOPOLOGY_CLOSED, MQ_TOPOLOGY_OPENING, MQ_TOPOLOGY_IDLE, MQ_TOPOLOGY_BUSY };

struct mq_topology {
  struct mq_conn *conn;
  struct mq_ring added;            // struct mq_entry *, to the thread
  struct mq_ring asked, answered;  // struct mq_ask *, to the thread and back
  size_t asks_open;                // loop thread
  // The connection's thread
  struct mq_entry **entries;
  size_t count, cap;
  enum mq_topology_state state;
  struct mq_entry *current;
  struct mq_ask *ask;
  struct mono_time deadline;  // of the answer that is awaited
};

// Loop thread
void mq_topology_init(struct mq_topology *t, struct mq_conn *conn);
void mq_topology_release(struct mq_topology *t);  // after the thread ended and mq_topology_end
void mq_topology_add_exchange(struct mq_topology *t, const struct mq_exchange *e);
void mq_topology_add_queue(struct mq_topology *t, const struct mq_queue *q);
MUST_CHECK enum result mq_topology_ask(struct mq_topology *t, const char *queue, mq_depth_fn *on_depth, void *ctx);
void mq_topology_answer(struct mq_topology *t);                  // calls the callbacks of what has been answered
void mq_topology_end(struct mq_topology *t, bool thread_ended);  // answers the rest with RESULT_UNAVAILABLE

// The connection's thread
void mq_topology_work(struct mq_topology *t);
void mq_topology_on_frame(struct mq_topology *t, const struct amqp_frame_t_ *frame);
void mq_topology_on_down(struct mq_topology *t);
bool mq_topology_is_ready(const struct mq_topology *t);  // everything was declared, or tried and refused
void mq_topology_again(struct mq_topology *t);           // declare everything once more: somebody deleted something
