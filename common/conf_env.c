// SPDX-License-Identifier: Apache-2.0
// Environment variables LARGESSE_SECTION__KEY are put into the tree of the file before it is read, so that types,
// ranges and required keys are judged in one place. Pure; any thread.
#include <string.h>

#include "common/conf_internal.h"
#include "common/mem.h"

#define PREFIX "LARGESSE_"

// "database.pool_size" is spelt DATABASE__POOL_SIZE; other signs become '_'.
static char spelt(char c)
{
  if (c >= 'a' && c <= 'z') return (char)(c - 'a' + 'A');
  bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_kept ? c : '_';
}

// Bytes at the start of the variable that spell the text, or 0. A dot of a path is two underscores; in a name it is
// one.
static size_t match(const char *variable, size_t len, const char *text, bool is_path)
{
  size_t at = 0;
  for (; *text != '\0'; text++) {
    size_t width = is_path && *text == '.' ? 2 : 1;
    if (at + width > len || variable[at] != spelt(*text) || variable[at + width - 1] != spelt(*text)) return 0;
    at += width;
  }
  return at;
}

static bool is_separator(const char *variable, size_t len, size_t at)
{
  return at > 0 && at + 2 < len && variable[at] == '_' && variable[at + 1] == '_';
}

// The node at a dotted path below a mapping, made if it is missing. NULL if something on the way is no section.
static struct conf_node *descend(struct conf_node *mapping, const char *path, int line)
{
  struct conf_node *node = mapping;
  while (*path != '\0') {
    size_t len = strcspn(path, ".");
    bool is_empty = node->kind == CONF_SCALAR && !node->quoted && (node->text == NULL || node->text[0] == '\0');
    if (node->kind != CONF_MAPPING && !is_empty) return NULL;
    node->kind = CONF_MAPPING;
    struct conf_node *child = NULL;
    for (size_t i = 0; i < node->count && child == NULL; i++) {
      if (strncmp(node->children[i].key, path, len) == 0 && node->children[i].key[len] == '\0')
        child = &node->children[i];
    }
    if (child == NULL) {
      child = conf_node_add(node);
      child->key = mem_strndup(path, len);
      child->line = line;
    }
    node = child;
    path += len + (path[len] == '.');
  }
  return node;
}

static void set_lines(struct conf_node *node, int line)
{
  node->line = line;
  for (size_t i = 0; i < node->count; i++) set_lines(&node->children[i], line);
}

// Replaces a node's content by the variable's value: as it is for single values, as YAML flow text for lists and maps.
static enum result put_value(const struct conf_context *c, const struct conf_key *key, int line, const char *value,
                             struct conf_node *node)
{
  struct conf_node content = {.kind = CONF_SCALAR, .quoted = key->type == CONF_TEXT};
  if (conf_is_scalar_type(key->type)) {
    content.text = mem_strdup(value);
  } else {
    struct conf_node *root = NULL;
    struct conf_fault fault;
    if (conf_tree_parse("value", value, strlen(value), &root, &fault) != RESULT_OK)
      return conf_fail(c, line, "", "%s", fault.text);
    content = *root;
    mem_free(root);
  }
  content.key = node->key;
  node->key = NULL;
  conf_node_clear(node);
  *node = content;
  set_lines(node, line);
  return RESULT_OK;
}

static enum result put(const struct conf_context *c, const struct conf_table *table, struct conf_node *mapping,
                       const char *name, size_t len, int line, bool *out_is_known);

// What follows a map's own path: NAME__KEY, for an entry that is there already.
static enum result put_in_entry(const struct conf_context *c, const struct conf_key *key, struct conf_node *map,
                                const char *name, size_t len, int line, bool *out_is_known)
{
  for (size_t i = 0; map != NULL && i < map->count && map->kind == CONF_MAPPING; i++) {
    size_t used = match(name, len, map->children[i].key, false);
    if (!is_separator(name, len, used)) continue;
    return put(c, key->sub, &map->children[i], name + used + 2, len - used - 2, line, out_is_known);
  }
  return RESULT_OK;
}

static enum result put(const struct conf_context *c, const struct conf_table *table, struct conf_node *mapping,
                       const char *name, size_t len, int line, bool *out_is_known)
{
  for (size_t i = 0; i < table->count; i++) {
    const struct conf_key *key = &table->keys[i];
    size_t used = match(name, len, key->path, true);
    bool is_below = is_separator(name, len, used);
    if (used == 0 || (used < len && !is_below)) continue;
    if (key->type == CONF_OTHER || key->type == CONF_NAMES) {
      *out_is_known = true;  // another daemon reads it
      return RESULT_OK;
    }
    if (is_below && key->type != CONF_MAP) continue;
    struct conf_node *node = descend(mapping, key->path, line);
    if (node == NULL) return conf_fail(c, line, "", "what it belongs to is not a section in the file");
    if (is_below) return put_in_entry(c, key, node, name + used + 2, len - used - 2, line, out_is_known);
    *out_is_known = true;
    return put_value(c, key, line, name + len + 1, node);
  }
  return RESULT_OK;
}

static bool has_separator(const char *name, size_t len)
{
  for (size_t i = 0; i + 1 < len; i++) {
    if (name[i] == '_' && name[i + 1] == '_') return true;
  }
  return false;
}

enum result conf_env_apply(const struct conf_context *c, const struct conf_table *table, struct conf_node *root)
{
  for (int i = 0; c->environment != NULL && c->environment[i] != NULL; i++) {
    const char *variable = c->environment[i];
    const char *equals = strchr(variable, '=');
    if (equals == NULL || strncmp(variable, PREFIX, strlen(PREFIX)) != 0) continue;
    const char *name = variable + strlen(PREFIX);
    if (equals <= name) continue;
    bool is_known = false;
    enum result result = put(c, table, root, name, (size_t)(equals - name), -i - 1, &is_known);
    if (result != RESULT_OK) return result;
    // LARGESSE_PORT and the like belong to scripts around the daemons.
    if (!is_known && has_separator(name, (size_t)(equals - name)))
      return conf_fail(c, -i - 1, "", "names no known key");
  }
  return RESULT_OK;
}
