// SPDX-License-Identifier: Apache-2.0
// The wire's side of consuming: one channel per subscription, opened, supplied, cancelled and reopened without waiting.
// Owner: the consumer's connection thread.
#include <amqp.h>
#include <amqp_framing.h>
#include <stdio.h>
#include <string.h>

#include "common/backoff.h"
#include "common/mem.h"
#include "common/mq_consume.h"

#define ANSWER_TIMEOUT_S   15
#define CONSUMER_TAG_BYTES 16

// A quorum queue takes acks one step behind the channel that received them, and forgets those on their way when the
// channel closes: everything they were for would be delivered again.
static const struct span acks_settle = {2000000};

static void enter(struct mq_subscription *s, enum mq_sub_state state)
{
  s->state = state;
  s->deadline = mono_after(clk_mono(), span_s(ANSWER_TIMEOUT_S));
}

static bool is_of_channel(void *ctx, const void *item)
{
  const struct mq_subscription *s = ctx;
  struct mq_in *in;
  memcpy(&in, item, sizeof in);
  if (in->tag.channel != s->channel) return false;
  mem_free(in);
  return true;
}

// The channel is gone, with everything unacknowledged on it: the broker requeues that.
static void lose_channel(struct mq_subscription *s)
{
  atomic_store(&s->generation, 0);
  mq_ring_remove(&s->consumer->deliveries, is_of_channel, s);
  mq_consume_forget_content(s);
  s->outstanding = 0;
  s->to_ack_count = 0;
  s->state = MQ_SUB_CLOSED;
}

static void pause_before_retry(struct mq_subscription *s)
{
  struct backoff_policy policy = {.base = span_ms(100), .cap = span_s(15), .jitter_percent = 30};
  s->retry_at = mono_after(clk_mono(), backoff_delay(&policy, s->attempts, s->channel));
  if (s->attempts < 1000) s->attempts++;
}

static void send_open(struct mq_subscription *s)
{
  struct mq_consumer *c = s->consumer;
  amqp_channel_open_t m = {0};
  mq_acks_reset(&s->acks);
  if (++c->last_generation == 0) c->last_generation = 1;
  atomic_store(&s->generation, c->last_generation);
  mq_conn_send(&c->conn, s->channel, AMQP_CHANNEL_OPEN_METHOD, &m);
  enter(s, MQ_SUB_OPENING);
}

static void send_close(struct mq_subscription *s)
{
  amqp_channel_close_t m = {.reply_code = AMQP_REPLY_SUCCESS, .reply_text = amqp_cstring_bytes("done")};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_CHANNEL_CLOSE_METHOD, &m);
  enter(s, MQ_SUB_CLOSING);
}

static void send_qos(struct mq_subscription *s)
{
  amqp_basic_qos_t m = {.prefetch_count = s->prefetch};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_BASIC_QOS_METHOD, &m);
  enter(s, MQ_SUB_QOS);
}

static void send_consume(struct mq_subscription *s)
{
  char tag[CONSUMER_TAG_BYTES];
  snprintf(tag, sizeof tag, "s%u", s->channel);
  amqp_basic_consume_t m = {.queue = amqp_cstring_bytes(s->queue), .consumer_tag = amqp_cstring_bytes(tag)};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_BASIC_CONSUME_METHOD, &m);
  enter(s, MQ_SUB_CONSUMING);
}

static void send_cancel(struct mq_subscription *s)
{
  char tag[CONSUMER_TAG_BYTES];
  snprintf(tag, sizeof tag, "s%u", s->channel);
  amqp_basic_cancel_t m = {.consumer_tag = amqp_cstring_bytes(tag)};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_BASIC_CANCEL_METHOD, &m);
  enter(s, MQ_SUB_CANCELLING);
}

static void note_cancelled(struct mq_subscription *s, const char *why, size_t len)
{
  char text[MQ_TEXT_BYTES];
  snprintf(text, sizeof text, "queue %s: %.*s", s->queue, (int)len, why);
  mq_conn_note(&s->consumer->conn, MQ_NOTE_CANCELLED, text);
}

// The queue was deleted, or its node went away. A new channel keeps the prefetch exact; the queue is declared again
// first.
static void on_broker_cancel(struct mq_subscription *s)
{
  static const char why[] = "consumer cancelled by the broker";
  note_cancelled(s, why, sizeof why - 1);
  mq_topology_again(&s->consumer->topology);
  pause_before_retry(s);
  send_close(s);
}

static void on_channel_close(struct mq_subscription *s, const amqp_channel_close_t *close)
{
  amqp_channel_close_ok_t ok = {0};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
  note_cancelled(s, close->reply_text.bytes, close->reply_text.len);
  if (close->reply_code == AMQP_NOT_FOUND) mq_topology_again(&s->consumer->topology);
  pause_before_retry(s);
  lose_channel(s);
}

static void on_deliver(struct mq_subscription *s, const amqp_basic_deliver_t *d)
{
  if (!mq_acks_deliver(&s->acks, d->delivery_tag)) {
    mq_conn_fail(&s->consumer->conn, "delivery tags out of order on channel %u", s->channel);
    return;
  }
  s->incoming_tag = d->delivery_tag;
  s->incoming_redelivered = d->redelivered != 0;
}

