// SPDX-License-Identifier: Apache-2.0
// Natural batching: claims of one activity gather while its last batch is under way, and then leave together.
// Owner: app; loop thread.
#include "scheduler/claim_batch.h"

#include <string.h>

#include "common/loop.h"
#include "common/mem.h"
#include "scheduler/app.h"
#include "scheduler/claim_lane.h"
#include "scheduler/claim_store.h"

#define SPARE_REQUESTS_MAX 8192

struct batch {
  struct list spare;                 // in the batcher's list of batches that are not under way
  struct claim_batcher *owner;
  struct claim_lane *lane;
  struct lane_batch part;
  struct claim_answer *answers;      // of part.rows
  bool *is_answered;
  int64_t *accepted;
  struct db_request req;
  struct wall_time sent;
  struct wall_time database_at;
  bool is_lookup;
};

struct claim_batcher {
  struct runtime *rt;
  struct db_pool *db;
  struct activity_cache *cache;
  const struct scheduler_conf *conf;
  struct claim_hooks hooks;
  struct list lanes, ready, spare_batches;
  struct list spare_requests;
  size_t spare_request_count;
  size_t waiting, open;
  uint64_t seq;
  struct loop_task visit;
  struct wall_time now;              // read once per turn
  struct mono_time now_of_turn;
  bool is_closed;
};

static void visit_soon(struct claim_batcher *b, struct claim_lane *lane);

// --- requests ---------------------------------------------------------------------------------------------------------

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
  if (b->spare_request_count >= SPARE_REQUESTS_MAX) {
    mem_free(r);
    return;
  }
  list_add_last(&b->spare_requests, &r->node);
  b->spare_request_count++;
}

static void answer(struct claim_batcher *b, struct claim_request *r, const struct claim_answer *a)
{
  b->open--;
  b->hooks.on_answer(b->hooks.ctx, r, a);
  claim_batcher_drop(b, r);
}

static void answer_plainly(struct claim_batcher *b, struct claim_request *r, enum verdict v)
{
  const struct claim_answer a = {.verdict = v, .detail = ""};
  answer(b, r, &a);
}

// --- lanes ------------------------------------------------------------------------------------------------------------

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

// --- batches ----------------------------------------------------------------------------------------------------------

static void on_rows(struct db_request *req, const struct db_rows *rows);
static void on_error(struct db_request *req, const struct db_error *error);
static void on_timeout(struct db_request *req);

static void free_batch(struct batch *t)
{
  lane_batch_release(&t->part);
  mem_free(t->answers);
  mem_free(t->is_answered);
  mem_free(t->accepted);
  db_args_release(&t->req.args);
  mem_free(t);
}

static struct batch *new_batch(struct claim_batcher *b, size_t max_rows)
{
  struct batch *t = MEM_NEW(struct batch);
  t->owner = b;
  list_init(&t->spare);
  lane_batch_init(&t->part, max_rows);
  t->answers = MEM_ARRAY(struct claim_answer, max_rows);
  t->is_answered = MEM_ARRAY(bool, max_rows);
  t->accepted = MEM_ARRAY(int64_t, max_rows);
  db_args_init(&t->req.args);
  t->req.on_rows = on_rows;
  t->req.on_error = on_error;
  t->req.on_timeout = on_timeout;
  return t;
}

static struct batch *spare_batch(struct claim_batcher *b)
{
  size_t max_rows = (size_t)b->conf->claims.batch_max_rows;
  struct list *node;
  while ((node = list_take_first(&b->spare_batches)) != NULL) {
    struct batch *t = CONTAINER_OF(node, struct batch, spare);
    if (t->part.max_rows == max_rows) return t;
    free_batch(t);  // the configuration changed
  }
  return new_batch(b, max_rows);
}

static void batch_is_done(struct batch *t)
{
  t->part.count = 0;
  t->lane = NULL;
  list_add_last(&t->owner->spare_batches, &t->spare);
}

// Answers all that have no answer yet.
static void answer_rest(struct batch *t, enum verdict v)
{
  for (size_t i = 0; i < t->part.count; i++)
    if (!t->is_answered[i]) answer_plainly(t->owner, t->part.rows[i], v);
}

