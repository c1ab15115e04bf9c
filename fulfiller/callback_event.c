// SPDX-License-Identifier: Apache-2.0
// The facts of a callback out of its document: ids, meaning, amount, instant. Pure.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/callback_read.h"
#include "fulfiller/redact.h"
#include "fulfiller/transcript.h"

#define SCALAR_BYTES    (16 * 1024)
#define BODY_BYTES_MAX  (4 * 1024 * 1024)
#define MILLISECONDS_AT 100000000000  // Unix times from here on count milliseconds (as seconds: the year 5138)
#define CHINA           "+08:00"

// --- scalars

// The text of a string, or a number, true, false as JSON writes it; a number with a point by its shortest form.
static bool scalar_text(const json_t *value, struct buf *out)
{
  buf_clear(out);
  if (json_is_string(value))
    buf_append(out, json_string_value(value), json_string_length(value));
  else if (json_is_integer(value))
    buf_put_i64(out, json_integer_value(value));
  else if (json_is_real(value))
    buf_printf(out, "%.15g", json_real_value(value));  // exact for what has up to 15 digits
  else if (json_is_boolean(value))
    buf_puts(out, json_is_true(value) ? "true" : "false");
  else
    return false;
  return buf_result(out) == RESULT_OK;
}

static const json_t *find(const json_t *document, const struct callback_pointers *pointers)
{
  for (size_t i = 0; i < pointers->count; i++) {
    const json_t *value = jsonx_pointer(document, pointers->items[i]);
    if (value != NULL && !json_is_null(value)) return value;
  }
  return NULL;
}

static void put(char *field, size_t size, const json_t *document, const struct callback_pointers *pointers,
                struct buf *scratch)
{
  const json_t *value = find(document, pointers);
  if (value != NULL && scalar_text(value, scratch)) verdict_put(field, size, buf_text(scratch));
}

static bool holds(const json_t *document, const char *pointer, size_t pointer_len, const char *wanted,
                  struct buf *scratch)
{
  char *path = mem_strndup(pointer, pointer_len);
  const json_t *value = jsonx_pointer(document, path);
  mem_free(path);
  return value != NULL && scalar_text(value, scratch) && strcmp(buf_text(scratch), wanted) == 0;
}

// --- amount and instant

// "12.30" in a unit of `decimals` places, as minor units; exactly, or not at all.
static bool amount_from(const char *text, int decimals, int64_t *out)
{
  size_t whole = strspn(text, "0123456789"), fraction = 0;
  const char *rest = text + whole;
  if (whole == 0 || (whole > 1 && text[0] == '0')) return false;
  if (*rest == '.') {
    fraction = strspn(++rest, "0123456789");
    if (fraction == 0) return false;
  }
  if (rest[fraction] != '\0') return false;
  while (fraction > (size_t)decimals && rest[fraction - 1] == '0') fraction--;
  if (fraction > (size_t)decimals || whole + (size_t)decimals > 18) return false;
  char digits[24];
  memcpy(digits, text, whole);
  memcpy(digits + whole, rest, fraction);
  memset(digits + whole + fraction, '0', (size_t)decimals - fraction);
  size_t len = whole + (size_t)decimals, zeros = 0;
  while (zeros + 1 < len && digits[zeros] == '0') zeros++;  // "0.50"
  return text_to_i64(digits + zeros, len - zeros, out) == RESULT_OK;
}

static void take_amount(const struct callback_profile *p, const json_t *document, struct buf *scratch,
                        struct callback_event *e)
{
  const json_t *value = find(document, &p->amount);
  e->has_amount = value != NULL || p->needs_amount;
  e->amount = -1;
  if (value == NULL) return;
  if (!scalar_text(value, scratch) || !amount_from(buf_text(scratch), p->amount_decimals, &e->amount)) e->amount = -1;
}

// RFC 3339; "2026-11-29 12:00:00", which is Beijing time; Unix time in seconds or milliseconds.
static bool instant_from(const char *text, size_t len, struct wall_time *out)
{
  int64_t unix_time = 0;
  char local[40];
  if (text_to_time(text, len, out) == RESULT_OK) return true;
  if (len == 19 && text[10] == ' ') {
    snprintf(local, sizeof local, "%.10sT%.8s" CHINA, text, text + 11);
    return text_to_time(local, strlen(local), out) == RESULT_OK;
  }
  if (text_to_i64(text, len, &unix_time) != RESULT_OK || unix_time < 0) return false;
  bool is_ms = unix_time >= MILLISECONDS_AT;
  if (unix_time > (is_ms ? MILLISECONDS_AT * 1000 : MILLISECONDS_AT)) return false;
  *out = (struct wall_time){unix_time * (is_ms ? 1000 : 1000000)};
  return true;
}

// --- ids

static bool take_number(const char **at, int64_t *out)
{
  size_t len = strspn(*at, "0123456789");
  if (len == 0 || text_to_i64(*at, len, out) != RESULT_OK || *out <= 0) return false;
  *at += len;
  return true;
}

// "12-345", "12-345-r": the request ids we give.
static bool claim_from(const char *request_id, struct callback_event *e)
{
  const char *at = request_id;
  int64_t activity_id = 0, claim_id = 0;
  if (!take_number(&at, &activity_id) || *at++ != '-' || !take_number(&at, &claim_id)) return false;
  for (int action = 0; action < ACTION_COUNT; action++) {
    if (strcmp(at, action_suffix((enum provider_action)action)) != 0) continue;
    e->activity_id = activity_id;
    e->claim_id = claim_id;
    e->action = (enum provider_action)action;
    return true;
  }
  return false;
}

