// SPDX-License-Identifier: Apache-2.0
// The books behind sim_ledger.h: a chained hash table by (kind, request id) over chunked entries and effects.
// Owner: the simulator's loop thread; nothing here reads a clock or does I/O.
#include "tests/simulator/sim_ledger.h"

#include <string.h>

#include "common/contract.h"
#include "common/mem.h"

#define CHUNK_ITEMS       16384u
#define ARENA_CHUNK_BYTES (256u * 1024u)
#define FIRST_BUCKETS     65536u
#define EFFECTS_PER_ENTRY 4u  // cap on the effects, in the mean

struct chunks {
  void **items;
  size_t count;
};
struct arena {
  char **chunks;
  size_t count, used;
};

struct sim_ledger {
  size_t entries_max, effects_max;
  size_t entry_count, effect_count;
  uint32_t *buckets;  // first entry of each chain, by number
  size_t bucket_count;
  struct chunks entries, effects;
  struct arena arena;
  struct sim_ledger_totals totals;
};

// --- storage ---

static void *chunks_at(const struct chunks *c, size_t index, size_t size)
{
  return (char *)c->items[index / CHUNK_ITEMS] + (index % CHUNK_ITEMS) * size;
}

// The item at index, which is the old count: a new chunk is made when it begins one. Its memory is zero.
static void *chunks_push(struct chunks *c, size_t index, size_t size)
{
  if (index / CHUNK_ITEMS == c->count) {
    c->items = mem_resize(c->items, c->count + 1, sizeof *c->items);
    c->items[c->count++] = mem_zalloc(CHUNK_ITEMS, size);
  }
  return chunks_at(c, index, size);
}

static void chunks_release(struct chunks *c)
{
  for (size_t i = 0; i < c->count; i++) mem_free(c->items[i]);
  mem_free(c->items);
  *c = (struct chunks){NULL, 0};
}

static char *arena_take(struct arena *a, size_t len)
{
  REQUIRE(len <= ARENA_CHUNK_BYTES);
  if (a->count == 0 || a->used + len > ARENA_CHUNK_BYTES) {
    a->chunks = mem_resize(a->chunks, a->count + 1, sizeof *a->chunks);
    a->chunks[a->count++] = mem_zalloc(1, ARENA_CHUNK_BYTES);
    a->used = 0;
  }
  char *bytes = a->chunks[a->count - 1] + a->used;
  a->used += len;
  return bytes;
}

static void arena_release(struct arena *a)
{
  for (size_t i = 0; i < a->count; i++) mem_free(a->chunks[i]);
  mem_free(a->chunks);
  *a = (struct arena){NULL, 0, 0};
}

static char *arena_put(char *at, struct sim_text t)
{
  if (t.len > 0) memcpy(at, t.bytes, t.len);
  at[t.len] = '\0';
  return at + t.len + 1;
}

struct sim_ledger *sim_ledger_new(size_t entries_max)
{
  REQUIRE(entries_max > 0 && entries_max < UINT32_MAX / EFFECTS_PER_ENTRY);
  struct sim_ledger *l = MEM_NEW(struct sim_ledger);
  l->entries_max = entries_max;
  l->effects_max = entries_max * EFFECTS_PER_ENTRY;
  l->bucket_count = FIRST_BUCKETS;
  l->buckets = MEM_ARRAY(uint32_t, l->bucket_count);
  return l;
}

static void ledger_release(struct sim_ledger *l)
{
  chunks_release(&l->entries);
  chunks_release(&l->effects);
  arena_release(&l->arena);
  mem_free(l->buckets);
}

void sim_ledger_free(struct sim_ledger *l)
{
  if (l == NULL) return;
  ledger_release(l);
  mem_free(l);
}

void sim_ledger_reset(struct sim_ledger *l)
{
  ledger_release(l);
  size_t entries_max = l->entries_max, effects_max = l->effects_max;
  *l = (struct sim_ledger){.entries_max = entries_max, .effects_max = effects_max, .bucket_count = FIRST_BUCKETS};
  l->buckets = MEM_ARRAY(uint32_t, l->bucket_count);
}

// --- the table ---

// FNV-1a over 8 bytes at a time would need care with lengths; ids are short, so byte by byte is fast enough.
static uint32_t hash_of(enum sim_kind kind, const char *bytes, size_t len)
{
  uint64_t h = 14695981039346656037u ^ (uint64_t)kind;
  for (size_t i = 0; i < len; i++) h = (h ^ (uint8_t)bytes[i]) * 1099511628211u;
  h ^= h >> 32;
  return (uint32_t)h;
}