static void send(struct batch *t)
{
  struct claim_batcher *b = t->owner;
  const struct lane_batch *p = &t->part;
  int64_t id = t->lane->activity->id;
  db_args_clear(&t->req.args);
  t->req.statement = t->is_lookup ? store_claim_lookup(&t->req.args, id, p->rows, p->count)
                                  : store_claim_submit(&t->req.args, id, p->rows, p->count, b->conf->claims.sweep_after);
  b->waiting -= p->count;
  memset(t->is_answered, 0, p->count * sizeof *t->is_answered);
  metric_observe(b->rt->metrics, M_CLAIM_BATCH_ROWS, (double)p->count);
  t->sent = clk_wall();
  enum result r = db_pool_submit(b->db, &t->req);
  if (r == RESULT_OK) return;
  claim_lane_returned(t->lane, &t->part);
  answer_rest(t, r == RESULT_FULL ? VERDICT_OVERLOADED : VERDICT_UNAVAILABLE);
  visit_soon(b, t->lane);
  batch_is_done(t);
}

// Sends all that may leave now.
static void send_from(struct claim_batcher *b, struct claim_lane *lane)
{
  if (b->is_closed) return;
  struct batch *t = spare_batch(b);
  for (bool is_lookup = false;; is_lookup = true) {
    bool taken = is_lookup ? claim_lane_take_lookups(lane, &t->part)
                           : claim_lane_take_submits(lane, &t->part, (size_t)b->conf->claims.batches_in_flight);
    if (taken) {
      t->lane = lane;
      t->is_lookup = is_lookup;
      send(t);
      t = spare_batch(b);
    }
    if (is_lookup) break;
  }
  batch_is_done(t);
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
    send_from(b, lane);
    drop_lane_if_idle(lane);
  }
  metric_put(b->rt->metrics, M_CLAIMS_WAITING, (double)b->waiting);
}

static void visit_soon(struct claim_batcher *b, struct claim_lane *lane)
{
  if (!list_is_linked(&lane->ready)) list_add_last(&b->ready, &lane->ready);
  loop_defer(b->rt->loop, &b->visit, on_visit, b);
}

// --- answers of the database ------------------------------------------------------------------------------------------

// Which request a row is about; NULL for row 0 and nonsense.
static struct claim_answer *take_row(struct batch *t, const struct claim_row *row)
{
  if (row->ord == 0) {
    activity_refresh(t->lane->activity, row->activity_status, row->is_limited, row->remaining);
    t->database_at = row->answer.at;
    return NULL;
  }
  if (row->ord > t->part.count || t->is_answered[row->ord - 1]) return NULL;
  t->answers[row->ord - 1] = row->answer;
  t->is_answered[row->ord - 1] = true;
  return &t->answers[row->ord - 1];
}

static void read_rows(struct batch *t, const struct db_rows *rows)
{
  size_t count = db_rows_count(rows);
  struct span sweep_after = t->owner->conf->claims.sweep_after;
  t->database_at = (struct wall_time){0};
  for (size_t i = 0; i < count; i++) {
    struct claim_row row = store_claim_row(rows, i);
    struct claim_answer *a = take_row(t, &row);
    if (a) a->next_attempt = wall_after(a->at, sweep_after);
  }
  if (t->database_at.us != 0 && t->is_lookup) activity_cache_clock_sample(t->owner->cache, t->sent, t->database_at, clk_wall());
}

// What the look-up does not know is judged once more by what the database has just said: refused, or submitted after all.
static void settle_unknown(struct batch *t)
{
  struct claim_batcher *b = t->owner;
  for (size_t i = t->part.count; i-- > 0;) {
    if (!t->is_answered[i] || t->answers[i].verdict != VERDICT_COUNT) continue;
    struct claim_request *r = t->part.rows[i];
    struct claim_decision d = claim_decide_at(&t->lane->activity->facts, t->database_at, r->quantity);
    if (d.ask && !b->is_closed) {
      claim_lane_put_back(t->lane, r);
      b->waiting++;
      t->part.rows[i] = NULL;
      continue;
    }
    t->answers[i] = (struct claim_answer){.verdict = d.ask ? VERDICT_UNAVAILABLE : d.refusal, .at = t->database_at, .detail = ""};
  }
}

static void tell_accepted(struct batch *t)
{
  const struct claim_request *first = NULL;
  size_t count = 0;
  for (size_t i = 0; i < t->part.count; i++) {
    if (!t->is_answered[i] || t->answers[i].verdict != VERDICT_ACCEPTED) continue;
    if (!first) first = t->part.rows[i];
    t->accepted[count++] = t->answers[i].claim_id;
  }
  if (first) t->owner->hooks.on_accepted(t->owner->hooks.ctx, t->lane->activity, t->accepted, count, web_trace(first->web));
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct batch *t = CONTAINER_OF(req, struct batch, req);
  struct claim_batcher *b = t->owner;
  struct claim_lane *lane = t->lane;
  read_rows(t, rows);
  if (t->is_lookup) settle_unknown(t);
  claim_lane_returned(lane, &t->part);
  if (lane->row_cap < CLAIM_BATCH_ROWS_MAX) lane->row_cap *= 2;
  send_from(b, lane);  // first of all: the database works while the answers are written
  tell_accepted(t);
  for (size_t i = 0; i < t->part.count; i++) {
    if (!t->part.rows[i]) continue;
    if (t->is_answered[i] && t->answers[i].verdict != VERDICT_COUNT) answer(b, t->part.rows[i], &t->answers[i]);
    else answer_plainly(b, t->part.rows[i], VERDICT_UNAVAILABLE);
  }
  batch_is_done(t);
  visit_soon(b, lane);
}

