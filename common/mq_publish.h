// SPDX-License-Identifier: Apache-2.0
// Inside mq_publish*.c only: a publisher as its two sides see it. The loop hands posts over in a ring and gets them
// back, settled, in another. Owner: fields say which thread.
#pragma once

#include "common/mq_conn.h"
#include "common/mq_topology.h"

#define MQ_PUBLISH_CHANNEL 2
#define MQ_BATCH_MAX       64   // posts taken from the ring at a time
#define MQ_SETTLED_MAX     256  // settled posts handed back at a time
#define MQ_OUTCOMES        4

// One message on its way; everything points into `bytes`.
struct mq_post {
  mq_outcome_fn *on_outcome;
  void *ctx;
  enum mq_outcome outcome;
  bool returned, may_have_no_queue;
  struct mono_time sent_at;
  const char *exchange, *routing_key, *content_type, *message_id, *type, *body;
  size_t body_len, header_count;
  struct mq_header *headers;
  char bytes[];
};

struct mq_publisher {
  struct mq_conn conn;
  struct mq_topology topology;
  struct mq_ring waiting, settled;  // struct mq_post *
  size_t ring_max;

  // Loop thread
  size_t open;
  bool closing;
  struct metric_series *published[MQ_OUTCOMES];
  struct mono_time returned_logged_at;
  uint64_t returned_unlogged;

  // The connection's thread
  enum { MQ_PUBLISH_CLOSED, MQ_PUBLISH_OPENING, MQ_PUBLISH_READY } state;
  struct mq_post *batch[MQ_BATCH_MAX];
  size_t batch_at, batch_count;
  struct mq_post **window;  // unconfirmed posts, by tag & (window_size - 1)
  size_t window_size;       // power of two
  uint64_t oldest, next;    // tags: [oldest, next) may be unconfirmed
  struct mono_time confirms_checked_at, last_blocked_at;
  struct mq_post *out[MQ_SETTLED_MAX];
  size_t out_count;
};

const struct mq_role *mq_publish_role(void);
void mq_publish_on_bell(void *publisher);  // loop thread
// The thread's hooks
void mq_publish_on_up(void *publisher);
void mq_publish_on_frame(void *publisher, const struct amqp_frame_t_ *frame);
void mq_publish_on_work(void *publisher);
void mq_publish_on_down(void *publisher);
