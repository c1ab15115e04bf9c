// SPDX-License-Identifier: Apache-2.0
// Blocking rabbitmq-c for test programs; see broker.h.
#include "tests/support/broker.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <string.h>
#include <sys/time.h>

#include "common/mem.h"
#include "tests/support/support.h"

#define CHANNEL         1
#define FRAME_BYTES_MAX 131072

struct broker {
  amqp_connection_state_t conn;
  char *url;
};

static void check(struct broker *b, const char *what)
{
  amqp_rpc_reply_t reply = amqp_get_rpc_reply(b->conn);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL)
    support_die(
        "broker, %s: %s", what,
        reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION ? amqp_error_string2(reply.library_error) : "refused");
}

static void connect_broker(struct broker *b)
{
  char *copy = mem_strdup(b->url);
  struct amqp_connection_info info;
  if (amqp_parse_url(copy, &info) != AMQP_STATUS_OK) support_die("broker URL %s", b->url);
  b->conn = amqp_new_connection();
  amqp_socket_t *socket = amqp_tcp_socket_new(b->conn);
  struct timeval patience = {.tv_sec = 10};
  if (socket == NULL || amqp_socket_open_noblock(socket, info.host, info.port, &patience) != AMQP_STATUS_OK)
    support_die("cannot connect to %s", b->url);
  const char *vhost = strcmp(info.vhost, "%2f") == 0 ? "/" : info.vhost;
  amqp_rpc_reply_t reply =
      amqp_login(b->conn, vhost, 0, FRAME_BYTES_MAX, 0, AMQP_SASL_METHOD_PLAIN, info.user, info.password);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL) support_die("cannot log in to %s", b->url);
  mem_free(copy);
}

static void open_channel(struct broker *b)
{
  (void)amqp_channel_open(b->conn, CHANNEL);
  check(b, "open channel");
  (void)amqp_confirm_select(b->conn, CHANNEL);
  check(b, "confirm.select");
}

struct broker *broker_open(const char *url)
{
  struct broker *b = MEM_NEW(struct broker);
  b->url = mem_strdup(url);
  connect_broker(b);
  open_channel(b);
  return b;
}

static void disconnect(struct broker *b)
{
  (void)amqp_connection_close(b->conn, AMQP_REPLY_SUCCESS);
  (void)amqp_destroy_connection(b->conn);
}

void broker_close(struct broker *b)
{
  if (b == NULL) return;
  disconnect(b);
  mem_free(b->url);
  mem_free(b);
}

static void publish(struct broker *b, const char *exchange, const char *routing_key, const void *body, size_t len,
                    const amqp_table_t *headers)
{
  amqp_basic_properties_t p = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 2};
  if (headers != NULL) {
    p._flags |= AMQP_BASIC_HEADERS_FLAG;
    p.headers = *headers;
  }
  amqp_bytes_t bytes = {.len = len, .bytes = (void *)(uintptr_t)body};
  int status = amqp_basic_publish(b->conn, CHANNEL, amqp_cstring_bytes(exchange), amqp_cstring_bytes(routing_key), 0, 0,
                                  &p, bytes);
  if (status != AMQP_STATUS_OK) support_die("broker, publish: %s", amqp_error_string2(status));
  amqp_frame_t frame;
  struct timeval patience = {.tv_sec = 10};
  status = amqp_simple_wait_frame_noblock(b->conn, &frame, &patience);
  if (status != AMQP_STATUS_OK || frame.frame_type != AMQP_FRAME_METHOD ||
      frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
    support_die("broker: no confirm for a message to %s, %s", exchange, routing_key);
  amqp_maybe_release_buffers(b->conn);
}

void broker_publish(struct broker *b, const char *exchange, const char *routing_key, const void *body, size_t len)
{
  publish(b, exchange, routing_key, body, len, NULL);
}

static amqp_table_entry_t text_entry(const char *name, const char *value)
{
  return (amqp_table_entry_t){.key = amqp_cstring_bytes(name),
                              .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(value)}};
}

