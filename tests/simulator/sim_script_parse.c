// SPDX-License-Identifier: Apache-2.0
// Parsing of scripts, member by member with jsonx_reader, so that a typing error in a test is a 400 and not a silent
// default. Pure; any thread.
#include "tests/simulator/sim_script_parse.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/simulator/sim_ledger.h"

#define TIMES_MAX 1000000000

// One of the words of a NULL-ended list; *out_index stays when the member is missing.
static void read_choice(struct jsonx_reader *r, const char *name, const char *const *words, int *out_index)
{
  const char *text = jsonx_read_text(r, name, false, 32);
  if (text == NULL) return;
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], text) == 0) {
      *out_index = i;
      return;
    }
  }
  jsonx_reader_fail(r, name, "is none of the known words");
}

static void read_ms(struct jsonx_reader *r, const char *name, struct span *out_span)
{
  int64_t ms = 0;
  jsonx_read_i64(r, name, false, 0, SIM_STEP_DELAY_MAX_MS, &ms);
  *out_span = span_ms(ms);
}

static char *copy_text(struct jsonx_reader *r, const char *name, size_t max_chars)
{
  const char *text = jsonx_read_text(r, name, false, max_chars);
  return text == NULL ? NULL : mem_strdup(text);
}

// A user id may be written as a number or as a string.
static char *copy_user_id(struct jsonx_reader *r, const char *name)
{
  const json_t *value = json_object_get(r->object, name);
  if (!json_is_integer(value)) return copy_text(r, name, SIM_USER_ID_BYTES_MAX);
  (void)jsonx_has(r, name);
  char digits[24];
  (void)snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(value));
  return mem_strdup(digits);
}

static void parse_match(struct jsonx_reader *top, struct sim_script *script)
{
  static const char *const calls[] = {"credit", "payment", "reverse", "refund", "close", NULL};
  const json_t *object = jsonx_read_object(top, "match", true);
  if (object == NULL) return;
  struct jsonx_reader r;
  jsonx_reader_init(&r, object, "match");
  jsonx_read_bool(&r, "any", false, &script->any);
  read_choice(&r, "call", calls, &script->call);
  script->user_id = copy_user_id(&r, "userId");
  script->reward_code = copy_text(&r, "rewardCode", SIM_REWARD_BYTES_MAX);
  script->request_id = copy_text(&r, "requestId", SIM_REQUEST_ID_BYTES_MAX);
  bool named = script->user_id != NULL || script->reward_code != NULL || script->request_id != NULL;
  if (script->any == named)
    jsonx_reader_fail(&r, "any", "give either any: true or some of userId, rewardCode, requestId");
  if (jsonx_reader_finish(&r) != RESULT_OK) jsonx_reader_fail(top, "match", r.fault);
}

static void parse_callback(struct jsonx_reader *parent, struct sim_step_callback *c)
{
  static const char *const signs[] = {"good", "bad", "none", NULL};
  static const char *const statuses[] = {"SUCCESS", "FAILED", NULL};
  const json_t *object = jsonx_read_object(parent, "callback", false);
  if (object == NULL) return;
  struct jsonx_reader r;
  jsonx_reader_init(&r, object, "callback");
  int64_t copies = 1;
  int sign = SIM_SIGN_GOOD, status = 0;
  read_ms(&r, "delayMs", &c->delay);
  read_ms(&r, "gapMs", &c->gap);
  read_choice(&r, "status", statuses, &status);
  read_choice(&r, "sign", signs, &sign);
  jsonx_read_i64(&r, "copies", false, 1, SIM_CALLBACK_COPIES_MAX, &copies);
  c->event_id = copy_text(&r, "eventId", BIZ_ID_BYTES_MAX);
  if (c->event_id != NULL && !text_is_biz_id(c->event_id, strlen(c->event_id)))
    jsonx_reader_fail(&r, "eventId", "letters, digits and . _ : - only");
  c->wanted = true;
  c->copies = (int)copies;
  c->failed = status == 1;
  c->sign = (enum sim_sign)sign;
  if (jsonx_reader_finish(&r) != RESULT_OK) jsonx_reader_fail(parent, "callback", r.fault);
}

