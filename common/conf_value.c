// SPDX-License-Identifier: Apache-2.0
// One typed value: from a node into its field of a struct, and freed.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/conf_internal.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"

#define PAIR_NAME_BYTES_MAX 128

// A value on its way into a struct; what every setter needs.
struct setting {
  const struct conf_context *context;
  const struct conf_key *key;
  const char *path;
};

#define FAIL(s, node, ...) conf_fail((s)->context, (node)->line, (s)->path, __VA_ARGS__)

static void *field_of(const struct conf_key *key, void *block) { return (char *)block + key->offset; }

bool conf_is_scalar_type(enum conf_type type)
{
  return type == CONF_BOOL || type == CONF_INT || type == CONF_SIZE || type == CONF_SPAN || type == CONF_TEXT ||
         type == CONF_CHOICE;
}

static bool is_in_range(const struct conf_key *key, int64_t value)
{
  return (key->min == 0 && key->max == 0) || (value >= key->min && value <= key->max);
}

static enum result set_bool(const struct setting *s, const struct conf_node *node, bool *out)
{
  char shown[CONF_SHOWN_BYTES];
  bool is_true = strcmp(node->text, "true") == 0;
  if (node->quoted || (!is_true && strcmp(node->text, "false") != 0)) {
    return FAIL(s, node, "must be true or false (found: %s)", conf_shown(node->text, shown));
  }
  *out = is_true;
  return RESULT_OK;
}

static enum result set_int(const struct setting *s, const struct conf_node *node, int64_t *out)
{
  char shown[CONF_SHOWN_BYTES];
  int64_t value = 0;
  if (node->quoted || text_to_i64(node->text, strlen(node->text), &value) != RESULT_OK) {
    return FAIL(s, node, "must be an integer in plain decimal digits (found: %s)", conf_shown(node->text, shown));
  }
  if (!is_in_range(s->key, value)) {
    return FAIL(s, node, "must be from %lld to %lld (found: %lld)", (long long)s->key->min, (long long)s->key->max,
                (long long)value);
  }
  *out = value;
  return RESULT_OK;
}

static enum result set_size(const struct setting *s, const struct conf_node *node, uint64_t *out)
{
  char shown[CONF_SHOWN_BYTES];
  uint64_t value = 0;
  if (text_to_size(node->text, strlen(node->text), &value) != RESULT_OK) {
    return FAIL(s, node, "must be a size with its unit, such as 512B, 64KiB or 1MiB (found: %s)",
                conf_shown(node->text, shown));
  }
  if (value > INT64_MAX || !is_in_range(s->key, (int64_t)value)) {
    return FAIL(s, node, "must be from %lldB to %lldB (found: %s)", (long long)s->key->min, (long long)s->key->max,
                conf_shown(node->text, shown));
  }
  *out = value;
  return RESULT_OK;
}

static enum result set_span(const struct setting *s, const struct conf_node *node, struct span *out)
{
  char shown[CONF_SHOWN_BYTES];
  struct span value = {0};
  if (text_to_span(node->text, strlen(node->text), &value) != RESULT_OK) {
    return FAIL(s, node, "must be a duration with its unit, such as 250ms, 5s, 15m, 2h or 1d (found: %s)",
                conf_shown(node->text, shown));
  }
  if (!is_in_range(s->key, value.us)) {
    struct buf range;
    buf_init(&range, 128);
    text_from_span(span_us(s->key->min), &range);
    buf_puts(&range, " to ");
    text_from_span(span_us(s->key->max), &range);
    enum result result = FAIL(s, node, "must be from %s (found: %s)", buf_text(&range), conf_shown(node->text, shown));
    buf_release(&range);
    return result;
  }
  *out = value;
  return RESULT_OK;
}

static enum result set_choice(const struct setting *s, const struct conf_node *node, int *out)
{
  char shown[CONF_SHOWN_BYTES];
  size_t len = strlen(node->text);
  int index = 0;
  for (const char *choice = s->key->choices; *choice != '\0'; index++) {
    size_t choice_len = strcspn(choice, "|");
    if (len == choice_len && memcmp(choice, node->text, len) == 0) {
      *out = index;
      return RESULT_OK;
    }
    choice += choice_len + (choice[choice_len] == '|');
  }
  return FAIL(s, node, "must be one of %s (found: %s)", s->key->choices, conf_shown(node->text, shown));
}

