// SPDX-License-Identifier: Apache-2.0
// Natural batching: claims of one activity gather while its last batch is under way, and then leave together.
// Owner: app; loop thread.
#include "scheduler/claim_batch.h"

#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "scheduler/app.h"
#include "scheduler/claim_batch_run.h"

#define SPARE_REQUESTS_MAX 8192

// --- requests

struct claim_request *claim_batcher_request(struct claim_batcher *b)
{
  struct list *node = list_take_first(&b->spare_requests);
  if (!node) return MEM_NEW(struct claim_request);
  b->spare_request_count--;
  struct claim_request *r = CONTAINER_OF(node, struct claim_request, node);
  memset(r, 0, sizeof *r);
  return r;
}

void claim_batcher_drop(struct claim_batcher *b, struct claim_request *r)
{
  mem_free(r->numbers);
  r->numbers = NULL;
  if (b->spare_request_count >= SPARE_REQUESTS_MAX) {
    mem_free(r);
    return;
  }
  list_add_last(&b->spare_requests, &r->node);
  b->spare_request_count++;
}

void claim_batcher_answer(struct claim_batcher *b, struct claim_request *r, const struct claim_answer *a)
{
  b->open--;
  b->hooks.on_answer(b->hooks.ctx, r, a);
  claim_batcher_drop(b, r);
}

void claim_batcher_answer_plainly(struct claim_batcher *b, struct claim_request *r, enum verdict v)
{
  const struct claim_answer a = {.verdict = v, .status = "", .detail = ""};
  claim_batcher_answer(b, r, &a);
}

bool claim_batcher_admit(struct claim_batcher *b, struct claim_request *r)
{
  if (r->mark.has_token || !b->hooks.admit) return true;
  return r->mark.limited_by == CLAIM_NOT_LIMITED && b->hooks.admit(b->hooks.ctx, r);
}

// --- lanes

static struct claim_lane *lane_of(struct claim_batcher *b, struct activity *a)
{
  if (a->lane) return a->lane;
  struct claim_lane *lane = MEM_NEW(struct claim_lane);
  claim_lane_init(lane, a, CLAIM_BATCH_ROWS_MAX);
  list_add_last(&b->lanes, &lane->all);
  a->lane = lane;
  a->pins++;
  return lane;
}

static void drop_lane_if_idle(struct claim_lane *lane)
{
  if (!claim_lane_is_idle(lane)) return;
  list_remove(&lane->all);
  list_remove(&lane->ready);
  lane->activity->lane = NULL;
  lane->activity->pins--;
  mem_free(lane);
}

static void on_visit(void *ctx)
{
  struct claim_batcher *b = ctx;
  struct list now;
  list_init(&now);
  list_splice(&now, &b->ready);
  struct list *node;
  while ((node = list_take_first(&now)) != NULL) {
    struct claim_lane *lane = CONTAINER_OF(node, struct claim_lane, ready);
    claim_batch_send_from(b, lane);
    drop_lane_if_idle(lane);
  }
  metric_put(b->rt->metrics, M_CLAIMS_WAITING, (double)b->waiting);
}

static void on_gathered(void *ctx)
{
  struct claim_batcher *b = ctx;
  LIST_EACH (node, following, &b->lanes) {
    struct claim_lane *lane = CONTAINER_OF(node, struct claim_lane, all);
    if (lane->submit_count > 0) claim_batcher_visit_soon(b, lane);
  }
}

void claim_batcher_visit_soon(struct claim_batcher *b, struct claim_lane *lane)
{
  if (!list_is_linked(&lane->ready)) list_add_last(&b->ready, &lane->ready);
  loop_defer(b->rt->loop, &b->visit, on_visit, b);
}

// --- arrivals

static struct wall_time now_of_turn(struct claim_batcher *b)
{
  struct mono_time turn = loop_now(b->rt->loop);
  if (turn.us != b->now_of_turn.us || b->now.us == 0) b->now = clk_wall();
  b->now_of_turn = turn;
  return b->now;
}

