// SPDX-License-Identifier: Apache-2.0
// Decoding of credit and payment requests. Pure; any thread.
#include "tests/simulator/sim_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/text.h"

bool sim_order_is_request_id(const char *bytes, size_t len)
{
  if (len == 0 || len > SIM_REQUEST_ID_BYTES_MAX) return false;
  for (size_t i = 0; i < len; i++) {
    char c = bytes[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '.' && c != '_' && c != ':' && c != '-') return false;
  }
  return true;
}

// Missing and null are the empty text; anything but a text is false.
static bool read_text(const json_t *object, const char *name, size_t max_bytes, struct sim_text *out_text)
{
  const json_t *value = json_object_get(object, name);
  if (value == NULL || json_is_null(value)) return true;
  if (!json_is_string(value) || json_string_length(value) > max_bytes) return false;
  *out_text = (struct sim_text){json_string_value(value), json_string_length(value)};
  return true;
}

// A number, or a text of digits: templates of providers quote what they like.
static bool read_number(const json_t *object, const char *name, int64_t *out_number)
{
  const json_t *value = json_object_get(object, name);
  if (value == NULL || json_is_null(value)) return true;
  if (json_is_string(value)) {
    return text_to_i64(json_string_value(value), json_string_length(value), out_number) == RESULT_OK &&
           *out_number >= 0;
  }
  if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
  *out_number = json_integer_value(value);
  return true;
}

static bool read_user(struct sim_order_body *b)
{
  const json_t *value = json_object_get(b->json, "userId");
  if (!json_is_integer(value)) {
    return read_text(b->json, "userId", SIM_USER_ID_BYTES_MAX, &b->order.user_id) && b->order.user_id.len > 0;
  }
  int n = snprintf(b->user_digits, sizeof b->user_digits, "%" PRId64, (int64_t)json_integer_value(value));
  b->order.user_id = (struct sim_text){b->user_digits, (size_t)n};
  return true;
}

static struct sim_text unquoted(const char *key)
{
  size_t len = strlen(key);
  if (len >= 2 && key[0] == '"' && key[len - 1] == '"') return (struct sim_text){key + 1, len - 2};
  return (struct sim_text){key, len};
}

static const char *read_request_id(struct sim_order_body *b, const char *idempotency_key)
{
  struct sim_text *id = &b->order.request_id;
  if (!read_text(b->json, "requestId", SIM_REQUEST_ID_BYTES_MAX, id)) return "INVALID_REQUEST";
  if (idempotency_key != NULL) {
    struct sim_text key = unquoted(idempotency_key);
    if (id->len == 0)
      *id = key;
    else if (key.len != id->len || memcmp(key.bytes, id->bytes, key.len) != 0)
      return "REQUEST_ID_MISMATCH";
  }
  return sim_order_is_request_id(id->bytes, id->len) ? NULL : "INVALID_REQUEST";
}

// It becomes the last segment of the callback's address.
static bool is_segment(struct sim_text t) { return t.len == 0 || sim_order_is_request_id(t.bytes, t.len); }

static const char *read_members(struct sim_order_body *b, const char *idempotency_key)
{
  b->order.quantity = 1;
  if (!read_user(b) || !read_text(b->json, "rewardCode", SIM_REWARD_BYTES_MAX, &b->order.reward_code))
    return "INVALID_REQUEST";
  if (!read_text(b->json, "currency", SIM_CURRENCY_BYTES_MAX, &b->order.currency)) return "INVALID_REQUEST";
  if (!read_text(b->json, "merchant", SIM_MERCHANT_BYTES_MAX, &b->order.merchant) || !is_segment(b->order.merchant))
    return "INVALID_REQUEST";
  if (!read_number(b->json, "amount", &b->order.amount) || !read_number(b->json, "quantity", &b->order.quantity))
    return "INVALID_REQUEST";
  return read_request_id(b, idempotency_key);
}

enum result sim_order_read(const char *body, size_t len, const char *idempotency_key, struct sim_order_body *out_body,
                           const char **out_code)
{
  json_t *json = NULL;
  if (jsonx_parse(body, len, &json, NULL) != RESULT_OK) {
    *out_code = "INVALID_REQUEST";
    return RESULT_INVALID;
  }
  // In place: texts may point into the struct itself, so it must not be copied afterwards.
  *out_body = (struct sim_order_body){.json = json};
  const char *code = json_is_object(json) ? read_members(out_body, idempotency_key) : "INVALID_REQUEST";
  if (code == NULL) return RESULT_OK;
  sim_order_release(out_body);
  *out_code = code;
  return RESULT_INVALID;
}

void sim_order_release(struct sim_order_body *body)
{
  json_decref(body->json);
  body->json = NULL;
}
