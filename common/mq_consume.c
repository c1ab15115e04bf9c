// SPDX-License-Identifier: Apache-2.0
// The loop's side of consuming: subscriptions, deliveries to their callbacks, acks into the ring.
// Owner: the loop thread.
#include "common/mq_consume.h"

#include <string.h>
#include <time.h>

#include "common/contract.h"
#include "common/loop.h"
#include "common/mem.h"

#define DELIVERIES_PER_TURN 1024
#define DELIVERIES_AT_ONCE  64
#define RING_AT_FIRST       64

static const struct mq_role *consumer_role(void)
{
  static const struct mq_role role = {.name = "consumer",
                                      .on_up = mq_consume_on_up,
                                      .on_frame = mq_consume_on_frame,
                                      .on_work = mq_consume_on_work,
                                      .on_down = mq_consume_on_down,
                                      .on_bell = mq_consume_on_bell};
  return &role;
}

struct mq_consumer *mq_consumer_new(struct runtime *rt, const struct mq_conf *conf, const char *connection_name)
{
  struct mq_consumer *c = MEM_NEW(struct mq_consumer);
  mq_conn_init(&c->conn, consumer_role(), c, rt, conf, connection_name);
  mq_topology_init(&c->topology, &c->conn);
  mq_ring_init(&c->deliveries, sizeof(struct mq_in *), RING_AT_FIRST, c->conn.to_loop);
  mq_ring_init(&c->acks, sizeof(struct mq_ack_item), RING_AT_FIRST, c->conn.to_thread);
  mq_ring_init(&c->added, sizeof(struct mq_subscription *), MQ_SUBSCRIPTIONS_MAX, c->conn.to_thread);
  mq_conn_start(&c->conn);
  return c;
}

void mq_consumer_exchange(struct mq_consumer *c, const struct mq_exchange *e)
{
  mq_topology_add_exchange(&c->topology, e);
}
void mq_consumer_queue(struct mq_consumer *c, const struct mq_queue *q) { mq_topology_add_queue(&c->topology, q); }
bool mq_consumer_is_up(const struct mq_consumer *c) { return atomic_load(&c->conn.up); }
const char *mq_consumer_fault(const struct mq_consumer *c) { return mq_conn_fault(&c->conn); }

static void subscription_free(struct mq_subscription *s)
{
  mq_consume_forget_content(s);
  mq_acks_release(&s->acks);
  mem_free(s->queue);
  mem_free(s);
}

// A place without a subscription, or with one that both sides are done with.
static size_t free_place(struct mq_consumer *c)
{
  for (size_t i = 0; i < MQ_SUBSCRIPTIONS_MAX; i++) {
    struct mq_subscription *s = c->subs[i];
    if (s == NULL) return i;
    if (!atomic_load(&s->finished)) continue;
    c->subs[i] = NULL;
    c->prefetch_total -= s->prefetch;
    subscription_free(s);
    return i;
  }
  return MQ_SUBSCRIPTIONS_MAX;
}

struct mq_subscription *mq_subscribe(struct mq_consumer *c, const char *queue, uint16_t prefetch,
                                     mq_delivery_fn *on_delivery, void *ctx)
{
  REQUIRE(prefetch > 0 && on_delivery != NULL);
  size_t place = free_place(c);
  REQUIRE(place < MQ_SUBSCRIPTIONS_MAX);
  struct mq_subscription *s = MEM_NEW(struct mq_subscription);
  s->consumer = c;
  s->queue = mem_strdup(queue);
  s->channel = (uint16_t)(MQ_FIRST_CONSUME_CHANNEL + place);
  s->prefetch = prefetch;
  s->on_delivery = on_delivery;
  s->ctx = ctx;
  mq_acks_init(&s->acks);
  c->subs[place] = s;
  c->prefetch_total += prefetch;
  // The broker never has more than this under way, so neither ring can overflow.
  mq_ring_grow(&c->deliveries, c->prefetch_total);
  mq_ring_grow(&c->acks, 2 * c->prefetch_total);
  enum result pushed = mq_ring_push(&c->added, &s);
  ENSURE(pushed == RESULT_OK);
  return s;
}

