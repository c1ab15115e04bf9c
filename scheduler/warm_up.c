// SPDX-License-Identifier: Apache-2.0
// Warm-up: one run at a time per activity, in steps: memory, the database's pages, every connection, the report.
// Owner: app; loop thread.
#include "scheduler/warm_up.h"

#include <string.h>

#include "common/contract.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "common/web_call.h"
#include "common/web_read.h"
#include "scheduler/app.h"
#include "scheduler/claim_store.h"
#include "scheduler/publish.h"
#include "scheduler/worker_store.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

#define RUNS_MAX    4
#define LOOK_EVERY  span_s(1)
#define REPORT_MAX  65536
#define ROW_COST_US 25  // of one claim in a batch, as measured; for the estimate

// The last one measures: by then everything is planned.
enum round { ROUND_SUBMIT, ROUND_LOOKUP, ROUND_ENQUEUE, ROUND_AGAIN, ROUND_COUNT };

struct warm_up {
  struct app *app;
  struct periodic look;
  size_t run_count;
};

struct warm_up_run;
struct probe {
  struct db_request db;
  struct warm_up_run *run;
  struct mono_time sent;
};

struct warm_up_run {
  struct warm_up *owner;
  struct web_request *web;  // NULL: by itself
  struct activity_search search;
  struct activity *activity;  // pinned; NULL: not one that is kept in memory
  struct db_request db;
  struct probe *probes;  // one per connection
  size_t probe_count, open, failed, statements;
  enum round round;
  struct mono_time began, step_began;
  struct span database, connections, slowest;
  struct buf report;
  char provider[2][NAME_CHARS_MAX * 4 + 1];
};

static void end_run(struct warm_up_run *r)
{
  r->owner->run_count--;
  if (r->activity) r->activity->pins--;
  for (size_t i = 0; i < r->probe_count; i++) db_args_release(&r->probes[i].db.args);
  mem_free(r->probes);
  db_args_release(&r->db.args);
  buf_release(&r->report);
  mem_free(r);
}

// --- the report

static int64_t estimate(const struct warm_up_run *r)
{
  const struct claim_conf *c = &r->owner->app->conf.claims;
  int64_t batch_us = r->slowest.us + c->gather.us + c->batch_max_rows * ROW_COST_US;
  return c->batch_max_rows * 1000000 / (batch_us > 0 ? batch_us : 1);
}

static void put_lanes(struct warm_up_run *r)
{
  buf_puts(&r->report, ",\"lanes\":[");
  for (size_t i = 0; i < 2; i++) {
    uint64_t depth = 0;
    const char *name = r->provider[i];
    if (name[0] == '\0' || (i == 1 && strcmp(name, r->provider[0]) == 0)) continue;
    bool is_known = lane_depth(r->owner->app->lanes, name, &depth);
    buf_puts(&r->report, i == 1 && r->provider[0][0] != '\0' ? ",{\"provider\":" : "{\"provider\":");
    buf_put_json(&r->report, name, strlen(name));
    if (is_known) buf_printf(&r->report, ",\"depth\":%llu", (unsigned long long)depth);
    buf_putc(&r->report, '}');
  }
  buf_putc(&r->report, ']');
}

static void put_rest(struct warm_up_run *r)
{
  struct app *app = r->owner->app;
  buf_printf(&r->report, ",\"connections\":{\"count\":%zu,\"statements\":%zu,\"failed\":%zu},\"inMemory\":%s",
             r->probe_count, r->statements, r->failed, r->activity ? "true" : "false");
  put_lanes(r);
  buf_printf(&r->report, ",\"estimatedClaimsPerSecond\":%lld,\"batchMaxRows\":%lld", (long long)estimate(r),
             (long long)app->conf.claims.batch_max_rows);
  buf_printf(&r->report,
             ",\"timings\":{\"databaseMs\":%lld,\"connectionsMs\":%lld,\"statementMs\":%.1f,\"totalMs\":%lld}}",
             (long long)span_to_ms(r->database), (long long)span_to_ms(r->connections),
             span_to_seconds(r->slowest) * 1e3, (long long)span_to_ms(mono_since(clk_mono(), r->began)));
}

static void reply(struct web_request *web, const struct buf *report)
{
  static const char *const members[] = {"detail", NULL};
  static const struct web_told told = {.at = "/warnings", .members = members};
  web_reply_told(web, 200, buf_text(report), report->len, &told);
}

