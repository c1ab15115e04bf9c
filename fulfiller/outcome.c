// SPDX-License-Identifier: Apache-2.0
// Judging answers: stage, status and body against an ordered list of rules.
// Pure; any thread.
#include "fulfiller/outcome.h"

#include <stdio.h>

#include "common/contract.h"
#include "common/jsonx.h"
#include "common/text.h"
#include "common/utf8.h"

const char *outcome_name(enum outcome o)
{
  static const char *const names[] = {
#define X(name, text) [name] = (text),
      OUTCOME_LIST(X)
#undef X
  };
  REQUIRE((size_t)o < ARRAY_LEN(names));
  return names[o];
}

void verdict_put(char *field, size_t size, const char *text)
{
  size_t len = strlen(text), to = 0;
  for (size_t at = 0; at < len;) {
    uint32_t code_point = 0;
    size_t bytes = utf8_decode(text + at, len - at, &code_point);
    bool is_plain = bytes > 0 && code_point >= 0x20 && code_point != 0x7f;
    size_t room = is_plain ? bytes : 1;
    if (to + room >= size) break;
    if (is_plain)
      memcpy(field + to, text + at, bytes);
    else
      field[to] = '?';
    to += room;
    at += bytes > 0 ? bytes : 1;
  }
  field[to] = '\0';
}

// A member of the answer as text: strings as they are, other scalars as JSON writes them. False: absent or no scalar.
static bool scalar_at(const json_t *body, const char *pointer, struct buf *out)
{
  const json_t *found = body != NULL && pointer != NULL && pointer[0] != '\0' ? jsonx_pointer(body, pointer) : NULL;
  buf_clear(out);
  if (found == NULL || json_is_object(found) || json_is_array(found)) return false;
  if (json_is_string(found))
    buf_puts(out, json_string_value(found));
  else if (json_is_integer(found))
    buf_put_i64(out, json_integer_value(found));
  else if (json_is_real(found))
    jsonx_write(found, out);
  else
    buf_puts(out, json_is_null(found) ? "null" : json_is_true(found) ? "true" : "false");
  return buf_result(out) == RESULT_OK;
}

// As scalar_at, for what is told to others: null says nothing, and is not the word "null".
static bool told_at(const json_t *body, const char *pointer, struct buf *out)
{
  return scalar_at(body, pointer, out) && !json_is_null(jsonx_pointer(body, pointer));
}

static void put_scalar(char *field, size_t size, const json_t *body, const char *pointer, struct buf *scratch)
{
  if (told_at(body, pointer, scratch)) verdict_put(field, size, buf_text(scratch));
}

static bool rule_matches(const struct answer_rule *rule, int status, const json_t *body, struct buf *scratch)
{
  if (status < rule->status_from || status > rule->status_to) return false;
  return rule->pointer == NULL ||
         (scalar_at(body, rule->pointer, scratch) && strcmp(buf_text(scratch), rule->value) == 0);
}

// NULL: 1xx, 3xx and what no rule foresaw.
static const struct answer_rule *judge(const struct answer_rules *rules, int status, const json_t *body,
                                       struct buf *scratch)
{
  for (size_t i = 0; i < rules->count; i++) {
    if (rule_matches(&rules->items[i], status, body, scratch)) return &rules->items[i];
  }
  return NULL;
}

// A part of an address leads nowhere.
static void put_url(char url[VERDICT_URL_BYTES], const json_t *body, const char *pointer, struct buf *scratch)
{
  if (told_at(body, pointer, scratch) && scratch->len < VERDICT_URL_BYTES)
    verdict_put(url, VERDICT_URL_BYTES, buf_text(scratch));
}

// Where the answer names no code: the word that a refusal was known by, as in callbacks; else the status.
static void put_code(const struct answer_rules *rules, const struct answer_rule *rule, const json_t *body,
                     struct buf *scratch, struct verdict *v)
{
  put_scalar(v->code, sizeof v->code, body, rules->code_pointer, scratch);
  if (v->code[0] != '\0') return;
  if (v->outcome == OUTCOME_REFUSED && rule->pointer != NULL)
    verdict_put(v->code, sizeof v->code, rule->value);
  else
    snprintf(v->code, sizeof v->code, "HTTP_%d", v->status);
}

static void describe(const struct answer_rules *rules, const struct answer_rule *rule, const json_t *body,
                     struct buf *scratch, struct verdict *v)
{
  put_scalar(v->ref, sizeof v->ref, body, rules->reference_pointer, scratch);
  if (v->outcome == OUTCOME_PENDING) put_url(v->url, body, rules->url_pointer, scratch);
  if (v->outcome == OUTCOME_DONE || v->outcome == OUTCOME_PENDING) return;
  put_code(rules, rule, body, scratch, v);
  put_scalar(v->detail, sizeof v->detail, body, rules->message_pointer, scratch);
}

