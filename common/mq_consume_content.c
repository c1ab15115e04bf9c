// SPDX-License-Identifier: Apache-2.0
// Puts deliveries together from header and body frames, and writes acks in runs where they are contiguous.
// Owner: the consumer's connection thread.
#include <amqp.h>
#include <amqp_framing.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/mq_consume.h"

void mq_consume_forget_content(struct mq_subscription *s)
{
  mem_free(s->incoming);
  s->incoming = NULL;
  s->incoming_tag = 0;
  s->incoming_left = 0;
}

static amqp_bytes_t find_traceparent(const amqp_basic_properties_t *props)
{
  static const char name[] = "traceparent";
  if ((props->_flags & AMQP_BASIC_HEADERS_FLAG) == 0) return amqp_empty_bytes;
  for (int i = 0; i < props->headers.num_entries; i++) {
    const amqp_table_entry_t *e = &props->headers.entries[i];
    if (e->key.len != sizeof name - 1 || memcmp(e->key.bytes, name, sizeof name - 1) != 0) continue;
    bool is_text = e->value.kind == AMQP_FIELD_KIND_UTF8 || e->value.kind == AMQP_FIELD_KIND_BYTES;
    return is_text && e->value.value.bytes.len <= MQ_TRACEPARENT_MAX ? e->value.value.bytes : amqp_empty_bytes;
  }
  return amqp_empty_bytes;
}

static const char *place(char **at, amqp_bytes_t text)
{
  char *to = *at;
  if (text.len > 0) memcpy(to, text.bytes, text.len);
  to[text.len] = '\0';
  *at += text.len + 1;
  return to;
}

static void hand_over(struct mq_subscription *s)
{
  struct mq_in *in = s->incoming;
  s->incoming = NULL;
  s->incoming_tag = 0;
  s->outstanding++;
  if (mq_ring_push(&s->consumer->deliveries, &in) == RESULT_OK) return;
  mem_free(in);
  mq_conn_fail(&s->consumer->conn, "more deliveries than the prefetch of queue %s allows", s->queue);
}

static void on_header(struct mq_subscription *s, const amqp_frame_t *frame)
{
  const amqp_basic_properties_t *props = frame->payload.properties.decoded;
  uint64_t size = frame->payload.properties.body_size;
  // What is longer than any message of ours is cut: its reader finds it unreadable and puts it away.
  size_t kept = size > MQ_BODY_BYTES_MAX ? MQ_BODY_BYTES_MAX : (size_t)size;
  amqp_bytes_t id = (props->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0 ? props->message_id : amqp_empty_bytes;
  amqp_bytes_t trace = find_traceparent(props);
  struct mq_in *in = mem_zalloc(1, sizeof *in + kept + 1 + id.len + 1 + trace.len + 1);
  char *at = in->bytes + kept + 1;
  in->message_id = place(&at, id);
  in->traceparent = place(&at, trace);
  in->redelivered = s->incoming_redelivered;
  in->tag =
      (struct mq_tag){.delivery = s->incoming_tag, .generation = atomic_load(&s->generation), .channel = s->channel};
  s->incoming = in;
  s->incoming_left = size;
  if (size == 0) hand_over(s);
}

static void on_body(struct mq_subscription *s, amqp_bytes_t part)
{
  struct mq_in *in = s->incoming;
  if (part.len > s->incoming_left) {
    mq_conn_fail(&s->consumer->conn, "a body longer than announced on channel %u", s->channel);
    return;
  }
  size_t room = MQ_BODY_BYTES_MAX - in->body_len;
  size_t kept = part.len < room ? part.len : room;
  memcpy(in->bytes + in->body_len, part.bytes, kept);
  in->body_len += kept;
  s->incoming_left -= part.len;
  if (s->incoming_left == 0) hand_over(s);
}

void mq_consume_content(struct mq_subscription *s, const amqp_frame_t *frame)
{
  if (frame->frame_type == AMQP_FRAME_HEADER && s->incoming_tag != 0 && s->incoming == NULL)
    on_header(s, frame);
  else if (frame->frame_type == AMQP_FRAME_BODY && s->incoming != NULL)
    on_body(s, frame->payload.body_fragment);
  else
    mq_conn_fail(&s->consumer->conn, "unexpected frame on channel %u", s->channel);
}

static void send_ack(struct mq_subscription *s, uint64_t tag, bool multiple)
{
  amqp_basic_ack_t m = {.delivery_tag = tag, .multiple = multiple};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_BASIC_ACK_METHOD, &m);
}

static void send_requeue(struct mq_subscription *s, uint64_t tag)
{
  amqp_basic_nack_t m = {.delivery_tag = tag, .requeue = 1};
  mq_conn_send(&s->consumer->conn, s->channel, AMQP_BASIC_NACK_METHOD, &m);
}

static void take_ack(struct mq_consumer *c, const struct mq_ack_item *item)
{
  struct mq_subscription *s = c->wire[mq_sub_index(item->tag.channel)];
  if (s == NULL || s->state == MQ_SUB_CLOSED || s->state == MQ_SUB_CLOSING) return;
  if (atomic_load(&s->generation) != item->tag.generation || !mq_acks_settle(&s->acks, item->tag.delivery)) return;
  s->outstanding--;
  s->acked_at = clk_mono();
  if (item->requeue)
    send_requeue(s, item->tag.delivery);
  else
    s->to_ack[s->to_ack_count++] = item->tag.delivery;
}

static void write_acks_of(struct mq_subscription *s)
{
  if (s == NULL || s->to_ack_count == 0) return;
  size_t singles;
  size_t count = s->to_ack_count;
  uint64_t highest = mq_acks_run(&s->acks, s->to_ack, count, &singles);
  if (highest != 0) send_ack(s, highest, count - singles > 1);
  for (size_t i = 0; i < singles; i++) send_ack(s, s->to_ack[i], false);
  s->to_ack_count = 0;
}

static void tell_progress(struct mq_consumer *c, size_t count)
{
  atomic_fetch_add(&c->acks_written, count);
  if (!atomic_load(&c->flushing)) return;
  pthread_mutex_lock(&c->conn.lock);
  pthread_cond_broadcast(&c->conn.progress);
  pthread_mutex_unlock(&c->conn.lock);
}

void mq_consume_write_acks(struct mq_consumer *c)
{
  struct mq_ack_item items[MQ_ACK_BATCH_MAX];
  while (!c->conn.failed && mq_ring_count(&c->acks) > 0) {
    if (!mq_conn_can_write(&c->conn)) {
      c->conn.want_write = true;
      return;
    }
    size_t count = mq_ring_pop(&c->acks, items, MQ_ACK_BATCH_MAX);
    for (size_t i = 0; i < count; i++) take_ack(c, &items[i]);
    for (size_t i = 0; i < MQ_SUBSCRIPTIONS_MAX; i++) write_acks_of(c->wire[i]);
    tell_progress(c, count);
  }
}

void mq_consume_drop_acks(struct mq_consumer *c)
{
  struct mq_ack_item items[MQ_ACK_BATCH_MAX];
  size_t count;
  while ((count = mq_ring_pop(&c->acks, items, MQ_ACK_BATCH_MAX)) > 0) tell_progress(c, count);
  tell_progress(c, 0);
}
