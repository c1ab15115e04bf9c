// SPDX-License-Identifier: Apache-2.0
// Fills a configuration struct from its table: defaults, the file's tree, the environment; refuses what is unknown.
// Blocking (reads a file); at start and on reload only.
#include "common/conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/conf_internal.h"
#include "common/contract.h"
#include "common/limits.h"
#include "common/mem.h"

enum result conf_fail(const struct conf_context *c, int line, const char *path, const char *format, ...)
{
  char where[CONF_FAULT_BYTES / 2];
  if (line < 0) {
    const char *variable = c->environment[-line - 1];
    snprintf(where, sizeof(where), "environment variable %.*s", (int)strcspn(variable, "="), variable);
  } else {
    snprintf(where, sizeof(where), "%s:%d", c->name, line);
  }
  int len = snprintf(c->fault->text, sizeof(c->fault->text), "%s: %s%s", where, path, path[0] != '\0' ? ": " : "");
  if (len > 0 && (size_t)len < sizeof(c->fault->text)) {
    va_list args;
    va_start(args, format);
    vsnprintf(c->fault->text + len, sizeof(c->fault->text) - (size_t)len, format, args);
    va_end(args);
  }
  return RESULT_INVALID;
}

const char *conf_shown(const char *text, char out[CONF_SHOWN_BYTES])
{
  size_t len = 0;
  for (; text[len] != '\0' && len + 1 < CONF_SHOWN_BYTES; len++) {
    out[len] = text[len] >= 0x20 && text[len] <= 0x7E ? text[len] : '?';
  }
  out[len] = '\0';
  return len > 0 ? out : "nothing";
}

// While one struct is filled: which keys of its table have been given.
struct filling {
  const struct conf_context *context;
  const struct conf_table *table;
  const char *prefix;
  void *block;
  int *lines;  // NULL: nobody asks
  bool is_given[CONF_KEYS_MAX];
};

static void set_default(const struct conf_context *c, const struct conf_key *key, void *block)
{
  if (key->default_text == NULL || key->type == CONF_OTHER) return;
  struct conf_node scalar = {.kind = CONF_SCALAR, .text = (char *)key->default_text, .quoted = key->type == CONF_TEXT};
  struct conf_node *tree = NULL;
  enum result result = RESULT_OK;
  if (!conf_is_scalar_type(key->type)) {
    result = conf_tree_parse(key->path, key->default_text, strlen(key->default_text), &tree, c->fault);
  }
  if (result == RESULT_OK) result = conf_value_set(c, key, key->path, tree != NULL ? tree : &scalar, block);
  conf_tree_free(tree);
  if (result != RESULT_OK) fprintf(stderr, "%s\n", c->fault->text);
  ENSURE(result == RESULT_OK);  // the table is our own code
}

static enum result fill_from(struct filling *f, const char *path, const struct conf_node *mapping);

// Is path the beginning of a key's path, or (out_index set) a key itself?
static bool find_key(const struct conf_table *table, const char *path, size_t *out_index, bool *out_is_key)
{
  size_t len = strlen(path);
  bool is_section = false;
  for (size_t i = 0; i < table->count; i++) {
    const char *known = table->keys[i].path;
    if (strncmp(known, path, len) != 0) continue;
    if (known[len] == '\0') {
      *out_index = i;
      *out_is_key = true;
      return true;
    }
    if (known[len] == '.') is_section = true;
  }
  return is_section;
}

// The whole path for messages; keys from outside must not break the line.
static void show_path(const struct filling *f, const char *path, char out[CONF_PATH_BYTES])
{
  int len = snprintf(out, CONF_PATH_BYTES, "%s%s", f->prefix, path);
  if (len >= CONF_PATH_BYTES) memcpy(out + CONF_PATH_BYTES - 4, "...", 4);
  for (char *c = out; *c != '\0'; c++) *c = *c >= 0x20 && *c <= 0x7E ? *c : '?';
}

