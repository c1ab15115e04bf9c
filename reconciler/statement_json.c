// SPDX-License-Identifier: Apache-2.0
// Statements in JSON: an array of objects somewhere in a document, or an object in each line. Only one object is held
// at a time; numbers keep the text that they are written in.
// Owner: the reader's; any one thread.
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/limits.h"
#include "common/mem.h"
#include "reconciler/statement_part.h"

#define OBJECT_BYTES_MAX (256 * 1024)
#define KEY_BYTES_MAX    256
#define TOKENS_MAX       16

// A pointer taken apart.
struct pointer {
  char *tokens[TOKENS_MAX];
  size_t count;
};

struct statement_json {
  struct statement_sink *sink;
  struct pointer items;
  struct pointer columns[STATEMENT_FIELDS];
  struct buf object, key, values;  // values: texts of the fields
  int64_t line, object_line;
  size_t depth, matched, array_depth;  // array_depth 0: the array has not begun
  bool in_text, is_escaped, is_key, key_matches, wants_comma, is_over, has_found;
};

// --- pointers

static void pointer_init(struct pointer *p, const char *text)
{
  p->count = 0;
  for (const char *at = text; at != NULL && *at == '/' && p->count < TOKENS_MAX;) {
    const char *end = strchr(at + 1, '/');
    size_t len = end != NULL ? (size_t)(end - at - 1) : strlen(at + 1);
    char *token = mem_strndup(at + 1, len), *to = token;
    for (const char *from = token; *from != '\0'; from++) {  // ~1 is /, ~0 is ~
      char next = from[0] == '~' ? from[1] : '\0';
      *to++ = next == '1' ? '/' : *from;
      if (next == '0' || next == '1') from++;
    }
    *to = '\0';
    p->tokens[p->count++] = token;
    at = end;
  }
}

static void pointer_release(struct pointer *p)
{
  for (size_t i = 0; i < p->count; i++) mem_free(p->tokens[i]);
}

// --- one object, which is valid JSON

static const char *skip_blank(const char *at)
{
  while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') at++;
  return at;
}

static const char *skip_text(const char *at)
{
  for (at++; *at != '"'; at++) {
    if (*at == '\\') at++;
  }
  return at + 1;
}

static const char *skip_value(const char *at)
{
  size_t depth = 0;
  do {
    at = skip_blank(at);
    if (*at == '"') {
      at = skip_text(at);
    } else if (*at == '{' || *at == '[') {
      depth++;
      at++;
    } else if (*at == '}' || *at == ']') {
      depth--;
      at++;
    } else if (*at == ',' || *at == ':') {
      at++;
    } else {
      at += strcspn(at, ",:]} \t\r\n");
    }
  } while (depth > 0);
  return at;
}

// Whether a text between quotes, as it is written, is this name; many write "\u91d1\u989d" for 金额.
static bool is_name(const char *text, size_t len, const char *name)
{
  if (memchr(text, '\\', len) == NULL) return len == strlen(name) + 2 && memcmp(text + 1, name, len - 2) == 0;
  json_t *decoded = json_loadb(text, len, JSON_DECODE_ANY, NULL);
  const char *value = json_string_value(decoded);
  bool is_same = value != NULL && strcmp(value, name) == 0;
  json_decref(decoded);
  return is_same;
}

// The value of a member; NULL: there is none.
static const char *find_member(const char *object, const char *name)
{
  const char *at = skip_blank(object + 1);
  while (*at == '"') {
    const char *key = at;
    at = skip_text(at);
    bool is_found = is_name(key, (size_t)(at - key), name);
    at = skip_blank(skip_blank(at) + 1);
    if (is_found) return at;
    at = skip_blank(skip_value(at));
    if (*at == ',') at = skip_blank(at + 1);
  }
  return NULL;
}

// The value at a pointer, as it is written; NULL: it is not there.
static const char *find_value(const char *at, const struct pointer *p)
{
  at = skip_blank(at);
  for (size_t i = 0; i < p->count && at != NULL; i++) at = *at == '{' ? find_member(at, p->tokens[i]) : NULL;
  return at;
}

