// SPDX-License-Identifier: Apache-2.0
// The reconciler as a whole: what it is made of, in which order it starts and drains. web_context(req) is a struct app
// *. Owner: main; loop thread.
#pragma once

#define DAEMON_LOG_EVENTS "reconciler/log_events.def"
#define DAEMON_METRICS    "reconciler/metrics.def"
#define DAEMON_MESSAGES   "reconciler/messages.def"
#define DAEMON_WORDS      "reconciler/words.def"

#include "common/buf.h"
#include "common/daemon.h"
#include "common/daemon_ids.h"
#include "common/web_call.h"
#include "reconciler/config.h"

struct access;
struct figures;
struct night_worker;
struct operation_worker;
struct statement_worker;
struct sessions;
struct loop_timer;

struct app {
  struct runtime *rt;
  struct reconciler_conf conf;  // texts inside belong to the loaded configuration; only numbers follow a reload
  struct db_pool *db;
  struct web_server *web;
  struct access *keys;
  struct sessions *sessions;
  struct web_calls calls;
  struct figures *figures;
  struct operation_worker *operations;
  struct night_worker *nights;
  struct statement_worker *statements;
  struct retention_worker *retention;
  struct now_worker *now;
  struct buf scratch;  // for one answer at a time
  struct loop_timer *health_timer;
  const char *not_ready;  // NULL: ready
  bool draining;
};

static inline struct app *app_of(const struct web_call *call) { return web_context(call->req); }

enum result app_start(struct runtime *rt, const void *config, struct app **out_app);
void app_reload(struct app *app, const void *config);
void app_drain(struct app *app);
bool app_is_idle(const struct app *app);
bool app_is_ready(const struct app *app, const char **out_why_not);
void app_stop(struct app *app);
