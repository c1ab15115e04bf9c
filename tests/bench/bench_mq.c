// SPDX-License-Identifier: Apache-2.0
// How fast one publisher gets confirms and one consumer acknowledges, on one quorum queue of a private RabbitMQ.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/mq_probe.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

enum { MESSAGES = 200000, PREFETCH = 1000, SMALL = 60, FULL = 4000 };

struct tally {
  int count;
  struct mq_consumer *consumer;
};

static void on_outcome(void *ctx, enum mq_outcome outcome)
{
  if (outcome != MQ_CONFIRMED) support_die("outcome %d", (int)outcome);
  ((struct tally *)ctx)->count++;
}

static void on_delivery(void *ctx, const struct mq_delivery *d)
{
  struct tally *t = ctx;
  t->count++;
  mq_ack(t->consumer, d->tag);
}

static double publish(struct mq_rig *rig, struct mq_publisher *p, size_t size, int messages)
{
  struct tally done = {0};
  char *body = mem_zalloc(size, 1);
  memset(body, 'x', size);
  struct mq_message m = {.exchange = "bench",
                         .routing_key = "a",
                         .body = body,
                         .body_len = size,
                         .content_type = "application/json",
                         .message_id = "12-345678"};
  double begin = support_now();
  for (int sent = 0; done.count < messages;) {
    while (sent < messages && mq_publish(p, &m, on_outcome, &done) == RESULT_OK) sent++;
    mq_rig_turn(rig);
  }
  mem_free(body);
  return messages / (support_now() - begin);
}

static double consume(struct mq_rig *rig, struct mq_consumer *c, int messages)
{
  struct tally done = {.consumer = c};
  double begin = support_now();
  struct mq_subscription *s = mq_subscribe(c, "bench", PREFETCH, on_delivery, &done);
  MQ_WAIT(rig, done.count >= messages, 120);
  mq_consumer_flush(c, span_s(5));
  double rate = messages / (support_now() - begin);
  mq_unsubscribe(s);
  return rate;
}

int main(void)
{
  struct server *server = server_start();
  char *url = server_new_broker_url(server);
  struct mq_rig rig;
  mq_rig_init(&rig, url);
  rig.conf.ring_max = 16384;
  struct mq_publisher *p = mq_rig_publisher(&rig);
  struct mq_consumer *c = mq_rig_consumer(&rig);
  const struct mq_exchange x = {.name = "bench", .type = MQ_DIRECT};
  const struct mq_queue q = {.name = "bench", .bind_exchange = "bench", .bind_key = "a"};
  mq_publisher_exchange(p, &x);
  mq_publisher_queue(p, &q);
  double small = publish(&rig, p, SMALL, MESSAGES), taken = consume(&rig, c, MESSAGES);
  double full = publish(&rig, p, FULL, MESSAGES / 5), taken_full = consume(&rig, c, MESSAGES / 5);
  printf(
      "{\"publish_confirmed_per_s\": %.0f, \"consume_acked_per_s\": %.0f, \"publish_4k_per_s\": %.0f, "
      "\"consume_4k_per_s\": %.0f}\n",
      small, taken, full, taken_full);
  mq_consumer_free(c);
  mq_publisher_free(p);
  mq_rig_release(&rig);
  mem_free(url);
  server_free(server);
  return EXIT_SUCCESS;
}