// The text of a node, checked; the copy is the caller's.
static enum result take_text(const struct setting *s, const struct conf_node *node, char **out)
{
  if (node->kind != CONF_SCALAR) return FAIL(s, node, "must be a single value");
  size_t len = strlen(node->text);
  if (len == 0 && !node->quoted) return FAIL(s, node, "has no value (write \"\" for an empty text)");
  if (!text_is_utf8(node->text, len)) return FAIL(s, node, "must be valid UTF-8");
  if (s->key->max > 0 && len > (uint64_t)s->key->max)
    return FAIL(s, node, "must have at most %lld bytes", (long long)s->key->max);
  if (s->key->min > 0 && len < (uint64_t)s->key->min)
    return FAIL(s, node, "must have at least %lld bytes", (long long)s->key->min);
  *out = mem_strndup(node->text, len);
  return RESULT_OK;
}

static bool is_empty_scalar(const struct conf_node *node)
{
  return node->kind == CONF_SCALAR && !node->quoted && node->text[0] == '\0';
}

static enum result require_list(const struct setting *s, const struct conf_node *node)
{
  if (node->kind != CONF_SEQUENCE) return FAIL(s, node, "must be a list such as [a, b]");
  if (node->count > CONF_LIST_ITEMS_MAX) return FAIL(s, node, "must have at most %d items", CONF_LIST_ITEMS_MAX);
  return RESULT_OK;
}

// A section that holds nothing but comments is an empty mapping.
static enum result require_map(const struct setting *s, const struct conf_node *node)
{
  if (node->kind != CONF_MAPPING && !is_empty_scalar(node)) return FAIL(s, node, "must be a block of name: value");
  if (node->count > CONF_LIST_ITEMS_MAX) return FAIL(s, node, "must have at most %d entries", CONF_LIST_ITEMS_MAX);
  return RESULT_OK;
}

static enum result set_spans(const struct setting *s, const struct conf_node *node, struct conf_spans *out)
{
  enum result result = require_list(s, node);
  if (result != RESULT_OK) return result;
  out->items = MEM_ARRAY(struct span, node->count);
  for (; out->count < node->count; out->count++) {
    const struct conf_node *item = &node->children[out->count];
    if (item->kind != CONF_SCALAR) return FAIL(s, item, "must be a list of durations");
    result = set_span(s, item, &out->items[out->count]);
    if (result != RESULT_OK) return result;
  }
  return RESULT_OK;
}

static enum result set_texts(const struct setting *s, const struct conf_node *node, struct conf_texts *out)
{
  enum result result = require_list(s, node);
  if (result != RESULT_OK) return result;
  out->items = MEM_ARRAY(char *, node->count);
  for (; out->count < node->count; out->count++) {
    result = take_text(s, &node->children[out->count], &out->items[out->count]);
    if (result != RESULT_OK) return result;
  }
  return RESULT_OK;
}

static enum result set_pairs(const struct setting *s, const struct conf_node *node, struct conf_pairs *out)
{
  enum result result = require_map(s, node);
  if (result != RESULT_OK) return result;
  out->items = MEM_ARRAY(struct conf_pair, node->count);
  out->lines = MEM_ARRAY(int, node->count);
  for (; out->count < node->count; out->count++) {
    const struct conf_node *child = &node->children[out->count];
    struct conf_pair *pair = &out->items[out->count];
    // A longer name could not be printed as a YAML key again.
    if (strlen(child->key) > PAIR_NAME_BYTES_MAX)
      return FAIL(s, child, "a name must have at most %d bytes", PAIR_NAME_BYTES_MAX);
    result = take_text(s, child, &pair->value);
    if (result != RESULT_OK) return result;
    pair->name = mem_strdup(child->key);
    out->lines[out->count] = child->line;
  }
  return RESULT_OK;
}

// Names become parts of queue names, metric labels and paths.
static enum result require_name(const struct setting *s, const struct conf_node *node)
{
  char shown[CONF_SHOWN_BYTES];
  if (text_is_code(node->key, strlen(node->key))) return RESULT_OK;
  return FAIL(s, node, "the name %s must be of letters, digits, '.', '_' or '-'", conf_shown(node->key, shown));
}