static bool put_value(struct statement_json *j, const char *value, size_t *out_len)
{
  size_t before = j->values.len, len = (size_t)(skip_value(value) - value);
  if (*value == '{' || *value == '[') return false;
  if (*value != '"') {
    buf_append(&j->values, value, len);
  } else {
    json_t *text = json_loadb(value, len, JSON_DECODE_ANY, NULL);
    buf_append(&j->values, json_string_value(text), json_string_length(text));
    json_decref(text);
  }
  *out_len = j->values.len - before;
  return true;
}

static void take_fields(struct statement_json *j)
{
  struct statement_text fields[STATEMENT_FIELDS] = {{NULL, 0}};
  size_t begins[STATEMENT_FIELDS] = {0};
  char why[STATEMENT_WHY_BYTES];
  buf_clear(&j->values);
  buf_putc(&j->values, '\0');
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) {
    const char *column = j->sink->profile->conf->columns[i];
    const char *value = column != NULL ? find_value(buf_text(&j->object), &j->columns[i]) : NULL;
    begins[i] = j->values.len;
    if (value == NULL || strncmp(value, "null", 4) == 0) continue;
    if (!put_value(j, value, &fields[i].len)) {
      (void)snprintf(why, sizeof why, "%.100s is an object or a list", column);
      (void)statement_sink_refuse(j->sink, j->object_line, why);
      return;
    }
  }
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) fields[i].bytes = buf_text(&j->values) + begins[i];
  statement_sink_fields(j->sink, fields, j->object_line);
}

static void end_object(struct statement_json *j)
{
  char why[STATEMENT_WHY_BYTES], fault[JSONX_WHY_BYTES] = "it is a list";
  json_t *doc = NULL;
  if (jsonx_parse(buf_text(&j->object), j->object.len, &doc, fault) == RESULT_OK && json_is_object(doc)) {
    take_fields(j);
  } else {
    (void)snprintf(why, sizeof why, "is no JSON object: %.200s", fault);
    (void)statement_sink_refuse(j->sink, j->object_line, why);
  }
  json_decref(doc);
  buf_clear(&j->object);
}

// --- the document around them

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void refuse(struct statement_json *j, const char *why) { (void)statement_sink_refuse(j->sink, j->line, why); }

static void take_text(struct statement_json *j, char c)
{
  if (j->is_key) buf_putc(&j->key, c);  // what is longer than a key may be fits none
  if (j->is_escaped)
    j->is_escaped = false;
  else if (c == '\\')
    j->is_escaped = true;
  else if (c == '"')
    j->in_text = false;
}

// A bracket outside objects of the list: what it closes is no more on the way there.
static void close_bracket(struct statement_json *j)
{
  j->depth--;
  if (j->matched >= j->depth) j->matched = j->depth > 0 ? j->depth - 1 : 0;
  j->is_over = j->depth == 0;
}

static void open_bracket(struct statement_json *j, char c)
{
  if (j->key_matches) j->matched++;
  bool is_there = c == '[' && j->matched == j->items.count && j->depth == j->matched;
  j->key_matches = false;
  j->depth++;
  if (j->depth > JSON_DEPTH_MAX) refuse(j, "is too deep");
  if (!is_there) return;
  if (j->has_found) refuse(j, "has the profile's list twice");
  j->array_depth = j->depth;
  j->has_found = true;
  j->wants_comma = false;
}

// Outside the array: which members lead to it.
static void take_outside(struct statement_json *j, char c)
{
  const struct pointer *p = &j->items;
  if (j->is_over && !is_blank(c)) {
    refuse(j, "is no JSON: something stands behind its end");
  } else if (c == '"') {
    j->in_text = j->is_key = true;
    buf_clear(&j->key);
    buf_putc(&j->key, c);
  } else if (c == ':') {
    j->key_matches = j->matched < p->count && j->depth == j->matched + 1 && buf_result(&j->key) == RESULT_OK &&
                     is_name(buf_text(&j->key), j->key.len, p->tokens[j->matched]);
  } else if (c == '{' || c == '[') {
    open_bracket(j, c);
  } else if ((c == '}' || c == ']') && j->depth > 0) {
    close_bracket(j);
  } else if (c == '}' || c == ']') {
    refuse(j, "is no JSON: a bracket too many");
  } else if (c == ',') {
    j->key_matches = false;
  }
}

