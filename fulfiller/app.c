// SPDX-License-Identifier: Apache-2.0
// Wiring of the fulfiller. Loop thread.
#include "fulfiller/app.h"

#include "common/access.h"
#include "common/loop.h"
#include "common/mem.h"
#include "fulfiller/callback.h"
#include "fulfiller/callback_keys.h"
#include "fulfiller/figures.h"
#include "fulfiller/guard.h"
#include "fulfiller/intake.h"
#include "fulfiller/lane.h"
#include "fulfiller/letters.h"
#include "fulfiller/routes.h"
#include "fulfiller/settle.h"
#include "fulfiller/topology.h"
#include "fulfiller/webhook_profile.h"
#include "fulfiller/webhooks.h"

static const struct span health_every = {200000};
static const struct span last_acks = {2000000};

// --- health

bool app_is_ready(const struct app *app, const char **out_why_not)
{
  const char *why = NULL;
  const char *fault = mq_publisher_fault(app->publisher);
  if (fault == NULL) fault = mq_consumer_fault(app->consumer);
  if (app->is_draining)
    why = "draining";
  else if (!db_pool_is_up(app->db))
    why = "no connection to the database";
  else if (!mq_consumer_is_up(app->consumer) || !mq_publisher_is_up(app->publisher))
    why = "no connection to the broker";
  else if (fault != NULL)
    why = fault;
  *out_why_not = why;
  return why == NULL;
}

static void check_health(void *ctx)
{
  struct app *app = ctx;
  const char *why_not = NULL;
  (void)app_is_ready(app, &why_not);
  web_server_set_not_ready(app->web, why_not);
  loop_timer_set(app->health_timer, health_every);
}

// --- start

enum result app_check(const void *config, const char *file, bool reads_files, struct conf_fault *out_fault)
{
  enum result result = provider_check_all(config, file, reads_files, out_fault);
  if (result == RESULT_OK) result = callback_check_all(config, file, reads_files, out_fault);
  return result == RESULT_OK ? webhook_check_all(config, file, reads_files, out_fault) : result;
}

static enum result start_web(struct app *app)
{
  char why[WEB_WHY_BYTES] = "";
  app->web = web_server_new(app->rt, &app->conf->web, fulfiller_routes(), app);
  web_server_set_not_ready(app->web, "starting");
  enum result result = web_server_start(app->web, why);
  if (result != RESULT_OK) LOG(app->rt->log, EV_DAEMON_FAILED, F_STR("reason", why));
  return result;
}

static void on_settler_room(void *ctx)
{
  const struct app *app = ctx;
  for (size_t i = 0; i < app->lane_count; i++) intake_poke(app->lanes[i]);
}

static void start_workers(struct app *app)
{
  const struct daemon_conf *conf = &app->conf->daemon;
  app->db = db_pool_new(app->rt, &conf->database, "largesse fulfiller", "largesse_fulfiller");
  app->keys = access_new(app->rt, app->db);
  web_server_set_auth(app->web, access_auth, app->keys);
  if (app->conf->web.auth != 0) access_start(app->keys);
  app->publisher = mq_publisher_new(app->rt, &conf->broker, "largesse fulfiller publisher");
  app->consumer = mq_consumer_new(app->rt, &conf->broker, "largesse fulfiller consumer");
  app->letters = letters_new(app->rt, app->db, app->publisher, app->consumer);
  app->settler = settler_new(app->rt, app->db, app->publisher, app->letters, on_settler_room, app);
  app->figures = figures_new(app->rt, app->db, &app->conf->providers, app->conf->figures_every);
  app->guard = guard_new(app->rt, app->db, app->conf->providers.count);
  topology_declare_common(app->publisher, app->consumer);
}

static enum result start_callbacks(struct app *app)
{
  struct conf_fault fault;
  enum result result = callbacks_new(app->rt, app->db, app->letters, app->conf, &app->callbacks, &fault);
  if (result != RESULT_OK) LOG(app->rt->log, EV_CONFIG_REJECTED, F_STR("detail", fault.text));
  return result;
}

static enum result open_webhooks(struct app *app)
{
  struct conf_fault fault;
  enum result result = webhooks_new(app->rt, app->db, app->conf, &app->webhooks, &fault);
  if (result != RESULT_OK) LOG(app->rt->log, EV_CONFIG_REJECTED, F_STR("detail", fault.text));
  return result;
}

