// SPDX-License-Identifier: Apache-2.0
// Settling in batches. Loop thread.
#include "fulfiller/settle.h"

#include <stdio.h>

#include "common/contract.h"
#include "common/loop.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/follow.h"
#include "fulfiller/lane.h"
#include "fulfiller/letters.h"
#include "fulfiller/store.h"

#define SETTLE_ROWS_MAX 256
#define SETTLE_BATCHES  2
#define OPEN_JOBS_MAX   2048

static const struct span rest_after_failure = {300000};

// One statement under way.
struct batch {
  struct settler *settler;
  struct db_request req;
  struct job *jobs[SETTLE_ROWS_MAX];
  size_t count;  // 0: none
};

struct settler {
  struct runtime *rt;
  struct db_pool *db;
  struct mq_publisher *publisher;
  struct letters *letters;
  struct list queue;  // struct job, JOB_SETTLING
  size_t queued;
  size_t open;
  bool was_full;  // somebody was told that there is no room
  void (*on_room)(void *ctx);
  void *room_ctx;
  struct batch batches[SETTLE_BATCHES];
  size_t rows_max;  // halved while the server refuses a batch
  struct loop_task pump;
  struct loop_timer *resume;
  bool is_stopping;
};

static void pump(void *settler);

static void poke(struct settler *s) { loop_defer(s->rt->loop, &s->pump, pump, s); }

// --- after the commit

static void finish(struct settler *s, struct job *job)
{
  job_enter(job, JOB_FINISHED);
  s->open--;
  parcel_claim_done(job->parcel);
  job_free(job);
  if (!s->was_full || s->open > OPEN_JOBS_MAX / 2) return;
  s->was_full = false;
  s->on_room(s->room_ctx);
}

static void on_followed(void *ctx, struct job *job) { finish(ctx, job); }

static int event_of(const struct job *job)
{
  enum outcome outcome = job->decision.outcome;
  if (job->action != ACTION_DELIVER) {
    if (job->goes_to_review) return EV_ACTION_REVIEWED;
    if (job->owes_refund) return EV_REFUND_OWED;
    return outcome == OUTCOME_DONE || outcome == OUTCOME_NOT_FOUND ? EV_ACTION_DONE : EV_ACTION_POSTPONED;
  }
  if (job->goes_to_review) return EV_DELIVERY_REVIEWED;
  if (outcome == OUTCOME_DONE) return job->owes_reversal ? EV_REVERSAL_OWED : EV_DELIVERY_DONE;
  return outcome == OUTCOME_REFUSED ? EV_DELIVERY_REFUSED : EV_DELIVERY_POSTPONED;
}

static const char *or_none(const char *text) { return text[0] == '\0' ? NULL : text; }

static void log_job(const struct settler *s, const struct job *job)
{
  const struct decision *d = &job->decision;
  const struct verdict *v = &job->call.verdict;
  LOG(s->rt->log, event_of(job), F_STR("claim_id", job->id), F_STR("biz_id", job->facts.biz_id),
      F_STR("activity", job->facts.activity_code), F_INT("user_id", job->facts.user_id),
      F_STR("provider", job->lane->provider.name), F_STR("step", job_step(job)),
      F_STR("outcome", outcome_name(d->outcome)), F_INT("attempt", job->key.attempt), F_INT("tries", job->tries),
      F_INT("status", v->status), F_STR("reason", or_none(v->code)), F_STR("detail", or_none(v->detail)),
      F_STR("review", d->review), F_SPAN("duration_seconds", job->call.duration), F_SPAN("due_seconds", d->due),
      F_STR("trace", job->trace));
}

static void observe(const struct settler *s, const struct job *job)
{
  log_job(s, job);
  if (job->action != ACTION_DELIVER || job->decision.outcome != OUTCOME_DONE) return;
  double age = span_to_seconds(wall_since(clk_wall(), job->created_at));
  metric_observe(s->rt->metrics, M_DELIVERY_AGE, age > 0 ? age : 0);
}