// Where a provider takes no hyphens we send ${claim.requestIdWord}: "12_345_r". The books know the id as it really is.
static bool claim_from_word(struct callback_event *e)
{
  char spelled[sizeof e->request_id];
  snprintf(spelled, sizeof spelled, "%s", e->request_id);
  for (char *c = spelled; *c != '\0'; c++) {
    if (*c == '-') return false;
    if (*c == '_') *c = '-';
  }
  if (!claim_from(spelled, e)) return false;
  memcpy(e->request_id, spelled, sizeof spelled);
  return true;
}

// An id of our own making where there is none that fits: the same bytes are the same event.
static void digest_id(struct signature *s, const char *bytes, size_t len, char out[CALLBACK_ID_BYTES])
{
  uint8_t digest[SIGNATURE_SHA256_BYTES];
  struct buf hex;
  signature_sha256(s, bytes, len, digest);
  buf_init(&hex, 2 * sizeof digest);
  text_hex(digest, sizeof digest, &hex);
  snprintf(out, CALLBACK_ID_BYTES, "sha256:%s", buf_text(&hex));
  buf_release(&hex);
}

static void take_event_id(const struct callback_profile *p, struct signature *s, const json_t *document,
                          const char *header_id, const struct callback_request *r, struct buf *scratch,
                          struct callback_event *e)
{
  const json_t *value = find(document, &p->event_id);
  bool has_id = value != NULL && scalar_text(value, scratch);
  if (!has_id && p->event_id.count == 0 && header_id != NULL) {
    buf_clear(scratch);
    buf_puts(scratch, header_id);
    has_id = true;
  }
  if (!has_id || scratch->len == 0)
    digest_id(s, r->body, r->body_len, e->event_id);
  else if (scratch->len >= CALLBACK_ID_BYTES)
    digest_id(s, buf_text(scratch), scratch->len, e->event_id);
  else
    verdict_put(e->event_id, sizeof e->event_id, buf_text(scratch));
}

// --- meaning

static void take_outcome(const struct callback_profile *p, const json_t *document, struct buf *scratch,
                         struct callback_event *e)
{
  e->outcome = CALLBACK_IGNORED;
  for (size_t i = 0; i < p->rule_count; i++) {
    const struct callback_rule *rule = &p->rules[i];
    if (!holds(document, rule->pointer, rule->pointer_len, rule->value, scratch)) continue;
    e->outcome = rule->outcome;
    if (rule->outcome == CALLBACK_REFUSED) verdict_put(e->code, sizeof e->code, rule->value);
    break;
  }
  if (e->outcome != CALLBACK_REFUSED) return;
  const struct callback_pointers code = {.items = {p->code_pointer}, .count = p->code_pointer[0] != '\0'};
  const struct callback_pointers message = {.items = {p->message_pointer}, .count = p->message_pointer[0] != '\0'};
  put(e->code, sizeof e->code, document, &code, scratch);
  put(e->detail, sizeof e->detail, document, &message, scratch);
}

static bool is_for_us(const struct callback_profile *p, const json_t *document, struct buf *scratch)
{
  for (size_t i = 0; i < p->require->count; i++) {
    const struct conf_pair *pair = &p->require->items[i];
    if (!holds(document, pair->name, strlen(pair->name), pair->value, scratch)) return false;
  }
  return true;
}

// --- what is kept of the body

static void take_body(const struct callback_profile *p, const json_t *document, struct callback_event *e)
{
  struct redact redact;
  struct buf text, masked;
  redact_init(&redact, p->mask);
  buf_init(&text, BODY_BYTES_MAX);
  buf_init(&masked, CALLBACK_BODY_BYTES);
  jsonx_write(document, &text);
  redact_text(&redact, buf_text(&text), text.len, &masked);
  verdict_put(e->body, sizeof e->body, buf_text(&masked));
  transcript_mask(&redact, e->detail, sizeof e->detail);
  buf_release(&masked);
  buf_release(&text);
  redact_release(&redact);
}

enum result callback_event_from(const struct callback_profile *p, struct signature *s, const json_t *document,
                                const char *header_id, const struct callback_request *r,
                                struct callback_event *out_event, const char **out_why)
{
  struct buf scratch;
  buf_init(&scratch, SCALAR_BYTES);
  bool is_ours = is_for_us(p, document, &scratch);
  if (is_ours) {
    struct callback_event *e = out_event;
    *e = (struct callback_event){0};
    take_event_id(p, s, document, header_id, r, &scratch, e);
    put(e->request_id, sizeof e->request_id, document, &p->request_id, &scratch);
    put(e->ref, sizeof e->ref, document, &p->reference, &scratch);
    e->has_claim = claim_from(e->request_id, e) || claim_from_word(e);
    take_outcome(p, document, &scratch, e);
    take_amount(p, document, &scratch, e);
    const json_t *occurred = find(document, &p->occurred);
    e->has_occurred = occurred != NULL && scalar_text(occurred, &scratch) &&
                      instant_from(buf_text(&scratch), scratch.len, &e->occurred_at);
    take_body(p, document, e);
  } else {
    *out_why = "what callback.require asks for is missing or different";
  }
  buf_release(&scratch);
  return is_ours ? RESULT_OK : RESULT_DENIED;
}
