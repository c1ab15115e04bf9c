// SPDX-License-Identifier: Apache-2.0
// Compiling templates: literals and variables, each variable with the escaping of its place.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/template.h"
#include "fulfiller/template_part.h"

#define TEMPLATE_PARTS_MAX   256
#define TEMPLATE_TRIAL_BYTES 65536
#define PARAM_PREFIX         "reward.params."
#define SECRET_PREFIX        "secret."

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

struct compiler {
  struct template t;
  enum template_place place;
  bool in_string;      // JSON: between quotes
  struct buf literal;  // gathered so far
  struct conf_fault *fault;
};

static struct template_part *add_part(struct compiler *c)
{
  c->t.parts = mem_resize(c->t.parts, c->t.count + 1, sizeof *c->t.parts);
  c->t.parts[c->t.count] = (struct template_part){0};
  return &c->t.parts[c->t.count++];
}

static void flush_literal(struct compiler *c)
{
  if (c->literal.len == 0) return;
  struct template_part *part = add_part(c);
  part->len = c->literal.len;
  part->text = buf_take(&c->literal);
}

static enum template_escape escape_at(const struct compiler *c)
{
  switch (c->place) {
    case TEMPLATE_HEADER: return ESCAPE_HEADER;
    case TEMPLATE_JSON: return c->in_string ? ESCAPE_JSON_CONTENT : ESCAPE_JSON_VALUE;
    case TEMPLATE_PATH:
    case TEMPLATE_FORM: break;
  }
  return ESCAPE_URL;
}

static bool has_prefixed_name(const char *name, size_t len, const char *prefix)
{
  size_t prefix_len = strlen(prefix);
  return len > prefix_len && memcmp(name, prefix, prefix_len) == 0 && text_is_code(name + prefix_len, len - prefix_len);
}

static enum template_variable find_variable(const char *name, size_t len)
{
  static const struct {
    const char *name;
    enum template_variable id;
  } rows[] = {
#define X(id, name) {name, id},
      VARIABLE_LIST(X)
#undef X
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0) return rows[i].id;
  }
  if (has_prefixed_name(name, len, PARAM_PREFIX)) return VARIABLE_PARAM;
  return has_prefixed_name(name, len, SECRET_PREFIX) ? VARIABLE_SECRET : VARIABLE_NONE;
}

// What follows the prefix of a parameter or a secret.
static void take_name(struct template_part *part, const char *text, size_t len, const char *prefix)
{
  size_t prefix_len = strlen(prefix);
  part->text = mem_strndup(text + prefix_len, len - prefix_len);
  part->len = len - prefix_len;
}

// text stands behind "${".
static enum result add_variable(struct compiler *c, const char *text, size_t *out_used)
{
  const char *end = strchr(text, '}');
  if (end == NULL) return FAIL(c->fault, "'${%.40s' is not closed by '}'", text);
  size_t len = (size_t)(end - text);
  enum template_variable variable = find_variable(text, len);
  if (variable == VARIABLE_NONE) return FAIL(c->fault, "unknown variable ${%.*s}", len > 60 ? 60 : (int)len, text);
  if (variable == VARIABLE_SECRET && c->place == TEMPLATE_PATH)
    return FAIL(c->fault, "${%.*s}: a secret may stand in headers and bodies only", len > 60 ? 60 : (int)len, text);
  if (c->t.count >= TEMPLATE_PARTS_MAX) return FAIL(c->fault, "more than %d parts", TEMPLATE_PARTS_MAX);
  flush_literal(c);
  struct template_part *part = add_part(c);
  part->variable = variable;
  part->escape = escape_at(c);
  if (variable == VARIABLE_PARAM) take_name(part, text, len, PARAM_PREFIX);
  if (variable == VARIABLE_SECRET) take_name(part, text, len, SECRET_PREFIX);
  if (variable == VARIABLE_PARAM) c->t.has_params = true;
  if (variable == VARIABLE_PROVIDER_REF) c->t.has_provider_ref = true;
  if (variable == VARIABLE_CLAIM_ID || variable == VARIABLE_REQUEST_ID || variable == VARIABLE_REQUEST_ID_WORD)
    c->t.has_request_id = true;
  *out_used = len + 1;
  return RESULT_OK;
}

static enum result scan(struct compiler *c, const char *text, const char *end)
{
  for (const char *at = text; at < end;) {
    size_t used = 0;
    if (strncmp(at, "$${", 3) == 0) {  // a literal ${
      buf_puts(&c->literal, "${");
      at += 3;
      continue;
    }
    if (strncmp(at, "${", 2) == 0) {
      enum result result = add_variable(c, at + 2, &used);
      if (result != RESULT_OK) return result;
      at += 2 + used;
      continue;
    }
    if (c->place == TEMPLATE_JSON && *at == '"') c->in_string = !c->in_string;
    if (c->place == TEMPLATE_JSON && c->in_string && *at == '\\' && at[1] != '\0') buf_putc(&c->literal, *at++);
    buf_putc(&c->literal, *at++);
  }
  flush_literal(c);
  return RESULT_OK;
}