// Seconds; more digits than fit count as very many.
static bool seconds_of(const char *text, int64_t *out_us)
{
  size_t len = strlen(text);
  int64_t seconds = 0;
  if (len == 0 || strspn(text, "0123456789") != len) return false;
  for (size_t i = 0; i < len && seconds <= INT64_MAX / 10000000; i++) seconds = seconds * 10 + (text[i] - '0');
  *out_us = seconds > INT64_MAX / 1000000 ? INT64_MAX : seconds * 1000000;
  return true;
}

// B71: seconds or a date; what is past or makes no sense asks for nothing, and nobody may ask for more than the cap.
struct span outcome_retry_after(const char *header, struct wall_time now, struct span max)
{
  struct wall_time date;
  int64_t us = 0;
  if (!seconds_of(header, &us)) {
    if (text_to_http_date(header, strlen(header), now, &date) != RESULT_OK) return span_us(0);
    us = wall_since(date, now).us;
  }
  return span_us(us < 0 ? 0 : us > max.us ? max.us : us);
}

static void judge_answer(const struct answer_rules *rules, const struct http_answer *answer, struct wall_time now,
                         struct verdict *v)
{
  char why[JSONX_WHY_BYTES] = "";
  struct buf scratch;
  json_t *body = NULL;
  bool is_readable = answer->body_len == 0 || jsonx_parse(answer->body, answer->body_len, &body, why) == RESULT_OK;
  v->status = answer->status;
  v->retry_after = outcome_retry_after(answer->retry_after, now, rules->retry_after_max);
  bool is_success = answer->status >= 200 && answer->status <= 299;
  if (!is_readable && rules->format == ANSWER_JSON && (is_success || rules->kind == CALL_INQUIRE)) {
    // Somebody else's page, or two truths in one object: whatever it says, it proves nothing (B82). Nor does a
    // gateway's 404 page prove that the provider does not know the request id.
    v->outcome = OUTCOME_UNKNOWN;
    snprintf(v->code, sizeof v->code, "UNREADABLE_ANSWER");
    verdict_put(v->detail, sizeof v->detail, why);
    return;
  }
  buf_init(&scratch, JSON_BYTES_MAX);
  const struct answer_rule *rule = judge(rules, answer->status, body, &scratch);
  v->outcome = rule == NULL ? OUTCOME_UNKNOWN : rule->outcome;
  // Neither does it prove that there is nothing to take back.
  if (!is_readable && rules->format == ANSWER_JSON && v->outcome == OUTCOME_NOT_FOUND) v->outcome = OUTCOME_UNKNOWN;
  describe(rules, rule, body, &scratch, v);
  buf_release(&scratch);
  json_decref(body);
}

void outcome_classify(const struct answer_rules *rules, const struct http_answer *answer, struct wall_time now,
                      struct verdict *out_verdict)
{
  struct verdict v = {.outcome = OUTCOME_UNKNOWN};
  switch (answer->stage) {
    case HTTP_NEVER_SENT:
      // Nothing was asked. For an action that is certainty, for an inquiry it is not.
      v.outcome = rules->kind == CALL_INQUIRE ? OUTCOME_UNKNOWN : OUTCOME_RETRY;
      snprintf(v.code, sizeof v.code, "NOT_REACHED");
      verdict_put(v.detail, sizeof v.detail, answer->fault);
      break;
    case HTTP_SENT_NO_ANSWER:
      snprintf(v.code, sizeof v.code, "NO_ANSWER");
      verdict_put(v.detail, sizeof v.detail, answer->fault);
      break;
    case HTTP_ANSWERED: judge_answer(rules, answer, now, &v); break;
  }
  ENSURE(answer_may_be_not_found(rules->action, rules->kind) || v.outcome != OUTCOME_NOT_FOUND);
  *out_verdict = v;
}

// "12-345" for "12-345" and "12-345-r".
static bool names(const char *said, const char *request_id)
{
  size_t len = strlen(said), dashes = 0;
  for (size_t i = 0; i < len; i++) {
    if (said[i] != request_id[i] && !(said[i] == '_' && request_id[i] == '-')) return false;
    dashes += request_id[i] == '-';
  }
  return dashes > 0 && request_id[len - 1] != '-' && (request_id[len] == '\0' || request_id[len] == '-');
}

void outcome_check_request(const struct answer_rules *rules, const struct http_answer *answer, const char *request_id,
                           struct verdict *io_verdict)
{
  if (rules->request_id_pointer == NULL || rules->request_id_pointer[0] == '\0' || answer->body_len == 0) return;
  char why[JSONX_WHY_BYTES] = "";
  json_t *body = NULL;
  struct buf said;
  if (answer->stage != HTTP_ANSWERED || jsonx_parse(answer->body, answer->body_len, &body, why) != RESULT_OK) return;
  buf_init(&said, JSON_BYTES_MAX);
  if (told_at(body, rules->request_id_pointer, &said) && !names(buf_text(&said), request_id)) {
    *io_verdict = (struct verdict){.outcome = OUTCOME_UNKNOWN, .status = answer->status};
    snprintf(io_verdict->code, sizeof io_verdict->code, "OTHER_REQUEST");
    snprintf(io_verdict->detail, sizeof io_verdict->detail, "the answer is about another request id");
  }
  buf_release(&said);
  json_decref(body);
}
