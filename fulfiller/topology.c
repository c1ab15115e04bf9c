// SPDX-License-Identifier: Apache-2.0
// Declaring lanes, rungs and the queue of dead letters. Loop thread.
#include "fulfiller/topology.h"

#include <stdio.h>

#include "common/text.h"

// Announcements that nobody fetched; the rows they speak of stay.
#define DEAD_TTL_S (7 * 24 * 3600)

void topology_lane_name(const char *provider, char out[TOPOLOGY_NAME_BYTES])
{
  snprintf(out, TOPOLOGY_NAME_BYTES, TOPOLOGY_LANE_PREFIX "%s", provider);
}

void topology_rung_name(struct span delay, char out[TOPOLOGY_NAME_BYTES])
{
  struct buf text;
  buf_init(&text, 32);
  text_from_span(delay, &text);
  snprintf(out, TOPOLOGY_NAME_BYTES, TOPOLOGY_RUNG_PREFIX "%s", buf_text(&text));
  buf_release(&text);
}

void topology_declare_common(struct mq_publisher *publisher, struct mq_consumer *consumer)
{
  char fulfilment[] = TOPOLOGY_EXCHANGE, dead[] = TOPOLOGY_DEAD, no_key[] = "";
  const struct mq_exchange lanes = {fulfilment, MQ_DIRECT}, letters = {dead, MQ_FANOUT};
  const struct mq_queue queue = {.name = dead, .ttl = span_s(DEAD_TTL_S), .bind_exchange = dead, .bind_key = no_key};
  mq_consumer_exchange(consumer, &lanes);
  mq_publisher_exchange(publisher, &lanes);
  mq_publisher_exchange(publisher, &letters);
  mq_publisher_queue(publisher, &queue);
}

static void declare_rung(struct mq_publisher *publisher, struct span delay)
{
  char fulfilment[] = TOPOLOGY_EXCHANGE, no_key[] = "";
  char name[TOPOLOGY_NAME_BYTES];
  topology_rung_name(delay, name);
  const struct mq_exchange exchange = {name, MQ_FANOUT};
  const struct mq_queue queue = {
      .name = name, .ttl = delay, .dead_letter_exchange = fulfilment, .bind_exchange = name, .bind_key = no_key};
  mq_publisher_exchange(publisher, &exchange);
  mq_publisher_queue(publisher, &queue);
}

void topology_declare_lane(struct mq_publisher *publisher, struct mq_consumer *consumer, const struct provider *p)
{
  char fulfilment[] = TOPOLOGY_EXCHANGE;
  char name[TOPOLOGY_NAME_BYTES], key[TOPOLOGY_NAME_BYTES];
  topology_lane_name(p->name, name);
  snprintf(key, sizeof key, "%s", p->name);
  const struct mq_queue lane = {.name = name, .bind_exchange = fulfilment, .bind_key = key};
  mq_consumer_queue(consumer, &lane);
  mq_publisher_queue(publisher, &lane);
  for (size_t i = 0; i < p->conf->ladder.count; i++) declare_rung(publisher, p->conf->ladder.items[i]);
}