// Retries go to their rung and dead letters are announced; the message of a claim is acknowledged when that is
// confirmed.
static void after_commit(struct batch *b)
{
  struct settler *s = b->settler;
  struct follow_list followers = {
      .publisher = s->publisher, .metrics = s->rt->metrics, .on_done = on_followed, .ctx = s};
  size_t count = b->count;
  b->count = 0;
  for (size_t i = 0; i < count; i++) {
    struct job *job = b->jobs[i];
    observe(s, job);
    if (job->goes_to_review) letters_announce_claim(s->letters, job);
    if (job->decision.review == NULL && job->decision.rung.us > 0) {
      job_enter(job, JOB_FOLLOWING);
      followers.jobs[followers.count++] = job;
    } else {
      finish(s, job);
    }
  }
  follow_send(&followers);
}

// What the database made of it that is not plain from the decision.
static void mark_settled(struct batch *b, const struct db_rows *rows)
{
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct settled_row settled = store_settled_row(rows, row);
    if (!settled.is_under_review && !settled.has_given_back) continue;
    for (size_t i = 0; i < b->count; i++) {
      struct job *job = b->jobs[i];
      if (job->key.activity_id != settled.activity_id || job->key.claim_id != settled.claim_id) continue;
      job->goes_to_review = settled.is_under_review;
      if (settled.is_under_review && job->decision.review == NULL) {
        snprintf(job->cause, sizeof job->cause, "%s", settled.review_cause);
        job->decision.review = job->cause;
      }
      bool is_late = job->decision.outcome == OUTCOME_DONE && !settled.is_under_review;
      job->owes_reversal = job->action == ACTION_DELIVER && is_late;
      job->owes_refund = job->action == ACTION_CHARGE && job->call.kind != CALL_CLOSE && is_late;
    }
  }
}

static void on_settled(struct db_request *req, const struct db_rows *rows)
{
  struct batch *b = CONTAINER_OF(req, struct batch, req);
  struct settler *s = b->settler;
  mark_settled(b, rows);
  after_commit(b);
  s->rows_max = s->rows_max * 2 < SETTLE_ROWS_MAX ? s->rows_max * 2 : SETTLE_ROWS_MAX;
  poke(s);  // what has gathered meanwhile
}

// --- failures

static void put_back(struct batch *b)
{
  struct settler *s = b->settler;
  struct list again;
  list_init(&again);
  for (size_t i = 0; i < b->count; i++) list_add_last(&again, &b->jobs[i]->node);
  list_splice(&again, &s->queue);
  list_splice(&s->queue, &again);
  s->queued += b->count;
  b->count = 0;
}

static void rest(struct settler *s, const char *reason, const char *detail)
{
  LOG(s->rt->log, EV_SETTLE_POSTPONED, F_UINT("open", s->open), F_STR("reason", reason), F_STR("detail", detail));
  if (!s->is_stopping) loop_timer_set(s->resume, rest_after_failure);
}

// Classes 22 and 23: the server refuses the data itself, and would do so for ever.
static bool is_about_data(const struct db_error *error)
{
  return error->failure == DB_FAILED_STATEMENT && error->sqlstate[0] == '2' &&
         (error->sqlstate[1] == '2' || error->sqlstate[1] == '3');
}

// A single attempt that cannot be written: its lease runs out, and the claim is inquired about again.
static void drop_single(struct batch *b, const struct db_error *error)
{
  struct settler *s = b->settler;
  struct job *job = b->jobs[0];
  LOG(s->rt->log, EV_SETTLE_DROPPED, F_STR("claim_id", job->id), F_STR("biz_id", job->facts.biz_id),
      F_STR("activity", job->facts.activity_code), F_STR("step", job_step(job)),
      F_STR("outcome", outcome_name(job->decision.outcome)), F_STR("sqlstate", error->sqlstate),
      F_STR("detail", error->message), F_STR("trace", job->trace));
  b->count = 0;
  finish(s, job);
  poke(s);
}

static void on_settle_error(struct db_request *req, const struct db_error *error)
{
  struct batch *b = CONTAINER_OF(req, struct batch, req);
  struct settler *s = b->settler;
  if (is_about_data(error) && b->count == 1) {
    drop_single(b, error);
    return;
  }
  if (is_about_data(error)) s->rows_max = b->count / 2;
  put_back(b);
  rest(s, error->failure == DB_FAILED_STATEMENT ? error->sqlstate : "connection", error->message);
}

// Its effect is unknown; written again it changes nothing that it has changed already.
static void on_settle_timeout(struct db_request *req)
{
  struct batch *b = CONTAINER_OF(req, struct batch, req);
  put_back(b);
  rest(b->settler, "timeout", NULL);
}

