// SPDX-License-Identifier: Apache-2.0
// The loop's side of publishing: copies messages into the ring, counts what is open, calls the outcomes.
// Owner: the loop thread.
#include "common/mq_publish.h"

#include <string.h>

#include "common/contract.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/metric.h"

#define OUTCOMES_PER_TURN     4096
#define RETURNED_LOG_PERIOD_S 1

const struct mq_role *mq_publish_role(void)
{
  static const struct mq_role role = {.name = "publisher",
                                      .on_up = mq_publish_on_up,
                                      .on_frame = mq_publish_on_frame,
                                      .on_work = mq_publish_on_work,
                                      .on_down = mq_publish_on_down,
                                      .on_bell = mq_publish_on_bell};
  return &role;
}

struct mq_publisher *mq_publisher_new(struct runtime *rt, const struct mq_conf *conf, const char *connection_name)
{
  static const char *const names[MQ_OUTCOMES] = {"confirmed", "returned", "nacked", "lost"};
  REQUIRE(conf->ring_max > 0);
  struct mq_publisher *p = MEM_NEW(struct mq_publisher);
  mq_conn_init(&p->conn, mq_publish_role(), p, rt, conf, connection_name);
  mq_topology_init(&p->topology, &p->conn);
  p->ring_max = (size_t)conf->ring_max;
  mq_ring_init(&p->waiting, sizeof(struct mq_post *), p->ring_max, p->conn.to_thread);
  mq_ring_init(&p->settled, sizeof(struct mq_post *), p->ring_max, p->conn.to_loop);
  p->window_size = 1;
  while (p->window_size < p->ring_max) p->window_size *= 2;
  p->window = MEM_ARRAY(struct mq_post *, p->window_size);
  p->oldest = p->next = 1;
  for (size_t i = 0; i < MQ_OUTCOMES; i++) p->published[i] = METRIC_SERIES(rt->metrics, M_MQ_PUBLISHED, names[i]);
  mq_conn_start(&p->conn);
  return p;
}

void mq_publisher_exchange(struct mq_publisher *p, const struct mq_exchange *e)
{
  mq_topology_add_exchange(&p->topology, e);
}
void mq_publisher_queue(struct mq_publisher *p, const struct mq_queue *q) { mq_topology_add_queue(&p->topology, q); }
size_t mq_publisher_open(const struct mq_publisher *p) { return p->open; }
bool mq_publisher_is_up(const struct mq_publisher *p) { return atomic_load(&p->conn.up); }
bool mq_publisher_is_blocked(const struct mq_publisher *p) { return atomic_load(&p->conn.blocked); }
const char *mq_publisher_fault(const struct mq_publisher *p) { return mq_conn_fault(&p->conn); }

enum result mq_publisher_depth(struct mq_publisher *p, const char *queue, mq_depth_fn *on_depth, void *ctx)
{
  if (p->closing) return RESULT_FULL;
  return mq_topology_ask(&p->topology, queue, on_depth, ctx);
}

static bool is_short(const char *text) { return text == NULL || strlen(text) <= MQ_SHORT_TEXT_MAX; }

static enum result check(const struct mq_message *m)
{
  REQUIRE(m->exchange != NULL && m->routing_key != NULL);
  if (m->body_len > MQ_BODY_BYTES_MAX || m->header_count > MQ_HEADERS_MAX) return RESULT_TOO_BIG;
  if (!is_short(m->exchange) || !is_short(m->routing_key) || !is_short(m->content_type) || !is_short(m->message_id) ||
      !is_short(m->type))
    return RESULT_INVALID;
  for (size_t i = 0; i < m->header_count; i++)
    if (!is_short(m->headers[i].name)) return RESULT_INVALID;
  return RESULT_OK;
}

static size_t bytes_for(const char *text) { return text != NULL ? strlen(text) + 1 : 0; }

static const char *place(char **at, const char *text)
{
  if (text == NULL) return NULL;
  size_t len = strlen(text) + 1;
  char *to = *at;
  memcpy(to, text, len);
  *at += len;
  return to;
}

static size_t bytes_for_message(const struct mq_message *m)
{
  size_t total = m->body_len + m->header_count * sizeof(struct mq_header);
  const char *const texts[] = {m->exchange, m->routing_key, m->content_type, m->message_id, m->type};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) total += bytes_for(texts[i]);
  for (size_t i = 0; i < m->header_count; i++) total += bytes_for(m->headers[i].name) + bytes_for(m->headers[i].value);
  return total;
}