static enum result open_lane(struct app *app, const struct conf_entry *entry)
{
  const struct lane_means means = {app->rt, app->db, app->consumer, app->settler, app->letters, app->guard};
  struct conf_fault fault = {.text = ""};
  struct provider provider;
  enum result result = provider_compile(entry->name, entry->block, &provider, &fault);
  if (result == RESULT_OK) {
    result = provider_load_keys(&provider, &provider.conf->secrets, &fault);
    if (result != RESULT_OK) provider_release(&provider);
  }
  if (result != RESULT_OK) {
    LOG(app->rt->log, EV_CONFIG_REJECTED, F_STR("provider", entry->name), F_STR("detail", fault.text));
    return result;
  }
  struct lane *lane = lane_new(&means, &provider);
  app->lanes[app->lane_count++] = lane;
  topology_declare_lane(app->publisher, app->consumer, &lane->provider);
  return RESULT_OK;
}

enum result app_start(struct runtime *rt, const void *config, struct app **out_app)
{
  enum result result;
  struct app *app = MEM_NEW(struct app);
  app->rt = rt;
  *out_app = app;  // stop() releases it, also half started
  app->conf = conf_clone(fulfiller_conf_table(), config);
  TRY(start_web(app));
  start_workers(app);
  TRY(start_callbacks(app));
  app->lanes = MEM_ARRAY(struct lane *, app->conf->providers.count);
  for (size_t i = 0; i < app->conf->providers.count; i++) TRY(open_lane(app, &app->conf->providers.items[i]));
  TRY(open_webhooks(app));
  guard_start(app->guard);  // lanes open when it knows their providers
  app->health_timer = loop_timer_new(rt->loop, check_health, app);
  check_health(app);
cleanup:
  return result;
}

// The files were read once already when the configuration was checked; one that went away since leaves what was there.
static void reload_secrets(struct lane *lane, const struct conf_map *providers, struct log *log)
{
  for (size_t i = 0; i < providers->count; i++) {
    const struct conf_entry *entry = &providers->items[i];
    const struct provider_conf *block = entry->block;
    struct conf_fault fault = {.text = ""};
    if (strcmp(entry->name, lane->provider.name) != 0) continue;
    if (provider_load_keys(&lane->provider, &block->secrets, &fault) != RESULT_OK)
      LOG(log, EV_CONFIG_REJECTED, F_STR("provider", entry->name), F_STR("detail", fault.text));
  }
}

void app_reload(struct app *app, const void *config)
{
  const struct fulfiller_conf *conf = config;
  for (size_t i = 0; i < app->lane_count; i++) reload_secrets(app->lanes[i], &conf->providers, app->rt->log);
  db_pool_reload(app->db, &conf->daemon.database);
  figures_set_every(app->figures, conf->figures_every);
  callbacks_reload(app->callbacks, conf);
  webhooks_reload(app->webhooks, conf);
}

// --- end

void app_drain(struct app *app)
{
  app->is_draining = true;
  check_health(app);
  for (size_t i = 0; i < app->lane_count; i++) lane_drain(app->lanes[i]);
  webhooks_drain(app->webhooks);
  figures_stop(app->figures);  // the server goes on: it says that we are not ready, and counts the last deliveries
}

bool app_is_idle(const struct app *app)
{
  for (size_t i = 0; i < app->lane_count; i++) {
    if (!lane_is_idle(app->lanes[i])) return false;
  }
  return webhooks_are_idle(app->webhooks) && settler_open(app->settler) == 0 && letters_open(app->letters) == 0 &&
         mq_publisher_open(app->publisher) == 0 && web_server_open_requests(app->web) == 0 &&
         guard_has_left(app->guard);
}

// Who calls back into others ends before them: calls, then statements, then posts. What could not be settled keeps its
// lease until it runs out.
void app_stop(struct app *app)
{
  loop_timer_free(app->health_timer);
  web_server_free(app->web);
  if (app->figures != NULL) figures_stop(app->figures);
  webhooks_stop(app->webhooks);
  if (app->guard != NULL) guard_stop(app->guard);  // until here others count us: our calls are part of theirs
  if (app->letters != NULL) letters_stop(app->letters);
  if (app->settler != NULL) settler_stop(app->settler);
  for (size_t i = 0; i < app->lane_count; i++) lane_stop(app->lanes[i]);
  if (app->db != NULL) db_pool_free(app->db);
  access_free(app->keys);
  callbacks_free(app->callbacks);
  if (app->publisher != NULL) mq_publisher_free(app->publisher);
  if (app->consumer != NULL) mq_consumer_flush(app->consumer, last_acks);
  letters_free(app->letters);
  settler_free(app->settler);
  figures_free(app->figures);
  webhooks_free(app->webhooks);
  guard_free(app->guard);
  for (size_t i = 0; i < app->lane_count; i++) lane_free(app->lanes[i]);
  if (app->consumer != NULL) mq_consumer_free(app->consumer);
  mem_free(app->lanes);
  conf_free(fulfiller_conf_table(), app->conf);
  mem_free(app);
}
