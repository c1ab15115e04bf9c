// SPDX-License-Identifier: Apache-2.0
// The fulfiller as a whole: what it is made of, in which order it starts and drains.
// Owner: main; loop thread.
#pragma once

#define DAEMON_LOG_EVENTS "fulfiller/log_events.def"
#define DAEMON_METRICS    "fulfiller/metrics.def"
#define DAEMON_MESSAGES   "fulfiller/messages.def"

#include "common/daemon.h"
#include "common/daemon_ids.h"
#include "common/web.h"
#include "fulfiller/config.h"

struct access;
struct callbacks;
struct figures;
struct guard;
struct lane;
struct letters;
struct settler;
struct webhooks;

struct app {
  struct runtime *rt;
  struct fulfiller_conf *conf;  // the app's own copy: profiles refer to its texts, and a reload frees the loaded one
  struct db_pool *db;
  struct mq_publisher *publisher;
  struct mq_consumer *consumer;
  struct web_server *web;
  struct access *keys;
  struct letters *letters;
  struct callbacks *callbacks;
  struct settler *settler;
  struct figures *figures;
  struct webhooks *webhooks;
  struct guard *guard;
  struct lane **lanes;  // one per provider
  size_t lane_count;
  struct loop_timer *health_timer;
  bool is_draining;
};

enum result app_start(struct runtime *rt, const void *config, struct app **out_app);
void app_reload(struct app *app, const void *config);
void app_drain(struct app *app);
bool app_is_idle(const struct app *app);
bool app_is_ready(const struct app *app, const char **out_why_not);
void app_stop(struct app *app);
enum result app_check(const void *config, const char *file, bool reads_files,
                      struct conf_fault *out_fault);  // profiles compile
