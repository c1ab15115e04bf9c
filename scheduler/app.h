// SPDX-License-Identifier: Apache-2.0
// The scheduler as a whole: parts, start order, drain order. web_context(req) is a struct app pointer.
// Owner: main; loop thread.
#pragma once

#define DAEMON_LOG_EVENTS "scheduler/log_events.def"
#define DAEMON_METRICS    "scheduler/metrics.def"
#define DAEMON_MESSAGES   "scheduler/messages.def"

#include "common/buf.h"
#include "common/daemon.h"
#include "common/daemon_ids.h"
#include "common/web_call.h"
#include "scheduler/config.h"

struct access;
struct activity_cache;
struct admission;
struct peers;
struct activity_clock;
struct claim_batcher;
struct deadline_worker;
struct event_relay;
struct intake_queue;
struct lane_publisher;
struct refusal_counts;
struct sweeper;
struct warm_up;

struct app {
  struct runtime *rt;
  struct scheduler_conf conf;  // texts inside belong to the loaded configuration; only numbers follow a reload
  struct db_pool *db;
  struct mq_publisher *mq;
  struct web_server *web;
  struct web_calls calls;
  struct access *keys;
  struct activity_cache *cache;  // activity_cache_poke(app->cache) after a change makes it visible here at once
  struct peers *peers;
  struct admission *admission;
  struct claim_batcher *batcher;
  struct lane_publisher *lanes;
  struct refusal_counts *refusals;
  struct activity_clock *clock;
  struct intake_queue *intake;
  struct warm_up *warm_up;
  struct sweeper *sweeper;
  struct deadline_worker *deadlines;
  struct event_relay *events;
  struct buf scratch;  // for one answer at a time
  struct loop_timer *health_timer;
  const char *not_ready;  // NULL: ready
  const char *degraded;   // ready, but something is missing; NULL: nothing
  bool draining;
};

static inline struct app *app_of(const struct web_call *call) { return web_context(call->req); }

enum result app_start(struct runtime *rt, const void *config, struct app **out_app);
void app_reload(struct app *app, const void *config);
void app_drain(struct app *app);
bool app_is_idle(const struct app *app);
bool app_is_ready(const struct app *app, const char **out_why_not);
void app_stop(struct app *app);