// --- batches

static bool moves_stock(const struct job *job)
{
  enum outcome outcome = job->decision.outcome;
  if (job->decision.review != NULL) return false;
  switch (job->action) {
    case ACTION_DELIVER: return outcome == OUTCOME_REFUSED;
    case ACTION_CHARGE:  // an order is closed when everything is back already
      return job->call.kind != CALL_CLOSE && (outcome == OUTCOME_DONE || outcome == OUTCOME_REFUSED);
    case ACTION_REFUND: return false;
    case ACTION_REVERSE:
    case ACTION_COUNT: break;
  }
  return outcome == OUTCOME_DONE || outcome == OUTCOME_NOT_FOUND;
}

// Refusals and reversals give stock back, late payments may take it, and a transaction does that for one activity only:
// the first one's.
static void gather(struct settler *s, struct batch *b)
{
  int64_t activity_id = 0;
  LIST_EACH (node, following, &s->queue) {
    struct job *job = CONTAINER_OF(node, struct job, node);
    if (b->count == s->rows_max) break;
    if (moves_stock(job)) {
      if (activity_id != 0 && activity_id != job->key.activity_id) continue;
      activity_id = job->key.activity_id;
    }
    list_remove(node);
    s->queued--;
    b->jobs[b->count++] = job;
  }
}

static void submit(struct settler *s, struct batch *b)
{
  gather(s, b);
  store_settle(&b->req, b->jobs, b->count, clk_mono());
  metric_observe(s->rt->metrics, M_SETTLE_BATCH_ROWS, (double)b->count);
  enum result result = db_pool_submit(s->db, &b->req);
  if (result == RESULT_OK) return;
  put_back(b);
  rest(s, "not_submitted", result_text(result));
}

// Natural batching: one statement at a time, and a second one beside it only for a full batch.
static void pump(void *ctx)
{
  struct settler *s = ctx;
  bool is_busy = false;
  for (size_t i = 0; i < SETTLE_BATCHES; i++) is_busy = is_busy || s->batches[i].count > 0;
  for (size_t i = 0; i < SETTLE_BATCHES; i++) {
    if (s->is_stopping || s->queued == 0 || loop_timer_is_set(s->resume)) return;
    if (s->batches[i].count > 0 || (is_busy && s->queued < s->rows_max)) continue;
    submit(s, &s->batches[i]);
    is_busy = true;
  }
}

static void on_resume(void *ctx) { poke(ctx); }

void settler_add(struct settler *s, struct job *job)
{
  list_add_last(&s->queue, &job->node);
  s->queued++;
  s->open++;
  poke(s);
}

bool settler_has_room(struct settler *s)
{
  s->was_full = s->open >= OPEN_JOBS_MAX;
  return !s->was_full;
}

size_t settler_open(const struct settler *s) { return s->open; }

// --- life

struct settler *settler_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *publisher,
                            struct letters *letters, void (*on_room)(void *ctx), void *ctx)
{
  struct settler *s = MEM_NEW(struct settler);
  *s = (struct settler){.rt = rt,
                        .db = db,
                        .publisher = publisher,
                        .letters = letters,
                        .rows_max = SETTLE_ROWS_MAX,
                        .on_room = on_room,
                        .room_ctx = ctx};
  for (size_t i = 0; i < SETTLE_BATCHES; i++) {
    struct batch *b = &s->batches[i];
    b->settler = s;
    b->req = (struct db_request){.on_rows = on_settled, .on_error = on_settle_error, .on_timeout = on_settle_timeout};
    db_args_init(&b->req.args);
  }
  list_init(&s->queue);
  s->resume = loop_timer_new(rt->loop, on_resume, s);
  return s;
}

void settler_stop(struct settler *s) { s->is_stopping = true; }

void settler_free(struct settler *s)
{
  if (s == NULL) return;
  for (struct list *node = list_take_first(&s->queue); node != NULL; node = list_take_first(&s->queue)) {
    job_free(CONTAINER_OF(node, struct job, node));
  }
  loop_defer_cancel(s->rt->loop, &s->pump);
  loop_timer_free(s->resume);
  for (size_t i = 0; i < SETTLE_BATCHES; i++) db_args_release(&s->batches[i].req.args);
  mem_free(s);
}