void broker_publish_dead(struct broker *b, const char *exchange, const char *routing_key, const void *body, size_t len,
                         const char *queue, int64_t deaths)
{
  amqp_table_entry_t death[] = {
      {.key = amqp_cstring_bytes("count"), .value = {.kind = AMQP_FIELD_KIND_I64, .value.i64 = deaths}},
      text_entry("reason", "rejected"),
      text_entry("queue", queue),
  };
  amqp_field_value_t item = {.kind = AMQP_FIELD_KIND_TABLE, .value.table = {.num_entries = 3, .entries = death}};
  amqp_table_entry_t header = {
      .key = amqp_cstring_bytes("x-death"),
      .value = {.kind = AMQP_FIELD_KIND_ARRAY, .value.array = {.num_entries = 1, .entries = &item}}};
  const amqp_table_t headers = {.num_entries = 1, .entries = &header};
  publish(b, exchange, routing_key, body, len, &headers);
}

static void put_line(struct buf *out, amqp_bytes_t name, amqp_bytes_t value)
{
  buf_append(out, name.bytes, name.len);
  buf_puts(out, ": ");
  buf_append(out, value.bytes, value.len);
  buf_putc(out, '\n');
}

static void put_headers(struct buf *out, const amqp_basic_properties_t *p)
{
  put_line(out, amqp_cstring_bytes("message-id"), p->message_id);
  put_line(out, amqp_cstring_bytes("content-type"), p->content_type);
  for (int i = 0; i < p->headers.num_entries; i++) {
    const amqp_table_entry_t *e = &p->headers.entries[i];
    if (e->value.kind == AMQP_FIELD_KIND_UTF8) put_line(out, e->key, e->value.value.bytes);
  }
}

bool broker_get_all(struct broker *b, const char *queue, struct buf *out_body, struct buf *out_headers)
{
  amqp_rpc_reply_t reply = amqp_basic_get(b->conn, CHANNEL, amqp_cstring_bytes(queue), 1);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL) support_die("broker: cannot read %s", queue);
  if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return false;
  amqp_message_t message;
  reply = amqp_read_message(b->conn, CHANNEL, &message, 0);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL) support_die("broker: cannot read a message of %s", queue);
  buf_append(out_body, message.body.bytes, message.body.len);
  if (out_headers != NULL) put_headers(out_headers, &message.properties);
  amqp_destroy_message(&message);
  amqp_maybe_release_buffers(b->conn);
  return true;
}

bool broker_get(struct broker *b, const char *queue, struct buf *out_body)
{
  return broker_get_all(b, queue, out_body, NULL);
}

int64_t broker_count(struct broker *b, const char *queue)
{
  amqp_queue_declare_ok_t *ok =
      amqp_queue_declare(b->conn, CHANNEL, amqp_cstring_bytes(queue), 1, 0, 0, 0, amqp_empty_table);
  if (ok != NULL) return (int64_t)ok->message_count;
  // A missing queue closes the channel.
  disconnect(b);
  connect_broker(b);
  open_channel(b);
  return -1;
}

bool broker_has_queue(struct broker *b, const char *queue) { return broker_count(b, queue) >= 0; }

void broker_bind_queue(struct broker *b, const char *queue, const char *exchange, const char *routing_key)
{
  (void)amqp_queue_declare(b->conn, CHANNEL, amqp_cstring_bytes(queue), 0, 0, 0, 1, amqp_empty_table);
  check(b, "declare queue");
  (void)amqp_queue_bind(b->conn, CHANNEL, amqp_cstring_bytes(queue), amqp_cstring_bytes(exchange),
                        amqp_cstring_bytes(routing_key), amqp_empty_table);
  check(b, "bind queue");
}

void broker_make_rung(struct broker *b, const char *queue, int64_t ttl_ms, const char *dead_letter_exchange)
{
  amqp_table_entry_t entries[] = {
      text_entry("x-queue-type", "quorum"),
      text_entry("x-dead-letter-exchange", dead_letter_exchange),
      {.key = amqp_cstring_bytes("x-message-ttl"), .value = {.kind = AMQP_FIELD_KIND_I64, .value.i64 = ttl_ms}},
  };
  const amqp_table_t arguments = {.num_entries = 3, .entries = entries};
  (void)amqp_queue_declare(b->conn, CHANNEL, amqp_cstring_bytes(queue), 0, 1, 0, 0, arguments);
  check(b, "declare rung");
}
