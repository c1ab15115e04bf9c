// SPDX-License-Identifier: Apache-2.0
// The view of all providers: polled, applied, shown. Loop thread.
#include "fulfiller/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/guard_move.h"

static const struct span poll_every = {250000};
// Others count us as gone five seconds after our last sign; before that we must have stopped by ourselves.
static const struct span stale_after = {4000000};
// After joining: time for the others to see us and to end what is beyond their new share.
static const struct span settle_time = {1000000};

static bool is_fresh(const struct guard *g)
{
  return g->heard_at.us != 0 && mono_since(clk_mono(), g->heard_at).us < stale_after.us;
}

// --- applying what was heard

static enum breaker_state breaker_of(const char *name)
{
  if (strcmp(name, "open") == 0) return BREAKER_OPEN;
  return strcmp(name, "half_open") == 0 ? BREAKER_HALF_OPEN : BREAKER_CLOSED;
}

static void show(const struct lane_guard *lg)
{
  metric_series_put(lg->breaker_figure, (double)lg->breaker);
  metric_series_put(lg->paused_figure, lg->is_paused ? 1 : 0);
  metric_series_put(lg->share_figure, (double)lg->concurrency);
}

static void log_changes(const struct lane_guard *lg, const struct guard_row *row)
{
  if (lg->is_paused != row->is_paused)
    LOG(lg->guard->rt->log, row->is_paused ? EV_PROVIDER_PAUSED : EV_PROVIDER_RESUMED,
        F_STR("provider", lg->provider->name));
  if (lg->breaker != breaker_of(row->breaker))
    LOG(lg->guard->rt->log, EV_BREAKER_MOVED, F_STR("provider", lg->provider->name), F_STR("breaker", row->breaker));
}

static void set_limits(struct lane_guard *lg, const struct guard_row *row, struct mono_time now)
{
  const struct provider_conf *conf = lg->provider->conf;
  double rate = 0;
  size_t live = row->live > 0 ? (size_t)row->live : 1;
  size_t limit = (size_t)(row->concurrency > 0 ? row->concurrency : conf->concurrency);
  enum result parsed = limit_rate_parse(conf->rate, &rate);
  ENSURE(parsed == RESULT_OK);  // the profile compiled
  if (row->rate_micro >= 0) rate = (double)row->rate_micro / 1e6;
  lg->concurrency = limit_share(limit, live, (size_t)row->place);
  bucket_set(&lg->bucket, rate / (double)live, (double)conf->burst / (double)live, now);
}

void guard_apply(struct lane_guard *lg, const struct guard_row *row)
{
  struct mono_time now = clk_mono();
  if (lg->is_known && row->version < lg->version) return;
  log_changes(lg, row);
  enum breaker_state breaker = breaker_of(row->breaker);
  if (breaker != lg->breaker) breaker_clear(&lg->window);
  lg->version = row->version;
  lg->is_known = true;
  lg->is_paused = row->is_paused;
  lg->breaker = breaker;
  lg->is_forced = row->is_forced;
  lg->is_probe_mine = row->is_probe_mine;
  lg->moves_by_itself = row->moves_by_itself;
  lg->moves_at = mono_after(now, row->left);
  set_limits(lg, row, now);
  show(lg);
}

static struct lane_guard *find(const struct guard *g, const char *provider)
{
  for (size_t i = 0; i < g->count; i++) {
    if (strcmp(g->providers[i]->name, provider) == 0) return g->lanes[i];
  }
  return NULL;
}

static void settle_in(struct guard *g, const struct db_rows *rows)
{
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct guard_row r = guard_store_row(rows, row);
    struct lane_guard *lg = find(g, r.provider);
    if (lg != NULL && r.live > 1) lg->settles_at = mono_after(clk_mono(), settle_time);
  }
}