static void finish(struct warm_up_run *r)
{
  struct app *app = r->owner->app;
  r->connections = mono_since(clk_mono(), r->step_began);
  put_rest(r);
  LOG(app->rt->log, EV_ACTIVITY_WARMED, F_STR("activity_code", r->search.code),
      F_SPAN("taken_s", mono_since(clk_mono(), r->began)), F_UINT("failed", r->failed),
      F_STR("report", buf_text(&r->report)));
  if (r->web) {
    REQUIRE(buf_result(&r->report) == RESULT_OK);
    reply(r->web, &r->report);
  }
  end_run(r);
}

static void give_up(struct warm_up_run *r, const char *code, int status, const char *detail)
{
  struct activity *a = activity_cache_find(r->owner->app->cache, r->search.code);
  if (r->web)
    web_reply_problem(r->web,
                      &(struct web_problem){
                          .code = code, .status = status, .detail = detail, .retry_after_s = status == 503 ? 1 : 0});
  else if (a)
    a->warmed_for.us = 0;  // so it is tried again
  end_run(r);
}

// --- every connection plans its statements: a round of one statement has as many requests as there are connections,
// sent in one turn, so that each gets one

static void run_round(struct warm_up_run *r);

static void one_is_back(struct warm_up_run *r)
{
  if (--r->open > 0) return;
  r->round++;
  run_round(r);
}

static void on_probe_rows(struct db_request *req, const struct db_rows *rows)
{
  struct probe *p = CONTAINER_OF(req, struct probe, db);
  struct warm_up_run *r = p->run;
  struct span took = mono_since(clk_mono(), p->sent);
  (void)rows;
  r->statements++;
  if (r->round == ROUND_AGAIN && took.us > r->slowest.us) r->slowest = took;
  one_is_back(r);
}

static void probe_failed(struct probe *p)
{
  p->run->failed++;
  one_is_back(p->run);
}

static void on_probe_error(struct db_request *req, const struct db_error *error)
{
  (void)error;
  probe_failed(CONTAINER_OF(req, struct probe, db));
}

static void on_probe_timeout(struct db_request *req) { probe_failed(CONTAINER_OF(req, struct probe, db)); }

// Without requests: each takes its way through the rules and changes nothing.
static const struct db_statement *statement_of(const struct warm_up_run *r, struct db_args *args)
{
  const struct scheduler_conf *conf = &r->owner->app->conf;
  switch (r->round) {
    case ROUND_LOOKUP: return store_claim_lookup(args, r->activity, NULL, 0);
    case ROUND_ENQUEUE: return store_claim_enqueue(args, r->activity, NULL, 0, conf->intake.queue_max, false);
    case ROUND_SUBMIT:
    case ROUND_AGAIN:
    case ROUND_COUNT: break;
  }
  return store_claim_submit(args, r->activity, NULL, 0, conf->claims.sweep_after, 0);
}

static void send_probe(struct warm_up_run *r, struct probe *p)
{
  db_args_clear(&p->db.args);
  p->db.statement = statement_of(r, &p->db.args);
  p->sent = clk_mono();
  if (db_pool_submit(r->owner->app->db, &p->db) == RESULT_OK) return;
  probe_failed(p);
}

static void run_round(struct warm_up_run *r)
{
  if (r->round == ROUND_ENQUEUE && r->activity && !r->activity->is_queued) r->round++;
  if (r->round >= ROUND_COUNT || !r->activity) {
    finish(r);
    return;
  }
  size_t count = r->probe_count;
  r->open = count;
  for (size_t i = 0; i < count; i++) send_probe(r, &r->probes[i]);  // r may be gone after the last
}

static void make_probes(struct warm_up_run *r)
{
  r->probe_count = (size_t)r->owner->app->conf.daemon.database.pool_size;
  r->probes = MEM_ARRAY(struct probe, r->probe_count);
  for (size_t i = 0; i < r->probe_count; i++) {
    r->probes[i].run = r;
    db_args_init(&r->probes[i].db.args);
    r->probes[i].db.on_rows = on_probe_rows;
    r->probes[i].db.on_error = on_probe_error;
    r->probes[i].db.on_timeout = on_probe_timeout;
  }
}

// --- the database's pages

