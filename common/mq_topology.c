// SPDX-License-Identifier: Apache-2.0
// Declarations and depth questions as a small state machine on a channel of its own, so that a refusal (which closes
// the channel) disturbs neither publishing nor consuming. Owner: the connection's thread.
#include "common/mq_topology.h"

#include <amqp.h>
#include <amqp_framing.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/mq_conn.h"
#include "common/mq_topology_entry.h"

#define ANSWER_TIMEOUT_S    15
#define REFUSED_RETRY_S     15  // settings differ: somebody has to act
#define UNAVAILABLE_RETRY_S 1   // the queue's node is away or starting

static amqp_bytes_t bytes_of(const char *text) { return text != NULL ? amqp_cstring_bytes(text) : amqp_empty_bytes; }

static void await_answer(struct mq_topology *t)
{
  t->deadline = mono_after(clk_mono(), span_s(ANSWER_TIMEOUT_S));
  mq_conn_due(t->conn, t->deadline);
}

static void declare_exchange(struct mq_topology *t, const struct mq_entry *e)
{
  static const char *const types[] = {[MQ_DIRECT] = "direct", [MQ_FANOUT] = "fanout", [MQ_TOPIC] = "topic"};
  amqp_exchange_declare_t m = {.exchange = bytes_of(e->name), .type = bytes_of(types[e->type]), .durable = 1};
  mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_EXCHANGE_DECLARE_METHOD, &m);
}

static void declare_queue(struct mq_topology *t, const struct mq_entry *e)
{
  amqp_table_entry_t args[3] = {0};
  int count = 0;
  args[count].key = amqp_cstring_bytes("x-queue-type");
  args[count].value.kind = AMQP_FIELD_KIND_UTF8;
  args[count++].value.value.bytes = amqp_cstring_bytes("quorum");
  if (e->ttl.us > 0) {
    args[count].key = amqp_cstring_bytes("x-message-ttl");
    args[count].value.kind = AMQP_FIELD_KIND_I64;
    args[count++].value.value.i64 = span_to_ms(e->ttl);
  }
  if (e->dead_letter_exchange != NULL) {
    args[count].key = amqp_cstring_bytes("x-dead-letter-exchange");
    args[count].value.kind = AMQP_FIELD_KIND_UTF8;
    args[count++].value.value.bytes = amqp_cstring_bytes(e->dead_letter_exchange);
  }
  amqp_queue_declare_t m = {
      .queue = bytes_of(e->name), .durable = 1, .arguments = {.num_entries = count, .entries = args}};
  mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_QUEUE_DECLARE_METHOD, &m);
}

static void bind_queue(struct mq_topology *t, const struct mq_entry *e)
{
  amqp_queue_bind_t m = {
      .queue = bytes_of(e->name), .exchange = bytes_of(e->bind_exchange), .routing_key = bytes_of(e->bind_key)};
  mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_QUEUE_BIND_METHOD, &m);
}

static void start_entry(struct mq_topology *t, struct mq_entry *e)
{
  t->current = e;
  t->state = MQ_TOPOLOGY_BUSY;
  if (e->step == MQ_STEP_BIND)
    bind_queue(t, e);
  else if (e->is_queue)
    declare_queue(t, e);
  else
    declare_exchange(t, e);
  await_answer(t);
}

static void start_ask(struct mq_topology *t)
{
  amqp_queue_declare_t m = {.queue = bytes_of(t->ask->queue), .passive = 1};
  t->state = MQ_TOPOLOGY_BUSY;
  mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_QUEUE_DECLARE_METHOD, &m);
  await_answer(t);
}

// The next entry to declare, or NULL. Refused ones come round again when their pause is over.
static struct mq_entry *next_entry(struct mq_topology *t)
{
  struct mono_time now = clk_mono();
  for (size_t i = 0; i < t->count; i++) {
    struct mq_entry *e = t->entries[i];
    if (e->step == MQ_STEP_DECLARE || e->step == MQ_STEP_BIND) return e;
    if (e->step != MQ_STEP_REFUSED) continue;
    if (mono_before(now, e->retry_at)) {
      mq_conn_due(t->conn, e->retry_at);
    } else {
      e->step = MQ_STEP_DECLARE;
      return e;
    }
  }
  return NULL;
}

static void publish_fault(struct mq_topology *t)
{
  const char *fault = "";
  for (size_t i = 0; i < t->count && fault[0] == '\0'; i++)
    if (t->entries[i]->fault != NULL) fault = t->entries[i]->fault;
  mq_conn_set_fault(t->conn, fault);
}

static void answer(struct mq_topology *t, enum result r, uint64_t messages)
{
  struct mq_ask *ask = t->ask;
  if (ask == NULL) return;
  t->ask = NULL;
  ask->result = r;
  ask->messages = messages;
  enum result pushed = mq_ring_push(&t->answered, &ask);
  ENSURE(pushed == RESULT_OK);  // as many places as questions that may be open
}

static void answer_all_unavailable(struct mq_topology *t)
{
  do answer(t, RESULT_UNAVAILABLE, 0);
  while (mq_ring_pop(&t->asked, &t->ask, 1) == 1);
}

static void take_added(struct mq_topology *t)
{
  struct mq_entry *e;
  while (mq_ring_pop(&t->added, &e, 1) == 1) {
    if (t->count == t->cap) {
      t->cap = t->cap == 0 ? 16 : 2 * t->cap;
      t->entries = mem_resize(t->entries, t->cap, sizeof(struct mq_entry *));
    }
    t->entries[t->count++] = e;
  }
}

