// SPDX-License-Identifier: Apache-2.0
// The relay: rows of event_out become CloudEvents on largesse.events and are removed after the confirm.
// Owner: app; loop thread.
#include "scheduler/events.h"

#include <string.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

#define EXCHANGE     "largesse.events"
#define SOURCE       "/largesse/scheduler"
#define REMOVE_EVERY span_ms(50)
enum { REMOVED_AT_ONCE = 1000 };

struct event_relay {
  struct runtime *rt;
  struct mq_publisher *mq;
  const struct scheduler_conf *conf;
  struct periodic take, remove;
  size_t unconfirmed;  // published, outcome not known
  int64_t *done;       // ids that the broker has; to be removed
  size_t done_count, done_cap, removing_count;
  int64_t limit;
};

struct sent_event {
  struct event_relay *relay;
  int64_t id;
};

static void add_done(struct event_relay *e, int64_t id)
{
  if (e->done_count == e->done_cap) {
    e->done_cap = e->done_cap == 0 ? 256 : e->done_cap * 2;
    e->done = mem_resize(e->done, e->done_cap, sizeof *e->done);
  }
  e->done[e->done_count++] = id;
  if (!e->remove.is_busy && e->done_count == 1) periodic_soon(&e->remove);
}

// Nobody listening is fine for news: a returned event was offered, and that is all there is to do.
static void on_outcome(void *ctx, enum mq_outcome outcome)
{
  struct sent_event *s = ctx;
  struct event_relay *e = s->relay;
  e->unconfirmed--;
  if (outcome == MQ_CONFIRMED || outcome == MQ_RETURNED) {
    metric_add(e->rt->metrics, M_EVENTS_PUBLISHED, 1);
    add_done(e, s->id);
  }
  mem_free(s);  // else its lease runs out and it is sent again
}

static bool publish(struct event_relay *e, const struct event_row *row)
{
  const struct mq_header headers[] = {
      {"ce-id", row->event_id}, {"ce-source", SOURCE},        {"ce-specversion", "1.0"},
      {"ce-type", row->type},   {"ce-subject", row->subject}, {"ce-time", row->at},
  };
  const struct mq_message m = {.exchange = EXCHANGE,
                               .routing_key = row->type,
                               .body = row->data,
                               .body_len = row->data_len,
                               .content_type = "application/json",
                               .message_id = row->event_id,
                               .type = row->type,
                               .headers = headers,
                               .header_count = ARRAY_LEN(headers)};
  struct sent_event *s = MEM_NEW(struct sent_event);
  *s = (struct sent_event){e, row->id};
  e->unconfirmed++;
  if (mq_publish(e->mq, &m, on_outcome, s) == RESULT_OK) return true;
  e->unconfirmed--;
  mem_free(s);
  return false;
}

static const struct db_statement *prepare_take(void *ctx, struct db_args *args)
{
  struct event_relay *e = ctx;
  if (!mq_publisher_is_up(e->mq) || mq_publisher_is_blocked(e->mq)) return NULL;
  e->limit = e->conf->events.rows;
  if (e->unconfirmed + e->done_count > 4 * (size_t)e->limit) return NULL;
  return store_events_take(args, e->limit, e->conf->events.lease);
}

static struct span on_taken(void *ctx, const struct db_rows *rows)
{
  struct event_relay *e = ctx;
  size_t count = db_rows_count(rows);
  for (size_t i = 0; i < count; i++) {
    struct event_row row = store_event_row(rows, i);
    if (!publish(e, &row)) break;
  }
  e->take.every = e->conf->events.every;
  return count >= (size_t)e->limit ? span_us(0) : e->take.every;
}

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

struct event_relay *event_relay_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *mq,
                                    const struct scheduler_conf *conf)
{
  static const struct periodic_spec take = {"events", prepare_take, on_taken, NULL};
  static const struct periodic_spec remove = {"events_done", prepare_remove, on_removed, on_remove_failed};
  struct event_relay *e = MEM_NEW(struct event_relay);
  e->rt = rt;
  e->mq = mq;
  e->conf = conf;
  char exchange[] = EXCHANGE;
  mq_publisher_exchange(mq, &(struct mq_exchange){exchange, MQ_TOPIC});
  periodic_init(&e->take, &take, e, rt, db, conf->events.every);
  periodic_init(&e->remove, &remove, e, rt, db, REMOVE_EVERY);
  return e;
}

void event_relay_free(struct event_relay *e)
{
  if (!e) return;
  periodic_release(&e->take);
  periodic_release(&e->remove);
  mem_free(e->done);
  mem_free(e);
}

void event_relay_start(struct event_relay *e)
{
  periodic_soon(&e->take);
  periodic_soon(&e->remove);
}

void event_relay_stop(struct event_relay *e) { periodic_stop(&e->take); }
void event_relay_wake(struct event_relay *e) { periodic_soon(&e->take); }
bool event_relay_is_idle(const struct event_relay *e)
{
  return e->unconfirmed == 0 && e->done_count == 0 && !e->take.is_busy;
}