static void parse_headers(struct jsonx_reader *r, struct sim_step *step)
{
  const json_t *object = jsonx_read_object(r, "headers", false);
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
  {
    if (!json_is_string(value) || step->header_count == SIM_STEP_HEADERS_MAX) {
      jsonx_reader_fail(r, "headers", "at most 8 names with texts");
      return;
    }
    step->headers[step->header_count++] = (struct http_header){mem_strdup(name), mem_strdup(json_string_value(value))};
  }
}

// A string is sent as it is; anything else as JSON.
static void parse_body(struct jsonx_reader *r, struct sim_step *step)
{
  if (!jsonx_has(r, "body")) return;
  const json_t *body = json_object_get(r->object, "body");
  if (json_is_string(body)) {
    step->body_len = json_string_length(body);
    step->body = mem_strndup(json_string_value(body), step->body_len);
    return;
  }
  char *text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
  if (text == NULL) {
    jsonx_reader_fail(r, "body", "cannot be written as JSON");
    return;
  }
  step->body_len = strlen(text);
  step->body = mem_strndup(text, step->body_len);
  free(text);
}

static void parse_step(const json_t *object, const char *path, struct sim_step *step, char out_why[JSONX_WHY_BYTES])
{
  static const char *const effects[] = {"before", "after", "none", NULL};
  struct jsonx_reader r;
  jsonx_reader_init(&r, object, path);
  int64_t status = 0;
  int effect = SIM_BEFORE;
  read_ms(&r, "delayMs", &step->delay);
  jsonx_read_i64(&r, "status", false, 200, 599, &status);
  read_choice(&r, "effect", effects, &effect);
  jsonx_read_bool(&r, "close", false, &step->close);
  parse_body(&r, step);
  parse_headers(&r, step);
  parse_callback(&r, &step->callback);
  step->status = (int)status;
  step->effect = (enum sim_effect_when)effect;
  if (jsonx_reader_finish(&r) != RESULT_OK) (void)snprintf(out_why, JSONX_WHY_BYTES, "%s", r.fault);
}

static size_t step_bytes(const struct sim_step *step)
{
  size_t bytes = sizeof *step + step->body_len;
  for (size_t i = 0; i < step->header_count; i++)
    bytes += strlen(step->headers[i].name) + strlen(step->headers[i].value);
  return bytes;
}

static void parse_steps(struct jsonx_reader *r, struct sim_script *script, char why[JSONX_WHY_BYTES])
{
  const json_t *steps = jsonx_read_array(r, "steps", true);
  size_t count = json_array_size(steps);
  if (steps == NULL) return;
  if (count == 0 || count > SIM_SCRIPT_STEPS_MAX) {
    jsonx_reader_fail(r, "steps", "from 1 to 256 steps");
    return;
  }
  script->steps = MEM_ARRAY(struct sim_step, count);
  script->step_count = count;
  for (size_t i = 0; i < count && why[0] == '\0'; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "steps[%zu]", i);
    const json_t *step = json_array_get(steps, i);
    if (json_is_object(step))
      parse_step(step, path, &script->steps[i], why);
    else
      (void)snprintf(why, JSONX_WHY_BYTES, "%s: must be an object", path);
    script->bytes += step_bytes(&script->steps[i]);
  }
}

enum result sim_script_parse(const json_t *object, struct sim_script **out_script, char out_why[JSONX_WHY_BYTES])
{
  struct sim_script *script = MEM_NEW(struct sim_script);
  script->holders = 1;
  script->call = -1;
  script->bytes = sizeof *script;
  list_init(&script->node);
  char why[JSONX_WHY_BYTES] = "";
  int64_t times = 1;
  struct jsonx_reader r;
  jsonx_reader_init(&r, object, "");
  parse_match(&r, script);
  jsonx_read_i64(&r, "times", false, 1, TIMES_MAX, &times);
  parse_steps(&r, script, why);
  if (jsonx_reader_finish(&r) != RESULT_OK) (void)snprintf(why, sizeof why, "%s", r.fault);
  if (why[0] != '\0') {
    memcpy(out_why, why, sizeof why);
    sim_script_drop(script);
    return RESULT_INVALID;
  }
  script->uses = (uint64_t)times * script->step_count;
  *out_script = script;
  return RESULT_OK;
}
