// SPDX-License-Identifier: Apache-2.0
// Rendering compiled templates. Pure; any thread.
#include "fulfiller/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/template_part.h"

// A value before it is escaped.
struct value {
  enum { VALUE_NONE, VALUE_INT, VALUE_TEXT, VALUE_JSON } kind;
  int64_t number;
  const char *text;
  const json_t *json;
  char own[REQUEST_ID_BYTES];  // of a text that is made here
};

static struct value int_value(int64_t number) { return (struct value){.kind = VALUE_INT, .number = number}; }

static struct value text_value(const char *text)
{
  return text == NULL ? (struct value){.kind = VALUE_NONE} : (struct value){.kind = VALUE_TEXT, .text = text};
}

static struct value json_value(const json_t *json)
{
  if (json == NULL || json_is_null(json)) return (struct value){.kind = VALUE_NONE};
  if (json_is_string(json)) return text_value(json_string_value(json));
  if (json_is_integer(json)) return int_value(json_integer_value(json));
  if (json_is_boolean(json))
    return (struct value){.kind = VALUE_JSON, .json = json, .text = json_is_true(json) ? "true" : "false"};
  return (struct value){.kind = VALUE_JSON, .json = json};
}

// The request id of the delivery, whatever the action at hand is.
static void put_claim_id(const struct claim_facts *facts, struct value *out)
{
  *out = (struct value){.kind = VALUE_TEXT};
  snprintf(out->own, sizeof out->own, "%" PRId64 "-%" PRId64, facts->activity_id, facts->claim_id);
  out->text = out->own;
}

static struct value value_of(const struct template_part *part, const struct claim_facts *facts)
{
  switch (part->variable) {
    case VARIABLE_NONE: break;
    case VARIABLE_CLAIM_ID: break;  // put_claim_id
    case VARIABLE_REQUEST_ID: return text_value(facts->request_id);
    case VARIABLE_PROVIDER_REF: return text_value(facts->provider_ref == NULL ? "" : facts->provider_ref);
    case VARIABLE_USER_ID: return int_value(facts->user_id);
    case VARIABLE_QUANTITY: return int_value(facts->quantity);
    case VARIABLE_BIZ_ID: return text_value(facts->biz_id);
    case VARIABLE_ACTIVITY_CODE: return text_value(facts->activity_code);
    case VARIABLE_CHANNEL: return text_value(facts->channel);
    case VARIABLE_REWARD_CODE: return text_value(facts->reward_code);
    case VARIABLE_AMOUNT: return facts->has_amount ? int_value(facts->amount) : text_value(NULL);
    case VARIABLE_CURRENCY: return text_value(facts->currency);
    case VARIABLE_PARAM: return json_value(facts->params == NULL ? NULL : json_object_get(facts->params, part->text));
  }
  return text_value(NULL);
}

// The content of a JSON string: escaped as always, but the template has the quotes.
static void put_json_content(struct buf *out, const char *text)
{
  size_t start = out->len;
  buf_put_json(out, text, strlen(text));
  if (out->overflowed) return;
  memmove(out->data + start, out->data + start + 1, out->len - start - 2);
  out->len -= 2;
  out->data[out->len] = '\0';
}

static enum result put_text(const char *text, enum template_escape escape, struct buf *out)
{
  switch (escape) {
    case ESCAPE_JSON_VALUE: buf_put_json(out, text, strlen(text)); return RESULT_OK;
    case ESCAPE_JSON_CONTENT: put_json_content(out, text); return RESULT_OK;
    case ESCAPE_URL:
      // As a path segment these would lead elsewhere.
      if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0) return RESULT_INVALID;
      text_url_encode(text, strlen(text), out);
      return RESULT_OK;
    case ESCAPE_HEADER:
      for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return RESULT_INVALID;
      }
      buf_puts(out, text);
      return RESULT_OK;
  }
  return RESULT_INVALID;
}

static enum result put_value(const struct value *v, enum template_escape escape, struct buf *out)
{
  switch (v->kind) {
    case VALUE_NONE:
      if (escape == ESCAPE_JSON_VALUE) buf_puts(out, "null");
      return RESULT_OK;
    case VALUE_INT: buf_put_i64(out, v->number); return RESULT_OK;
    case VALUE_TEXT: return put_text(v->text, escape, out);
    case VALUE_JSON:
      if (escape == ESCAPE_JSON_VALUE)
        jsonx_write(v->json, out);
      else if (v->text != NULL)
        buf_puts(out, v->text);
      else
        return RESULT_INVALID;
      return RESULT_OK;
  }
  return RESULT_INVALID;
}

enum result template_render(const struct template *t, const struct claim_facts *facts, struct buf *out)
{
  for (size_t i = 0; i < t->count; i++) {
    const struct template_part *part = &t->parts[i];
    if (part->variable == VARIABLE_NONE) {
      buf_append(out, part->text, part->len);
      continue;
    }
    struct value value;
    if (part->variable == VARIABLE_CLAIM_ID)
      put_claim_id(facts, &value);
    else
      value = value_of(part, facts);
    enum result result = put_value(&value, part->escape, out);
    if (result != RESULT_OK) return result;
  }
  return buf_result(out);
}

void template_release(struct template *t)
{
  for (size_t i = 0; i < t->count; i++) mem_free(t->parts[i].text);
  mem_free(t->parts);
  *t = (struct template){0};
}
