// SPDX-License-Identifier: Apache-2.0
// A deep copy of a loaded configuration, for parts of a daemon that refer to its texts across reloads.
// Pure; any thread.
#include <string.h>

#include "common/conf.h"
#include "common/mem.h"

static void clone_block(const struct conf_table *table, void *block);

static char *text_copy(const char *text) { return text == NULL ? NULL : mem_strdup(text); }

static int *lines_copy(const int *lines, size_t count)
{
  if (lines == NULL) return NULL;
  int *copy = MEM_ARRAY(int, count);
  if (count > 0) memcpy(copy, lines, count * sizeof lines[0]);
  return copy;
}

static void clone_spans(struct conf_spans *spans)
{
  struct span *items = MEM_ARRAY(struct span, spans->count);
  if (spans->count > 0) memcpy(items, spans->items, spans->count * sizeof items[0]);
  spans->items = items;
}

static void clone_texts(struct conf_texts *texts)
{
  char **items = MEM_ARRAY(char *, texts->count);
  for (size_t i = 0; i < texts->count; i++) items[i] = text_copy(texts->items[i]);
  texts->items = items;
}

static void clone_pairs(struct conf_pairs *pairs)
{
  struct conf_pair *items = MEM_ARRAY(struct conf_pair, pairs->count);
  for (size_t i = 0; i < pairs->count; i++)
    items[i] = (struct conf_pair){text_copy(pairs->items[i].name), text_copy(pairs->items[i].value)};
  pairs->items = items;
  pairs->lines = lines_copy(pairs->lines, pairs->count);
}

static void clone_map(const struct conf_table *sub, struct conf_map *map)
{
  struct conf_entry *items = MEM_ARRAY(struct conf_entry, map->count);
  for (size_t i = 0; i < map->count; i++) {
    void *block = mem_zalloc(1, sub->struct_size);
    memcpy(block, map->items[i].block, sub->struct_size);
    clone_block(sub, block);
    items[i] = (struct conf_entry){text_copy(map->items[i].name), block, map->items[i].line,
                                   lines_copy(map->items[i].key_lines, sub->count)};
  }
  map->items = items;
}

// The block is a flat copy whose pointers are still the original's: each is replaced by one of its own.
static void clone_block(const struct conf_table *table, void *block)
{
  for (size_t i = 0; i < table->count; i++) {
    const struct conf_key *key = &table->keys[i];
    void *field = (char *)block + key->offset;
    switch (key->type) {
      case CONF_TEXT: *(char **)field = text_copy(*(char **)field); break;
      case CONF_SPANS: clone_spans(field); break;
      case CONF_TEXTS:
      case CONF_SECRETS:
      case CONF_NAMES: clone_texts(field); break;
      case CONF_PAIRS: clone_pairs(field); break;
      case CONF_MAP: clone_map(key->sub, field); break;
      case CONF_BOOL:
      case CONF_INT:
      case CONF_SIZE:
      case CONF_SPAN:
      case CONF_CHOICE:
      case CONF_OTHER: break;
    }
  }
}

void *conf_clone(const struct conf_table *table, const void *config)
{
  void *copy = mem_zalloc(1, table->struct_size);
  memcpy(copy, config, table->struct_size);
  clone_block(table, copy);
  return copy;
}
