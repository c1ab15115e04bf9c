// SPDX-License-Identifier: Apache-2.0
// Inside mq_consume*.c only: a consumer as its two sides see it. Deliveries travel to the loop in one ring, acks come
// back in another; both name a channel and the generation of that channel. Owner: fields say which thread.
#pragma once

#include "common/mq_acks.h"
#include "common/mq_conn.h"
#include "common/mq_topology.h"

#define MQ_FIRST_CONSUME_CHANNEL 2
#define MQ_SUBSCRIPTIONS_MAX     256
#define MQ_ACK_BATCH_MAX         256
#define MQ_TRACEPARENT_MAX       128

struct mq_ack_item {
  struct mq_tag tag;
  bool requeue;
};

// One delivery; the texts follow the body in `bytes`.
struct mq_in {
  struct mq_tag tag;
  bool redelivered;
  size_t body_len;
  const char *message_id, *traceparent;
  char bytes[];  // the body and a NUL
};

enum mq_sub_state {
  MQ_SUB_CLOSED,  // no channel; opens when the pause is over
  MQ_SUB_OPENING,
  MQ_SUB_QOS,
  MQ_SUB_CONSUMING,  // each waits for the broker's answer
  MQ_SUB_ACTIVE,
  MQ_SUB_CANCELLING,  // basic.cancel sent; deliveries may still come
  MQ_SUB_CANCELLED,   // no more deliveries; waits for the last acks
  MQ_SUB_CLOSING,     // channel.close sent; everything but its answer is ignored
};

struct mq_subscription {
  struct mq_consumer *consumer;
  char *queue;
  uint16_t channel, prefetch;
  mq_delivery_fn *on_delivery;
  void *ctx;

  bool stopped;                      // loop thread
  atomic_uint_least32_t generation;  // of the open channel; 0: none
  atomic_bool cancel;                // the loop asks for it
  atomic_bool finished;              // the thread has forgotten this subscription

  // The connection's thread
  enum mq_sub_state state;
  struct mono_time retry_at, deadline;
  uint32_t attempts;
  struct mq_acks acks;
  uint64_t to_ack[MQ_ACK_BATCH_MAX];
  size_t to_ack_count;
  size_t outstanding;
  struct mono_time acked_at;  // when the last of its acks was written; 0: none was
  uint64_t incoming_tag;      // between basic.deliver and the end of its body; 0: none
  bool incoming_redelivered;
  struct mq_in *incoming;
  uint64_t incoming_left;  // bytes of the body still to come
};

struct mq_consumer {
  struct mq_conn conn;
  struct mq_topology topology;
  struct mq_ring deliveries;  // struct mq_in *
  struct mq_ring acks;        // struct mq_ack_item
  struct mq_ring added;       // struct mq_subscription *
  atomic_uint_least64_t acks_written;
  atomic_bool flushing;
  atomic_bool restart;  // the ack ring overflowed: only a new connection sets things right

  // Loop thread
  struct mq_subscription *subs[MQ_SUBSCRIPTIONS_MAX];  // by channel
  size_t prefetch_total;
  uint64_t acks_handed_over;

  // The connection's thread
  struct mq_subscription *wire[MQ_SUBSCRIPTIONS_MAX];  // by channel
  uint32_t last_generation;
};

static inline size_t mq_sub_index(uint16_t channel) { return (size_t)(channel - MQ_FIRST_CONSUME_CHANNEL); }

void mq_consume_on_bell(void *consumer);  // loop thread
// The thread's hooks
void mq_consume_on_up(void *consumer);
void mq_consume_on_frame(void *consumer, const struct amqp_frame_t_ *frame);
void mq_consume_on_work(void *consumer);
void mq_consume_on_down(void *consumer);
// The thread's parts
void mq_consume_write_acks(struct mq_consumer *c);
void mq_consume_drop_acks(struct mq_consumer *c);
void mq_consume_content(struct mq_subscription *s, const struct amqp_frame_t_ *frame);  // header and body frames
void mq_consume_forget_content(struct mq_subscription *s);
