// SPDX-License-Identifier: Apache-2.0
// Fuzzes strict JSON, the member reader and JSON pointers: what is accepted is written, read again and equal.
// libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/limits.h"
#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void read_members(const json_t *json)
{
  struct jsonx_reader r;
  int64_t number = 1;
  bool flag = false;
  struct wall_time time = {0};
  struct span span = {0};
  jsonx_reader_init(&r, json, "body");
  jsonx_read_text(&r, "t", false, 16);
  jsonx_read_i64(&r, "i", false, 1, 100, &number);
  jsonx_read_id(&r, "u", false, &number);
  jsonx_read_bool(&r, "b", false, &flag);
  jsonx_read_time(&r, "a", false, &time);
  jsonx_read_span(&r, "s", false, &span);
  jsonx_read_object(&r, "o", false);
  jsonx_read_array(&r, "l", false);
  enum result result = jsonx_reader_finish(&r);
  CHECK((result == RESULT_OK) == (r.fault[0] == '\0'));
  CHECK(strlen(r.fault) < sizeof(r.fault));
  for (const char *c = r.fault; *c != '\0'; c++) CHECK(*c >= 0x20);
  CHECK(number >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  json_t *json = NULL;
  json_t *again = NULL;
  char why[JSONX_WHY_BYTES] = "";
  if (jsonx_parse((const char *)data, size, &json, why) != RESULT_OK) {
    CHECK(json == NULL && why[0] != '\0' && strlen(why) < sizeof(why));
    return 0;
  }
  struct buf out;
  buf_init(&out, JSON_BYTES_MAX);
  jsonx_write(json, &out);
  CHECK(text_is_utf8(out.data, out.len));
  CHECK(jsonx_parse(out.data, out.len, &again, why) == RESULT_OK);
  CHECK(json_equal(json, again));
  read_members(json);
  jsonx_pointer(json, "/o/l/0/~0a~1b");
  jsonx_pointer(json, buf_text(&out));
  json_decref(json);
  json_decref(again);
  buf_release(&out);
  return 0;
}
