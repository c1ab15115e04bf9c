// SPDX-License-Identifier: Apache-2.0
// The loop's side of the topology: entries are copied and handed over, questions are counted and their answers called.
// Owner: the loop thread.
#include "common/mq_topology_entry.h"

#include "common/log.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/mq_conn.h"
#include "common/mq_topology.h"

#define ADDED_AT_FIRST 64

void mq_topology_init(struct mq_topology *t, struct mq_conn *conn)
{
  *t = (struct mq_topology){.conn = conn};
  mq_ring_init(&t->added, sizeof(struct mq_entry *), ADDED_AT_FIRST, conn->to_thread);
  mq_ring_init(&t->asked, sizeof(struct mq_ask *), MQ_ASKS_MAX, conn->to_thread);
  mq_ring_init(&t->answered, sizeof(struct mq_ask *), MQ_ASKS_MAX, conn->to_loop);
}

static char *copy(const char *text) { return text != NULL ? mem_strdup(text) : NULL; }

static void entry_free(struct mq_entry *e)
{
  mem_free(e->name);
  mem_free(e->dead_letter_exchange);
  mem_free(e->bind_exchange);
  mem_free(e->bind_key);
  mem_free(e->fault);
  mem_free(e);
}

void mq_entry_set_fault(struct mq_entry *e, const char *text)
{
  mem_free(e->fault);
  e->fault = copy(text);
}

void mq_topology_release(struct mq_topology *t)
{
  struct mq_entry *e;
  while (mq_ring_pop(&t->added, &e, 1) == 1) entry_free(e);
  for (size_t i = 0; i < t->count; i++) entry_free(t->entries[i]);
  mem_free(t->entries);
  mq_ring_release(&t->added);
  mq_ring_release(&t->asked);
  mq_ring_release(&t->answered);
}

// The program's own topology: bounded by its configuration, so the ring may grow.
static void hand_over(struct mq_topology *t, struct mq_entry *e)
{
  while (mq_ring_push(&t->added, &e) != RESULT_OK) mq_ring_grow(&t->added, 2 * mq_ring_count(&t->added) + 1);
}

void mq_topology_add_exchange(struct mq_topology *t, const struct mq_exchange *x)
{
  struct mq_entry *e = MEM_NEW(struct mq_entry);
  e->name = mem_strdup(x->name);
  e->type = x->type;
  hand_over(t, e);
}

void mq_topology_add_queue(struct mq_topology *t, const struct mq_queue *q)
{
  struct mq_entry *e = MEM_NEW(struct mq_entry);
  e->is_queue = true;
  e->name = mem_strdup(q->name);
  e->ttl = q->ttl;
  e->dead_letter_exchange = copy(q->dead_letter_exchange);
  e->bind_exchange = copy(q->bind_exchange);
  e->bind_key = copy(q->bind_key);
  hand_over(t, e);
}

enum result mq_topology_ask(struct mq_topology *t, const char *queue, mq_depth_fn *on_depth, void *ctx)
{
  if (t->asks_open == MQ_ASKS_MAX) return RESULT_FULL;
  struct mq_ask *ask = MEM_NEW(struct mq_ask);
  ask->queue = mem_strdup(queue);
  ask->on_depth = on_depth;
  ask->ctx = ctx;
  if (mq_ring_push(&t->asked, &ask) != RESULT_OK) {
    mem_free(ask->queue);
    mem_free(ask);
    return RESULT_FULL;
  }
  t->asks_open++;
  return RESULT_OK;
}

static void call_back(struct mq_topology *t, struct mq_ask *ask)
{
  t->asks_open--;
  if (ask->result == RESULT_OK)
    metric_series_put(METRIC_SERIES(t->conn->rt->metrics, M_MQ_QUEUE_DEPTH, ask->queue), (double)ask->messages);
  if (ask->on_depth != NULL) ask->on_depth(ask->ctx, ask->result, ask->messages);
  mem_free(ask->queue);
  mem_free(ask);
}

void mq_topology_answer(struct mq_topology *t)
{
  struct mq_ask *ask;
  while (mq_ring_pop(&t->answered, &ask, 1) == 1) call_back(t, ask);
}

void mq_topology_end(struct mq_topology *t, bool thread_ended)
{
  mq_topology_answer(t);
  struct mq_ask *ask = thread_ended ? t->ask : NULL;
  if (ask != NULL) t->ask = NULL;
  while (ask != NULL || mq_ring_pop(&t->asked, &ask, 1) == 1) {
    ask->result = RESULT_UNAVAILABLE;
    call_back(t, ask);
    ask = NULL;
  }
}
