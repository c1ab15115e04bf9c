// SPDX-License-Identifier: Apache-2.0
// The safety net: overdue claims are published again, at a bounded rate, into lanes that are nearly empty.
// Owner: app; loop thread.
#include "scheduler/sweep.h"

#include <string.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

#define MARK_SLACK      span_s(60)  // rows that were locked or not yet visible in the last pass
#define DUE_COUNT_EVERY span_s(5)
#define DUE_COUNT_MAX   10000

struct sweeper {
  struct runtime *rt;
  struct mq_publisher *mq;
  struct lane_publisher *lanes;
  const struct scheduler_conf *conf;
  struct periodic sweep, count;
  struct lane_item *items;     // of one provider
  struct wall_time mark;       // nothing older was left by the last complete pass, by the database's clock
  struct mono_time full_pass;  // when the last one began; 0: never
  bool is_full_pass;
  bool holds_back;  // the statement under way leaves some lanes out
  int64_t limit;    // of the statement under way
};

static const struct db_statement *prepare_sweep(void *ctx, struct db_args *args)
{
  struct sweeper *s = ctx;
  lane_publisher_look(s->lanes);
  // Without a broker every visit would only push the claims further away.
  if (!mq_publisher_is_up(s->mq) || mq_publisher_is_blocked(s->mq)) return NULL;
  const char *held_back[LANES_MAX];
  bool is_any_open;
  size_t held_count = lane_publisher_held_back(s->lanes, s->conf->sweep.low_water, held_back, &is_any_open);
  if (!is_any_open) return NULL;
  s->holds_back = held_count > 0;
  struct mono_time now = clk_mono();
  if (!s->is_full_pass)
    s->is_full_pass = s->full_pass.us == 0 || mono_since(now, s->full_pass).us >= s->conf->sweep.full_pass.us;
  if (s->is_full_pass) s->full_pass = now;
  s->limit = s->conf->sweep.rows;
  return store_sweep(args, s->limit, s->is_full_pass, wall_after(s->mark, span_us(-MARK_SLACK.us)), s->conf->sweep.base,
                     held_back, held_count);
}

static void publish(struct sweeper *s, const char *provider, size_t count, size_t *io_sent, size_t *io_held)
{
  size_t sent = 0;
  if (lane_has_room(s->lanes, provider, s->conf->sweep.low_water))
    sent = lane_publish(s->lanes, provider, s->items, count, NULL);
  *io_sent += sent;
  *io_held += count - sent;
}

// Rows come sorted by provider. Returns how many claims there were.
static size_t publish_rows(struct sweeper *s, const struct db_rows *rows, size_t *io_sent, size_t *io_held)
{
  size_t count = db_rows_count(rows), in_run = 0, claims = 0;
  const char *provider = "";
  for (size_t i = 0; i < count; i++) {
    struct overdue_row row = store_sweep_row(rows, i);
    if (!row.has_claim) continue;
    if (in_run > 0 && (in_run == (size_t)s->limit || strcmp(provider, row.provider) != 0)) {
      publish(s, provider, in_run, io_sent, io_held);
      in_run = 0;
    }
    provider = row.provider;
    s->items[in_run++] = (struct lane_item){row.activity_id, row.claim_id, row.attempt, NULL};
    claims++;
  }
  if (in_run > 0) publish(s, provider, in_run, io_sent, io_held);
  return claims;
}

static struct span on_swept(void *ctx, const struct db_rows *rows)
{
  struct sweeper *s = ctx;
  size_t sent = 0, held = 0;
  s->items = mem_resize(s->items, (size_t)s->limit, sizeof *s->items);
  size_t claims = publish_rows(s, rows, &sent, &held);
  if (claims > 0) {
    LOG(s->rt->log, EV_SWEEP_PUBLISHED, F_UINT("published", sent), F_UINT("held_back", held));
    metric_series_add(METRIC_SERIES(s->rt->metrics, M_SWEPT, "published"), (double)sent);
    metric_series_add(METRIC_SERIES(s->rt->metrics, M_SWEPT, "held_back"), (double)held);
  }
  if (claims >= (size_t)s->limit) {
    // More is due. The pause keeps the average at the configured rate.
    return span_us((int64_t)claims * 1000000 / s->conf->sweep.rate);
  }
  // What was held back is still older than the mark: it must be found once its lane has room, or its provider is back.
  if (db_rows_count(rows) > 0 && !s->holds_back && !store_sweep_row(rows, 0).is_any_held)
    s->mark = store_sweep_row(rows, 0).at;
  s->is_full_pass = false;
  s->sweep.every = s->conf->sweep.every;
  return s->conf->sweep.every;
}

static const struct db_statement *prepare_count(void *ctx, struct db_args *args)
{
  (void)ctx;
  return store_due_count(args, DUE_COUNT_MAX);
}

static struct span on_counted(void *ctx, const struct db_rows *rows)
{
  struct sweeper *s = ctx;
  metric_put(s->rt->metrics, M_DUE_CLAIMS, (double)store_due_count_row(rows));
  return DUE_COUNT_EVERY;
}

struct sweeper *sweeper_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *mq,
                            struct lane_publisher *lanes, const struct scheduler_conf *conf)
{
  static const struct periodic_spec sweep = {"sweep", prepare_sweep, on_swept, NULL};
  static const struct periodic_spec count = {"due_count", prepare_count, on_counted, NULL};
  struct sweeper *s = MEM_NEW(struct sweeper);
  s->rt = rt;
  s->mq = mq;
  s->lanes = lanes;
  s->conf = conf;
  periodic_init(&s->sweep, &sweep, s, rt, db, conf->sweep.every);
  periodic_init(&s->count, &count, s, rt, db, DUE_COUNT_EVERY);
  return s;
}

void sweeper_free(struct sweeper *s)
{
  if (!s) return;
  periodic_release(&s->sweep);
  periodic_release(&s->count);
  mem_free(s->items);
  mem_free(s);
}

void sweeper_start(struct sweeper *s)
{
  periodic_soon(&s->sweep);
  periodic_soon(&s->count);
}

void sweeper_stop(struct sweeper *s)
{
  periodic_stop(&s->sweep);
  periodic_stop(&s->count);
}
