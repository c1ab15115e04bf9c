// SPDX-License-Identifier: Apache-2.0
// What this scheduler remembers of each activity, kept in step by polling; and the database's clock.
// Owner: app; loop thread. An entry may go away at the next turn unless it is pinned.
#include "scheduler/activity_cache.h"

#include <string.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "common/text.h"
#include "scheduler/app.h"
#include "scheduler/worker_store.h"

enum { BUCKETS_AT_FIRST = 1024 };       // a power of two
#define SEARCHES_MAX               256  // codes asked for by one statement
#define FRESH_FOR                  span_s(5)
#define DIFFERENCE_WORTH_A_LINE_US 500000

struct activity_cache {
  struct runtime *rt;
  const struct scheduler_conf *conf;
  struct activity **buckets;
  size_t bucket_count, count;
  struct periodic read;
  struct periodic search;
  struct list searches, searching;  // waiting; asked for by the statement under way
  struct clock_view clock;
  struct wall_time read_at;  // the database's instant of the last read
  struct mono_time read_here, full_read_here;
  uint32_t full_read;  // number of the last full read
  bool is_full_read, is_loaded;
  void (*on_change)(void *ctx);
  void *on_change_ctx;
};

// --- the table

static size_t bucket_of(const struct activity_cache *c, const char *code)
{
  uint64_t h = 1469598103934665603u;
  for (; *code; code++) h = (h ^ (unsigned char)*code) * 1099511628211u;
  return (size_t)(h ^ (h >> 32)) & (c->bucket_count - 1);
}

struct activity *activity_cache_find(struct activity_cache *c, const char *code)
{
  for (struct activity *a = c->buckets[bucket_of(c, code)]; a; a = a->next_in_bucket)
    if (strcmp(a->code, code) == 0) return a;
  return NULL;
}

static void put_in_bucket(struct activity_cache *c, struct activity *a)
{
  struct activity **bucket = &c->buckets[bucket_of(c, a->code)];
  a->next_in_bucket = *bucket;
  *bucket = a;
}

static void grow(struct activity_cache *c)
{
  struct activity **old = c->buckets;
  size_t old_count = c->bucket_count;
  c->bucket_count *= 2;
  c->buckets = MEM_ARRAY(struct activity *, c->bucket_count);
  for (size_t i = 0; i < old_count; i++) {
    for (struct activity *a = old[i], *next; a; a = next) {
      next = a->next_in_bucket;
      put_in_bucket(c, a);
    }
  }
  mem_free(old);
}

static void copy_text(char *to, size_t size, const char *from)
{
  size_t len = strlen(from);
  if (len >= size) len = size - 1;
  memcpy(to, from, len);
  to[len] = '\0';
}

static struct activity *add_activity(struct activity_cache *c, const struct activity_row *row)
{
  if (c->count >= c->bucket_count) grow(c);
  struct activity *a = MEM_NEW(struct activity);
  a->id = row->id;
  copy_text(a->code, sizeof a->code, row->code);
  list_init(&a->refused);
  a->facts.status = ACTIVITY_UNKNOWN;
  a->stock_taken = METRIC_SERIES(c->rt->metrics, M_STOCK_TAKEN, a->code);
  put_in_bucket(c, a);
  c->count++;
  return a;
}

