// SPDX-License-Identifier: Apache-2.0
// Batches under way: one statement judges all claims of a batch, and each gets its answer.
// Owner: the batcher; loop thread.
#include "scheduler/claim_batch_run.h"

#include <string.h>

#include "common/mem.h"
#include "common/web.h"
#include "scheduler/app.h"
#include "scheduler/claim_store.h"

// --- batches

static void on_rows(struct db_request *req, const struct db_rows *rows);
static void on_error(struct db_request *req, const struct db_error *error);
static void on_timeout(struct db_request *req);

void claim_batch_free(struct batch *t)
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
  t->accepted = MEM_ARRAY(struct claim_accepted, max_rows);
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
    claim_batch_free(t);  // the configuration changed
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
    if (!t->is_answered[i]) claim_batcher_answer_plainly(t->owner, t->part.rows[i], v);
}

#define GATHER_FROM_ROWS 8  // the last statement was this large: a rush

static const struct db_statement *statement_of(const struct batch *t, struct db_args *args)
{
  const struct scheduler_conf *conf = t->owner->conf;
  const struct lane_batch *p = &t->part;
  const struct activity *a = t->lane->activity;
  if (a->is_queued) return store_claim_enqueue(args, a, p->rows, p->count, conf->intake.queue_max, !t->is_lookup);
  if (t->is_lookup) return store_claim_lookup(args, a, p->rows, p->count);
  return store_claim_submit(args, a, p->rows, p->count, conf->claims.sweep_after, t->owner->segment);
}

static void send(struct batch *t)
{
  struct claim_batcher *b = t->owner;
  const struct lane_batch *p = &t->part;
  db_args_clear(&t->req.args);
  t->req.statement = statement_of(t, &t->req.args);
  b->waiting -= p->count;
  memset(t->is_answered, 0, p->count * sizeof *t->is_answered);
  metric_observe(b->rt->metrics, M_CLAIM_BATCH_ROWS, (double)p->count);
  t->sent = clk_wall();
  enum result r = db_pool_submit(b->db, &t->req);
  if (r == RESULT_OK) return;
  claim_lane_returned(t->lane, &t->part);
  answer_rest(t, r == RESULT_FULL ? VERDICT_OVERLOADED : VERDICT_UNAVAILABLE);
  claim_batcher_visit_soon(b, t->lane);
  batch_is_done(t);
}

static void send_part(struct batch *t, struct claim_lane *lane, bool is_lookup)
{
  t->lane = lane;
  t->is_lookup = is_lookup;
  send(t);
}

// In a rush a statement waits a moment for company, since a commit costs nearly the same for ten claims as for fifty. A
// claim that comes alone never waits.
static bool waits_for_company(struct claim_batcher *b, const struct claim_lane *lane)
{
  if (lane->last_rows < GATHER_FROM_ROWS || lane->submit_count >= (size_t)b->conf->claims.batch_max_rows / 2)
    return false;
  struct span left = {b->conf->claims.gather.us - mono_since(clk_mono(), lane->last_sent).us};
  if (left.us <= 0) return false;
  if (!loop_timer_is_set(b->gathered)) loop_timer_set(b->gathered, left);
  return true;
}

static bool may_submit(struct claim_batcher *b, const struct claim_lane *lane)
{
  return lane->submit_count > 0 && lane->submitting_count < (size_t)b->conf->claims.batches_in_flight &&
         !waits_for_company(b, lane);
}

void claim_batch_send_from(struct claim_batcher *b, struct claim_lane *lane)
{
  if (b->is_closed) return;
  struct batch *t = spare_batch(b);
  while (may_submit(b, lane) && claim_lane_take_submits(lane, &t->part, (size_t)b->conf->claims.batches_in_flight)) {
    lane->last_sent = clk_mono();
    lane->last_rows = t->part.count;
    send_part(t, lane, false);
    t = spare_batch(b);
  }
  if (claim_lane_take_lookups(lane, &t->part))
    send_part(t, lane, true);
  else
    batch_is_done(t);
}

// --- answers of the database

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
  if (t->database_at.us != 0 && t->is_lookup)
    activity_cache_clock_sample(t->owner->cache, t->sent, t->database_at, clk_wall());
}

// What the look-up does not know is judged once more by what the database has just said: refused, or submitted after
// all.
static void settle_unknown(struct batch *t)
{
  struct claim_batcher *b = t->owner;
  for (size_t i = t->part.count; i-- > 0;) {
    if (!t->is_answered[i] || t->answers[i].verdict != VERDICT_COUNT) continue;
    struct claim_request *r = t->part.rows[i];
    struct claim_decision d = claim_decide_at(&t->lane->activity->facts, t->database_at, r->quantity);
    if (d.ask && !claim_batcher_admit(b, r)) d = (struct claim_decision){.refusal = VERDICT_RATE_LIMITED};
    if (d.ask && !b->is_closed) {
      claim_lane_put_back(t->lane, r);
      b->waiting++;
      t->part.rows[i] = NULL;
      continue;
    }
    t->answers[i] = (struct claim_answer){
        .verdict = d.ask ? VERDICT_UNAVAILABLE : d.refusal, .status = "", .at = t->database_at, .detail = ""};
  }
}

static void tell_accepted(struct batch *t)
{
  size_t count = 0;
  for (size_t i = 0; i < t->part.count; i++) {
    const struct claim_answer *a = &t->answers[i];
    if (!t->is_answered[i] || a->verdict != VERDICT_ACCEPTED) continue;
    bool is_held = strcmp(a->status, "held") == 0;
    if (!is_held && strcmp(a->status, "issuing") != 0) continue;  // nothing is due
    t->accepted[count++] = (struct claim_accepted){a->claim_id, is_held, web_trace(t->part.rows[i]->web)};
  }
  if (count > 0) t->owner->hooks.on_accepted(t->owner->hooks.ctx, t->lane->activity, t->accepted, count);
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
  claim_batch_send_from(b, lane);  // first of all: the database works while the answers are written
  tell_accepted(t);
  for (size_t i = 0; i < t->part.count; i++) {
    if (!t->part.rows[i]) continue;
    if (t->is_answered[i] && t->answers[i].verdict != VERDICT_COUNT)
      claim_batcher_answer(b, t->part.rows[i], &t->answers[i]);
    else
      claim_batcher_answer_plainly(b, t->part.rows[i], VERDICT_UNAVAILABLE);
  }
  batch_is_done(t);
  claim_batcher_visit_soon(b, lane);
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
  claim_batcher_visit_soon(b, lane);
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
  claim_batcher_visit_soon(b, lane);
}

static void on_timeout(struct db_request *req) { failed(CONTAINER_OF(req, struct batch, req)); }
