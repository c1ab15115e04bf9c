// SPDX-License-Identifier: Apache-2.0
// The relay: events of event_out become CloudEvents on largesse.events, and a row is removed after the confirm of its
// last. Owner: app; loop thread.
#include "scheduler/events.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "common/trace.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

#define EXCHANGE      "largesse.events"
#define SOURCE        "/largesse/scheduler"
#define REMOVE_EVERY  span_ms(50)
#define FULL_PAUSE    span_ms(20)  // before the publisher's ring is asked again
#define TRY_AGAIN     span_s(2)    // after a refusal by the broker
#define FIGURES_EVERY span_s(5)
#define PURGE_EVERY   span_s(600)
enum { REMOVED_AT_ONCE = 1000, ENCODED_BYTES = 3 * 4 * NAME_CHARS_MAX + 1 };

struct event_relay {
  struct runtime *rt;
  struct mq_publisher *mq;
  const struct scheduler_conf *conf;
  struct periodic take, remove, postpone, figures, purge;
  struct loop_task pump;
  struct loop_timer *resume;
  struct list ready;    // batches with events to hand over
  struct list failing;  // batches with refused events, to be written down
  size_t ready_events;  // not handed over yet
  size_t unconfirmed;   // handed over, outcome not known
  bool has_more;        // the last take found as much as it asked for
  int64_t *done;        // rows that the broker has; to be removed
  size_t done_count, done_cap, removing_count;
};

#define BATCH_OF(n) CONTAINER_OF((n), struct event_batch, node)

static void run_pump(void *ctx);

static void add_done(struct event_relay *e, int64_t id)
{
  if (e->done_count == e->done_cap) {
    e->done_cap = e->done_cap == 0 ? 256 : e->done_cap * 2;
    e->done = mem_resize(e->done, e->done_cap, sizeof *e->done);
  }
  e->done[e->done_count++] = id;
  if (!e->remove.is_busy && e->done_count == 1) periodic_soon(&e->remove);
}

// Every event of the batch has its outcome. What may have been lost comes again with its lease, all of the row.
static void finish(struct event_relay *e, struct event_batch *b)
{
  if (list_is_linked(&b->node)) list_remove(&b->node);
  if (!b->is_lost && b->failed > 0) {
    list_add_last(&e->failing, &b->node);
    periodic_soon(&e->postpone);
    return;
  }
  if (!b->is_lost) add_done(e, b->id);
  event_batch_free(b);
}

// --- publishing

static void on_outcome(void *ctx, enum mq_outcome outcome)
{
  struct event_item *item = ctx;
  struct event_batch *b = item->batch;
  struct event_relay *e = b->owner;
  e->unconfirmed--;
  b->open--;
  if (outcome == MQ_CONFIRMED) metric_add(e->rt->metrics, M_EVENTS_PUBLISHED, 1);
  if (outcome == MQ_NACKED) event_batch_fail(item, "the broker refused it");
  if (outcome == MQ_LOST) b->is_lost = true;
  if (event_batch_is_over(b)) finish(e, b);
  if (!list_is_empty(&e->ready)) loop_defer(e->rt->loop, &e->pump, run_pump, e);
}

static enum result publish(struct event_relay *e, struct event_item *item)
{
  const struct event_batch *b = item->batch;
  char id[ENCODED_BYTES], subject[ENCODED_BYTES], trace[TRACE_PARENT_BYTES];
  event_header_encode(item->event_id, id, sizeof id);
  event_header_encode(item->subject, subject, sizeof subject);
  trace_parent_make(item->trace, (uint64_t)clk_mono().us + (uint64_t)(item - b->items), trace);
  const struct mq_header headers[] = {
      {"ce-id", id},           {"ce-source", SOURCE}, {"ce-specversion", "1.0"}, {"ce-type", b->type},
      {"ce-subject", subject}, {"ce-time", b->at},    {"traceparent", trace},
  };
  const struct mq_message m = {.exchange = EXCHANGE,
                               .routing_key = b->type,
                               .body = item->doc,
                               .body_len = strlen(item->doc),
                               .content_type = "application/json",
                               .message_id = item->event_id,
                               .type = b->type,
                               .headers = headers,
                               .header_count = ARRAY_LEN(headers) - (trace[0] == '\0' ? 1 : 0),
                               .may_have_no_queue = true};
  return mq_publish(e->mq, &m, on_outcome, item);
}

