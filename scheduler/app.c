// SPDX-License-Identifier: Apache-2.0
// The scheduler as a whole: what it is made of, in which order it starts and drains.
// Owner: main; loop thread.
#include "scheduler/app.h"

#include <string.h>

#include "common/access.h"
#include "common/loop.h"
#include "common/mem.h"
#include "scheduler/activity_cache.h"
#include "scheduler/admission.h"
#include "scheduler/claim_batch.h"
#include "scheduler/claim_reply.h"
#include "scheduler/clock.h"
#include "scheduler/deadlines.h"
#include "scheduler/events.h"
#include "scheduler/intake_queue.h"
#include "scheduler/peers.h"
#include "scheduler/publish.h"
#include "scheduler/refusal_counts.h"
#include "scheduler/routes.h"
#include "scheduler/sweep.h"
#include "scheduler/warm_up.h"

#define DATABASE_ROLE     "largesse_scheduler"
#define HEALTH_EVERY      span_ms(200)
#define SCRATCH_BYTES_MAX 65536

// --- health

static const char *why_not_ready(const struct app *app)
{
  if (app->draining) return "draining";
  if (!db_pool_is_up(app->db)) return "database away";
  if (!activity_cache_is_loaded(app->cache)) return "starting: activities not read yet";
  return activity_cache_is_fresh(app->cache) ? NULL : "database does not answer";
}

// Claims go on without a broker; they are delivered when it is back.
static const char *why_degraded(const struct app *app)
{
  if (mq_publisher_is_blocked(app->mq)) return "degraded: broker blocked";
  if (!mq_publisher_is_up(app->mq)) return "degraded: broker away";
  return mq_publisher_fault(app->mq) ? "degraded: broker refuses a queue" : NULL;
}

static bool differs(const char *a, const char *b) { return a != b && (!a || !b || strcmp(a, b) != 0); }

static void look_at_health(struct app *app)
{
  const char *not_ready = why_not_ready(app), *degraded = why_degraded(app);
  if (differs(not_ready, app->not_ready) || differs(degraded, app->degraded))
    LOG(app->rt->log, EV_READINESS_CHANGED, F_BOOL("ready", not_ready == NULL),
        F_STR("reason", not_ready ? not_ready : degraded));
  app->not_ready = not_ready;
  app->degraded = degraded;
  web_server_set_not_ready(app->web, not_ready);
  web_server_set_degraded(app->web, degraded);
}

static void on_health_due(void *ctx)
{
  struct app *app = ctx;
  look_at_health(app);
  if (app->draining) refusal_counts_flush(app->refusals);
  loop_timer_set(app->health_timer, HEALTH_EVERY);
}

bool app_is_ready(const struct app *app, const char **out_why_not)
{
  const char *why = why_not_ready(app);
  if (why) *out_why_not = why;
  return why == NULL;
}

// --- what the parts tell each other

static void on_accepted(void *ctx, const struct activity *a, const struct claim_accepted *claims, size_t count)
{
  struct app *app = ctx;
  struct lane_item items[CLAIM_BATCH_ROWS_MAX];
  // All of one kind: whether there is a payment is the activity's to say, and it does not change.
  const char *provider = claims[0].is_held ? a->payment_provider : a->provider;
  for (size_t i = 0; i < count; i++)
    items[i] = (struct lane_item){a->id, claims[i].claim_id, 0, claims[i].traceparent + TRACE_PARENT_ID_AT};
  if (provider[0]) (void)lane_publish(app->lanes, provider, items, count, claims[0].traceparent);
}

static bool admit(void *ctx, struct claim_request *r) { return admission_admit(((struct app *)ctx)->admission, r); }

static void on_activities_changed(void *ctx)
{
  struct app *app = ctx;
  activity_clock_wake(app->clock);
  event_relay_wake(app->events);
}

static void on_activities_moved(void *ctx)
{
  struct app *app = ctx;
  activity_cache_poke(app->cache);
  event_relay_wake(app->events);
}

// --- life