static enum result set_names(const struct setting *s, const struct conf_node *node, struct conf_texts *out)
{
  enum result result = require_map(s, node);
  if (result != RESULT_OK) return result;
  out->items = MEM_ARRAY(char *, node->count);
  for (size_t i = 0; i < node->count; i++) {
    const struct conf_node *entry = &node->children[i];
    result = require_name(s, entry);
    if (result != RESULT_OK) return result;
    bool is_wanted = s->key->choices == NULL || (entry->kind == CONF_MAPPING && conf_tree_get(entry, s->key->choices));
    if (is_wanted) out->items[out->count++] = mem_strdup(entry->key);
  }
  return RESULT_OK;
}

static enum result set_map(const struct setting *s, const struct conf_node *node, struct conf_map *out)
{
  enum result result = require_map(s, node);
  if (result != RESULT_OK) return result;
  out->items = MEM_ARRAY(struct conf_entry, node->count);
  while (out->count < node->count) {
    const struct conf_node *child = &node->children[out->count];
    result = require_name(s, child);
    if (result != RESULT_OK) return result;
    char prefix[CONF_PATH_BYTES];
    snprintf(prefix, sizeof(prefix), "%s.%s.", s->path, child->key);
    struct conf_entry *entry = &out->items[out->count++];
    entry->name = mem_strdup(child->key);
    entry->block = mem_zalloc(1, s->key->sub->struct_size);
    entry->line = child->line;
    entry->key_lines = MEM_ARRAY(int, s->key->sub->count);
    result = conf_block_fill(s->context, s->key->sub, prefix, child, entry->block, entry->key_lines);
    if (result != RESULT_OK) return result;
  }
  return RESULT_OK;
}

enum result conf_value_set(const struct conf_context *c, const struct conf_key *key, const char *path,
                           const struct conf_node *node, void *block)
{
  struct setting s = {c, key, path};
  void *field = field_of(key, block);
  if (conf_is_scalar_type(key->type) && node->kind != CONF_SCALAR) return FAIL(&s, node, "must be a single value");
  conf_value_clear(key, block);
  switch (key->type) {
    case CONF_BOOL: return set_bool(&s, node, field);
    case CONF_INT: return set_int(&s, node, field);
    case CONF_SIZE: return set_size(&s, node, field);
    case CONF_SPAN: return set_span(&s, node, field);
    case CONF_TEXT: return take_text(&s, node, field);
    case CONF_CHOICE: return set_choice(&s, node, field);
    case CONF_SPANS: return set_spans(&s, node, field);
    case CONF_TEXTS:
    case CONF_SECRETS: return set_texts(&s, node, field);
    case CONF_PAIRS: return set_pairs(&s, node, field);
    case CONF_MAP: return set_map(&s, node, field);
    case CONF_NAMES: return set_names(&s, node, field);
    case CONF_OTHER: break;
  }
  return RESULT_OK;
}

static void clear_texts(struct conf_texts *texts)
{
  for (size_t i = 0; i < texts->count; i++) mem_free(texts->items[i]);
  mem_free(texts->items);
  *texts = (struct conf_texts){0};
}

static void clear_pairs(struct conf_pairs *pairs)
{
  for (size_t i = 0; i < pairs->count; i++) {
    mem_free(pairs->items[i].name);
    mem_free(pairs->items[i].value);
  }
  mem_free(pairs->items);
  mem_free(pairs->lines);
  *pairs = (struct conf_pairs){0};
}

static void clear_map(const struct conf_key *key, struct conf_map *map)
{
  for (size_t i = 0; i < map->count; i++) {
    conf_block_clear(key->sub, map->items[i].block);
    mem_free(map->items[i].block);
    mem_free(map->items[i].name);
    mem_free(map->items[i].key_lines);
  }
  mem_free(map->items);
  *map = (struct conf_map){0};
}

void conf_value_clear(const struct conf_key *key, void *block)
{
  void *field = field_of(key, block);
  switch (key->type) {
    case CONF_TEXT:
      mem_free(*(char **)field);
      *(char **)field = NULL;
      break;
    case CONF_SPANS:
      mem_free(((struct conf_spans *)field)->items);
      *(struct conf_spans *)field = (struct conf_spans){0};
      break;
    case CONF_TEXTS:
    case CONF_SECRETS:
    case CONF_NAMES: clear_texts(field); break;
    case CONF_PAIRS: clear_pairs(field); break;
    case CONF_MAP: clear_map(key, field); break;
    case CONF_BOOL:
    case CONF_INT:
    case CONF_SIZE:
    case CONF_SPAN:
    case CONF_CHOICE:
    case CONF_OTHER: break;
  }
}
