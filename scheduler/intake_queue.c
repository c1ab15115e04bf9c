// SPDX-License-Identifier: Apache-2.0
// Queued intake: judges the requests that wait, at its own pace and fair to all activities, and publishes what was
// accepted. Owner: app; loop thread.
#include "scheduler/intake_queue.h"

#include <string.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "common/trace.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"
#include "sql_scheduler.inc"

#define FIGURES_EVERY span_s(5)
#define PURGE_EVERY   span_s(60)
#define PURGE_ROWS    5000
#define ROWS_MAX      CLAIM_BATCH_ROWS_MAX

struct intake_queue {
  struct runtime *rt;
  struct activity_cache *cache;
  struct lane_publisher *lanes;
  const struct peers *peers;
  const struct scheduler_conf *conf;
  struct periodic step, figures, purge;
  struct lane_item items[ROWS_MAX];
  size_t item_count;
};

struct judged_row {
  int64_t activity_id, user_id, quantity, claim_id;
  const char *code, *biz_id, *trace, *verdict, *status, *provider;  // provider "" where nobody has to hear
  struct wall_time queued_at;
  bool has_claim;
};

static struct judged_row read_row(const struct db_rows *rows, size_t row)
{
  enum { ACTIVITY_ID, CODE, BIZ_ID, USER_ID, QUANTITY, TRACE, QUEUED_AT, VERDICT, CLAIM_ID, STATUS, PROVIDER };
  return (struct judged_row){
      .activity_id = db_rows_i64(rows, row, ACTIVITY_ID),
      .code = db_rows_text(rows, row, CODE),
      .biz_id = db_rows_text(rows, row, BIZ_ID),
      .user_id = db_rows_i64(rows, row, USER_ID),
      .quantity = db_rows_i64(rows, row, QUANTITY),
      .trace = db_rows_text(rows, row, TRACE),
      .queued_at = db_rows_time(rows, row, QUEUED_AT),
      .verdict = db_rows_text(rows, row, VERDICT),
      .status = db_rows_text(rows, row, STATUS),
      .has_claim = !db_rows_is_null(rows, row, CLAIM_ID),
      .claim_id = db_rows_i64(rows, row, CLAIM_ID),
      .provider = db_rows_text(rows, row, PROVIDER),
  };
}

static bool has_trace(const struct judged_row *r) { return strlen(r->trace) >= TRACE_PARENT_ID_AT + TRACE_ID_DIGITS; }

// --- what is told of each

static void count(struct intake_queue *q, const struct judged_row *r, enum verdict v)
{
  struct activity *a = activity_cache_find(q->cache, r->code);
  metric_series_add(METRIC_SERIES(q->rt->metrics, M_CLAIMS, r->code, verdict_info(v)->outcome), 1);
  if (v == VERDICT_ACCEPTED && a && strcmp(r->status, "waiting") != 0)
    metric_series_add(a->stock_taken, (double)r->quantity);
}

static void write_line(struct intake_queue *q, const struct judged_row *r, enum verdict v)
{
  int event = v == VERDICT_ACCEPTED ? EV_CLAIM_ACCEPTED : v == VERDICT_REPLAYED ? EV_CLAIM_REPLAYED : EV_CLAIM_REFUSED;
  if (!log_wants(q->rt->log, event)) return;
  char id[48] = "";
  if (r->has_claim) (void)snprintf(id, sizeof id, "%lld-%lld", (long long)r->activity_id, (long long)r->claim_id);
  LOG(q->rt->log, event, F_STR("outcome", verdict_info(v)->outcome), F_STR("activity_code", r->code),
      F_INT("user_id", r->user_id), F_STR("biz_id", r->biz_id), F_STR("claim_id", id[0] ? id : NULL),
      F_INT("quantity", r->quantity), F_SPAN("duration_s", wall_since(clk_wall(), r->queued_at)),
      F_BYTES("trace_id", r->trace + (has_trace(r) ? TRACE_PARENT_ID_AT : 0), has_trace(r) ? TRACE_ID_DIGITS : 0));
}

// --- judging

static const struct db_statement *prepare_step(void *ctx, struct db_args *args)
{
  struct intake_queue *q = ctx;
  db_args_i64(args, q->conf->intake.rows);
  store_span(args, q->conf->claims.sweep_after);
  return &SQL_CLAIM_QUEUE_STEP;
}