static void route(struct claim_batcher *b, struct claim_request *r, struct activity *a)
{
  r->activity = a;
  struct clock_view clock = activity_cache_clock(b->cache);
  struct claim_decision d = claim_decide(&a->facts, &clock, now_of_turn(b), b->conf->claims.time_margin, r->quantity);
  bool is_unknown = !d.ask && d.refusal == VERDICT_ACTIVITY_NOT_FOUND;
  if (is_unknown || a->has_numbers != (r->number_count > 0)) {
    b->waiting--;
    claim_batcher_answer_plainly(b, r, is_unknown ? VERDICT_ACTIVITY_NOT_FOUND : VERDICT_INVALID_REQUEST);
    return;
  }
  struct claim_lane *lane = lane_of(b, a);
  bool is_asked = d.ask && claim_batcher_admit(b, r);
  claim_lane_add(lane, r, is_asked);
  if (lane->submitting_count < (size_t)b->conf->claims.batches_in_flight || !is_asked)
    claim_batcher_visit_soon(b, lane);
}

static void on_found(struct activity_search *s, struct activity *a, bool is_answered);

void claim_batcher_add(struct claim_batcher *b, struct claim_request *r)
{
  b->open++;
  if (b->is_closed || b->waiting >= (size_t)b->conf->claims.queue_max) {
    claim_batcher_answer_plainly(b, r, b->is_closed ? VERDICT_UNAVAILABLE : VERDICT_OVERLOADED);
    return;
  }
  b->waiting++;
  r->seq = ++b->seq;
  struct activity *a = activity_cache_find(b->cache, r->search.code);
  if (a && a->facts.status != ACTIVITY_DRAFT) {  // a draft may have been published a moment ago
    route(b, r, a);
    return;
  }
  r->search.on_found = on_found;
  r->search.ctx = b;
  activity_cache_search(b->cache, &r->search);
}

static void on_found(struct activity_search *s, struct activity *a, bool is_answered)
{
  struct claim_request *r = CONTAINER_OF(s, struct claim_request, search);
  struct claim_batcher *b = s->ctx;
  if (a && !b->is_closed) {
    route(b, r, a);
    return;
  }
  b->waiting--;
  claim_batcher_answer_plainly(b, r, is_answered && !b->is_closed ? VERDICT_ACTIVITY_NOT_FOUND : VERDICT_UNAVAILABLE);
}

size_t claim_batcher_open(const struct claim_batcher *b) { return b->open; }

// --- life

struct claim_batcher *claim_batcher_new(struct runtime *rt, struct db_pool *db, struct activity_cache *cache,
                                        const struct scheduler_conf *conf, const struct claim_hooks *hooks)
{
  struct claim_batcher *b = MEM_NEW(struct claim_batcher);
  b->rt = rt;
  b->db = db;
  b->cache = cache;
  b->conf = conf;
  b->hooks = *hooks;
  b->segment = (uint32_t)getpid();
  b->gathered = loop_timer_new(rt->loop, on_gathered, b);
  list_init(&b->lanes);
  list_init(&b->ready);
  list_init(&b->spare_batches);
  list_init(&b->spare_requests);
  return b;
}

static void answer_line(struct claim_batcher *b, struct list *line)
{
  struct list *node;
  while ((node = list_take_first(line)) != NULL) {
    b->waiting--;
    claim_batcher_answer_plainly(b, CONTAINER_OF(node, struct claim_request, node), VERDICT_UNAVAILABLE);
  }
}

void claim_batcher_close(struct claim_batcher *b)
{
  b->is_closed = true;
  loop_defer_cancel(b->rt->loop, &b->visit);
  LIST_EACH (node, following, &b->lanes) {
    struct claim_lane *lane = CONTAINER_OF(node, struct claim_lane, all);
    answer_line(b, &lane->submits);
    answer_line(b, &lane->lookups);
    lane->submit_count = lane->lookup_count = 0;
  }
}

void claim_batcher_free(struct claim_batcher *b)
{
  if (!b) return;
  loop_timer_free(b->gathered);
  loop_defer_cancel(b->rt->loop, &b->visit);
  struct list *node;
  LIST_EACH (lane, following, &b->lanes) drop_lane_if_idle(CONTAINER_OF(lane, struct claim_lane, all));
  while ((node = list_take_first(&b->spare_batches)) != NULL) claim_batch_free(CONTAINER_OF(node, struct batch, spare));
  while ((node = list_take_first(&b->spare_requests)) != NULL) mem_free(CONTAINER_OF(node, struct claim_request, node));
  mem_free(b);
}