// Would a provider get JSON? Tried with a claim that has nothing optional.
static enum result try_json(const struct compiler *c)
{
  static const struct claim_facts facts = {.activity_id = 1,
                                           .claim_id = 1,
                                           .user_id = 1,
                                           .quantity = 1,
                                           .request_id = "1-1",
                                           .provider_ref = "p",
                                           .biz_id = "b",
                                           .activity_code = "a",
                                           .reward_code = "r"};
  static const struct template_means means = {.keys = NULL};
  char why[JSONX_WHY_BYTES] = "";
  json_t *json = NULL;
  struct buf text;
  buf_init(&text, TEMPLATE_TRIAL_BYTES);
  enum result result = template_render(&c->t, &facts, &means, &text);
  if (result == RESULT_OK) result = jsonx_parse(buf_text(&text), text.len, &json, why);
  json_decref(json);
  buf_release(&text);
  return result == RESULT_OK ? RESULT_OK : FAIL(c->fault, "would not be JSON: %s", why);
}

// --- forms

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Line breaks and the blanks around them are for the reader of the configuration.
static enum result scan_fields(struct compiler *c, const char *text, const char *end)
{
  enum result result = RESULT_OK;
  while (result == RESULT_OK && text < end) {
    const char *until = text;
    while (until < end && !is_blank(*until)) until++;
    result = scan(c, text, until);
    text = until;
    bool has_break = text == end;
    while (text < end && is_blank(*text)) has_break = *text++ == '\n' || has_break;
    if (result == RESULT_OK && !has_break && text < end)
      return FAIL(c->fault, "a blank must be percent-encoded in a form (%%20)");
  }
  return result;
}

// Behind the brace that closes the JSON at text; NULL: it is not there.
static const char *json_end(const char *text)
{
  bool in_string = false;
  int depth = 0;
  for (const char *at = text; *at != '\0'; at++) {
    if (strncmp(at, "${", 2) == 0) {
      const char *close = strchr(at, '}');
      if (close == NULL) return NULL;
      at = close;
    } else if (*at == '"') {
      in_string = !in_string;
    } else if (in_string && *at == '\\' && at[1] != '\0') {
      at++;
    } else if (!in_string && *at == '{') {
      depth++;
    } else if (!in_string && *at == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return NULL;
}

static void add_encoded(struct compiler *c, struct template_part *part)
{
  if (part->variable == VARIABLE_NONE) {
    text_url_encode(part->text, part->len, &c->literal);
    return;
  }
  flush_literal(c);
  struct template_part *copy = add_part(c);
  *copy = *part;
  copy->escape = part->escape == ESCAPE_JSON_VALUE ? ESCAPE_FORM_JSON_VALUE : ESCAPE_FORM_JSON_CONTENT;
  part->text = NULL;  // moved
}

// A field whose value is a JSON object: a template of its own, encoded as a whole.
static enum result add_json_field(struct compiler *c, const char *text, const char *end)
{
  struct template json = {.count = 0};
  char *copy = mem_strndup(text, (size_t)(end - text));
  enum result result = template_compile(copy, TEMPLATE_JSON, &json, c->fault);
  if (result == RESULT_OK && c->t.count + json.count > TEMPLATE_PARTS_MAX)
    result = FAIL(c->fault, "more than %d parts", TEMPLATE_PARTS_MAX);
  for (size_t i = 0; result == RESULT_OK && i < json.count; i++) add_encoded(c, &json.parts[i]);
  c->t.has_params = c->t.has_params || json.has_params;
  c->t.has_request_id = c->t.has_request_id || json.has_request_id;
  c->t.has_provider_ref = c->t.has_provider_ref || json.has_provider_ref;
  template_release(&json);
  mem_free(copy);
  return result;
}

static enum result scan_form(struct compiler *c, const char *text)
{
  enum result result = RESULT_OK;
  while (result == RESULT_OK && *text != '\0') {
    const char *json = strstr(text, "={");
    const char *until = json == NULL ? text + strlen(text) : json + 1;
    result = scan_fields(c, text, until);
    text = until;
    if (json == NULL || result != RESULT_OK) break;
    const char *end = json_end(text);
    if (end == NULL) return FAIL(c->fault, "a field with JSON is not closed by '}'");
    result = add_json_field(c, text, end);
    text = end;
    if (result == RESULT_OK && *text != '\0' && *text != '&' && !is_blank(*text))
      return FAIL(c->fault, "behind a field with JSON must come '&'");
  }
  flush_literal(c);
  return result;
}

static enum result check_literals(const struct compiler *c, const char *text)
{
  for (const char *at = text; *at != '\0'; at++) {
    unsigned char byte = (unsigned char)*at;
    if (c->place == TEMPLATE_PATH && (byte <= 0x20 || byte == '#' || byte >= 0x7f)) {
      return FAIL(c->fault, "must be percent-encoded, without '#'");
    }
    if (c->place == TEMPLATE_HEADER && (byte < 0x20 || byte == 0x7f))
      return FAIL(c->fault, "must not have control characters");
  }
  if (c->place == TEMPLATE_PATH && text[0] != '/' && text[0] != '?')
    return FAIL(c->fault, "must begin with '/' or '?'");
  return RESULT_OK;
}

enum result template_compile(const char *text, enum template_place place, struct template *out_template,
                             struct conf_fault *out_fault)
{
  enum result result;
  struct compiler c = {.place = place, .fault = out_fault};
  buf_init(&c.literal, TEMPLATE_TRIAL_BYTES);
  TRY(check_literals(&c, text));
  TRY(place == TEMPLATE_FORM ? scan_form(&c, text) : scan(&c, text, text + strlen(text)));
  if (place == TEMPLATE_JSON) TRY(try_json(&c));
  *out_template = c.t;
  c.t = (struct template){0};
cleanup:
  template_release(&c.t);
  buf_release(&c.literal);
  return result;
}