// False: the ring is full; the event waits.
static bool hand_over(struct event_relay *e, struct event_batch *b)
{
  struct event_item *item = event_batch_next(b);
  enum result result = publish(e, item);
  if (result == RESULT_FULL) {
    b->next--;
    return false;
  }
  e->ready_events--;
  if (result != RESULT_OK) {
    event_batch_fail(item, result == RESULT_TOO_BIG ? "too big for a message" : "not fit for a message");
    return true;
  }
  b->open++;
  e->unconfirmed++;
  return true;
}

// Another relay may have the row by the time its lease ends: what is not handed over well before that never is.
static bool is_late(const struct event_relay *e, const struct event_batch *b)
{
  return mono_since(clk_mono(), b->taken_at).us > e->conf->events.lease.us / 2;
}

static void give_up(struct event_relay *e, struct event_batch *b)
{
  e->ready_events -= b->count - b->next;
  b->next = b->count;
  b->is_lost = true;
}

// Bounded by unconfirmed_max, far below the ring, so that claims always find room there.
static void run_pump(void *ctx)
{
  struct event_relay *e = ctx;
  while (!list_is_empty(&e->ready) && e->unconfirmed < (size_t)e->conf->events.unconfirmed_max) {
    struct event_batch *b = BATCH_OF(e->ready.next);
    if (is_late(e, b)) give_up(e, b);
    if (b->next < b->count && !hand_over(e, b)) {
      loop_timer_set(e->resume, FULL_PAUSE);
      break;
    }
    if (b->next < b->count) continue;
    list_remove(&b->node);
    if (event_batch_is_over(b)) finish(e, b);
  }
  metric_put(e->rt->metrics, M_EVENTS_UNCONFIRMED, (double)e->unconfirmed);
  if (e->has_more && e->ready_events < (size_t)e->conf->events.unconfirmed_max / 2) periodic_soon(&e->take);
}

// --- taking

static const struct db_statement *prepare_take(void *ctx, struct db_args *args)
{
  struct event_relay *e = ctx;
  const struct relay_conf *conf = &e->conf->events;
  e->take.every = conf->every;
  if (!mq_publisher_is_up(e->mq) || mq_publisher_is_blocked(e->mq)) return NULL;
  if (e->ready_events >= (size_t)conf->unconfirmed_max / 2 || e->done_count > 4 * (size_t)conf->rows) return NULL;
  return store_events_take(args, conf->rows, conf->unconfirmed_max, conf->lease);
}

static struct span on_taken(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  size_t count = db_rows_count(rows), events = 0;
  for (size_t i = 0; i < count; i++) {
    struct event_row row = store_event_row(rows, i);
    struct event_batch *b = event_batch_new(&row);
    b->owner = e;
    b->taken_at = clk_mono();
    events += b->count;
    e->ready_events += b->count - b->next;
    if (b->next < b->count)
      list_add_last(&e->ready, &b->node);
    else
      finish(e, b);
  }
  e->has_more = count >= (size_t)e->conf->events.rows || events >= (size_t)e->conf->events.unconfirmed_max;
  run_pump(e);
  return e->take.every;
}

// --- removing

static const struct db_statement *prepare_remove(void *ctx, struct db_args *args)
{
  struct event_relay *e = ctx;
  if (e->done_count == 0) return NULL;
  e->removing_count = e->done_count < REMOVED_AT_ONCE ? e->done_count : REMOVED_AT_ONCE;
  return store_events_done(args, e->done, e->removing_count);
}

static struct span on_removed(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  (void)rows;
  e->done_count -= e->removing_count;
  memmove(e->done, e->done + e->removing_count, e->done_count * sizeof *e->done);
  e->removing_count = 0;
  return e->done_count > 0 ? span_us(0) : e->remove.every;
}

static void on_remove_failed(void *ctx, bool may_have_worked)
{
  struct event_relay *e = ctx;
  (void)may_have_worked;  // removing twice is harmless
  e->removing_count = 0;
}

// --- what could not be sent

static const struct db_statement *prepare_postpone(void *ctx, struct db_args *args)
{
  struct event_relay *e = ctx;
  if (list_is_empty(&e->failing)) return NULL;
  return store_events_postpone(args, BATCH_OF(e->failing.next), TRY_AGAIN, e->conf->events.tries);
}

