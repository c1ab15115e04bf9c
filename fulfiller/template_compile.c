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
  size_t prefix = strlen(PARAM_PREFIX);
  bool is_param = len > prefix && memcmp(name, PARAM_PREFIX, prefix) == 0 && text_is_code(name + prefix, len - prefix);
  return is_param ? VARIABLE_PARAM : VARIABLE_NONE;
}

// text stands behind "${".
static enum result add_variable(struct compiler *c, const char *text, size_t *out_used)
{
  const char *end = strchr(text, '}');
  if (end == NULL) return FAIL(c->fault, "'${%.40s' is not closed by '}'", text);
  size_t len = (size_t)(end - text);
  enum template_variable variable = find_variable(text, len);
  if (variable == VARIABLE_NONE) return FAIL(c->fault, "unknown variable ${%.*s}", len > 60 ? 60 : (int)len, text);
  if (c->t.count >= TEMPLATE_PARTS_MAX) return FAIL(c->fault, "more than %d parts", TEMPLATE_PARTS_MAX);
  flush_literal(c);
  struct template_part *part = add_part(c);
  part->variable = variable;
  part->escape = escape_at(c);
  if (variable == VARIABLE_PARAM) {
    size_t prefix = strlen(PARAM_PREFIX);
    part->text = mem_strndup(text + prefix, len - prefix);
    part->len = len - prefix;
    c->t.has_params = true;
  }
  if (variable == VARIABLE_CLAIM_ID || variable == VARIABLE_REQUEST_ID) c->t.has_request_id = true;
  *out_used = len + 1;
  return RESULT_OK;
}

static enum result scan(struct compiler *c, const char *text)
{
  for (const char *at = text; *at != '\0';) {
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
                                           .biz_id = "b",
                                           .activity_code = "a",
                                           .reward_code = "r"};
  char why[JSONX_WHY_BYTES] = "";
  json_t *json = NULL;
  struct buf text;
  buf_init(&text, TEMPLATE_TRIAL_BYTES);
  enum result result = template_render(&c->t, &facts, &text);
  if (result == RESULT_OK) result = jsonx_parse(buf_text(&text), text.len, &json, why);
  json_decref(json);
  buf_release(&text);
  return result == RESULT_OK ? RESULT_OK : FAIL(c->fault, "would not be JSON: %s", why);
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
  TRY(scan(&c, text));
  if (place == TEMPLATE_JSON) TRY(try_json(&c));
  *out_template = c.t;
  c.t = (struct template){0};
cleanup:
  template_release(&c.t);
  buf_release(&c.literal);
  return result;
}
