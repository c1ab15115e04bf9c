// SPDX-License-Identifier: Apache-2.0
// All webhook endpoints of the configuration: see webhooks.h.
// Owner: app; loop thread.
#include "fulfiller/webhooks.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "common/signature.h"
#include "common/text.h"
#include "fulfiller/app.h"
#include "fulfiller/webhook.h"
#include "fulfiller/webhook_store.h"

#define REGISTER_AGAIN span_s(1)
#define NAME_EVERY     span_s(10)
#define PURGE_EVERY    span_s(60)
// Others may miss a few turns before their endpoints are forgotten, and have as long to start after an outage.
static const struct span forget_after = {60000000};
enum { PURGE_ROWS = 1000 };

struct webhooks {
  struct runtime *rt;
  struct signature *signature;
  struct webhook **items;
  const struct webhook_profile **profiles;  // of the items
  char **hashes;                            // of their addresses
  size_t count;
  struct mono_time known_at;
  struct periodic make_known, name, figures, purge;
  struct span retention;
};

// --- statements

static const struct db_statement *prepare_register(void *ctx, struct db_args *args)
{
  struct webhooks *s = ctx;
  return webhook_store_register(args, s->profiles, (const char *const *)s->hashes, s->count);
}

static struct span on_registered(void *ctx, const struct db_rows *rows)
{
  struct webhooks *s = ctx;
  (void)rows;
  periodic_stop(&s->make_known);
  s->known_at = clk_mono();
  periodic_soon(&s->name);
  for (size_t i = 0; i < s->count; i++) webhook_start(s->items[i]);
  if (s->count > 0) periodic_soon(&s->figures);
  periodic_soon(&s->purge);
  return REGISTER_AGAIN;
}

static const struct db_statement *prepare_name(void *ctx, struct db_args *args)
{
  const struct webhooks *s = ctx;
  bool may_forget = mono_since(clk_mono(), s->known_at).us > forget_after.us;
  return webhook_store_name(args, s->profiles, s->count, may_forget ? &forget_after : NULL);
}

static struct span on_named(void *ctx, const struct db_rows *rows)
{
  (void)ctx;
  (void)rows;
  return NAME_EVERY;
}

static const struct db_statement *prepare_figures(void *ctx, struct db_args *args)
{
  (void)ctx;
  return webhook_store_figures(args);
}

static struct span on_figures(void *ctx, const struct db_rows *rows)
{
  struct webhooks *s = ctx;
  for (size_t row = 0; row < db_rows_count(rows); row++) {
    struct webhook_figures_row f = webhook_store_figures_row(rows, row);
    for (size_t i = 0; i < s->count; i++)
      if (strcmp(s->profiles[i]->name, f.name) == 0) webhook_show(s->items[i], f.waiting, f.lag_ms, f.is_disabled);
  }
  return s->figures.every;
}

static const struct db_statement *prepare_purge(void *ctx, struct db_args *args)
{
  const struct webhooks *s = ctx;
  return webhook_store_purge(args, s->retention, PURGE_ROWS);
}

static struct span on_purged(void *ctx, const struct db_rows *rows)
{
  struct webhooks *s = ctx;
  return db_rows_i64(rows, 0, 0) >= PURGE_ROWS ? span_us(0) : s->purge.every;
}

// --- life

static char *hash_of(struct signature *signature, const char *url)
{
  uint8_t bytes[SIGNATURE_SHA256_BYTES];
  struct buf hex;
  buf_init(&hex, 2 * sizeof bytes);
  signature_sha256(signature, url, strlen(url), bytes);
  text_hex(bytes, sizeof bytes, &hex);
  return buf_take(&hex);
}