static void on_report(struct db_request *req, const struct db_rows *rows)
{
  enum { OUTCOME, PROVIDER, PAYMENT_PROVIDER, REPORT };
  struct warm_up_run *r = CONTAINER_OF(req, struct warm_up_run, db);
  if (strcmp(db_rows_text(rows, 0, OUTCOME), "ok") != 0) {
    give_up(r, "ACTIVITY_NOT_FOUND", 404, "there is no such activity");
    return;
  }
  buf_append(&r->report, db_rows_text(rows, 0, REPORT), db_rows_text_len(rows, 0, REPORT) - 1);  // open at its end
  for (size_t i = 0; i < 2; i++) {
    (void)snprintf(r->provider[i], sizeof r->provider[i], "%s", db_rows_text(rows, 0, PROVIDER + i));
    if (r->provider[i][0] != '\0') lane_publisher_add(r->owner->app->lanes, r->provider[i]);
  }
  lane_publisher_look(r->owner->app->lanes);
  r->database = mono_since(clk_mono(), r->step_began);
  r->step_began = clk_mono();
  make_probes(r);
  run_round(r);
}

static void on_report_error(struct db_request *req, const struct db_error *error)
{
  (void)error;
  give_up(CONTAINER_OF(req, struct warm_up_run, db), "UNAVAILABLE", 503, "the database has not answered");
}

static void on_report_timeout(struct db_request *req) { on_report_error(req, NULL); }

static void on_found(struct activity_search *s, struct activity *a, bool is_answered)
{
  struct warm_up_run *r = CONTAINER_OF(s, struct warm_up_run, search);
  (void)is_answered;
  if (a) a->pins++;
  r->activity = a;
  r->step_began = clk_mono();
  db_args_text(&r->db.args, s->code);
  if (db_pool_submit(r->owner->app->db, &r->db) != RESULT_OK)
    give_up(r, "UNAVAILABLE", 503, "the database cannot be reached");
}

static void begin(struct warm_up *w, struct web_request *web, const char *code)
{
  struct warm_up_run *r = MEM_NEW(struct warm_up_run);
  w->run_count++;
  r->owner = w;
  r->web = web;
  r->began = clk_mono();
  r->db = (struct db_request){.statement = &SQL_ACTIVITY_WARM_UP,
                              .on_rows = on_report,
                              .on_error = on_report_error,
                              .on_timeout = on_report_timeout};
  db_args_init(&r->db.args);
  buf_init(&r->report, REPORT_MAX);
  (void)snprintf(r->search.code, sizeof r->search.code, "%s", code);
  r->search.on_found = on_found;
  activity_cache_search(w->app->cache, &r->search);
}

// --- by itself, before the start

static const struct db_statement *prepare_look(void *ctx, struct db_args *args)
{
  struct warm_up *w = ctx;
  if (w->app->conf.warm_up_before.us == 0) return NULL;
  store_span(args, w->app->conf.warm_up_before);
  return &SQL_ACTIVITY_STARTING;
}

static struct span on_look(void *ctx, const struct db_rows *rows)
{
  struct warm_up *w = ctx;
  for (size_t i = 0; i < db_rows_count(rows) && w->run_count < RUNS_MAX; i++) {
    struct activity *a = activity_cache_find(w->app->cache, db_rows_text(rows, i, 0));
    int64_t start = db_rows_time(rows, i, 1).us;
    if (!a || a->warmed_for.us == start) continue;  // once for each start
    a->warmed_for.us = start;
    begin(w, NULL, a->code);
  }
  return LOOK_EVERY;
}

// --- on demand

void warm_up_api(struct web_request *req)
{
  struct app *app = web_context(req);
  const char *code = NULL;
  json_t *body = NULL;
  struct jsonx_reader reader;
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_body(req, &body)) return;
  jsonx_reader_init(&reader, body, "");
  (void)jsonx_read_text(&reader, "reason", false, REASON_CHARS_MAX);
  if (jsonx_reader_finish(&reader) != RESULT_OK)
    web_reply_invalid(req, reader.fault);
  else if (app->warm_up->run_count >= RUNS_MAX)
    web_reply_problem(
        req,
        &(struct web_problem){
            .code = "OVERLOADED", .status = 503, .detail = "other activities are being warmed up", .retry_after_s = 1});
  else
    begin(app->warm_up, req, code);
  json_decref(body);
}

// --- life

struct warm_up *warm_up_new(struct app *app)
{
  static const struct periodic_spec look = {"warm_up", prepare_look, on_look, NULL};
  struct warm_up *w = MEM_NEW(struct warm_up);
  w->app = app;
  periodic_init(&w->look, &look, w, app->rt, app->db, LOOK_EVERY);
  return w;
}

void warm_up_free(struct warm_up *w)
{
  if (!w) return;
  periodic_release(&w->look);
  mem_free(w);
}

void warm_up_start(struct warm_up *w) { periodic_soon(&w->look); }
void warm_up_stop(struct warm_up *w) { periodic_stop(&w->look); }
