// SPDX-License-Identifier: Apache-2.0
// The reconciler as a whole: what it is made of, in which order it starts and drains.
// Owner: main; loop thread.
#include "reconciler/app.h"

#include <string.h>

#include "common/access.h"
#include "common/loop.h"
#include "common/mem.h"
#include "reconciler/assets.h"
#include "reconciler/cli.h"
#include "reconciler/figures.h"
#include "reconciler/night_worker.h"
#include "reconciler/now.h"
#include "reconciler/operation_worker.h"
#include "reconciler/retention_worker.h"
#include "reconciler/routes.h"
#include "reconciler/session.h"
#include "reconciler/statement_worker.h"

#define HEALTH_EVERY      span_ms(200)
#define SCRATCH_BYTES_MAX (32u * 1024u * 1024u)

static const char *why_not_ready(const struct app *app)
{
  if (app->draining) return "draining";
  return db_pool_is_up(app->db) ? NULL : "database away";
}

static bool differs(const char *a, const char *b) { return a != b && (!a || !b || strcmp(a, b) != 0); }

static void look_at_health(struct app *app)
{
  const char *not_ready = why_not_ready(app);
  if (differs(not_ready, app->not_ready))
    LOG(app->rt->log, EV_READINESS_CHANGED, F_BOOL("ready", not_ready == NULL), F_STR("reason", not_ready));
  app->not_ready = not_ready;
  web_server_set_not_ready(app->web, not_ready);
}

static void on_health_due(void *ctx)
{
  struct app *app = ctx;
  look_at_health(app);
  loop_timer_set(app->health_timer, HEALTH_EVERY);
}

bool app_is_ready(const struct app *app, const char **out_why_not)
{
  const char *why = why_not_ready(app);
  if (why) *out_why_not = why;
  return why == NULL;
}

static void on_call_failed(void *ctx, const struct db_statement *statement, const char *sqlstate, const char *message)
{
  const struct app *app = ctx;
  LOG(app->rt->log, EV_QUERY_FAILED, F_STR("statement", statement->name), F_STR("sqlstate", sqlstate),
      F_STR("message", message));
}

static void start_calls(struct app *app)
{
  static const struct web_refusal refusals[] = {
      {"ACTIVITY_NOT_FOUND", 404}, {"CLAIM_NOT_FOUND", 404}, {"STOCK_IN_USE", 409}, {"COUPON_USED", 409}};
  app->calls = (struct web_calls){.db = app->db,
                                  .loop = app->rt->loop,
                                  .refusals = refusals,
                                  .refusal_count = ARRAY_LEN(refusals),
                                  .on_failed = on_call_failed,
                                  .ctx = app};
  web_server_set_calls(app->web, &app->calls);
}

static void start_access(struct app *app)
{
  app->keys = access_new(app->rt, app->db);
  app->sessions = sessions_new(app->rt, app->db, app->keys);
  web_server_set_auth(app->web, sessions_auth, app->sessions);
  web_server_set_gate(app->web, sessions_gate);
  if (app->conf.web.auth != 0) access_start(app->keys);
}

enum result app_start(struct runtime *rt, const void *config, struct app **out_app)
{
  struct app *app = MEM_NEW(struct app);
  app->rt = rt;
  app->conf = *(const struct reconciler_conf *)config;
  app->not_ready = "starting";
  buf_init(&app->scratch, SCRATCH_BYTES_MAX);
  app->db = db_pool_new(rt, &app->conf.daemon.database, "largesse-reconciler", RECONCILER_ROLE);
  app->web = web_server_new(rt, &app->conf.web, reconciler_routes(), app);
  web_server_set_policy(app->web, ASSETS_POLICY);
  start_calls(app);
  start_access(app);
  app->figures = figures_new(rt, app->db, app->conf.figures_every);
  app->operations = operation_worker_new(rt, app->db, &app->conf.operations);
  app->nights = night_worker_new(rt, app->db, &app->conf, app->figures);
  app->statements = statement_worker_new(rt, &app->conf);
  app->now = now_worker_new(rt, app->db);
  app->retention = retention_worker_new(rt, app->db, &app->conf.retention);
  app->health_timer = loop_timer_new(rt->loop, on_health_due, app);
  char why[WEB_WHY_BYTES] = "";
  enum result result = web_server_start(app->web, why);
  if (result != RESULT_OK) {
    LOG(rt->log, EV_DAEMON_FAILED, F_STR("detail", why));
    app_stop(app);
    return result;
  }
  figures_start(app->figures);
  operation_worker_start(app->operations);
  night_worker_start(app->nights);
  statement_worker_start(app->statements);
  retention_worker_start(app->retention);
  now_worker_start(app->now);
  on_health_due(app);
  *out_app = app;
  return RESULT_OK;
}

void app_reload(struct app *app, const void *config)
{
  app->conf = *(const struct reconciler_conf *)config;
  db_pool_reload(app->db, &app->conf.daemon.database);
  figures_set_every(app->figures, app->conf.figures_every);
  operation_worker_reload(app->operations, &app->conf.operations);
  night_worker_reload(app->nights, &app->conf);
  statement_worker_reload(app->statements, &app->conf);
  retention_worker_reload(app->retention, &app->conf.retention);
}

void app_drain(struct app *app)
{
  app->draining = true;
  look_at_health(app);
  web_server_drain(app->web);
  access_stop(app->keys);
  figures_stop(app->figures);
  operation_worker_stop(app->operations);
  night_worker_stop(app->nights);
  statement_worker_stop(app->statements);
  retention_worker_stop(app->retention);
  now_worker_stop(app->now);
}

bool app_is_idle(const struct app *app)
{
  return web_server_open_requests(app->web) == 0 && app->calls.open_count == 0 &&
         operation_worker_is_idle(app->operations) && night_worker_is_idle(app->nights) &&
         statement_worker_is_idle(app->statements) && retention_worker_is_idle(app->retention);
}

// The database's callbacks come while their receivers live.
void app_stop(struct app *app)
{
  db_pool_free(app->db);
  night_worker_free(app->nights);
  statement_worker_free(app->statements);
  retention_worker_free(app->retention);
  now_worker_free(app->now);
  figures_free(app->figures);
  operation_worker_free(app->operations);
  sessions_free(app->sessions);
  access_free(app->keys);
  web_server_free(app->web);
  loop_timer_free(app->health_timer);
  buf_release(&app->scratch);
  mem_free(app);
}