static void on_method(struct mq_subscription *s, const amqp_method_t *m)
{
  bool closing = s->state == MQ_SUB_CLOSING;
  s->consumer->conn.again |= m->id != AMQP_BASIC_DELIVER_METHOD;
  if (m->id == AMQP_CHANNEL_CLOSE_METHOD)
    on_channel_close(s, m->decoded);
  else if (m->id == AMQP_CHANNEL_CLOSE_OK_METHOD)
    lose_channel(s);
  else if (closing)
    return;
  else if (m->id == AMQP_BASIC_DELIVER_METHOD)
    on_deliver(s, m->decoded);
  else if (m->id == AMQP_BASIC_CANCEL_METHOD)
    on_broker_cancel(s);
  else if (m->id == AMQP_BASIC_CANCEL_OK_METHOD)
    enter(s, MQ_SUB_CANCELLED);
  else if (m->id == AMQP_BASIC_QOS_OK_METHOD)
    send_consume(s);
  else if (m->id == AMQP_CHANNEL_OPEN_OK_METHOD)
    send_qos(s);
  else if (m->id == AMQP_BASIC_CONSUME_OK_METHOD) {
    s->attempts = 0;
    enter(s, MQ_SUB_ACTIVE);
  }
}

void mq_consume_on_frame(void *consumer, const amqp_frame_t *frame)
{
  struct mq_consumer *c = consumer;
  if (frame->channel == MQ_TOPOLOGY_CHANNEL) {
    mq_topology_on_frame(&c->topology, frame);
    return;
  }
  size_t index = mq_sub_index(frame->channel);
  struct mq_subscription *s = index < MQ_SUBSCRIPTIONS_MAX ? c->wire[index] : NULL;
  if (s == NULL || s->state == MQ_SUB_CLOSED) return;
  if (frame->frame_type == AMQP_FRAME_METHOD)
    on_method(s, &frame->payload.method);
  else if (s->state != MQ_SUB_CLOSING)
    mq_consume_content(s, frame);
}

void mq_consume_on_up(void *consumer)
{
  struct mq_consumer *c = consumer;
  atomic_store(&c->restart, false);
}

static void take_added(struct mq_consumer *c)
{
  struct mq_subscription *s;
  while (mq_ring_pop(&c->added, &s, 1) == 1) c->wire[mq_sub_index(s->channel)] = s;
}

// True: nobody needs it on this side any more. The loop may free it from this moment on.
static bool finish(struct mq_subscription *s)
{
  if (s->state != MQ_SUB_CLOSED || !atomic_load(&s->cancel)) return false;
  atomic_store(&s->finished, true);
  return true;
}

void mq_consume_on_down(void *consumer)
{
  struct mq_consumer *c = consumer;
  take_added(c);
  mq_topology_on_down(&c->topology);
  for (size_t i = 0; i < MQ_SUBSCRIPTIONS_MAX; i++) {
    if (c->wire[i] == NULL) continue;
    if (c->wire[i]->state != MQ_SUB_CLOSED) lose_channel(c->wire[i]);
    c->wire[i]->attempts = 0;
    c->wire[i]->retry_at = (struct mono_time){0};
    if (finish(c->wire[i])) c->wire[i] = NULL;
  }
  mq_consume_drop_acks(c);
}

static void work_on(struct mq_subscription *s)
{
  struct mq_consumer *c = s->consumer;
  bool cancel = atomic_load(&s->cancel);
  switch (s->state) {
    case MQ_SUB_CLOSED:
      if (!mq_topology_is_ready(&c->topology)) return;
      if (mono_before(clk_mono(), s->retry_at))
        mq_conn_due(&c->conn, s->retry_at);
      else
        send_open(s);
      return;
    case MQ_SUB_ACTIVE:
      if (cancel) send_cancel(s);
      return;
    case MQ_SUB_CANCELLED:
      if (s->outstanding > 0) return;
      if (mono_since(clk_mono(), s->acked_at).us < acks_settle.us)
        mq_conn_due(&c->conn, mono_after(s->acked_at, acks_settle));
      else
        send_close(s);
      return;
    case MQ_SUB_OPENING:
    case MQ_SUB_QOS:
    case MQ_SUB_CONSUMING:
    case MQ_SUB_CANCELLING:
    case MQ_SUB_CLOSING:
      if (mono_before(s->deadline, clk_mono()))
        mq_conn_fail(&c->conn, "no answer on the channel of queue %s within %d s", s->queue, ANSWER_TIMEOUT_S);
      else
        mq_conn_due(&c->conn, s->deadline);
      return;
  }
}

void mq_consume_on_work(void *consumer)
{
  struct mq_consumer *c = consumer;
  if (atomic_load(&c->restart)) {
    mq_conn_fail(&c->conn, "more acks than deliveries");
    return;
  }
  take_added(c);
  mq_topology_work(&c->topology);
  mq_consume_write_acks(c);
  for (size_t i = 0; i < MQ_SUBSCRIPTIONS_MAX && !c->conn.failed; i++) {
    if (c->wire[i] == NULL) continue;
    if (finish(c->wire[i]))
      c->wire[i] = NULL;
    else
      work_on(c->wire[i]);
  }
}