static void publish(struct intake_queue *q, const char *provider, const char *traceparent)
{
  if (q->item_count > 0) (void)lane_publish(q->lanes, provider, q->items, q->item_count, traceparent);
  q->item_count = 0;
}

static void take_row(struct intake_queue *q, const struct judged_row *r)
{
  enum verdict v = verdict_of(r->verdict);
  if (v == VERDICT_COUNT) v = VERDICT_INVALID_REQUEST;
  count(q, r, v);
  write_line(q, r, v);
  if (v != VERDICT_ACCEPTED || r->provider[0] == '\0' || q->item_count == ROWS_MAX) return;
  q->items[q->item_count++] =
      (struct lane_item){r->activity_id, r->claim_id, 0, has_trace(r) ? r->trace + TRACE_PARENT_ID_AT : NULL};
}

// Requests of one activity: those that are to be delivered or paid have one provider.
static struct span on_stepped(void *ctx, const struct db_rows *rows)
{
  struct intake_queue *q = ctx;
  size_t judged = db_rows_count(rows);
  const char *provider = "", *traceparent = NULL;
  for (size_t i = 0; i < judged; i++) {
    struct judged_row r = read_row(rows, i);
    if (r.provider[0] != '\0' && strcmp(provider, r.provider) != 0) {
      publish(q, provider, traceparent);
      provider = r.provider;
      traceparent = r.trace[0] != '\0' ? r.trace : NULL;
    }
    take_row(q, &r);
  }
  publish(q, provider, traceparent);
  q->step.every = q->conf->intake.every;
  if (judged == 0) return q->conf->intake.every;
  // The pace is that of all schedulers together.
  return span_us((int64_t)judged * 1000000 * peers_live(q->peers) / q->conf->intake.rate);
}

// --- figures, and verdicts that are old

static const struct db_statement *prepare_figures(void *ctx, struct db_args *args)
{
  (void)ctx;
  (void)args;
  return &SQL_CLAIM_QUEUE_FIGURES;
}

static struct span on_figures(void *ctx, const struct db_rows *rows)
{
  struct intake_queue *q = ctx;
  metric_put(q->rt->metrics, M_INTAKE_WAITING, (double)db_rows_i64(rows, 0, 0));
  metric_put(q->rt->metrics, M_INTAKE_AGE, (double)db_rows_i64(rows, 0, 1) / 1e3);
  return FIGURES_EVERY;
}

static const struct db_statement *prepare_purge(void *ctx, struct db_args *args)
{
  (void)ctx;
  db_args_i64(args, PURGE_ROWS);
  return &SQL_CLAIM_QUEUE_PURGE;
}

static struct span on_purged(void *ctx, const struct db_rows *rows)
{
  (void)ctx;
  return db_rows_i64(rows, 0, 0) >= PURGE_ROWS ? span_ms(100) : PURGE_EVERY;
}

// --- life

struct intake_queue *intake_queue_new(struct runtime *rt, struct db_pool *db, struct activity_cache *cache,
                                      struct lane_publisher *lanes, const struct peers *peers,
                                      const struct scheduler_conf *conf)
{
  static const struct periodic_spec step = {"intake_queue", prepare_step, on_stepped, NULL};
  static const struct periodic_spec figures = {"intake_figures", prepare_figures, on_figures, NULL};
  static const struct periodic_spec purge = {"intake_purge", prepare_purge, on_purged, NULL};
  struct intake_queue *q = MEM_NEW(struct intake_queue);
  q->rt = rt;
  q->cache = cache;
  q->lanes = lanes;
  q->peers = peers;
  q->conf = conf;
  periodic_init(&q->step, &step, q, rt, db, conf->intake.every);
  periodic_init(&q->figures, &figures, q, rt, db, FIGURES_EVERY);
  periodic_init(&q->purge, &purge, q, rt, db, PURGE_EVERY);
  return q;
}

void intake_queue_free(struct intake_queue *q)
{
  if (!q) return;
  periodic_release(&q->step);
  periodic_release(&q->figures);
  periodic_release(&q->purge);
  mem_free(q);
}

void intake_queue_start(struct intake_queue *q)
{
  periodic_soon(&q->step);
  periodic_soon(&q->figures);
  periodic_soon(&q->purge);
}

void intake_queue_stop(struct intake_queue *q)
{
  periodic_stop(&q->step);
  periodic_stop(&q->figures);
  periodic_stop(&q->purge);
}

bool intake_queue_is_idle(const struct intake_queue *q) { return !q->step.is_busy; }