// --- polling

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct guard *g = ctx;
  g->asked_at = clk_mono();
  if (!g->is_registered) return guard_store_register(args, g->instance, g->providers, g->count);
  return guard_store_poll(args, g->instance, g->providers, g->count);
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct guard *g = ctx;
  size_t known = 0;
  if (!is_fresh(g)) settle_in(g, rows);
  g->heard_at = g->asked_at;
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct guard_row r = guard_store_row(rows, row);
    struct lane_guard *lg = find(g, r.provider);
    if (lg == NULL) continue;
    known++;
    guard_apply(lg, &r);
  }
  g->is_registered = known == g->count;
  for (size_t i = 0; i < g->count; i++) g->lanes[i]->on_change(g->lanes[i]->ctx);
  return poll_every;
}

static void on_failed(void *ctx, bool may_have_worked)
{
  const struct guard *g = ctx;
  (void)may_have_worked;
  for (size_t i = 0; i < g->count; i++) g->lanes[i]->on_change(g->lanes[i]->ctx);
}

// --- leaving

static void on_left(struct db_request *req, const struct db_rows *rows)
{
  (void)rows;
  CONTAINER_OF(req, struct guard, leave)->has_left = true;
}

static void on_leave_error(struct db_request *req, const struct db_error *error)
{
  (void)error;  // then they notice within seconds
  CONTAINER_OF(req, struct guard, leave)->has_left = true;
}

static void on_leave_timeout(struct db_request *req) { CONTAINER_OF(req, struct guard, leave)->has_left = true; }

bool guard_has_left(struct guard *g)
{
  periodic_stop(&g->poll);
  if (!g->is_leaving && !g->poll.is_busy) {  // a poll behind it would bring us back
    g->is_leaving = true;
    g->leave.statement = guard_store_leave(&g->leave.args, g->instance);
    if (db_pool_submit(g->db, &g->leave) != RESULT_OK) g->has_left = true;
  }
  return g->has_left;
}

// --- what a lane asks

bool lane_guard_wants_messages(const struct lane_guard *lg)
{
  if (!lg->is_known || lg->is_paused || lg->concurrency == 0) return false;
  return lg->breaker != BREAKER_OPEN || lg->moves_by_itself;
}

size_t lane_guard_concurrency(const struct lane_guard *lg) { return lg->concurrency; }

static bool may_take(const struct lane_guard *lg)
{
  struct mono_time now = clk_mono();
  if (!lane_guard_wants_messages(lg) || lg->is_moving || !is_fresh(lg->guard)) return false;
  return !mono_before(now, lg->settles_at);
}

// Breakers move when there is a claim to try them with, by whoever has one.
static bool wants_probe(const struct lane_guard *lg)
{
  if (lg->breaker == BREAKER_CLOSED || lg->is_forced || !lg->moves_by_itself || lg->probe != PROBE_NONE) return false;
  return !lg->is_probe_mine && !mono_before(clk_mono(), lg->moves_at);
}

size_t lane_guard_allows(struct lane_guard *lg, size_t waiting, size_t busy)
{
  if (waiting == 0 || !may_take(lg) || busy >= lg->concurrency) return 0;
  if (wants_probe(lg) && bucket_available(&lg->bucket, 1, clk_mono()) == 1) guard_move_to_probe(lg);
  size_t most = lg->concurrency - busy < waiting ? lg->concurrency - busy : waiting;
  if (lg->breaker == BREAKER_HALF_OPEN && lg->is_probe_mine && lg->probe == PROBE_NONE && !lg->is_moving)
    most = 1;
  else if (lg->breaker != BREAKER_CLOSED)
    return 0;
  size_t allowed = bucket_available(&lg->bucket, most, clk_mono());
  if (allowed == 0) loop_timer_set(lg->tokens_due, bucket_wait(&lg->bucket, most));
  return allowed;
}

void lane_guard_taking(struct lane_guard *lg, size_t count)
{
  bucket_spend(&lg->bucket, count);
  if (lg->breaker == BREAKER_HALF_OPEN) lg->probe = PROBE_TAKING;
}

void lane_guard_taken(struct lane_guard *lg, size_t asked, size_t taken)
{
  bucket_give_back(&lg->bucket, asked - taken);
  if (lg->probe != PROBE_TAKING) return;
  lg->probe = PROBE_NONE;
  guard_move_release(lg);
}

bool lane_guard_starts(struct lane_guard *lg)
{
  if (lg->probe != PROBE_TAKING) return false;
  lg->probe = PROBE_OUT;
  return true;
}

