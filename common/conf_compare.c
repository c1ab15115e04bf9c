// SPDX-License-Identifier: Apache-2.0
// Tells whether a reload changes something that only a restart can change.
// Pure; any thread.
#include <string.h>

#include "common/conf_internal.h"

static const void *field_of(const struct conf_key *key, const void *block) { return (const char *)block + key->offset; }

static bool text_equals(const char *a, const char *b)
{
  if (a == NULL || b == NULL) return a == b;
  return strcmp(a, b) == 0;
}

static bool texts_equal(const struct conf_texts *a, const struct conf_texts *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!text_equals(a->items[i], b->items[i])) return false;
  }
  return true;
}

static bool spans_equal(const struct conf_spans *a, const struct conf_spans *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (a->items[i].us != b->items[i].us) return false;
  }
  return true;
}

static bool pairs_equal(const struct conf_pairs *a, const struct conf_pairs *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!text_equals(a->items[i].name, b->items[i].name) || !text_equals(a->items[i].value, b->items[i].value))
      return false;
  }
  return true;
}

// Equal as far as a running daemon cares: reloadable keys inside the blocks may differ, names and their order may not.
static bool maps_equal(const struct conf_table *sub, const struct conf_map *a, const struct conf_map *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    const char *key = NULL;
    if (!text_equals(a->items[i].name, b->items[i].name)) return false;
    if (conf_needs_restart(sub, a->items[i].block, b->items[i].block, &key)) return false;
  }
  return true;
}

static bool value_equals(const struct conf_key *key, const void *block_a, const void *block_b)
{
  const void *a = field_of(key, block_a);
  const void *b = field_of(key, block_b);
  switch (key->type) {
    case CONF_BOOL: return *(const bool *)a == *(const bool *)b;
    case CONF_INT: return *(const int64_t *)a == *(const int64_t *)b;
    case CONF_SIZE: return *(const uint64_t *)a == *(const uint64_t *)b;
    case CONF_SPAN: return ((const struct span *)a)->us == ((const struct span *)b)->us;
    case CONF_CHOICE: return *(const int *)a == *(const int *)b;
    case CONF_TEXT: return text_equals(*(char *const *)a, *(char *const *)b);
    case CONF_SPANS: return spans_equal(a, b);
    case CONF_TEXTS:
    case CONF_SECRETS:
    case CONF_NAMES: return texts_equal(a, b);
    case CONF_PAIRS: return pairs_equal(a, b);
    case CONF_MAP: return maps_equal(key->sub, a, b);
    case CONF_OTHER: break;
  }
  return true;
}

bool conf_needs_restart(const struct conf_table *table, const void *old_config, const void *new_config,
                        const char **out_key)
{
  for (size_t i = 0; i < table->count; i++) {
    const struct conf_key *key = &table->keys[i];
    if ((key->flags & CONF_RELOADABLE) != 0 || value_equals(key, old_config, new_config)) continue;
    *out_key = key->path;
    return true;
  }
  return false;
}
