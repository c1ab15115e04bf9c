// SPDX-License-Identifier: Apache-2.0
// Rendering compiled templates. Pure; any thread.
#include "fulfiller/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/money.h"
#include "common/text.h"
#include "fulfiller/provider_keys.h"
#include "fulfiller/template_part.h"

#define FORM_JSON_BYTES_MAX (256 * 1024)

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

static struct value secret_value(const struct provider_keys *keys, const char *name)
{
  const struct provider_secret *secret = provider_keys_find(keys, name);
  return text_value(secret == NULL ? "" : secret->bytes);
}

static struct value value_of(const struct template_part *part, const struct claim_facts *facts,
                             const struct template_means *means)
{
  switch (part->variable) {
    case VARIABLE_NONE:
    case VARIABLE_CLAIM_ID:
    case VARIABLE_REQUEST_ID_WORD:
    case VARIABLE_CURRENCY_LOWER:
    case VARIABLE_TOTAL:
    case VARIABLE_TOTAL_DECIMAL:
    case VARIABLE_HOLD_UNTIL:
    case VARIABLE_HOLD_UNTIL_BEIJING:
    case VARIABLE_NOW_RFC3339:
    case VARIABLE_NOW_BEIJING: break;  // make_value
    case VARIABLE_HOLD_UNTIL_UNIX:
      return facts->has_hold ? int_value(facts->hold_until.us / 1000000) : text_value(NULL);
    case VARIABLE_NOW_UNIX: return int_value(means->moment.now.us / 1000000);
    case VARIABLE_NONCE: return text_value(means->moment.nonce);
    case VARIABLE_SECRET: return secret_value(means->keys, part->text);
    case VARIABLE_REQUEST_ID: return text_value(facts->request_id);
    case VARIABLE_PROVIDER_REF: return text_value(facts->provider_ref);  // make_value: there is one
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

// Texts that are made here, not looked up.
static enum result put_total(const struct claim_facts *facts, bool is_decimal, struct value *out)
{
  int64_t total = 0;
  int places = 0;
  if (!facts->has_amount) {
    *out = text_value(NULL);
    return RESULT_OK;
  }
  if (!money_times(facts->amount, facts->quantity, &total)) return RESULT_INVALID;
  *out = int_value(total);
  if (!is_decimal) return RESULT_OK;
  if (!money_exponent(facts->currency, &places)) return RESULT_INVALID;
  struct buf decimal;
  buf_init(&decimal, sizeof out->own - 1);
  money_put_decimal(&decimal, total, places);
  snprintf(out->own, sizeof out->own, "%s", buf_text(&decimal));
  buf_release(&decimal);
  out->kind = VALUE_TEXT;
  return RESULT_OK;
}

// "2026-11-29T20:00:00Z" or, eight hours ahead and as Alipay writes it, "2026-11-30 04:00:00".
static void put_instant(struct wall_time now, bool is_beijing, struct value *out)
{
  char text[TEXT_TIME_BYTES];
  const struct span ahead = span_s(is_beijing ? 8 * 3600 : 0);
  text_from_time(wall_after(now, ahead), text);
  if (is_beijing)
    snprintf(out->own, sizeof out->own, "%.10s %.8s", text, text + 11);
  else
    snprintf(out->own, sizeof out->own, "%.19sZ", text);
  out->kind = VALUE_TEXT;
}

static void put_hold(const struct claim_facts *facts, bool is_beijing, struct value *out)
{
  if (facts->has_hold)
    put_instant(facts->hold_until, is_beijing, out);
  else
    *out = text_value(NULL);
}

static void put_lower(const char *currency, struct value *out)
{
  *out = text_value(NULL);
  if (currency == NULL) return;
  snprintf(out->own, sizeof out->own, "%s", currency);
  for (char *c = out->own; *c != '\0'; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  out->kind = VALUE_TEXT;
}

static enum result make_value(const struct template_part *part, const struct claim_facts *facts,
                              const struct template_means *means, struct value *out)
{
  switch (part->variable) {
    case VARIABLE_CLAIM_ID:  // the request id of the delivery, whatever the action at hand is
      snprintf(out->own, sizeof out->own, "%" PRId64 "-%" PRId64, facts->activity_id, facts->claim_id);
      out->kind = VALUE_TEXT;
      break;
    case VARIABLE_REQUEST_ID_WORD:  // for providers that take letters, digits and underscores only
      snprintf(out->own, sizeof out->own, "%s", facts->request_id);
      for (char *c = out->own; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
      out->kind = VALUE_TEXT;
      break;
    case VARIABLE_CURRENCY_LOWER:  // as Stripe wants it
      put_lower(facts->currency, out);
      break;
    case VARIABLE_PROVIDER_REF:
      // A reversal of nothing would be answered with 404, which says that there was nothing to take back.
      if (facts->provider_ref == NULL || facts->provider_ref[0] == '\0') return RESULT_INVALID;
      *out = value_of(part, facts, means);
      break;
    case VARIABLE_TOTAL: return put_total(facts, false, out);
    case VARIABLE_TOTAL_DECIMAL: return put_total(facts, true, out);
    case VARIABLE_HOLD_UNTIL: put_hold(facts, false, out); break;
    case VARIABLE_HOLD_UNTIL_BEIJING: put_hold(facts, true, out); break;
    case VARIABLE_NOW_RFC3339: put_instant(means->moment.now, false, out); break;
    case VARIABLE_NOW_BEIJING: put_instant(means->moment.now, true, out); break;
    default: *out = value_of(part, facts, means); break;
  }
  return RESULT_OK;
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
    case ESCAPE_FORM_JSON_VALUE:
    case ESCAPE_FORM_JSON_CONTENT: break;  // put_form_json
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
  const char *text = v->text != NULL || v->kind != VALUE_TEXT ? v->text : v->own;
  switch (v->kind) {
    case VALUE_NONE:
      if (escape == ESCAPE_JSON_VALUE) buf_puts(out, "null");
      return RESULT_OK;
    case VALUE_INT: buf_put_i64(out, v->number); return RESULT_OK;
    case VALUE_TEXT: return put_text(text, escape, out);
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

// JSON inside a form: first the one, then the other.
static enum result put_form_json(const struct value *v, enum template_escape escape, struct buf *out)
{
  struct buf json;
  buf_init(&json, FORM_JSON_BYTES_MAX);
  enum result result = put_value(v, escape == ESCAPE_FORM_JSON_VALUE ? ESCAPE_JSON_VALUE : ESCAPE_JSON_CONTENT, &json);
  if (result == RESULT_OK) result = buf_result(&json);
  if (result == RESULT_OK) text_url_encode(buf_text(&json), json.len, out);
  buf_wipe(&json);
  return result;
}

static enum result put_part(const struct template_part *part, const struct claim_facts *facts,
                            const struct template_means *means, struct buf *out)
{
  struct value value = {.kind = VALUE_NONE};
  enum result result = make_value(part, facts, means, &value);
  if (result != RESULT_OK) return result;
  if (part->escape == ESCAPE_FORM_JSON_VALUE || part->escape == ESCAPE_FORM_JSON_CONTENT)
    return put_form_json(&value, part->escape, out);
  return put_value(&value, part->escape, out);
}

enum result template_render(const struct template *t, const struct claim_facts *facts,
                            const struct template_means *means, struct buf *out)
{
  for (size_t i = 0; i < t->count; i++) {
    const struct template_part *part = &t->parts[i];
    if (part->variable == VARIABLE_NONE) {
      buf_append(out, part->text, part->len);
      continue;
    }
    enum result result = put_part(part, facts, means, out);
    if (result != RESULT_OK) return result;
  }
  return buf_result(out);
}

const char *template_missing_secret(const struct template *t, const struct conf_pairs *secrets)
{
  for (size_t i = 0; i < t->count; i++) {
    if (t->parts[i].variable != VARIABLE_SECRET) continue;
    bool is_known = false;
    for (size_t j = 0; j < secrets->count; j++)
      is_known = is_known || strcmp(secrets->items[j].name, t->parts[i].text) == 0;
    if (!is_known) return t->parts[i].text;
  }
  return NULL;
}

void template_release(struct template *t)
{
  for (size_t i = 0; i < t->count; i++) mem_free(t->parts[i].text);
  mem_free(t->parts);
  *t = (struct template){0};
}