void lane_guard_heard(struct lane_guard *lg, bool is_probe, enum http_stage stage, int status)
{
  bool failed = breaker_is_failure(&lg->terms, stage, status);
  struct mono_time now = clk_mono();
  if (is_probe && lg->probe == PROBE_OUT) {
    lg->probe = PROBE_NONE;
    guard_move_after_probe(lg, failed);
  }
  if (lg->breaker != BREAKER_CLOSED || lg->is_forced) return;
  breaker_note(&lg->window, &lg->terms, failed, now);
  struct breaker_count count = breaker_count(&lg->window, &lg->terms, now);
  if (failed && !lg->is_moving && breaker_is_tripped(&lg->terms, count)) guard_move_to_open(lg, count);
}

void lane_guard_probe_ended(struct lane_guard *lg)
{
  if (lg->probe != PROBE_OUT) return;
  lg->probe = PROBE_NONE;
  guard_move_release(lg);
}

// --- life

static void name_instance(struct guard *g)
{
  char host[64] = "";
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') snprintf(host, sizeof host, "unknown");
  snprintf(g->instance, sizeof g->instance, "%s:%d:%" PRIx64, host, (int)getpid(), (uint64_t)clk_wall().us);
}

struct guard *guard_new(struct runtime *rt, struct db_pool *db, size_t room)
{
  static const struct periodic_spec spec = {"guard", prepare, on_rows, on_failed};
  struct guard *g = MEM_NEW(struct guard);
  g->rt = rt;
  g->db = db;
  g->room = room;
  g->providers = MEM_ARRAY(const struct provider *, room);
  g->lanes = MEM_ARRAY(struct lane_guard *, room);
  name_instance(g);
  g->leave = (struct db_request){.on_rows = on_left, .on_error = on_leave_error, .on_timeout = on_leave_timeout};
  db_args_init(&g->leave.args);
  periodic_init(&g->poll, &spec, g, rt, db, poll_every);
  return g;
}

static void on_tokens(void *ctx)
{
  const struct lane_guard *lg = ctx;
  lg->on_change(lg->ctx);
}

struct lane_guard *guard_add(struct guard *g, const struct provider *p, void (*on_change)(void *ctx), void *ctx)
{
  REQUIRE(g->count < g->room);
  const struct provider_conf *conf = p->conf;
  struct metric_set *metrics = g->rt->metrics;
  struct lane_guard *lg = MEM_NEW(struct lane_guard);
  *lg = (struct lane_guard){.guard = g, .provider = p, .on_change = on_change, .ctx = ctx};
  lg->terms = (struct breaker_terms){conf->breaker.window,        conf->breaker.min_calls,
                                     conf->breaker.failure_ratio, conf->breaker.open_for,
                                     conf->breaker.open_max,      (enum breaker_counts)conf->breaker.counts};
  bucket_init(&lg->bucket, clk_mono());
  lg->tokens_due = loop_timer_new(g->rt->loop, on_tokens, lg);
  guard_move_init(lg);
  lg->breaker_figure = METRIC_SERIES(metrics, M_BREAKER_STATE, p->name);
  lg->paused_figure = METRIC_SERIES(metrics, M_PROVIDER_PAUSED, p->name);
  lg->share_figure = METRIC_SERIES(metrics, M_CONCURRENCY_SHARE, p->name);
  g->providers[g->count] = p;
  g->lanes[g->count++] = lg;
  return lg;
}

void guard_start(struct guard *g)
{
  if (g->count > 0) periodic_soon(&g->poll);
}

void guard_stop(struct guard *g) { periodic_stop(&g->poll); }

void guard_free(struct guard *g)
{
  if (g == NULL) return;
  periodic_release(&g->poll);
  db_args_release(&g->leave.args);
  for (size_t i = 0; i < g->count; i++) {
    loop_timer_free(g->lanes[i]->tokens_due);
    db_args_release(&g->lanes[i]->move.args);
    mem_free(g->lanes[i]);
  }
  mem_free(g->lanes);
  mem_free(g->providers);
  mem_free(g);
}
