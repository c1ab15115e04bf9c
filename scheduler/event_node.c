// SPDX-License-Identifier: Apache-2.0
// Reading an event file node by node: known keys, typed values, and faults that name file, line and path.
// Pure; any thread.
#include "scheduler/event_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum result event_fail(const struct event_reader *r, int line, const char *path, const char *format, ...)
{
  char reason[CONF_FAULT_BYTES];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  (void)snprintf(r->fault->text, sizeof r->fault->text, "%s:%d: %s%s%.200s", r->file, line, path,
                 path[0] != '\0' ? ": " : "", reason);
  return RESULT_INVALID;
}

void event_path(char out_path[EVENT_PATH_BYTES], const char *path, const char *key)
{
  (void)snprintf(out_path, EVENT_PATH_BYTES, "%.90s%s%.60s", path, path[0] != '\0' ? "." : "", key);
  for (char *p = out_path; *p != '\0'; p++) {
    if ((unsigned char)*p < 0x20 || *p == 0x7F) *p = '?';
  }
}

static bool is_known(const char *key, const char *const *keys)
{
  for (; *keys != NULL; keys++) {
    if (strcmp(*keys, key) == 0) return true;
  }
  return false;
}

enum result event_keys_check(const struct event_reader *r, const struct conf_node *node, const char *path,
                             const char *const *keys)
{
  if (node->kind != CONF_MAPPING) return event_fail(r, node->line, path, "must be key: value lines");
  for (size_t i = 0; i < node->count; i++) {
    char at[EVENT_PATH_BYTES];
    event_path(at, path, node->children[i].key);
    if (!is_known(node->children[i].key, keys)) return event_fail(r, node->children[i].line, at, "unknown key");
  }
  return RESULT_OK;
}

enum result event_child(const struct event_reader *r, const struct conf_node *node, const char *path, const char *key,
                        bool required, enum conf_node_kind kind, const struct conf_node **out_child)
{
  static const char *const kinds[] = {[CONF_SCALAR] = "must be a single value",
                                      [CONF_SEQUENCE] = "must be a list",
                                      [CONF_MAPPING] = "must be key: value lines"};
  char at[EVENT_PATH_BYTES];
  event_path(at, path, key);
  const struct conf_node *child = conf_tree_get(node, key);
  if (child == NULL && !required) return RESULT_NOT_FOUND;
  if (child == NULL) return event_fail(r, node->line, at, "is missing");
  if (child->kind != kind) return event_fail(r, child->line, at, "%s", kinds[kind]);
  *out_child = child;
  return RESULT_OK;
}

enum result event_text(const struct event_reader *r, const struct conf_node *node, const char *path, const char *key,
                       bool required, const char **out_text)
{
  const struct conf_node *child = NULL;
  enum result result = event_child(r, node, path, key, required, CONF_SCALAR, &child);
  if (result == RESULT_NOT_FOUND) return RESULT_OK;
  if (result != RESULT_OK) return result;
  char at[EVENT_PATH_BYTES];
  event_path(at, path, key);
  if (child->text[0] == '\0' && !child->quoted) return event_fail(r, child->line, at, "has no value");
  *out_text = child->text;
  return RESULT_OK;
}

enum result event_bool(const struct event_reader *r, const struct conf_node *node, const char *path, const char *key,
                       bool *out_value)
{
  const struct conf_node *child = NULL;
  enum result result = event_child(r, node, path, key, false, CONF_SCALAR, &child);
  if (result == RESULT_NOT_FOUND) return RESULT_OK;
  if (result != RESULT_OK) return result;
  char at[EVENT_PATH_BYTES];
  event_path(at, path, key);
  bool is_true = strcmp(child->text, "true") == 0;
  if (child->quoted || (!is_true && strcmp(child->text, "false") != 0))
    return event_fail(r, child->line, at, "must be true or false");
  *out_value = is_true;
  return RESULT_OK;
}

static json_t *scalar_json(const struct conf_node *node)
{
  int64_t number = 0;
  if (node->quoted) return json_string(node->text);
  if (strcmp(node->text, "true") == 0) return json_true();
  if (strcmp(node->text, "false") == 0) return json_false();
  // "010" stays text, so that it is refused where a number is wanted instead of being read as eight or ten.
  return text_to_i64(node->text, strlen(node->text), &number) == RESULT_OK ? json_integer(number)
                                                                           : json_string(node->text);
}

json_t *event_json(const struct conf_node *node)
{
  if (node->kind == CONF_SCALAR) return scalar_json(node);
  json_t *json = node->kind == CONF_MAPPING ? json_object() : json_array();
  for (size_t i = 0; i < node->count; i++) {
    const struct conf_node *child = &node->children[i];
    if (node->kind == CONF_MAPPING)
      (void)json_object_set_new(json, child->key, event_json(child));
    else
      (void)json_array_append_new(json, event_json(child));
  }
  return json;
}

static const struct conf_node *child_named(const struct conf_node *node, const char *name, size_t len)
{
  for (size_t i = 0; node->kind == CONF_MAPPING && i < node->count; i++) {
    const char *key = node->children[i].key;
    if (strlen(key) == len && memcmp(key, name, len) == 0) return &node->children[i];
  }
  return NULL;
}

const struct conf_node *event_find(const struct conf_node *node, const char *path)
{
  for (const char *p = path; *p != '\0' && *p != ':';) {
    const struct conf_node *next = NULL;
    if (*p == '[') {
      size_t len = strcspn(p + 1, "]:");
      uint64_t index = 0;
      if (text_to_u64(p + 1, len, &index) == RESULT_OK && node->kind == CONF_SEQUENCE && index < node->count)
        next = &node->children[index];
      p += 1 + len + (p[1 + len] == ']');
    } else {
      size_t len = strcspn(p, ".[:");
      next = child_named(node, p, len);
      p += len;
    }
    if (*p == '.') p++;
    if (next == NULL) break;
    node = next;
  }
  return node;
}