static enum result fail_unknown(const struct filling *f, const struct conf_node *node, const char *path)
{
  char shown[CONF_PATH_BYTES];
  show_path(f, path, shown);
  char meant[CONF_PATH_BYTES];
  if (strchr(node->key, '.') != NULL || !conf_suggest(f->table, path, meant)) {
    return conf_fail(f->context, node->line, shown, "unknown key");
  }
  return conf_fail(f->context, node->line, shown, "unknown key; did you mean %s%s?", f->prefix, meant);
}

static bool has_deeper_key(const struct conf_table *table, const char *path)
{
  size_t len = strlen(path);
  for (size_t i = 0; i < table->count; i++) {
    if (strncmp(table->keys[i].path, path, len) == 0 && table->keys[i].path[len] == '.') return true;
  }
  return false;
}

static enum result fill_child(struct filling *f, const char *path, const struct conf_node *node);

// A section of another daemon of which this one reads a key or two: the rest is not looked at.
static enum result fill_what_is_known(struct filling *f, const char *path, const struct conf_node *mapping)
{
  enum result result = RESULT_OK;
  for (size_t i = 0; result == RESULT_OK && mapping->kind == CONF_MAPPING && i < mapping->count; i++) {
    char child_path[CONF_PATH_BYTES];
    size_t index = 0;
    bool is_key = false;
    const struct conf_node *child = &mapping->children[i];
    int len = snprintf(child_path, sizeof(child_path), "%s.%s", path, child->key);
    if (len < 0 || (size_t)len >= sizeof(child_path) || strchr(child->key, '.') != NULL) continue;
    if (!find_key(f->table, child_path, &index, &is_key)) continue;
    result = is_key ? fill_child(f, child_path, child) : fill_what_is_known(f, child_path, child);
  }
  return result;
}

// The key, and those that look at the same place of the file.
static enum result set_all(struct filling *f, size_t index, const char *shown, const struct conf_node *node)
{
  const struct conf_key *first = &f->table->keys[index], *end = f->table->keys + f->table->count;
  enum result result = RESULT_OK;
  for (const struct conf_key *key = first; result == RESULT_OK && key < end && strcmp(key->path, first->path) == 0;
       key++)
    result = conf_value_set(f->context, key, shown, node, f->block);
  return result;
}

static enum result fill_child(struct filling *f, const char *path, const struct conf_node *node)
{
  size_t index = 0;
  bool is_key = false;
  // A dotted key would be a second spelling of a nested one.
  bool is_dotted = strchr(node->key, '.') != NULL;
  if (is_dotted || !find_key(f->table, path, &index, &is_key)) return fail_unknown(f, node, path);
  char shown[CONF_PATH_BYTES];
  show_path(f, path, shown);
  if (is_key) {
    f->is_given[index] = true;
    if (f->lines != NULL) f->lines[index] = node->line;
    bool is_others = f->table->keys[index].type == CONF_OTHER;
    if (is_others && has_deeper_key(f->table, path)) return fill_what_is_known(f, path, node);
    return set_all(f, index, shown, node);
  }
  bool is_empty = node->kind == CONF_SCALAR && !node->quoted && node->text[0] == '\0';
  if (is_empty) return RESULT_OK;  // a section with all its keys commented out
  if (node->kind != CONF_MAPPING)
    return conf_fail(f->context, node->line, shown, "must be a section with keys of its own");
  return fill_from(f, path, node);
}

static enum result fill_from(struct filling *f, const char *path, const struct conf_node *mapping)
{
  for (size_t i = 0; i < mapping->count; i++) {
    char child_path[CONF_PATH_BYTES];
    const struct conf_node *child = &mapping->children[i];
    int len = snprintf(child_path, sizeof(child_path), "%s%s%s", path, path[0] != '\0' ? "." : "", child->key);
    if (len < 0 || (size_t)len >= sizeof(child_path))
      return conf_fail(f->context, child->line, "", "a key is too long");
    enum result result = fill_child(f, child_path, child);
    if (result != RESULT_OK) return result;
  }
  return RESULT_OK;
}