static enum result add(struct webhooks *s, struct db_pool *db, const struct conf_entry *entry, struct conf_fault *fault)
{
  enum result result;
  struct webhook_profile profile = {0};
  TRY(webhook_profile_compile(entry, &profile, fault));
  TRY(webhook_new(s->rt, db, s->signature, &profile, &s->items[s->count], fault));
  s->profiles[s->count] = webhook_profile_of(s->items[s->count]);
  s->hashes[s->count] = hash_of(s->signature, s->profiles[s->count]->conf->url);
  s->count++;
cleanup:
  webhook_profile_release(&profile);  // what the worker has taken is no longer in it
  return result;
}

enum result webhooks_new(struct runtime *rt, struct db_pool *db, const struct fulfiller_conf *conf,
                         struct webhooks **out_webhooks, struct conf_fault *out_fault)
{
  static const struct periodic_spec make_known = {"webhook_register", prepare_register, on_registered, NULL};
  static const struct periodic_spec name = {"webhook_name", prepare_name, on_named, NULL};
  static const struct periodic_spec figures = {"webhook_figures", prepare_figures, on_figures, NULL};
  static const struct periodic_spec purge = {"webhook_purge", prepare_purge, on_purged, NULL};
  enum result result = RESULT_OK;
  size_t places = conf->webhooks.count + 1;
  struct webhooks *s = MEM_NEW(struct webhooks);
  s->rt = rt;
  s->signature = signature_new();
  s->retention = conf->webhook_retention;
  s->items = MEM_ARRAY(struct webhook *, places);
  s->profiles = MEM_ARRAY(const struct webhook_profile *, places);
  s->hashes = MEM_ARRAY(char *, places);
  periodic_init(&s->make_known, &make_known, s, rt, db, REGISTER_AGAIN);
  periodic_init(&s->name, &name, s, rt, db, NAME_EVERY);
  periodic_init(&s->figures, &figures, s, rt, db, conf->figures_every);
  periodic_init(&s->purge, &purge, s, rt, db, PURGE_EVERY);
  for (size_t i = 0; i < conf->webhooks.count; i++) TRY(add(s, db, &conf->webhooks.items[i], out_fault));
  periodic_soon(&s->make_known);
  *out_webhooks = s;
  return RESULT_OK;
cleanup:
  webhooks_stop(s);
  webhooks_free(s);
  return result;
}

void webhooks_reload(struct webhooks *s, const struct fulfiller_conf *conf)
{
  s->retention = conf->webhook_retention;
  s->figures.every = conf->figures_every;
  for (size_t i = 0; i < s->count; i++) {
    for (size_t k = 0; k < conf->webhooks.count; k++) {
      const struct conf_entry *entry = &conf->webhooks.items[k];
      struct conf_fault fault;
      if (strcmp(entry->name, s->profiles[i]->name) != 0) continue;
      if (webhook_reload(s->items[i], entry->block, &fault) != RESULT_OK)
        LOG(s->rt->log, EV_CONFIG_REJECTED, F_STR("webhook", entry->name), F_STR("detail", fault.text));
    }
  }
}

void webhooks_drain(struct webhooks *s)
{
  periodic_stop(&s->make_known);
  periodic_stop(&s->name);
  periodic_stop(&s->figures);
  periodic_stop(&s->purge);
  for (size_t i = 0; i < s->count; i++) webhook_drain(s->items[i]);
}

bool webhooks_are_idle(const struct webhooks *s)
{
  for (size_t i = 0; i < s->count; i++)
    if (!webhook_is_idle(s->items[i])) return false;
  return true;
}

void webhooks_stop(struct webhooks *s)
{
  if (s == NULL) return;
  webhooks_drain(s);
  for (size_t i = 0; i < s->count; i++) webhook_stop(s->items[i]);
}

void webhooks_free(struct webhooks *s)
{
  if (s == NULL) return;
  periodic_release(&s->make_known);
  periodic_release(&s->name);
  periodic_release(&s->figures);
  periodic_release(&s->purge);
  for (size_t i = 0; i < s->count; i++) {
    webhook_free(s->items[i]);
    mem_free(s->hashes[i]);
  }
  signature_free(s->signature);
  mem_free(s->items);
  mem_free(s->profiles);
  mem_free(s->hashes);
  mem_free(s);
}
