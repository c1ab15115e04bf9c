// SPDX-License-Identifier: Apache-2.0
// Messages to the lanes of the providers, by commit. What is not taken is left to the sweeper.
// Owner: app; loop thread.
#include "scheduler/publish.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/limits.h"
#include "common/mem.h"
#include "scheduler/app.h"

#define EXCHANGE        "largesse.fulfilment"
#define QUEUE_PREFIX    "largesse.issuing."
#define DEPTH_HOLDS_FOR span_s(5)

struct lane {
  struct lane_publisher *owner;
  char *provider, *queue;
  struct metric_series *depth_series;
  uint64_t depth;
  struct mono_time seen;  // when depth was told; 0: never
  bool is_asked;
};

struct lane_publisher {
  struct runtime *rt;
  struct mq_publisher *mq;
  struct lane *lanes[LANES_MAX];
  size_t lane_count;
  struct buf body;
};

static struct lane *new_lane(struct lane_publisher *p, const char *provider)
{
  char queue[sizeof QUEUE_PREFIX + 4 * NAME_CHARS_MAX];
  (void)snprintf(queue, sizeof queue, QUEUE_PREFIX "%s", provider);
  struct lane *lane = MEM_NEW(struct lane);
  lane->owner = p;
  lane->provider = mem_strdup(provider);
  lane->queue = mem_strdup(queue);
  lane->depth_series = METRIC_SERIES(p->rt->metrics, M_MQ_QUEUE_DEPTH, queue);
  char exchange[] = EXCHANGE;
  mq_publisher_queue(p->mq,
                     &(struct mq_queue){.name = lane->queue, .bind_exchange = exchange, .bind_key = lane->provider});
  p->lanes[p->lane_count++] = lane;
  return lane;
}

// NULL for no provider, or when there are too many.
static struct lane *lane_of(struct lane_publisher *p, const char *provider)
{
  for (size_t i = 0; i < p->lane_count; i++)
    if (strcmp(p->lanes[i]->provider, provider) == 0) return p->lanes[i];
  if (provider[0] == '\0' || p->lane_count == LANES_MAX) return NULL;
  return new_lane(p, provider);
}

static void put_body(struct buf *b, const struct lane_item *items, size_t count)
{
  buf_clear(b);
  buf_puts(b, "{\"v\":1,\"claims\":[");
  for (size_t i = 0; i < count; i++) {
    buf_puts(b, i == 0 ? "{\"id\":\"" : ",{\"id\":\"");
    buf_put_i64(b, items[i].activity_id);
    buf_putc(b, '-');
    buf_put_i64(b, items[i].claim_id);
    buf_puts(b, "\",\"attempt\":");
    buf_put_i64(b, items[i].attempt);
    if (items[i].trace) {
      buf_puts(b, ",\"trace\":\"");
      buf_append(b, items[i].trace, TRACE_ID_DIGITS);
      buf_putc(b, '"');
    }
    buf_putc(b, '}');
  }
  buf_puts(b, "]}");
}

size_t lane_publish(struct lane_publisher *p, const char *provider, const struct lane_item *items, size_t count,
                    const char *traceparent)
{
  const struct lane *lane = lane_of(p, provider);
  const struct mq_header headers[] = {{"traceparent", traceparent}};
  size_t sent = 0;
  while (lane && sent < count) {
    size_t part = count - sent < MESSAGE_CLAIMS_MAX ? count - sent : MESSAGE_CLAIMS_MAX;
    put_body(&p->body, items + sent, part);
    const struct mq_message m = {.exchange = EXCHANGE,
                                 .routing_key = lane->provider,
                                 .body = buf_text(&p->body),
                                 .body_len = p->body.len,
                                 .content_type = "application/json",
                                 .headers = headers,
                                 .header_count = traceparent ? 1 : 0};
    if (mq_publish(p->mq, &m, NULL, NULL) != RESULT_OK) break;
    sent += part;
  }
  if (sent < count) metric_add(p->rt->metrics, M_PUBLISH_DROPPED, (double)(count - sent));
  return sent;
}

static void on_depth(void *ctx, enum result r, uint64_t messages)
{
  struct lane *lane = ctx;
  lane->is_asked = false;
  if (r != RESULT_OK) return;  // a queue that is not there yet is declared by the publisher
  lane->depth = messages;
  lane->seen = clk_mono();
  metric_series_put(lane->depth_series, (double)messages);
}

static void look(struct lane *lane)
{
  if (lane->is_asked) return;
  lane->is_asked = mq_publisher_depth(lane->owner->mq, lane->queue, on_depth, lane) == RESULT_OK;
}

void lane_publisher_look(struct lane_publisher *p)
{
  for (size_t i = 0; i < p->lane_count; i++) look(p->lanes[i]);
}

static bool has_room(struct lane *lane, int64_t low_water)
{
  bool is_known = lane->seen.us != 0 && mono_since(clk_mono(), lane->seen).us < DEPTH_HOLDS_FOR.us;
  if (!is_known) look(lane);
  return is_known && lane->depth < (uint64_t)low_water;
}

bool lane_has_room(struct lane_publisher *p, const char *provider, int64_t low_water)
{
  struct lane *lane = lane_of(p, provider);
  return lane && has_room(lane, low_water);
}

size_t lane_publisher_held_back(struct lane_publisher *p, int64_t low_water, const char *out_names[LANES_MAX],
                                bool *out_is_any_open)
{
  size_t count = 0;
  for (size_t i = 0; i < p->lane_count; i++)
    if (!has_room(p->lanes[i], low_water)) out_names[count++] = p->lanes[i]->provider;
  *out_is_any_open = count < p->lane_count ||
                     p->lane_count == 0;  // a claim of a provider that nobody has named yet makes its lane known
  return count;
}

bool lane_depth(struct lane_publisher *p, const char *provider, uint64_t *out_messages)
{
  const struct lane *lane = lane_of(p, provider);
  if (lane->seen.us == 0) return false;
  *out_messages = lane->depth;
  return true;
}

void lane_publisher_add(struct lane_publisher *p, const char *provider) { (void)lane_of(p, provider); }

struct lane_publisher *lane_publisher_new(struct runtime *rt, struct mq_publisher *mq)
{
  struct lane_publisher *p = MEM_NEW(struct lane_publisher);
  p->rt = rt;
  p->mq = mq;
  buf_init(&p->body, MQ_BODY_BYTES_MAX);
  char exchange[] = EXCHANGE;
  mq_publisher_exchange(mq, &(struct mq_exchange){exchange, MQ_DIRECT});
  return p;
}

void lane_publisher_free(struct lane_publisher *p)
{
  if (!p) return;
  for (size_t i = 0; i < p->lane_count; i++) {
    mem_free(p->lanes[i]->provider);
    mem_free(p->lanes[i]->queue);
    mem_free(p->lanes[i]);
  }
  buf_release(&p->body);
  mem_free(p);
}