enum result conf_block_fill(const struct conf_context *c, const struct conf_table *table, const char *prefix,
                            const struct conf_node *mapping, void *block, int *out_lines)
{
  REQUIRE(table->count <= CONF_KEYS_MAX);
  struct filling f = {.context = c, .table = table, .prefix = prefix, .block = block, .lines = out_lines};
  for (size_t i = 0; i < table->count; i++) set_default(c, &table->keys[i], block);
  bool is_empty = mapping->kind == CONF_SCALAR && !mapping->quoted && mapping->text[0] == '\0';
  if (mapping->kind != CONF_MAPPING && !is_empty) {
    char shown[CONF_PATH_BYTES];
    show_path(&f, "", shown);
    if (shown[0] != '\0') shown[strlen(shown) - 1] = '\0';  // the dot
    return conf_fail(c, mapping->line, shown, "must be key: value lines");
  }
  enum result result = fill_from(&f, "", mapping);
  if (result != RESULT_OK) return result;
  for (size_t i = 0; i < table->count; i++) {
    if ((table->keys[i].flags & CONF_REQUIRED) == 0 || f.is_given[i]) continue;
    char shown[CONF_PATH_BYTES];
    show_path(&f, table->keys[i].path, shown);
    return conf_fail(c, mapping->line, shown, "is required");
  }
  return RESULT_OK;
}

int conf_pair_line(const struct conf_pairs *pairs, size_t index)
{
  return pairs->lines == NULL || index >= pairs->count ? 0 : pairs->lines[index];
}

// A section has no line of its own here: the first of its keys that is given stands for it.
static int line_of_path(const struct conf_table *sub, const struct conf_entry *entry, const char *path, size_t len)
{
  int section_line = 0;
  for (size_t i = 0; i < sub->count; i++) {
    const char *known = sub->keys[i].path;
    int line = entry->key_lines[i];
    if (line == 0 || strncmp(known, path, len) != 0) continue;
    if (known[len] == '\0') return line;
    if (known[len] == '.' && (section_line == 0 || line < section_line)) section_line = line;
  }
  return section_line;
}

int conf_entry_line(const struct conf_table *sub, const struct conf_entry *entry, const char *key)
{
  size_t len = strcspn(key, ":");
  int line = 0;
  while (line == 0 && len > 0 && entry->key_lines != NULL) {
    line = line_of_path(sub, entry, key, len);
    while (len > 0 && key[--len] != '.') continue;
  }
  return line != 0 ? line : entry->line;
}

void conf_block_clear(const struct conf_table *table, void *block)
{
  for (size_t i = 0; i < table->count; i++) conf_value_clear(&table->keys[i], block);
}

static enum result load(const struct conf_context *c, const struct conf_table *table, const char *bytes, size_t len,
                        void **out_config)
{
  struct conf_node *root = NULL;
  void *config = mem_zalloc(1, table->struct_size);
  enum result result = RESULT_OK;
  TRY(conf_tree_parse(c->name, bytes, len, &root, c->fault));
  TRY(conf_env_apply(c, table, root));
  TRY(conf_block_fill(c, table, "", root, config, NULL));
  *out_config = config;
  config = NULL;
cleanup:
  conf_tree_free(root);
  conf_free(table, config);
  return result;
}

enum result conf_load(const struct conf_table *table, const char *file, char *const *environment, void **out_config,
                      struct conf_fault *out_fault)
{
  struct conf_context c = {.name = file != NULL ? file : "defaults", .environment = environment, .fault = out_fault};
  struct buf content;
  buf_init(&content, CONF_FILE_BYTES_MAX);
  enum result result = file != NULL ? conf_read_file(file, CONF_FILE_BYTES_MAX, false, &content) : RESULT_OK;
  if (result != RESULT_OK) {
    snprintf(out_fault->text, sizeof(out_fault->text), "%s: cannot be read: %s", file, result_text(result));
  } else {
    result = load(&c, table, buf_text(&content), content.len, out_config);
  }
  buf_release(&content);
  return result;
}

enum result conf_parse(const struct conf_table *table, const char *name, const char *bytes, size_t len,
                       void **out_config, struct conf_fault *out_fault)
{
  struct conf_context c = {.name = name, .fault = out_fault};
  return load(&c, table, bytes, len, out_config);
}

void conf_free(const struct conf_table *table, void *config)
{
  if (config == NULL) return;
  conf_block_clear(table, config);
  mem_free(config);
}