static void begin_object(struct statement_json *j, char c)
{
  buf_clear(&j->object);
  buf_putc(&j->object, c);
  j->object_line = j->line;
  j->depth++;
}

static void take_in_array(struct statement_json *j, char c)
{
  if (is_blank(c)) return;
  if (c == ']') {
    j->array_depth = 0;
    close_bracket(j);
  } else if (c == ',' && j->wants_comma) {
    j->wants_comma = false;
  } else if (c == '{' && !j->wants_comma) {
    begin_object(j, c);
  } else {
    refuse(j, "is no object of the list");
  }
}

static void take_in_object(struct statement_json *j, char c)
{
  buf_putc(&j->object, c);
  if (buf_result(&j->object) != RESULT_OK) {
    (void)statement_sink_refuse(j->sink, j->object_line, "an object without an end");
  } else if (j->in_text) {
    take_text(j, c);
  } else if (c == '"') {
    j->in_text = true;
    j->is_key = false;
  } else if (c == '{' || c == '[') {
    j->depth++;
  } else if ((c == '}' || c == ']') && --j->depth == j->array_depth) {
    end_object(j);
    j->wants_comma = true;
  }
}

static void take_line(struct statement_json *j, char c)
{
  if (c == '\n') {
    if (j->object.len > 0) end_object(j);
    buf_clear(&j->object);
  } else if (!is_blank(c) || j->object.len > 0) {
    if (j->object.len == 0) j->object_line = j->line;
    buf_putc(&j->object, c);
    if (buf_result(&j->object) != RESULT_OK) refuse(j, "a line without an end");
  }
}

static void take(struct statement_json *j, char c)
{
  if (j->sink->profile->conf->format == STATEMENT_JSONL)
    take_line(j, c);
  else if (j->array_depth > 0 && j->depth > j->array_depth)
    take_in_object(j, c);
  else if (j->array_depth > 0)
    take_in_array(j, c);
  else if (j->in_text)
    take_text(j, c);
  else
    take_outside(j, c);
  if (c == '\n') j->line++;
}

void statement_json_feed(struct statement_json *j, const char *bytes, size_t len)
{
  for (size_t i = 0; i < len && j->sink->result == RESULT_OK; i++) take(j, bytes[i]);
}

void statement_json_end(struct statement_json *j)
{
  if (j->sink->profile->conf->format == STATEMENT_JSONL) {
    if (j->object.len > 0 && j->sink->result == RESULT_OK) end_object(j);
    return;
  }
  if (j->sink->result != RESULT_OK) return;
  if (j->depth > 0 || j->in_text)
    refuse(j, "is no JSON: it ends too early");
  else if (!j->has_found)
    (void)statement_sink_refuse(j->sink, 0, "there is no list where the profile's items says");
}

struct statement_json *statement_json_new(struct statement_sink *sink)
{
  struct statement_json *j = MEM_NEW(struct statement_json);
  j->sink = sink;
  j->line = 1;
  buf_init(&j->object, OBJECT_BYTES_MAX);
  buf_init(&j->values, 2 * OBJECT_BYTES_MAX);
  buf_init(&j->key, KEY_BYTES_MAX);
  pointer_init(&j->items, sink->profile->conf->items);
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) pointer_init(&j->columns[i], sink->profile->conf->columns[i]);
  return j;
}

void statement_json_free(struct statement_json *j)
{
  if (j == NULL) return;
  buf_release(&j->object);
  buf_release(&j->values);
  buf_release(&j->key);
  pointer_release(&j->items);
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) pointer_release(&j->columns[i]);
  mem_free(j);
}
