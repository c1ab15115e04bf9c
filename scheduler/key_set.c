// SPDX-License-Identifier: Apache-2.0
// Which users, bizIds and numbers a batch holds, as hashes: a false "yes" only makes a request wait for the next batch.
// Owner: a batch.
#include "scheduler/key_set.h"

#include <string.h>

#include "common/mem.h"

void key_set_init(struct key_set *s, size_t keys_max)
{
  size_t size = 16;
  while (size < keys_max * 2) size *= 2;
  *s = (struct key_set){.slots = MEM_ARRAY(uint64_t, size), .mask = size - 1};
}

void key_set_release(struct key_set *s)
{
  mem_free(s->slots);
  *s = (struct key_set){0};
}

void key_set_clear(struct key_set *s)
{
  if (s->count > 0) memset(s->slots, 0, (s->mask + 1) * sizeof *s->slots);
  s->count = 0;
}

// The slot that holds the key, or the empty one where it belongs; the set is never full.
static uint64_t *slot_of(const struct key_set *s, uint64_t key)
{
  size_t i = (size_t)key & s->mask;
  while (s->slots[i] != 0 && s->slots[i] != key) i = (i + 1) & s->mask;
  return &s->slots[i];
}

bool key_set_has(const struct key_set *s, uint64_t key) { return *slot_of(s, key) == key; }

bool key_set_has_room(const struct key_set *s, size_t keys) { return s->count + keys <= s->mask; }

bool key_set_add(struct key_set *s, uint64_t key)
{
  uint64_t *slot = slot_of(s, key);
  if (*slot == key || s->count >= s->mask) return false;
  *slot = key;
  s->count++;
  return true;
}

static uint64_t mix(uint64_t h)
{
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53u;
  h ^= h >> 33;
  return h == 0 ? 1 : h;
}

uint64_t key_of_user(int64_t user_id) { return mix((uint64_t)user_id ^ 0x9e3779b97f4a7c15u); }

uint64_t key_of_number(int64_t number) { return mix((uint64_t)number ^ 0xc2b2ae3d27d4eb4fu); }

uint64_t key_of_biz_id(const char *bytes, size_t len)
{
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
  return mix(h);
}
