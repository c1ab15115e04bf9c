// SPDX-License-Identifier: Apache-2.0
// A blocking RabbitMQ session for tests: publish anything, look into queues. Errors end the test program.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

struct broker;
struct broker *broker_open(const char *url);
void broker_close(struct broker *b);
void broker_publish(struct broker *b, const char *exchange, const char *routing_key, const void *body,
                    size_t len);  // confirmed
// The same with a forged x-death header, as if it had died so often in this queue.
void broker_publish_dead(struct broker *b, const char *exchange, const char *routing_key, const void *body, size_t len,
                         const char *queue, int64_t deaths);
// Takes and acknowledges one message; false if the queue is empty.
bool broker_get(struct broker *b, const char *queue, struct buf *out_body);
// The same; the text headers and the message id ("message-id") go to out_headers as lines "name: value".
bool broker_get_all(struct broker *b, const char *queue, struct buf *out_body, struct buf *out_headers);
bool broker_has_queue(struct broker *b, const char *queue);
int64_t broker_count(struct broker *b, const char *queue);  // messages ready; -1 if there is no such queue
void broker_bind_queue(struct broker *b, const char *queue, const char *exchange,
                       const char *routing_key);  // own transient queue
// A quorum queue whose messages die after ttl_ms, into an exchange: what somebody left on the broker before the
// daemons.
void broker_make_rung(struct broker *b, const char *queue, int64_t ttl_ms, const char *dead_letter_exchange);
