// SPDX-License-Identifier: Apache-2.0
// libyaml events become a tree of nodes; everything of YAML that surprises (anchors, tags, merge keys, several
// documents, tabs, duplicate keys) is refused on the way. Pure; any thread.
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "common/conf_internal.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"

struct builder {
  yaml_parser_t parser;
  struct conf_context context;
};

struct conf_node *conf_node_new(enum conf_node_kind kind, int line)
{
  struct conf_node *node = MEM_NEW(struct conf_node);
  node->kind = kind;
  node->line = line;
  return node;
}

struct conf_node *conf_node_add(struct conf_node *parent)
{
  // Room for powers of two: whenever count is one, the array is full.
  if ((parent->count & (parent->count - 1)) == 0) {
    size_t room = parent->count == 0 ? 1 : parent->count * 2;
    parent->children = mem_resize(parent->children, room, sizeof(struct conf_node));
  }
  struct conf_node *child = &parent->children[parent->count++];
  *child = (struct conf_node){0};
  return child;
}

void conf_node_clear(struct conf_node *node)
{
  for (size_t i = 0; i < node->count; i++) conf_node_clear(&node->children[i]);
  mem_free(node->children);
  mem_free(node->text);
  mem_free(node->key);
  *node = (struct conf_node){0};
}

void conf_tree_free(struct conf_node *root)
{
  if (root == NULL) return;
  conf_node_clear(root);
  mem_free(root);
}

const struct conf_node *conf_tree_get(const struct conf_node *mapping, const char *key)
{
  if (mapping == NULL || mapping->kind != CONF_MAPPING) return NULL;
  for (size_t i = 0; i < mapping->count; i++) {
    if (strcmp(mapping->children[i].key, key) == 0) return &mapping->children[i];
  }
  return NULL;
}

static int line_of(yaml_mark_t mark) { return (int)mark.line + 1; }

// The next event, or the parser's complaint with its line.
static enum result next_event(struct builder *b, yaml_event_t *out_event)
{
  if (yaml_parser_parse(&b->parser, out_event) == 1) return RESULT_OK;
  const char *problem = b->parser.problem != NULL ? b->parser.problem : "cannot be read as YAML";
  const char *context = b->parser.context != NULL ? b->parser.context : "";
  return conf_fail(&b->context, line_of(b->parser.problem_mark), "", "%s%s%s", problem, context[0] != '\0' ? " " : "",
                   context);
}

static enum result refuse_properties(struct builder *b, int line, const yaml_char_t *anchor, const yaml_char_t *tag)
{
  if (anchor != NULL) return conf_fail(&b->context, line, "", "anchors are not allowed");
  if (tag != NULL) return conf_fail(&b->context, line, "", "tags are not allowed");
  return RESULT_OK;
}

static enum result build_node(struct builder *b, const yaml_event_t *event, int depth, struct conf_node *node);

static enum result build_scalar(struct builder *b, const yaml_event_t *event, struct conf_node *node)
{
  const char *value = (const char *)event->data.scalar.value;
  size_t len = event->data.scalar.length;
  if (memchr(value, '\0', len) != NULL) return conf_fail(&b->context, node->line, "", "a text must not contain NUL");
  node->kind = CONF_SCALAR;
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text = mem_strndup(value, len);
  return refuse_properties(b, node->line, event->data.scalar.anchor, event->data.scalar.tag);
}

static enum result build_sequence(struct builder *b, int depth, struct conf_node *node)
{
  for (;;) {
    yaml_event_t event;
    enum result result = next_event(b, &event);
    if (result != RESULT_OK) return result;
    bool is_end = event.type == YAML_SEQUENCE_END_EVENT;
    if (!is_end) result = build_node(b, &event, depth + 1, conf_node_add(node));
    yaml_event_delete(&event);
    if (is_end || result != RESULT_OK) return result;
  }
}

// Checks a key against its earlier brothers and takes a copy.
static enum result take_key(struct builder *b, const yaml_event_t *event, struct conf_node *mapping, char **out_key)
{
  char shown[CONF_SHOWN_BYTES];
  int line = line_of(event->start_mark);
  if (event->type == YAML_ALIAS_EVENT) return conf_fail(&b->context, line, "", "aliases are not allowed");
  if (event->type != YAML_SCALAR_EVENT) return conf_fail(&b->context, line, "", "a key must be a plain text");
  enum result result = refuse_properties(b, line, event->data.scalar.anchor, event->data.scalar.tag);
  if (result != RESULT_OK) return result;
  const char *key = (const char *)event->data.scalar.value;
  if (event->data.scalar.length == 0) return conf_fail(&b->context, line, "", "a key is empty");
  if (strlen(key) != event->data.scalar.length) return conf_fail(&b->context, line, "", "a key must not contain NUL");
  bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (is_plain && strcmp(key, "<<") == 0) return conf_fail(&b->context, line, "", "merge keys are not allowed");
  const struct conf_node *first = conf_tree_get(mapping, key);
  if (first != NULL) {
    return conf_fail(&b->context, line, "", "key %s is repeated (first on line %d)", conf_shown(key, shown),
                     first->line);
  }
  if (mapping->count >= CONF_KEYS_MAX)
    return conf_fail(&b->context, line, "", "more than %d keys in one block", CONF_KEYS_MAX);
  *out_key = mem_strdup(key);
  return RESULT_OK;
}

