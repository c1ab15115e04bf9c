// SPDX-License-Identifier: Apache-2.0
// Reading and writing the messages of lanes. Pure; any thread.
#include "fulfiller/intake_codec.h"

#include <stdio.h>

#include "common/jsonx.h"
#include "common/text.h"

#define MESSAGE_VERSION 1

static bool read_claim_id(const char *text, struct claim_key *key)
{
  const char *dash = text == NULL ? NULL : strchr(text, '-');
  return dash != NULL && text_to_i64(text, (size_t)(dash - text), &key->activity_id) == RESULT_OK &&
         text_to_i64(dash + 1, strlen(dash + 1), &key->claim_id) == RESULT_OK && key->activity_id > 0 &&
         key->claim_id > 0;
}

static enum result read_claim(const json_t *item, size_t index, struct claim_key *out_key, char *out_why)
{
  struct jsonx_reader reader;
  struct claim_key key = {0};
  int64_t attempt = 0;
  char path[32];
  snprintf(path, sizeof path, "claims[%zu]", index);
  jsonx_reader_init(&reader, item, path);
  const char *id = jsonx_read_text(&reader, "id", true, 40);
  if (id != NULL && !read_claim_id(id, &key)) jsonx_reader_fail(&reader, "id", "must be <activity>-<number>");
  jsonx_read_i64(&reader, "attempt", true, 0, INT32_MAX - 1, &attempt);
  const char *trace = jsonx_read_text(&reader, "trace", false, TRACE_ID_DIGITS);
  if (trace != NULL && !trace_id_is_valid(trace, strlen(trace)))
    jsonx_reader_fail(&reader, "trace", "must be a trace id");
  if (jsonx_reader_finish(&reader) != RESULT_OK) {
    snprintf(out_why, INTAKE_WHY_BYTES, "%s", reader.fault);
    return RESULT_INVALID;
  }
  key.attempt = (int32_t)attempt;
  if (trace != NULL) memcpy(key.trace, trace, TRACE_ID_DIGITS);
  *out_key = key;
  return RESULT_OK;
}

static enum result read_message(const json_t *message, struct claim_key *keys, size_t *out_count, char *out_why)
{
  struct jsonx_reader reader;
  int64_t version = 0;
  jsonx_reader_init(&reader, message, "");
  jsonx_read_i64(&reader, "v", true, MESSAGE_VERSION, MESSAGE_VERSION, &version);
  const json_t *claims = jsonx_read_array(&reader, "claims", true);
  size_t count = json_array_size(claims);
  if (claims != NULL && (count == 0 || count > MESSAGE_CLAIMS_MAX))
    jsonx_reader_fail(&reader, "claims", "must have 1 to 100 items");
  if (jsonx_reader_finish(&reader) != RESULT_OK) {
    snprintf(out_why, INTAKE_WHY_BYTES, "%s", reader.fault);
    return RESULT_INVALID;
  }
  for (size_t i = 0; i < count; i++) {
    enum result result = read_claim(json_array_get(claims, i), i, &keys[i], out_why);
    if (result != RESULT_OK) return result;
  }
  *out_count = count;
  return RESULT_OK;
}

enum result intake_decode(const char *body, size_t len, struct claim_key out_keys[MESSAGE_CLAIMS_MAX],
                          size_t *out_count, char out_why[INTAKE_WHY_BYTES])
{
  struct claim_key keys[MESSAGE_CLAIMS_MAX];
  json_t *message = NULL;
  size_t count = 0;
  enum result result = jsonx_parse(body, len, &message, out_why);
  if (result == RESULT_OK && !json_is_object(message)) {
    snprintf(out_why, INTAKE_WHY_BYTES, "must be an object");
    result = RESULT_INVALID;
  }
  if (result == RESULT_OK) result = read_message(message, keys, &count, out_why);
  json_decref(message);
  if (result != RESULT_OK) return RESULT_INVALID;
  memcpy(out_keys, keys, count * sizeof keys[0]);
  *out_count = count;
  return RESULT_OK;
}

void intake_encode(const struct claim_key *keys, size_t count, struct buf *out)
{
  buf_puts(out, "{\"v\":1,\"claims\":[");
  for (size_t i = 0; i < count; i++) {
    buf_puts(out, i == 0 ? "{\"id\":\"" : ",{\"id\":\"");
    buf_put_i64(out, keys[i].activity_id);
    buf_putc(out, '-');
    buf_put_i64(out, keys[i].claim_id);
    buf_puts(out, "\",\"attempt\":");
    buf_put_i64(out, keys[i].attempt);
    if (keys[i].trace[0] != '\0') {
      buf_puts(out, ",\"trace\":\"");
      buf_append(out, keys[i].trace, TRACE_ID_DIGITS);
      buf_putc(out, '"');
    }
    buf_putc(out, '}');
  }
  buf_puts(out, "]}");
}