static struct span on_postponed(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  struct event_batch *b = BATCH_OF(list_take_first(&e->failing));
  bool is_parked = db_rows_count(rows) > 0 && db_rows_bool(rows, 0, 0);
  metric_add(e->rt->metrics, M_EVENTS_REFUSED, (double)b->failed);
  if (is_parked)
    LOG(e->rt->log, EV_EVENT_PARKED, F_INT("row", b->id), F_STR("type", b->type), F_UINT("events", b->failed),
        F_STR("detail", b->fault));
  else
    LOG(e->rt->log, EV_EVENT_POSTPONED, F_INT("row", b->id), F_STR("type", b->type), F_UINT("events", b->failed),
        F_STR("detail", b->fault));
  event_batch_free(b);
  return list_is_empty(&e->failing) ? e->postpone.every : span_us(0);
}

// --- figures and purging

static const struct db_statement *prepare_figures(void *ctx, struct db_args *args)
{
  (void)ctx;
  return store_events_figures(args);
}

static struct span on_figures(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  metric_put(e->rt->metrics, M_EVENT_LAG, (double)db_rows_i64(rows, 0, 0) / 1000);
  metric_put(e->rt->metrics, M_EVENTS_PARKED, (double)db_rows_i64(rows, 0, 1));
  metric_put(e->rt->metrics, M_EVENTS_UNCONFIRMED, (double)e->unconfirmed);
  return e->figures.every;
}

static const struct db_statement *prepare_purge(void *ctx, struct db_args *args)
{
  const struct event_relay *e = ctx;
  return store_events_purge(args, e->conf->events.parked_retention);
}

static struct span on_purged(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  if (db_rows_i64(rows, 0, 0) > 0) LOG(e->rt->log, EV_EVENT_PURGED, F_INT("events", db_rows_i64(rows, 0, 0)));
  return e->purge.every;
}

// --- life

struct event_relay *event_relay_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *mq,
                                    const struct scheduler_conf *conf)
{
  static const struct periodic_spec take = {"events", prepare_take, on_taken, NULL};
  static const struct periodic_spec remove = {"events_done", prepare_remove, on_removed, on_remove_failed};
  static const struct periodic_spec postpone = {"events_postponed", prepare_postpone, on_postponed, NULL};
  static const struct periodic_spec figures = {"events_figures", prepare_figures, on_figures, NULL};
  static const struct periodic_spec purge = {"events_purged", prepare_purge, on_purged, NULL};
  struct event_relay *e = MEM_NEW(struct event_relay);
  e->rt = rt;
  e->mq = mq;
  e->conf = conf;
  list_init(&e->ready);
  list_init(&e->failing);
  e->resume = loop_timer_new(rt->loop, run_pump, e);
  char exchange[] = EXCHANGE;
  mq_publisher_exchange(mq, &(struct mq_exchange){exchange, MQ_TOPIC});
  periodic_init(&e->take, &take, e, rt, db, conf->events.every);
  periodic_init(&e->remove, &remove, e, rt, db, REMOVE_EVERY);
  periodic_init(&e->postpone, &postpone, e, rt, db, FIGURES_EVERY);
  periodic_init(&e->figures, &figures, e, rt, db, FIGURES_EVERY);
  periodic_init(&e->purge, &purge, e, rt, db, PURGE_EVERY);
  return e;
}

static void free_all(struct list *batches)
{
  for (struct list *node; (node = list_take_first(batches)) != NULL;) event_batch_free(BATCH_OF(node));
}

void event_relay_free(struct event_relay *e)
{
  if (!e) return;
  struct periodic *const all[] = {&e->take, &e->remove, &e->postpone, &e->figures, &e->purge};
  for (size_t i = 0; i < ARRAY_LEN(all); i++) periodic_release(all[i]);
  loop_defer_cancel(e->rt->loop, &e->pump);
  loop_timer_free(e->resume);
  free_all(&e->ready);
  free_all(&e->failing);
  mem_free(e->done);
  mem_free(e);
}

void event_relay_start(struct event_relay *e)
{
  periodic_soon(&e->take);
  periodic_soon(&e->figures);
  periodic_soon(&e->purge);
}

void event_relay_stop(struct event_relay *e)
{
  periodic_stop(&e->take);
  periodic_stop(&e->figures);
  periodic_stop(&e->purge);
}

void event_relay_wake(struct event_relay *e) { periodic_soon(&e->take); }

bool event_relay_is_idle(const struct event_relay *e)
{
  return list_is_empty(&e->ready) && list_is_empty(&e->failing) && e->unconfirmed == 0 && e->done_count == 0 &&
         !e->take.is_busy;
}
