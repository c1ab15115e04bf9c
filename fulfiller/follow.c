// SPDX-License-Identifier: Apache-2.0
// Messages to the rungs. Loop thread.
#include "fulfiller/follow.h"

#include "common/limits.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/intake_codec.h"
#include "fulfiller/lane.h"
#include "fulfiller/topology.h"

// One message on its way, with the jobs that wait for its confirm.
struct rung_post {
  void (*on_done)(void *ctx, struct job *job);
  void *ctx;
  size_t count;
  struct job *jobs[MESSAGE_CLAIMS_MAX];
};

static void on_outcome(void *ctx, enum mq_outcome outcome)
{
  struct rung_post *post = ctx;
  (void)outcome;  // lost or refused: the sweeper finds the claims when they are due
  for (size_t i = 0; i < post->count; i++) post->on_done(post->ctx, post->jobs[i]);
  mem_free(post);
}

static void publish(const struct follow_list *list, struct rung_post *post)
{
  const struct job *first = post->jobs[0];
  struct claim_key keys[MESSAGE_CLAIMS_MAX];
  char rung[TOPOLOGY_NAME_BYTES];
  struct buf body;
  for (size_t i = 0; i < post->count; i++) keys[i] = post->jobs[i]->key;  // with their traces
  topology_rung_name(first->decision.rung, rung);
  buf_init(&body, MQ_BODY_BYTES_MAX);
  intake_encode(keys, post->count, &body);
  char traceparent[TRACE_PARENT_BYTES];
  trace_parent_of(first->trace, first->call.span, traceparent);
  const struct mq_header trace = {"traceparent", traceparent};
  struct mq_message message = {.exchange = rung,
                               .routing_key = first->lane->provider.name,
                               .body = buf_text(&body),
                               .body_len = body.len,
                               .content_type = "application/json",
                               .headers = &trace,
                               .header_count = 1};
  metric_series_add(
      METRIC_SERIES(list->metrics, M_RUNG_MESSAGES, first->lane->provider.name, rung + strlen(TOPOLOGY_RUNG_PREFIX)),
      1);
  enum result result = mq_publish(list->publisher, &message, on_outcome, post);
  buf_release(&body);
  if (result != RESULT_OK) on_outcome(post, MQ_LOST);
}

void follow_send(const struct follow_list *list)
{
  bool is_sent[FOLLOW_JOBS_MAX] = {false};
  for (size_t i = 0; i < list->count; i++) {
    if (is_sent[i]) continue;
    const struct lane *lane = list->jobs[i]->lane;
    int64_t rung_us = list->jobs[i]->decision.rung.us;
    struct rung_post *post = MEM_NEW(struct rung_post);
    *post = (struct rung_post){.on_done = list->on_done, .ctx = list->ctx};
    for (size_t j = i; j < list->count && post->count < MESSAGE_CLAIMS_MAX; j++) {
      if (is_sent[j] || list->jobs[j]->lane != lane || list->jobs[j]->decision.rung.us != rung_us) continue;
      is_sent[j] = true;
      post->jobs[post->count++] = list->jobs[j];
    }
    publish(list, post);
  }
}
