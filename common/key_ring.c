// SPDX-License-Identifier: Apache-2.0
// The keys that a server knows: see key_ring.h. Pure; any thread.
#include "common/key_ring.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"

struct key_ring {
  size_t count, refused_count, refused_next, used_at;
  struct key_entry keys[KEY_RING_MAX];
  uint8_t refused[KEY_REFUSED_MAX][KEY_HASH_BYTES];
};

struct key_ring *key_ring_new(void) { return MEM_NEW(struct key_ring); }

void key_ring_free(struct key_ring *r) { mem_free(r); }

void key_ring_clear(struct key_ring *r) { r->count = r->refused_count = r->refused_next = r->used_at = 0; }

enum result key_ring_add(struct key_ring *r, const struct key_entry *entry)
{
  if (r->count == KEY_RING_MAX) return RESULT_FULL;
  r->keys[r->count++] = *entry;
  return RESULT_OK;
}

static int by_hash(const void *a, const void *b)
{
  return memcmp(((const struct key_entry *)a)->hash, ((const struct key_entry *)b)->hash, KEY_HASH_BYTES);
}

void key_ring_ready(struct key_ring *r) { qsort(r->keys, r->count, sizeof *r->keys, by_hash); }

size_t key_ring_count(const struct key_ring *r) { return r->count; }

static bool is_same(const uint8_t *a, const uint8_t *b)
{
  return text_equals_secret((const char *)a, KEY_HASH_BYTES, (const char *)b, KEY_HASH_BYTES);
}

// The search looks at the first bytes of hashes only, which tell nothing about any key; the rest is compared in
// constant time.
const struct key_entry *key_ring_find(struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES], struct mono_time now)
{
  size_t low = 0, high = r->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memcmp(r->keys[middle].hash, hash, 8) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < r->count && memcmp(r->keys[low].hash, hash, 8) == 0; low++) {
    struct key_entry *e = &r->keys[low];
    if (!is_same(e->hash, hash) || (e->has_end && !mono_before(now, e->ends))) continue;
    e->is_used = true;
    return e;
  }
  return NULL;
}

bool key_ring_take_used(struct key_ring *r, int64_t *out_id)
{
  for (; r->used_at < r->count; r->used_at++) {
    struct key_entry *e = &r->keys[r->used_at];
    if (!e->is_used) continue;
    e->is_used = false;
    *out_id = e->id;
    return true;
  }
  r->used_at = 0;
  return false;
}

bool key_ring_is_refused(const struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES])
{
  for (size_t i = 0; i < r->refused_count; i++)
    if (is_same(r->refused[i], hash)) return true;
  return false;
}

void key_ring_refuse(struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES])
{
  if (key_ring_is_refused(r, hash)) return;
  memcpy(r->refused[r->refused_next], hash, KEY_HASH_BYTES);
  r->refused_next = (r->refused_next + 1) % KEY_REFUSED_MAX;
  if (r->refused_count < KEY_REFUSED_MAX) r->refused_count++;
}

// --- texts

bool key_is_secret(const char *text, size_t len)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (len != KEY_SECRET_CHARS) return false;
  for (size_t i = 0; i < len; i++)
    if (text[i] == '\0' || strchr(alphabet, text[i]) == NULL) return false;
  return true;
}

bool key_has_shape(const char *text, size_t len)
{
  return len == KEY_CHARS && memcmp(text, "lg_", 3) == 0 && key_is_secret(text + 3, len - 3);
}

void key_secret_text(const uint8_t bytes[KEY_HASH_BYTES], char out_text[KEY_SECRET_CHARS + 1])
{
  struct buf b;
  buf_init(&b, 64);
  text_base64(bytes, KEY_HASH_BYTES, &b);
  const char *text = buf_text(&b);
  for (size_t i = 0; i < KEY_SECRET_CHARS; i++)
    out_text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
  out_text[KEY_SECRET_CHARS] = '\0';
  buf_wipe(&b);
}