static struct mq_post *post_new(const struct mq_message *m)
{
  struct mq_post *post = mem_zalloc(1, sizeof *post + bytes_for_message(m));
  char *at = post->bytes;
  post->headers = (struct mq_header *)(void *)at;  // first, while it is aligned
  post->header_count = m->header_count;
  at += m->header_count * sizeof *post->headers;
  for (size_t i = 0; i < m->header_count; i++) {
    post->headers[i].name = place(&at, m->headers[i].name);
    post->headers[i].value = place(&at, m->headers[i].value);
  }
  post->exchange = place(&at, m->exchange);
  post->routing_key = place(&at, m->routing_key);
  post->content_type = place(&at, m->content_type);
  post->message_id = place(&at, m->message_id);
  post->type = place(&at, m->type);
  post->body = at;
  post->body_len = m->body_len;
  post->may_have_no_queue = m->may_have_no_queue;
  if (m->body_len > 0) memcpy(at, m->body, m->body_len);
  return post;
}

enum result mq_publish(struct mq_publisher *p, const struct mq_message *m, mq_outcome_fn *on_outcome, void *ctx)
{
  enum result checked = check(m);
  if (checked != RESULT_OK) return checked;
  if (p->closing || p->open == p->ring_max) return RESULT_FULL;
  struct mq_post *post = post_new(m);
  post->on_outcome = on_outcome;
  post->ctx = ctx;
  p->open++;
  enum result pushed = mq_ring_push(&p->waiting, &post);
  ENSURE(pushed == RESULT_OK);  // as many places as posts that may be open
  return RESULT_OK;
}

// One line a second at most: a missing binding would otherwise fill the disk.
static void log_returned(struct mq_publisher *p, const struct mq_post *post)
{
  p->returned_unlogged++;
  struct mono_time now = clk_mono();
  if (p->returned_logged_at.us != 0 &&
      mono_before(now, mono_after(p->returned_logged_at, span_s(RETURNED_LOG_PERIOD_S))))
    return;
  LOG(p->conn.rt->log, EV_MQ_MESSAGE_RETURNED, F_STR("exchange", post->exchange),
      F_STR("routing_key", post->routing_key), F_STR("message_id", post->message_id),
      F_UINT("count", p->returned_unlogged));
  p->returned_logged_at = now;
  p->returned_unlogged = 0;
}

static void call_back(struct mq_publisher *p, struct mq_post *post)
{
  p->open--;
  metric_series_add(p->published[post->outcome], 1);
  if (post->outcome == MQ_RETURNED) log_returned(p, post);
  if (post->on_outcome != NULL) post->on_outcome(post->ctx, post->outcome);
  mem_free(post);
}

// True if the limit of one turn was reached and more is waiting.
static bool call_back_settled(struct mq_publisher *p, size_t max)
{
  struct mq_post *posts[MQ_SETTLED_MAX];
  size_t done = 0;
  while (done < max) {
    size_t count = mq_ring_pop(&p->settled, posts, MQ_SETTLED_MAX);
    for (size_t i = 0; i < count; i++) call_back(p, posts[i]);
    done += count;
    if (count < MQ_SETTLED_MAX) return false;
  }
  return true;
}

void mq_publish_on_bell(void *publisher)
{
  struct mq_publisher *p = publisher;
  if (call_back_settled(p, OUTCOMES_PER_TURN)) mq_bell_ring(p->conn.to_loop);
  mq_topology_answer(&p->topology);
  metric_put(p->conn.rt->metrics, M_MQ_BLOCKED, atomic_load(&p->conn.blocked) ? 1 : 0);
  metric_put(p->conn.rt->metrics, M_MQ_UNCONFIRMED, (double)p->open);
}

static void lose(struct mq_publisher *p, struct mq_post *post)
{
  post->outcome = MQ_LOST;
  call_back(p, post);
}

// The thread has ended, or sits in a name server's call and touches nothing of this any more.
static void lose_the_rest(struct mq_publisher *p)
{
  call_back_settled(p, SIZE_MAX);
  while (p->batch_at < p->batch_count) lose(p, p->batch[p->batch_at++]);
  struct mq_post *post;
  while (mq_ring_pop(&p->waiting, &post, 1) == 1) lose(p, post);
}

void mq_publisher_free(struct mq_publisher *p)
{
  if (p == NULL) return;
  p->closing = true;
  bool ended = mq_conn_stop(&p->conn);
  lose_the_rest(p);
  mq_topology_end(&p->topology, ended);
  metric_put(p->conn.rt->metrics, M_MQ_UNCONFIRMED, 0);
  if (!ended) return;
  mq_topology_release(&p->topology);
  mq_ring_release(&p->waiting);
  mq_ring_release(&p->settled);
  mem_free(p->window);
  mq_conn_release(&p->conn);
  mem_free(p);
}