// Returns whether the clock should know about it.
static bool take_row(struct activity_cache *c, const struct activity_row *row)
{
  struct activity *a = activity_cache_find(c, row->code);
  if (!a) a = add_activity(c, row);
  a->has_numbers = strcmp(row->kind, "number") == 0;
  a->segments = (uint32_t)row->segments;
  struct activity_facts facts = {
      activity_status_of(row->status),        row->start, row->end, row->is_limited, row->remaining,
      row->has_waiting_list || a->has_numbers};
  bool is_news =
      a->facts.status != facts.status || a->facts.start.us != facts.start.us || a->facts.end.us != facts.end.us;
  if (is_news && c->is_loaded)
    LOG(c->rt->log, EV_ACTIVITY_CHANGED, F_STR("activity_code", a->code), F_STR("status", row->status));
  a->id = row->id;
  a->facts = facts;
  copy_text(a->reward_code, sizeof a->reward_code, row->reward_code);
  copy_text(a->provider, sizeof a->provider, row->provider);
  a->is_queued = strcmp(row->intake, "queued") == 0;
  if (rate_limit_parse(row->rate_limit, &a->rate_limit) != RESULT_OK) a->rate_limit = (struct rate_limit){0};
  copy_text(a->payment_provider, sizeof a->payment_provider, row->payment_provider);
  if (c->is_full_read) a->seen_in_read = c->full_read;
  if (facts.is_limited && !a->stock_remaining)
    a->stock_remaining = METRIC_SERIES(c->rt->metrics, M_STOCK_REMAINING, a->code);
  if (facts.is_limited) metric_series_put(a->stock_remaining, (double)facts.remaining);
  return is_news;
}

// What a full read did not hold is a draft again, archived, or gone.
static void drop_unseen(struct activity_cache *c)
{
  for (size_t i = 0; i < c->bucket_count; i++) {
    for (struct activity **link = &c->buckets[i]; *link;) {
      struct activity *a = *link;
      if (a->seen_in_read == c->full_read || a->pins > 0) {
        link = &a->next_in_bucket;
        continue;
      }
      *link = a->next_in_bucket;
      mem_free(a);
      c->count--;
    }
  }
}

void activity_refresh(struct activity *a, const char *status, bool is_limited, int64_t remaining)
{
  enum activity_status s = activity_status_of(status);
  if (s != ACTIVITY_UNKNOWN) a->facts.status = s;
  a->facts.is_limited = is_limited;
  a->facts.remaining = remaining;
  if (is_limited && a->stock_remaining) metric_series_put(a->stock_remaining, (double)remaining);
}

// --- the database's clock

struct clock_view activity_cache_clock(const struct activity_cache *c) { return c->clock; }

void activity_cache_clock_sample(struct activity_cache *c, struct wall_time sent, struct wall_time database,
                                 struct wall_time received)
{
  struct clock_view fresh = clock_view_update(&c->clock, sent, database, received);
  int64_t step = fresh.difference.us - (c->clock.is_known ? c->clock.difference.us : 0);
  if (step > DIFFERENCE_WORTH_A_LINE_US || step < -DIFFERENCE_WORTH_A_LINE_US)
    LOG(c->rt->log, EV_CLOCK_DIFFERENCE_CHANGED, F_SPAN("difference_s", fresh.difference),
        F_SPAN("uncertainty_s", fresh.uncertainty));
  c->clock = fresh;
  metric_put(c->rt->metrics, M_CLOCK_DIFFERENCE, span_to_seconds(fresh.difference));
}

// --- reading

static const struct db_statement *prepare_read(void *ctx, struct db_args *args)
{
  struct activity_cache *c = ctx;
  c->is_full_read = !c->is_loaded || mono_since(clk_mono(), c->full_read_here).us >= c->conf->cache.full_read.us;
  if (!c->is_full_read) return store_activity_read(args, wall_after(c->read_at, span_us(-c->conf->cache.overlap.us)));
  c->full_read++;
  return store_activity_read_all(args);
}

static struct span on_read(void *ctx, const struct db_rows *rows)
{
  struct activity_cache *c = ctx;
  size_t count = db_rows_count(rows);
  bool is_news = false;
  for (size_t i = 0; i < count; i++) {
    struct activity_row row = store_activity_row(rows, i);
    if (row.has_activity && take_row(c, &row)) is_news = true;
    if (i == 0) {
      activity_cache_clock_sample(c, c->read.sent, row.at, clk_wall());
      c->read_at = row.at;
    }
  }
  c->read_here = clk_mono();
  if (c->is_full_read) {
    drop_unseen(c);
    c->full_read_here = c->read_here;
    if (!c->is_loaded) LOG(c->rt->log, EV_CACHE_LOADED, F_UINT("activities", c->count));
    c->is_loaded = true;
  }
  metric_put(c->rt->metrics, M_ACTIVITIES_CACHED, (double)c->count);
  if (is_news && c->on_change) c->on_change(c->on_change_ctx);
  c->read.every = c->conf->cache.poll;
  return c->conf->cache.poll;
}

