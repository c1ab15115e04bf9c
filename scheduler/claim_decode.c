// SPDX-License-Identifier: Apache-2.0
// The body of a claim, read strictly: a quick way for what nearly all look like, and one for everything.
// Owner: nobody; any thread.
#include "scheduler/claim_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"

// --- the way for everything

static bool read_code(struct jsonx_reader *r, char out[CODE_BYTES_MAX + 1])
{
  const char *code = jsonx_read_text(r, "activityCode", true, CODE_BYTES_MAX);
  if (!code) return false;
  size_t len = strlen(code);
  if (!text_is_code(code, len)) {
    jsonx_reader_fail(r, "activityCode",
                      "must be 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit");
    return false;
  }
  memcpy(out, code, len + 1);
  return true;
}

static void read_biz_id(struct jsonx_reader *r, struct claim_request *out)
{
  const char *biz_id = jsonx_read_text(r, "bizId", true, BIZ_ID_BYTES_MAX);
  if (!biz_id) return;
  size_t len = strlen(biz_id);
  if (!text_is_biz_id(biz_id, len)) {
    jsonx_reader_fail(r, "bizId", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    return;
  }
  memcpy(out->biz_id, biz_id, len + 1);
  out->biz_id_len = (uint8_t)len;
}

static void read_channel(struct jsonx_reader *r, struct claim_request *out)
{
  const char *channel = jsonx_read_text(r, "channel", false, CHANNEL_CHARS_MAX);
  if (!channel) return;
  size_t len = strlen(channel);
  if (len == 0 || len >= sizeof out->channel) {
    jsonx_reader_fail(r, "channel", "must be 1 to 64 characters");
    return;
  }
  memcpy(out->channel, channel, len + 1);
  out->channel_len = (uint16_t)len;
  out->has_channel = true;
}

static bool number_from(const json_t *json, int64_t *out)
{
  if (json_is_integer(json))
    *out = json_integer_value(json);
  else if (!json_is_string(json) || text_to_i64(json_string_value(json), json_string_length(json), out) != RESULT_OK)
    return false;
  return *out >= 0 && *out <= NUMBER_MAX;
}

static int by_value(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static const char *fill_numbers(const json_t *array, size_t count, int64_t *numbers)
{
  for (size_t i = 0; i < count; i++)
    if (!number_from(json_array_get(array, i), &numbers[i])) return "must be integers from 0 to 999999999999";
  qsort(numbers, count, sizeof *numbers, by_value);
  for (size_t i = 1; i < count; i++)
    if (numbers[i] == numbers[i - 1]) return "must be distinct";
  return NULL;
}

// A claim of numbers is of as many units. *quantity: as given, 0 if it was not.
static void read_numbers(struct jsonx_reader *r, struct claim_request *out, int64_t *quantity)
{
  const json_t *array = jsonx_read_array(r, "numbers", false);
  if (!array) return;
  size_t count = json_array_size(array);
  if (count < 1 || count > CLAIM_NUMBERS_MAX) {
    jsonx_reader_fail(r, "numbers", "must be 1 to 100 numbers");
    return;
  }
  out->numbers = MEM_ARRAY(int64_t, count);
  out->number_count = (uint16_t)count;
  const char *fault = fill_numbers(array, count, out->numbers);
  if (fault) jsonx_reader_fail(r, "numbers", fault);
  if (*quantity != 0 && *quantity != (int64_t)count)
    jsonx_reader_fail(r, "quantity", "must be the count of numbers, or left out");
  *quantity = (int64_t)count;
}

static void forget_numbers(struct claim_request *out)
{
  mem_free(out->numbers);
  out->numbers = NULL;
  out->number_count = 0;
}

enum result claim_decode_any(const char *body, size_t len, struct claim_request *out, char out_why[CLAIM_WHY_BYTES])
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  enum result result = jsonx_parse(body, len, &json, why);
  if (result != RESULT_OK) {
    (void)snprintf(out_why, CLAIM_WHY_BYTES, "%s", why);
    return RESULT_INVALID;
  }
  struct jsonx_reader r;
  int64_t quantity = 0;
  jsonx_reader_init(&r, json, "");
  (void)read_code(&r, out->search.code);
  jsonx_read_id(&r, "userId", true, &out->user_id);
  read_biz_id(&r, out);
  read_channel(&r, out);
  jsonx_read_i64(&r, "quantity", false, 1, INT32_MAX, &quantity);
  read_numbers(&r, out, &quantity);
  result = jsonx_reader_finish(&r);
  if (result != RESULT_OK) {
    (void)snprintf(out_why, CLAIM_WHY_BYTES, "%s", r.fault);
    forget_numbers(out);
  }
  out->quantity = quantity == 0 ? 1 : (int32_t)quantity;
  json_decref(json);
  return result == RESULT_OK ? RESULT_OK : RESULT_INVALID;
}

// --- the quick way

enum member { ACTIVITY_CODE, USER_ID, BIZ_ID, CHANNEL, QUANTITY, MEMBER_COUNT };

struct scan {
  const char *at, *end;
  struct {
    const char *bytes;
    size_t len;
    bool is_text;
  } values[MEMBER_COUNT];  // bytes NULL: not there
};

static void skip_space(struct scan *s)
{
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) s->at++;
}