static void start_next(struct mq_topology *t)
{
  struct mq_entry *e = next_entry(t);
  bool asked = e == NULL && mq_ring_pop(&t->asked, &t->ask, 1) == 1;
  if (e != NULL)
    start_entry(t, e);
  else if (asked)
    start_ask(t);
}

void mq_topology_work(struct mq_topology *t)
{
  take_added(t);
  // A blocked broker reads nothing: what is asked now would be answered after the alarm, perhaps in hours.
  if (atomic_load(&t->conn->blocked)) {
    answer_all_unavailable(t);
    if (t->state != MQ_TOPOLOGY_IDLE) await_answer(t);
    return;
  }
  if (t->state == MQ_TOPOLOGY_CLOSED) {
    amqp_channel_open_t m = {0};
    t->state = MQ_TOPOLOGY_OPENING;
    mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_CHANNEL_OPEN_METHOD, &m);
    await_answer(t);
  } else if (t->state == MQ_TOPOLOGY_IDLE) {
    start_next(t);
  } else if (mono_before(t->deadline, clk_mono())) {
    mq_conn_fail(t->conn, "no answer to a declaration within %d s%s%s", ANSWER_TIMEOUT_S,
                 t->current != NULL ? ": " : "", t->current != NULL ? t->current->name : "");
  } else {
    mq_conn_due(t->conn, t->deadline);
  }
}

static void on_done(struct mq_topology *t, const amqp_method_t *m)
{
  struct mq_entry *e = t->current;
  t->state = MQ_TOPOLOGY_IDLE;
  t->current = NULL;
  t->conn->again = true;
  if (e == NULL) {
    if (m->id == AMQP_QUEUE_DECLARE_OK_METHOD)
      answer(t, RESULT_OK, ((const amqp_queue_declare_ok_t *)m->decoded)->message_count);
    return;
  }
  if (e->step == MQ_STEP_DECLARE && e->bind_exchange != NULL) {
    mq_entry_set_fault(e, NULL);
    e->step = MQ_STEP_BIND;
    return;
  }
  if (e->step == MQ_STEP_DECLARE) mq_entry_set_fault(e, NULL);
  // Bound, though it differs from what was asked for: usable, and tried again later.
  e->step = e->fault != NULL ? MQ_STEP_REFUSED : MQ_STEP_DONE;
  publish_fault(t);
}

static void on_refused(struct mq_topology *t, const amqp_channel_close_t *close)
{
  struct mq_entry *e = t->current;
  t->state = MQ_TOPOLOGY_CLOSED;
  t->current = NULL;
  t->conn->again = true;
  if (e == NULL) {
    answer(t, close->reply_code == AMQP_NOT_FOUND ? RESULT_NOT_FOUND : RESULT_UNAVAILABLE, 0);
    return;
  }
  char text[MQ_TEXT_BYTES];
  snprintf(text, sizeof text, "%s %s: %.*s", e->is_queue ? "queue" : "exchange", e->name, (int)close->reply_text.len,
           (const char *)close->reply_text.bytes);
  bool differs = close->reply_code == AMQP_PRECONDITION_FAILED;
  bool lasting = differs || close->reply_code == AMQP_ACCESS_REFUSED;
  mq_entry_set_fault(e, text);
  e->retry_at = mono_after(clk_mono(), span_s(lasting ? REFUSED_RETRY_S : UNAVAILABLE_RETRY_S));
  // A queue with other settings still takes messages, if it is bound.
  e->step = differs && e->step == MQ_STEP_DECLARE && e->bind_exchange != NULL ? MQ_STEP_BIND : MQ_STEP_REFUSED;
  publish_fault(t);
}

void mq_topology_on_frame(struct mq_topology *t, const amqp_frame_t *frame)
{
  if (frame->frame_type != AMQP_FRAME_METHOD) return;
  const amqp_method_t *m = &frame->payload.method;
  switch (m->id) {
    case AMQP_CHANNEL_OPEN_OK_METHOD:
    case AMQP_EXCHANGE_DECLARE_OK_METHOD:
    case AMQP_QUEUE_DECLARE_OK_METHOD:
    case AMQP_QUEUE_BIND_OK_METHOD: on_done(t, m); return;
    case AMQP_CHANNEL_CLOSE_METHOD: {
      amqp_channel_close_ok_t ok = {0};
      mq_conn_send(t->conn, MQ_TOPOLOGY_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
      on_refused(t, m->decoded);
      return;
    }
    default: return;
  }
}

void mq_topology_again(struct mq_topology *t)
{
  for (size_t i = 0; i < t->count; i++)
    if (t->entries[i] != t->current) t->entries[i]->step = MQ_STEP_DECLARE;
}

void mq_topology_on_down(struct mq_topology *t)
{
  t->state = MQ_TOPOLOGY_CLOSED;
  t->current = NULL;
  take_added(t);
  mq_topology_again(t);
  answer_all_unavailable(t);
}

bool mq_topology_is_ready(const struct mq_topology *t)
{
  for (size_t i = 0; i < t->count; i++)
    if (t->entries[i]->step == MQ_STEP_DECLARE || t->entries[i]->step == MQ_STEP_BIND) return false;
  return true;
}