// --- codes that memory does not know

static const struct db_statement *prepare_search(void *ctx, struct db_args *args)
{
  struct activity_cache *c = ctx;
  if (list_is_empty(&c->searches)) return NULL;
  const struct db_statement *statement = store_activity_search(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < SEARCHES_MAX && !list_is_empty(&c->searches); i++) {
    struct list *node = list_take_first(&c->searches);
    list_add_last(&c->searching, node);
    const char *code = CONTAINER_OF(node, struct activity_search, node)->code;
    db_args_array_text(args, code, strlen(code));
  }
  db_args_array_end(args);
  return statement;
}

static void answer_searches(struct activity_cache *c, bool is_answered)
{
  struct list *node;
  while ((node = list_take_first(&c->searching)) != NULL) {
    struct activity_search *s = CONTAINER_OF(node, struct activity_search, node);
    s->on_found(s, is_answered ? activity_cache_find(c, s->code) : NULL, is_answered);
  }
}

static struct span on_search(void *ctx, const struct db_rows *rows)
{
  struct activity_cache *c = ctx;
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    struct activity_row row = store_activity_row(rows, i);
    if (row.has_activity) (void)take_row(c, &row);
  }
  answer_searches(c, true);
  return list_is_empty(&c->searches) ? c->search.every : span_us(0);
}

static void on_search_failed(void *ctx, bool may_have_worked)
{
  struct activity_cache *c = ctx;
  (void)may_have_worked;
  list_splice(&c->searching, &c->searches);  // the others would wait for the same database
  answer_searches(c, false);
}

void activity_cache_search(struct activity_cache *c, struct activity_search *s)
{
  list_add_last(&c->searches, &s->node);
  periodic_soon(&c->search);
}

// --- life

struct activity_cache *activity_cache_new(struct runtime *rt, struct db_pool *db, const struct scheduler_conf *conf)
{
  static const struct periodic_spec read = {"activity_cache", prepare_read, on_read, NULL};
  static const struct periodic_spec search = {"activity_search", prepare_search, on_search, on_search_failed};
  struct activity_cache *c = MEM_NEW(struct activity_cache);
  c->rt = rt;
  c->conf = conf;
  c->bucket_count = BUCKETS_AT_FIRST;
  c->buckets = MEM_ARRAY(struct activity *, c->bucket_count);
  list_init(&c->searches);
  list_init(&c->searching);
  periodic_init(&c->read, &read, c, rt, db, conf->cache.poll);
  periodic_init(&c->search, &search, c, rt, db, span_s(1));
  return c;
}

void activity_cache_free(struct activity_cache *c)
{
  if (!c) return;
  periodic_release(&c->read);
  periodic_release(&c->search);
  for (size_t i = 0; i < c->bucket_count; i++) {
    for (struct activity *a = c->buckets[i], *next; a; a = next) {
      next = a->next_in_bucket;
      mem_free(a);
    }
  }
  mem_free(c->buckets);
  mem_free(c);
}

void activity_cache_start(struct activity_cache *c) { periodic_soon(&c->read); }

void activity_cache_close(struct activity_cache *c)
{
  periodic_stop(&c->read);
  periodic_stop(&c->search);
  if (!c->search.is_busy) on_search_failed(c, false);
}

void activity_cache_poke(struct activity_cache *c) { periodic_soon(&c->read); }
bool activity_cache_is_loaded(const struct activity_cache *c) { return c->is_loaded; }

bool activity_cache_is_fresh(const struct activity_cache *c)
{
  return c->is_loaded && mono_since(clk_mono(), c->read_here).us < FRESH_FOR.us + 2 * c->conf->cache.poll.us;
}

void activity_cache_on_change(struct activity_cache *c, void (*fn)(void *ctx), void *ctx)
{
  c->on_change = fn;
  c->on_change_ctx = ctx;
}