void mq_unsubscribe(struct mq_subscription *s)
{
  if (s->stopped) return;
  s->stopped = true;
  struct mq_consumer *c = s->consumer;
  atomic_store(&s->cancel, true);
  mq_bell_ring(c->conn.to_thread);
}

static struct mq_subscription *current(const struct mq_consumer *c, struct mq_tag tag)
{
  if (tag.channel < MQ_FIRST_CONSUME_CHANNEL || mq_sub_index(tag.channel) >= MQ_SUBSCRIPTIONS_MAX) return NULL;
  struct mq_subscription *s = c->subs[mq_sub_index(tag.channel)];
  return s != NULL && atomic_load(&s->generation) == tag.generation ? s : NULL;
}

static void hand_over(struct mq_consumer *c, struct mq_tag tag, bool requeue)
{
  if (current(c, tag) == NULL) return;
  struct mq_ack_item item = {.tag = tag, .requeue = requeue};
  if (mq_ring_push(&c->acks, &item) == RESULT_OK) {
    c->acks_handed_over++;
    return;
  }
  atomic_store(&c->restart, true);
  mq_bell_ring(c->conn.to_thread);
}

void mq_ack(struct mq_consumer *c, struct mq_tag tag) { hand_over(c, tag, false); }
void mq_requeue(struct mq_consumer *c, struct mq_tag tag) { hand_over(c, tag, true); }

static void dispatch(struct mq_consumer *c, struct mq_in *in)
{
  struct mq_subscription *s = current(c, in->tag);
  if (s != NULL && s->stopped) {
    mq_requeue(c, in->tag);
  } else if (s != NULL) {
    struct mq_delivery d = {.tag = in->tag,
                            .body = in->bytes,
                            .body_len = in->body_len,
                            .message_id = in->message_id,
                            .traceparent = in->traceparent,
                            .redelivered = in->redelivered};
    s->on_delivery(s->ctx, &d);
  }
  mem_free(in);  // of an older channel: the broker has requeued it
}

void mq_consume_on_bell(void *consumer)
{
  struct mq_consumer *c = consumer;
  struct mq_in *ins[DELIVERIES_AT_ONCE];
  for (size_t done = 0; done < DELIVERIES_PER_TURN; done += DELIVERIES_AT_ONCE) {
    size_t count = mq_ring_pop(&c->deliveries, ins, DELIVERIES_AT_ONCE);
    for (size_t i = 0; i < count; i++) dispatch(c, ins[i]);
    if (count < DELIVERIES_AT_ONCE) return;
  }
  mq_bell_ring(c->conn.to_loop);
}

void mq_consumer_flush(struct mq_consumer *c, struct span max_wait)
{
  struct mono_time until = mono_after(clk_mono(), max_wait);
  struct timespec at = {.tv_sec = until.us / 1000000, .tv_nsec = until.us % 1000000 * 1000};
  atomic_store(&c->flushing, true);
  mq_bell_ring(c->conn.to_thread);
  pthread_mutex_lock(&c->conn.lock);
  int waited = 0;
  while (waited == 0 && atomic_load(&c->conn.up) && atomic_load(&c->acks_written) < c->acks_handed_over)
    waited = pthread_cond_timedwait(&c->conn.progress, &c->conn.lock, &at);
  pthread_mutex_unlock(&c->conn.lock);
  atomic_store(&c->flushing, false);
}

void mq_consumer_free(struct mq_consumer *c)
{
  if (c == NULL) return;
  bool ended = mq_conn_stop(&c->conn);
  mq_topology_end(&c->topology, ended);
  struct mq_in *in;
  while (mq_ring_pop(&c->deliveries, &in, 1) == 1) mem_free(in);
  if (!ended) return;
  for (size_t i = 0; i < MQ_SUBSCRIPTIONS_MAX; i++)
    if (c->subs[i] != NULL) subscription_free(c->subs[i]);
  mq_topology_release(&c->topology);
  mq_ring_release(&c->deliveries);
  mq_ring_release(&c->acks);
  mq_ring_release(&c->added);
  mq_conn_release(&c->conn);
  mem_free(c);
}
