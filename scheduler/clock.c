// SPDX-License-Identifier: Apache-2.0
// The clock: published -> ongoing -> finished, on time by the database's clock. Any number may run at once.
// Owner: app; loop thread.
#include "scheduler/clock.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

#define LOOK_EVERY          span_s(1)  // what others publish meanwhile, and clocks that jump
#define SHORTEST_PAUSE      span_ms(1)
#define PAUSE_BEHIND_OTHERS span_ms(10)  // another scheduler is moving what is due: its rows are locked

struct activity_clock {
  struct runtime *rt;
  const struct scheduler_conf *conf;
  struct periodic work;
  bool is_due;  // the next statement moves; else it asks when to
  void (*on_moved)(void *ctx);
  void *ctx;
};

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct activity_clock *c = ctx;
  return c->is_due ? store_clock_advance(args, c->conf->clock_rows) : store_clock_next(args);
}

static struct span on_next(struct activity_clock *c, const struct db_rows *rows)
{
  struct span due_in;
  if (!store_clock_next_row(rows, &due_in)) return LOOK_EVERY;
  if (due_in.us > LOOK_EVERY.us) return LOOK_EVERY;
  c->is_due = true;
  if (due_in.us <= 0) return span_us(0);
  return due_in.us < SHORTEST_PAUSE.us ? SHORTEST_PAUSE : due_in;
}

static void take_move(struct activity_clock *c, const struct move_row *m)
{
  struct span lag = wall_since(m->moved, m->due);
  LOG(c->rt->log, EV_ACTIVITY_MOVED, F_STR("activity_code", m->code), F_STR("to", m->to_status), F_SPAN("lag_s", lag));
  metric_series_add(METRIC_SERIES(c->rt->metrics, M_ACTIVITY_MOVES, m->to_status), 1);
  metric_observe(c->rt->metrics, M_ACTIVITY_TRANSITION_LAG, span_to_seconds(lag));
}

static struct span on_moved(struct activity_clock *c, const struct db_rows *rows)
{
  size_t count = db_rows_count(rows);
  for (size_t i = 0; i < count; i++) {
    struct move_row m = store_clock_move(rows, i);
    take_move(c, &m);
  }
  if (count > 0) c->on_moved(c->ctx);
  // Fewer than asked for: nothing more is due now.
  c->is_due = count >= (size_t)c->conf->clock_rows;
  return count > 0 ? span_us(0) : PAUSE_BEHIND_OTHERS;
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct activity_clock *c = ctx;
  return c->is_due ? on_moved(c, rows) : on_next(c, rows);
}

static void on_failed(void *ctx, bool may_have_worked)
{
  struct activity_clock *c = ctx;
  (void)may_have_worked;
  c->is_due = false;
}

struct activity_clock *activity_clock_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf,
                                          void (*moved)(void *ctx), void *ctx)
{
  static const struct periodic_spec spec = {"clock", prepare, on_rows, on_failed};
  struct activity_clock *c = MEM_NEW(struct activity_clock);
  c->rt = rt;
  c->conf = conf;
  c->on_moved = moved;
  c->ctx = ctx;
  periodic_init(&c->work, &spec, c, rt, db, LOOK_EVERY);
  return c;
}

void activity_clock_free(struct activity_clock *c)
{
  if (!c) return;
  periodic_release(&c->work);
  mem_free(c);
}

void activity_clock_start(struct activity_clock *c) { periodic_soon(&c->work); }
void activity_clock_stop(struct activity_clock *c) { periodic_stop(&c->work); }

void activity_clock_wake(struct activity_clock *c)
{
  if (!c->work.is_busy) c->is_due = false;  // ask again
  periodic_soon(&c->work);
}
