// SPDX-License-Identifier: Apache-2.0
// Token buckets in whole numbers, and a bounded table of them. Pure: the caller says what time it is.
// Owner: the caller; any thread.
#include "scheduler/token.h"

#include "common/contract.h"
#include "common/mem.h"

#define MICRO INT64_C(1000000)

struct token_terms token_share(struct token_terms whole, int64_t live)
{
  if (live <= 1 || whole.rate_micro == 0) return whole;
  struct token_terms part = {whole.rate_micro / live, whole.burst / live};
  if (part.rate_micro < 1) part.rate_micro = 1;
  if (part.burst < 1) part.burst = 1;
  return part;
}

// What a span brings, without overflow: after the time in which the bucket fills it is full whatever else.
static int64_t gained(const struct token_terms *t, struct span passed)
{
  int64_t full = t->burst * MICRO;
  if (passed.us <= 0) return 0;
  if (passed.us / MICRO > full / t->rate_micro) return full;
  return passed.us / MICRO * t->rate_micro + passed.us % MICRO * t->rate_micro / MICRO;
}

static void refill(struct token_bucket *b, const struct token_terms *t, struct mono_time now)
{
  int64_t full = t->burst * MICRO;
  int64_t more = b->at.us == 0 ? full : gained(t, mono_since(now, b->at));
  // What came is less than a millionth of a token: it is not lost as long as the instant stays.
  if (more == 0 && b->micro < full) return;
  b->micro = b->micro + more > full ? full : b->micro + more;
  b->at = now;
}

struct span token_wait(struct token_bucket *b, const struct token_terms *t, struct mono_time now)
{
  if (t->rate_micro == 0) return span_us(0);
  REQUIRE(t->burst >= 1 && t->burst <= TOKEN_BURST_MAX && t->rate_micro > 0);
  refill(b, t, now);
  if (b->micro >= MICRO) return span_us(0);
  int64_t missing = MICRO - b->micro;  // at most a million
  return span_us((missing * MICRO + t->rate_micro - 1) / t->rate_micro);
}

void token_spend(struct token_bucket *b, const struct token_terms *t)
{
  if (t->rate_micro == 0) return;
  REQUIRE(b->micro >= MICRO);
  b->micro -= MICRO;
}

void token_give_back(struct token_bucket *b, const struct token_terms *t)
{
  if (t->rate_micro == 0 || b->at.us == 0) return;
  b->micro += MICRO;
  if (b->micro > t->burst * MICRO) b->micro = t->burst * MICRO;
}

int64_t token_left(const struct token_bucket *b) { return b->micro / MICRO; }

int64_t token_window_s(const struct token_terms *t)
{
  if (t->rate_micro == 0) return 0;
  return (t->burst * MICRO + t->rate_micro - 1) / t->rate_micro;
}

// --- the table

struct entry {
  struct list by_use;  // the first was not used for longest
  struct entry *next_in_slot;
  int64_t activity_id, user_id;
  struct token_bucket bucket;
};

struct token_table {
  struct entry **slots;
  size_t mask, count, max;
  struct list by_use;
};

struct token_table *token_table_new(size_t max)
{
  REQUIRE(max > 0);
  struct token_table *t = MEM_NEW(struct token_table);
  size_t size = 16;
  while (size < max) size *= 2;
  t->slots = MEM_ARRAY(struct entry *, size);
  t->mask = size - 1;
  t->max = max;
  list_init(&t->by_use);
  return t;
}

void token_table_free(struct token_table *t)
{
  if (!t) return;
  struct list *node;
  while ((node = list_take_first(&t->by_use)) != NULL) mem_free(CONTAINER_OF(node, struct entry, by_use));
  mem_free(t->slots);
  mem_free(t);
}

static struct entry **slot_of(const struct token_table *t, int64_t activity_id, int64_t user_id)
{
  uint64_t h = ((uint64_t)activity_id * 0x9e3779b97f4a7c15u) ^ (uint64_t)user_id;
  h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
  return &t->slots[(size_t)(h ^ (h >> 29)) & t->mask];
}

static void take_out(struct token_table *t, struct entry *e)
{
  struct entry **link = slot_of(t, e->activity_id, e->user_id);
  while (*link != e) link = &(*link)->next_in_slot;
  *link = e->next_in_slot;
  list_remove(&e->by_use);
}

// A fresh entry: new as long as there may be more, else the one that was not used for longest.
static struct entry *fresh(struct token_table *t)
{
  if (t->count < t->max) {
    t->count++;
    return MEM_NEW(struct entry);
  }
  struct entry *e = CONTAINER_OF(t->by_use.next, struct entry, by_use);
  take_out(t, e);
  *e = (struct entry){0};
  return e;
}

struct token_bucket *token_table_get(struct token_table *t, int64_t activity_id, int64_t user_id)
{
  struct entry *e = *slot_of(t, activity_id, user_id);
  while (e && (e->activity_id != activity_id || e->user_id != user_id)) e = e->next_in_slot;
  if (e) {
    list_remove(&e->by_use);
  } else {
    e = fresh(t);
    list_init(&e->by_use);
    e->activity_id = activity_id;
    e->user_id = user_id;
    struct entry **slot = slot_of(t, activity_id, user_id);
    e->next_in_slot = *slot;
    *slot = e;
  }
  list_add_last(&t->by_use, &e->by_use);
  return &e->bucket;
}

size_t token_table_count(const struct token_table *t) { return t->count; }