static enum result build_pair(struct builder *b, const yaml_event_t *key_event, int depth, struct conf_node *mapping)
{
  char *key = NULL;
  enum result result = take_key(b, key_event, mapping, &key);
  if (result != RESULT_OK) return result;
  struct conf_node *child = conf_node_add(mapping);
  child->key = key;
  yaml_event_t event;
  result = next_event(b, &event);
  if (result != RESULT_OK) return result;
  result = build_node(b, &event, depth + 1, child);
  // A value may begin lines below its key; people look for the key.
  child->line = line_of(key_event->start_mark);
  yaml_event_delete(&event);
  return result;
}

static enum result build_mapping(struct builder *b, int depth, struct conf_node *node)
{
  for (;;) {
    yaml_event_t event;
    enum result result = next_event(b, &event);
    if (result != RESULT_OK) return result;
    bool is_end = event.type == YAML_MAPPING_END_EVENT;
    if (!is_end) result = build_pair(b, &event, depth, node);
    yaml_event_delete(&event);
    if (is_end || result != RESULT_OK) return result;
  }
}

static enum result build_node(struct builder *b, const yaml_event_t *event, int depth, struct conf_node *node)
{
  enum result result = RESULT_OK;
  node->line = line_of(event->start_mark);
  if (depth > CONF_DEPTH_MAX)
    return conf_fail(&b->context, node->line, "", "nested deeper than %d levels", CONF_DEPTH_MAX);
  switch (event->type) {
    case YAML_SCALAR_EVENT: return build_scalar(b, event, node);
    case YAML_SEQUENCE_START_EVENT:
      node->kind = CONF_SEQUENCE;
      result = refuse_properties(b, node->line, event->data.sequence_start.anchor, event->data.sequence_start.tag);
      return result != RESULT_OK ? result : build_sequence(b, depth, node);
    case YAML_MAPPING_START_EVENT:
      node->kind = CONF_MAPPING;
      result = refuse_properties(b, node->line, event->data.mapping_start.anchor, event->data.mapping_start.tag);
      return result != RESULT_OK ? result : build_mapping(b, depth, node);
    case YAML_ALIAS_EVENT: return conf_fail(&b->context, node->line, "", "aliases are not allowed");
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: break;
  }
  return conf_fail(&b->context, node->line, "", "unexpected structure");
}

// One event of the stream around the document. A second document is refused, so are directives.
static enum result build_step(struct builder *b, const yaml_event_t *event, bool *has_document, struct conf_node *root)
{
  int line = line_of(event->start_mark);
  switch (event->type) {
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: return RESULT_OK;
    case YAML_DOCUMENT_START_EVENT:
      if (*has_document) return conf_fail(&b->context, line, "", "only one document is allowed");
      if (event->data.document_start.version_directive != NULL ||
          event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end) {
        return conf_fail(&b->context, line, "", "directives are not allowed");
      }
      *has_document = true;
      return RESULT_OK;
    default: return build_node(b, event, 1, root);
  }
}

static enum result build_document(struct builder *b, struct conf_node *root)
{
  bool has_document = false;
  for (;;) {
    yaml_event_t event;
    enum result result = next_event(b, &event);
    if (result != RESULT_OK) return result;
    bool is_end = event.type == YAML_STREAM_END_EVENT;
    if (!is_end) result = build_step(b, &event, &has_document, root);
    yaml_event_delete(&event);
    if (is_end || result != RESULT_OK) return result;
  }
}

// What libyaml would let pass or complain about without a useful line.
static enum result check_bytes(const struct conf_context *c, const char *bytes, size_t len)
{
  if (len > CONF_FILE_BYTES_MAX) {
    conf_fail(c, 1, "", "longer than %d bytes", CONF_FILE_BYTES_MAX);
    return RESULT_TOO_BIG;
  }
  int line = 1;
  for (size_t from = 0; from < len; line++) {
    const char *end = memchr(bytes + from, '\n', len - from);
    size_t until = end != NULL ? (size_t)(end - bytes) + 1 : len;
    if (!text_is_utf8(bytes + from, until - from)) return conf_fail(c, line, "", "not valid UTF-8");
    size_t at = from;
    while (at < until && bytes[at] == ' ') at++;
    if (at < until && bytes[at] == '\t') return conf_fail(c, line, "", "a tab is used as indentation; use spaces");
    from = until;
  }
  return RESULT_OK;
}

enum result conf_tree_parse(const char *name, const char *bytes, size_t len, struct conf_node **out_root,
                            struct conf_fault *out_fault)
{
  struct builder b = {.context = {.name = name, .fault = out_fault}};
  if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {  // the byte order mark of some editors
    bytes += 3;
    len -= 3;
  }
  enum result result = check_bytes(&b.context, bytes, len);
  if (result != RESULT_OK) return result;
  if (yaml_parser_initialize(&b.parser) != 1) return conf_fail(&b.context, 1, "", "the YAML parser does not start");
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b.parser, (const unsigned char *)(len > 0 ? bytes : ""), len);
  struct conf_node *root = conf_node_new(CONF_MAPPING, 1);  // what an empty document means
  result = build_document(&b, root);
  yaml_parser_delete(&b.parser);
  if (result == RESULT_OK)
    *out_root = root;
  else
    conf_tree_free(root);
  return result;
}