// A row that raises an error spoils its whole batch: smaller ones find it.
static bool is_fault_of_a_row(const struct batch *t, const struct db_error *error)
{
  return error->failure == DB_FAILED_STATEMENT && t->part.count > 1 && !t->is_lookup && !t->owner->is_closed &&
         (strncmp(error->sqlstate, "22", 2) == 0 || strncmp(error->sqlstate, "23", 2) == 0);
}

static void failed(struct batch *t)
{
  struct claim_batcher *b = t->owner;
  struct claim_lane *lane = t->lane;
  claim_lane_returned(lane, &t->part);
  answer_rest(t, VERDICT_UNAVAILABLE);
  batch_is_done(t);
  visit_soon(b, lane);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  struct batch *t = CONTAINER_OF(req, struct batch, req);
  struct claim_batcher *b = t->owner;
  struct claim_lane *lane = t->lane;
  if (!is_fault_of_a_row(t, error)) {
    failed(t);
    return;
  }
  lane->row_cap = t->part.count / 2;
  claim_lane_returned(lane, &t->part);
  b->waiting += t->part.count;
  while (t->part.count > 0) claim_lane_put_back(lane, t->part.rows[--t->part.count]);
  batch_is_done(t);
  visit_soon(b, lane);
}

static void on_timeout(struct db_request *req) { failed(CONTAINER_OF(req, struct batch, req)); }

// --- arrivals ---------------------------------------------------------------------------------------------------------

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
  if (!d.ask && d.refusal == VERDICT_ACTIVITY_NOT_FOUND) {
    b->waiting--;
    answer_plainly(b, r, d.refusal);
    return;
  }
  struct claim_lane *lane = lane_of(b, a);
  claim_lane_add(lane, r, d.ask);
  if (lane->submitting_count < (size_t)b->conf->claims.batches_in_flight || !d.ask) visit_soon(b, lane);
}

static void on_found(struct activity_search *s, struct activity *a, bool is_answered);

void claim_batcher_add(struct claim_batcher *b, struct claim_request *r)
{
  b->open++;
  if (b->is_closed || b->waiting >= (size_t)b->conf->claims.queue_max) {
    answer_plainly(b, r, b->is_closed ? VERDICT_UNAVAILABLE : VERDICT_OVERLOADED);
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
  answer_plainly(b, r, is_answered && !b->is_closed ? VERDICT_ACTIVITY_NOT_FOUND : VERDICT_UNAVAILABLE);
}

size_t claim_batcher_open(const struct claim_batcher *b) { return b->open; }

// --- life -------------------------------------------------------------------------------------------------------------

struct claim_batcher *claim_batcher_new(struct runtime *rt, struct db_pool *db, struct activity_cache *cache, const struct scheduler_conf *conf,
                                        const struct claim_hooks *hooks)
{
  struct claim_batcher *b = MEM_NEW(struct claim_batcher);
  b->rt = rt;
  b->db = db;
  b->cache = cache;
  b->conf = conf;
  b->hooks = *hooks;
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
    answer_plainly(b, CONTAINER_OF(node, struct claim_request, node), VERDICT_UNAVAILABLE);
  }
}

void claim_batcher_close(struct claim_batcher *b)
{
  b->is_closed = true;
  loop_defer_cancel(b->rt->loop, &b->visit);
  LIST_EACH(node, following, &b->lanes) {
    struct claim_lane *lane = CONTAINER_OF(node, struct claim_lane, all);
    answer_line(b, &lane->submits);
    answer_line(b, &lane->lookups);
    lane->submit_count = lane->lookup_count = 0;
  }
}

void claim_batcher_free(struct claim_batcher *b)
{
  if (!b) return;
  loop_defer_cancel(b->rt->loop, &b->visit);
  struct list *node;
  LIST_EACH(lane, following, &b->lanes) drop_lane_if_idle(CONTAINER_OF(lane, struct claim_lane, all));
  while ((node = list_take_first(&b->spare_batches)) != NULL) free_batch(CONTAINER_OF(node, struct batch, spare));
  while ((node = list_take_first(&b->spare_requests)) != NULL) mem_free(CONTAINER_OF(node, struct claim_request, node));
  mem_free(b);
}