static void make_parts(struct app *app)
{
  static const struct web_refusal refusals[] = {
      {"ACTIVITY_NOT_FOUND", 404}, {"CLAIM_NOT_FOUND", 404}, {"STOCK_IN_USE", 409}, {"COUPON_USED", 409}};
  struct runtime *rt = app->rt;
  const struct scheduler_conf *conf = &app->conf;
  app->db = db_pool_new(rt, &conf->daemon.database, "largesse-scheduler", DATABASE_ROLE);
  app->mq = mq_publisher_new(rt, &conf->daemon.broker, "largesse-scheduler");
  app->cache = activity_cache_new(rt, app->db, conf);
  app->lanes = lane_publisher_new(rt, app->mq);
  for (size_t i = 0; i < conf->providers.count; i++) lane_publisher_add(app->lanes, conf->providers.items[i]);
  app->refusals = refusal_counts_new(rt, app->db);
  app->peers = peers_new(rt, app->db);
  app->admission = admission_new(conf, app->peers);
  const struct claim_hooks hooks = {app, on_accepted, admit, claim_reply};
  app->batcher = claim_batcher_new(rt, app->db, app->cache, conf, &hooks);
  app->clock = activity_clock_new(rt, app->db, conf, on_activities_moved, app);
  app->intake = intake_queue_new(rt, app->db, app->cache, app->lanes, app->peers, conf);
  app->warm_up = warm_up_new(app);
  app->sweeper = sweeper_new(rt, app->db, app->mq, app->lanes, conf);
  app->deadlines = deadline_worker_new(rt, app->db, conf);
  app->events = event_relay_new(rt, app->db, app->mq, conf);
  app->web = web_server_new(rt, &conf->web, scheduler_routes(), app);
  app->calls =
      (struct web_calls){.db = app->db, .loop = rt->loop, .refusals = refusals, .refusal_count = ARRAY_LEN(refusals)};
  web_server_set_calls(app->web, &app->calls);
  app->keys = access_new(rt, app->db);
  web_server_set_auth(app->web, access_auth, app->keys);
  app->health_timer = loop_timer_new(rt->loop, on_health_due, app);
}

enum result app_start(struct runtime *rt, const void *config, struct app **out_app)
{
  struct app *app = MEM_NEW(struct app);
  app->rt = rt;
  app->conf = *(const struct scheduler_conf *)config;
  buf_init(&app->scratch, SCRATCH_BYTES_MAX);
  make_parts(app);
  char why[WEB_WHY_BYTES] = "";
  enum result result = web_server_start(app->web, why);
  if (result != RESULT_OK) {
    LOG(rt->log, EV_DAEMON_FAILED, F_STR("detail", why));
    app_stop(app);
    return result;
  }
  if (app->conf.web.auth != 0) access_start(app->keys);
  activity_cache_on_change(app->cache, on_activities_changed, app);
  activity_cache_start(app->cache);
  peers_start(app->peers);
  activity_clock_start(app->clock);
  intake_queue_start(app->intake);
  warm_up_start(app->warm_up);
  sweeper_start(app->sweeper);
  deadline_worker_start(app->deadlines);
  event_relay_start(app->events);
  on_health_due(app);
  *out_app = app;
  return RESULT_OK;
}

void app_reload(struct app *app, const void *config)
{
  app->conf = *(const struct scheduler_conf *)config;
  db_pool_reload(app->db, &app->conf.daemon.database);
}

void app_drain(struct app *app)
{
  app->draining = true;
  look_at_health(app);
  web_server_drain(app->web);
  access_stop(app->keys);
  peers_leave(app->peers);
  activity_clock_stop(app->clock);
  intake_queue_stop(app->intake);
  warm_up_stop(app->warm_up);
  sweeper_stop(app->sweeper);
  deadline_worker_stop(app->deadlines);
  event_relay_stop(app->events);
}

// What a missing database or broker keeps open is not waited for: the claim row is its own outbox, and counters are
// statistics.
bool app_is_idle(const struct app *app)
{
  bool broker_works = mq_publisher_is_up(app->mq) && !mq_publisher_is_blocked(app->mq);
  if (web_server_open_requests(app->web) > 0 || claim_batcher_open(app->batcher) > 0) return false;
  bool is_told =
      refusal_counts_is_empty(app->refusals) && peers_has_left(app->peers) && intake_queue_is_idle(app->intake);
  if (db_pool_is_up(app->db) && !is_told) return false;
  return !broker_works || (mq_publisher_open(app->mq) == 0 && event_relay_is_idle(app->events));
}

// Every callback that is still owed comes while its receiver lives: first the database's, then the broker's.
void app_stop(struct app *app)
{
  claim_batcher_close(app->batcher);
  activity_cache_close(app->cache);
  db_pool_free(app->db);
  mq_publisher_free(app->mq);
  event_relay_free(app->events);
  intake_queue_free(app->intake);
  warm_up_free(app->warm_up);
  sweeper_free(app->sweeper);
  deadline_worker_free(app->deadlines);
  activity_clock_free(app->clock);
  claim_batcher_free(app->batcher);
  admission_free(app->admission);
  peers_free(app->peers);
  refusal_counts_free(app->refusals);
  lane_publisher_free(app->lanes);
  activity_cache_free(app->cache);
  access_free(app->keys);
  web_server_free(app->web);
  loop_timer_free(app->health_timer);
  buf_release(&app->scratch);
  mem_free(app);
}