struct sim_entry *sim_ledger_entry(const struct sim_ledger *l, size_t number)
{
  REQUIRE(number >= 1 && number <= l->entry_count);
  return chunks_at(&l->entries, number - 1, sizeof(struct sim_entry));
}

static struct sim_effect *effect_at(const struct sim_ledger *l, size_t number)
{
  REQUIRE(number >= 1 && number <= l->effect_count);
  return chunks_at(&l->effects, number - 1, sizeof(struct sim_effect));
}

const struct sim_effect *sim_ledger_effect(const struct sim_ledger *l, size_t number) { return effect_at(l, number); }

static struct sim_entry *find_hashed(const struct sim_ledger *l, enum sim_kind kind, uint32_t hash, const char *id,
                                     size_t len)
{
  for (uint32_t n = l->buckets[hash & (l->bucket_count - 1)]; n != 0;) {
    struct sim_entry *e = sim_ledger_entry(l, n);
    if (e->hash == hash && e->kind == kind && e->request_len == len && memcmp(e->texts, id, len) == 0) return e;
    n = e->next;
  }
  return NULL;
}

struct sim_entry *sim_ledger_find(const struct sim_ledger *l, enum sim_kind kind, const char *request_id, size_t len)
{
  return find_hashed(l, kind, hash_of(kind, request_id, len), request_id, len);
}

static void link_entry(struct sim_ledger *l, struct sim_entry *e)
{
  uint32_t *bucket = &l->buckets[e->hash & (l->bucket_count - 1)];
  e->next = *bucket;
  *bucket = e->number;
}

static void grow_buckets(struct sim_ledger *l)
{
  mem_free(l->buckets);
  l->bucket_count *= 4;
  l->buckets = MEM_ARRAY(uint32_t, l->bucket_count);
  for (size_t n = 1; n <= l->entry_count; n++) link_entry(l, sim_ledger_entry(l, n));
}

static struct sim_entry *entry_new(struct sim_ledger *l, enum sim_kind kind, uint32_t hash, const struct sim_order *o)
{
  if (l->entry_count >= l->bucket_count) grow_buckets(l);
  struct sim_entry *e = chunks_push(&l->entries, l->entry_count, sizeof *e);
  l->entry_count++;
  char *at = arena_take(&l->arena, o->request_id.len + o->user_id.len + o->reward_code.len + o->merchant.len + 4);
  e->texts = at;
  at = arena_put(at, o->request_id);
  at = arena_put(at, o->user_id);
  at = arena_put(at, o->reward_code);
  (void)arena_put(at, o->merchant);
  if (o->currency.len > 0) memcpy(e->currency, o->currency.bytes, o->currency.len);
  e->request_len = (uint8_t)o->request_id.len;
  e->user_len = (uint8_t)o->user_id.len;
  e->reward_len = (uint8_t)o->reward_code.len;
  e->amount = o->amount;
  e->quantity = o->quantity;
  e->kind = (uint8_t)kind;
  e->hash = hash;
  e->number = (uint32_t)l->entry_count;
  link_entry(l, e);
  return e;
}

static bool text_is(const char *stored, size_t stored_len, struct sim_text t)
{
  return stored_len == t.len && (t.len == 0 || memcmp(stored, t.bytes, t.len) == 0);
}

static bool same_content(const struct sim_entry *e, const struct sim_order *o)
{
  return e->amount == o->amount && e->quantity == o->quantity && text_is(sim_entry_user(e), e->user_len, o->user_id) &&
         text_is(sim_entry_reward(e), e->reward_len, o->reward_code) &&
         text_is(e->currency, strlen(e->currency), o->currency);
}

enum result sim_ledger_hit(struct sim_ledger *l, enum sim_kind kind, const struct sim_order *o,
                           struct sim_entry **out_entry)
{
  REQUIRE(o->request_id.len > 0 && o->request_id.len <= SIM_REQUEST_ID_BYTES_MAX);
  REQUIRE(o->user_id.len <= SIM_USER_ID_BYTES_MAX && o->reward_code.len <= SIM_REWARD_BYTES_MAX);
  REQUIRE(o->currency.len <= SIM_CURRENCY_BYTES_MAX && o->merchant.len <= SIM_MERCHANT_BYTES_MAX);
  uint32_t hash = hash_of(kind, o->request_id.bytes, o->request_id.len);
  struct sim_entry *e = find_hashed(l, kind, hash, o->request_id.bytes, o->request_id.len);
  if (e == NULL) {
    if (l->entry_count >= l->entries_max) return RESULT_FULL;
    e = entry_new(l, kind, hash, o);
  } else {
    l->totals.duplicates++;
  }
  e->hits++;
  if (!same_content(e, o)) return RESULT_CONFLICT;
  *out_entry = e;
  return RESULT_OK;
}

