// SPDX-License-Identifier: Apache-2.0
// RabbitMQ: a publisher and a consumer, each a rabbitmq-c connection in a thread of its own behind bounded rings and
// eventfds. They reconnect for ever, declare their topology again, and answer heartbeats. All calls and callbacks below
// belong to the loop thread. The only user of amqp.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/result.h"
#include "common/runtime.h"

struct mq_conf {
  char *url;            // amqp://user:password@host:port/vhost
  char *password_file;  // wins over the URL's password
  struct span heartbeat, connect_timeout, reconnect_max;
  int64_t ring_max;  // messages waiting to be published, and unconfirmed ones; a full ring is RESULT_FULL
};
// clang-format off
#define MQ_CONF_KEYS(config_type, member) \
  {"broker.url", CONF_TEXT, offsetof(config_type, member.url), "amqp://guest:guest@127.0.0.1:5672/", 0, 1024, CONF_SENSITIVE, NULL, NULL, "address of RabbitMQ"}, \
  {"broker.password_file", CONF_TEXT, offsetof(config_type, member.password_file), "", 0, 4096, 0, NULL, NULL, "file that holds the password, instead of the one in the address"}, \
  {"broker.heartbeat", CONF_SPAN, offsetof(config_type, member.heartbeat), "15s", 5000000, 60000000, 0, NULL, NULL, "a silent peer is given up after twice this"}, \
  {"broker.connect_timeout", CONF_SPAN, offsetof(config_type, member.connect_timeout), "5s", 100000, 60000000, 0, NULL, NULL, "a connection attempt is given up after this"}, \
  {"broker.reconnect_max", CONF_SPAN, offsetof(config_type, member.reconnect_max), "2s", 100000, 60000000, 0, NULL, NULL, "longest pause between two attempts to connect"}, \
  {"broker.ring_max", CONF_INT, offsetof(config_type, member.ring_max), "16384", 64, 1000000, 0, NULL, NULL, "messages that may wait for the broker or its confirm; further ones wait for the sweeper"}
// clang-format on

// What must exist; declared on every connect, and at once when added later. Equal declarations are harmless.
enum mq_exchange_type { MQ_DIRECT, MQ_FANOUT, MQ_TOPIC };
struct mq_exchange {
  char *name;
  enum mq_exchange_type type;
};
struct mq_queue {
  char *name;                  // durable quorum queue
  struct span ttl;             // queue-level message TTL; 0: none
  char *dead_letter_exchange;  // NULL: none. Messages keep their own routing key
  char *bind_exchange;         // NULL: none
  char *bind_key;
};

enum mq_outcome {
  MQ_CONFIRMED,
  MQ_RETURNED /* no queue took it */,
  MQ_NACKED,
  MQ_LOST /* connection gone: it may have arrived */
};
struct mq_header {
  const char *name, *value;
};
struct mq_message {
  const char *exchange, *routing_key;
  const char *body;
  size_t body_len;
  const char *content_type;  // "application/json"
  const char *message_id;    // NULL: none
  const char *type;          // NULL: none
  const struct mq_header *headers;
  size_t header_count;
  bool may_have_no_queue;  // news: that nobody listens is no fault, and it is not sent back (MQ_CONFIRMED then)
};
typedef void mq_outcome_fn(void *ctx, enum mq_outcome outcome);
typedef void mq_depth_fn(void *ctx, enum result r, uint64_t messages);

struct mq_publisher;
struct mq_publisher *mq_publisher_new(struct runtime *rt, const struct mq_conf *conf, const char *connection_name);
void mq_publisher_free(struct mq_publisher *p);  // what is unconfirmed gets MQ_LOST first
void mq_publisher_exchange(struct mq_publisher *p, const struct mq_exchange *e);  // copied
void mq_publisher_queue(struct mq_publisher *p, const struct mq_queue *q);        // copied
// Persistent, mandatory (but see may_have_no_queue); everything is copied. on_outcome (may be NULL) is called exactly
// once. RESULT_FULL: not taken, no callback.
MUST_CHECK enum result mq_publish(struct mq_publisher *p, const struct mq_message *m, mq_outcome_fn *on_outcome,
                                  void *ctx);
// Messages ready in a queue, by passive declaration. RESULT_FULL: not taken, no callback; RESULT_NOT_FOUND through the
// callback.
MUST_CHECK enum result mq_publisher_depth(struct mq_publisher *p, const char *queue, mq_depth_fn *on_depth, void *ctx);
size_t mq_publisher_open(const struct mq_publisher *p);      // in the ring or unconfirmed
bool mq_publisher_is_up(const struct mq_publisher *p);       // connected
bool mq_publisher_is_blocked(const struct mq_publisher *p);  // the broker refuses publishing for now
const char *mq_publisher_fault(
    const struct mq_publisher *p);  // topology refused: one line naming the queue; NULL: none

struct mq_delivery {  // valid during the callback, except `tag`
  struct mq_tag {
    uint64_t delivery;
    uint32_t generation;
    uint16_t channel;
  } tag;
  const char *body;
  size_t body_len;
  const char *message_id;   // "" if none
  const char *traceparent;  // header; "" if none
  bool redelivered;
};
struct mq_consumer;
struct mq_subscription;
typedef void mq_delivery_fn(void *ctx, const struct mq_delivery *d);

struct mq_consumer *mq_consumer_new(struct runtime *rt, const struct mq_conf *conf, const char *connection_name);
void mq_consumer_free(struct mq_consumer *c);  // unacknowledged deliveries go back to their queues
void mq_consumer_exchange(struct mq_consumer *c, const struct mq_exchange *e);
void mq_consumer_queue(struct mq_consumer *c, const struct mq_queue *q);
// One channel with its own prefetch. At most `prefetch` deliveries are unacknowledged at any time.
struct mq_subscription *mq_subscribe(struct mq_consumer *c, const char *queue, uint16_t prefetch,
                                     mq_delivery_fn *on_delivery, void *ctx);
void mq_unsubscribe(struct mq_subscription *s);  // drain: no new deliveries; what is unacknowledged may still be acked
// Acks of an older connection are ignored: the broker has requeued those deliveries already.
void mq_ack(struct mq_consumer *c, struct mq_tag tag);
void mq_requeue(struct mq_consumer *c, struct mq_tag tag);
bool mq_consumer_is_up(const struct mq_consumer *c);
const char *mq_consumer_fault(const struct mq_consumer *c);
// Writes out what is acknowledged and not yet sent, waiting at most this long. For the end of a drain.
void mq_consumer_flush(struct mq_consumer *c, struct span max_wait);