static bool take_byte(struct scan *s, char c)
{
  skip_space(s);
  if (s->at == s->end || *s->at != c) return false;
  s->at++;
  return true;
}

// Plain ASCII without escapes, behind its first quote.
static bool take_text(struct scan *s, const char **out_bytes, size_t *out_len)
{
  const char *begin = s->at;
  while (s->at < s->end && *s->at >= ' ' && *s->at < 0x7f && *s->at != '"' && *s->at != '\\') s->at++;
  if (s->at == s->end || *s->at != '"') return false;
  *out_bytes = begin;
  *out_len = (size_t)(s->at - begin);
  s->at++;
  return true;
}

static bool take_digits(struct scan *s, const char **out_bytes, size_t *out_len)
{
  const char *begin = s->at;
  while (s->at < s->end && *s->at >= '0' && *s->at <= '9') s->at++;
  *out_bytes = begin;
  *out_len = (size_t)(s->at - begin);
  return *out_len > 0;  // what follows, a point say, is no comma and no brace
}

static enum member member_of(const char *name, size_t len)
{
  static const struct {
    const char *name;
    size_t len;
  } names[] = {{"activityCode", 12}, {"userId", 6}, {"bizId", 5}, {"channel", 7}, {"quantity", 8}};
  for (int i = 0; i < MEMBER_COUNT; i++)
    if (names[i].len == len && memcmp(names[i].name, name, len) == 0) return (enum member)i;
  return MEMBER_COUNT;
}

static bool take_member(struct scan *s)
{
  const char *name = NULL;
  size_t len = 0;
  if (!take_byte(s, '"') || !take_text(s, &name, &len) || !take_byte(s, ':')) return false;
  enum member m = member_of(name, len);
  if (m == MEMBER_COUNT || s->values[m].bytes) return false;
  s->values[m].is_text = take_byte(s, '"');
  return s->values[m].is_text ? take_text(s, &s->values[m].bytes, &s->values[m].len)
                              : take_digits(s, &s->values[m].bytes, &s->values[m].len);
}

static bool take_object(struct scan *s)
{
  if (!take_byte(s, '{')) return false;
  do {
    if (!take_member(s)) return false;
  } while (take_byte(s, ','));
  if (!take_byte(s, '}')) return false;
  skip_space(s);
  return s->at == s->end;
}

static bool number_of(const struct scan *s, enum member m, int64_t max, int64_t *out)
{
  return text_to_i64(s->values[m].bytes, s->values[m].len, out) == RESULT_OK && *out >= 1 && *out <= max;
}

static bool text_is_there(const struct scan *s, enum member m) { return s->values[m].bytes && s->values[m].is_text; }

static bool is_good(const struct scan *s, int64_t *out_user, int64_t *out_quantity)
{
  if (!text_is_there(s, ACTIVITY_CODE) || !text_is_code(s->values[ACTIVITY_CODE].bytes, s->values[ACTIVITY_CODE].len))
    return false;
  if (!text_is_there(s, BIZ_ID) || !text_is_biz_id(s->values[BIZ_ID].bytes, s->values[BIZ_ID].len)) return false;
  if (!s->values[USER_ID].bytes || !number_of(s, USER_ID, INT64_MAX, out_user)) return false;
  if (s->values[QUANTITY].bytes && (s->values[QUANTITY].is_text || !number_of(s, QUANTITY, INT32_MAX, out_quantity)))
    return false;
  size_t channel_len = s->values[CHANNEL].len;
  return !s->values[CHANNEL].bytes ||
         (s->values[CHANNEL].is_text && channel_len >= 1 && channel_len <= CHANNEL_CHARS_MAX);
}

bool claim_decode_quickly(const char *body, size_t len, struct claim_request *out)
{
  struct scan s = {.at = body, .end = body + len};
  int64_t user_id = 0, quantity = 1;
  if (!take_object(&s) || !is_good(&s, &user_id, &quantity)) return false;
  memcpy(out->search.code, s.values[ACTIVITY_CODE].bytes, s.values[ACTIVITY_CODE].len);
  memcpy(out->biz_id, s.values[BIZ_ID].bytes, s.values[BIZ_ID].len);
  out->search.code[s.values[ACTIVITY_CODE].len] = out->biz_id[s.values[BIZ_ID].len] = '\0';
  out->biz_id_len = (uint8_t)s.values[BIZ_ID].len;
  out->user_id = user_id;
  out->quantity = (int32_t)quantity;
  out->has_channel = s.values[CHANNEL].bytes != NULL;
  if (!out->has_channel) return true;
  memcpy(out->channel, s.values[CHANNEL].bytes, s.values[CHANNEL].len);
  out->channel[s.values[CHANNEL].len] = '\0';
  out->channel_len = (uint16_t)s.values[CHANNEL].len;
  return true;
}

enum result claim_decode(const char *body, size_t len, struct claim_request *out, char out_why[CLAIM_WHY_BYTES])
{
  return claim_decode_quickly(body, len, out) ? RESULT_OK : claim_decode_any(body, len, out, out_why);
}