// --- effects ---

static struct sim_effect *effect_new(struct sim_ledger *l, struct sim_entry *e, enum sim_effect_type type,
                                     struct wall_time at)
{
  if (l->effect_count >= l->effects_max) return NULL;
  struct sim_effect *f = chunks_push(&l->effects, l->effect_count, sizeof *f);
  l->effect_count++;
  *f = (struct sim_effect){.at = at, .entry = e->number, .next = e->first_effect, .type = (uint8_t)type};
  e->first_effect = (uint32_t)l->effect_count;
  return f;
}

bool sim_ledger_apply(struct sim_ledger *l, struct sim_entry *e, bool dedupe, struct wall_time at)
{
  if (dedupe && e->effects > 0) return false;
  bool payment = e->kind == SIM_PAYMENT;
  struct sim_effect *f =
      effect_new(l, e, payment ? SIM_EFFECT_PAYMENT : SIM_EFFECT_CREDIT, payment ? (struct wall_time){0} : at);
  if (f == NULL) return false;
  f->ordinal = ++e->effects;
  l->totals.effects++;
  if (!payment) e->status = SIM_SUCCESS;
  if (payment && e->status == SIM_NONE) e->status = SIM_PENDING;
  return true;
}

bool sim_ledger_settle(struct sim_ledger *l, struct sim_entry *e, enum sim_status status, struct wall_time at)
{
  REQUIRE(status == SIM_SUCCESS || status == SIM_FAILED);
  if (e->effects == 0 || e->status == SIM_SUCCESS || e->status == SIM_CLOSED || e->status == status) return false;
  e->status = (uint8_t)status;
  for (uint32_t n = e->first_effect; n != 0;) {
    struct sim_effect *f = effect_at(l, n);
    if (f->type == SIM_EFFECT_PAYMENT) {
      f->failed = status == SIM_FAILED;
      if (status == SIM_SUCCESS) f->at = at;
    }
    n = f->next;
  }
  return true;
}

enum result sim_ledger_close(struct sim_entry *e)
{
  REQUIRE(e->kind == SIM_PAYMENT);
  if (e->effects == 0) return RESULT_NOT_FOUND;
  if (e->status == SIM_SUCCESS) return RESULT_CONFLICT;
  e->status = SIM_CLOSED;
  return RESULT_OK;
}

static const struct sim_effect *find_reversal(const struct sim_ledger *l, const struct sim_entry *e,
                                              const char *refund_id)
{
  for (uint32_t n = e->first_effect; n != 0;) {
    const struct sim_effect *f = effect_at(l, n);
    if (f->key != NULL && strcmp(f->key, refund_id) == 0) return f;
    n = f->next;
  }
  return NULL;
}

enum result sim_ledger_reverse(struct sim_ledger *l, struct sim_entry *e, const char *refund_id, bool dedupe,
                               struct wall_time at, uint32_t *out_ordinal)
{
  if (e->effects == 0 || (e->kind == SIM_PAYMENT && e->status != SIM_SUCCESS)) return RESULT_NOT_FOUND;
  const struct sim_effect *known = find_reversal(l, e, refund_id);
  if (known != NULL && dedupe) {
    *out_ordinal = known->ordinal;
    return RESULT_OK;
  }
  struct sim_effect *f = effect_new(l, e, e->kind == SIM_PAYMENT ? SIM_EFFECT_REFUND : SIM_EFFECT_REVERSE, at);
  if (f == NULL) return RESULT_FULL;
  size_t len = strlen(refund_id);
  char *key = arena_take(&l->arena, len + 1);
  (void)arena_put(key, (struct sim_text){refund_id, len});
  f->key = key;
  f->ordinal = ++e->reversals;
  l->totals.reversals++;
  *out_ordinal = f->ordinal;
  return RESULT_OK;
}

uint32_t sim_ledger_reversal(const struct sim_ledger *l, const struct sim_entry *e, const char *refund_id)
{
  const struct sim_effect *f = find_reversal(l, e, refund_id);
  return f == NULL ? 0 : f->ordinal;
}

size_t sim_ledger_count(const struct sim_ledger *l) { return l->entry_count; }
size_t sim_ledger_effect_count(const struct sim_ledger *l) { return l->effect_count; }
struct sim_ledger_totals sim_ledger_totals(const struct sim_ledger *l) { return l->totals; }
