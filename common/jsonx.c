// SPDX-License-Identifier: Apache-2.0
// Strict parsing and writing of JSON, and JSON pointers. The reader of objects is in jsonx_reader.c.
// Pure; any thread.
#include "common/jsonx.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"

// Messages quote pieces of the input: they stay one line of plain characters.
static void make_plain(char *text)
{
  for (; *text != '\0'; text++) {
    if (*text < 0x20 || *text > 0x7E) *text = '?';
  }
}

// jansson recurses up to 2048 levels by itself; this refuses much earlier. Returns the offset of the first byte that is
// too deep, or len.
static size_t find_too_deep(const char *bytes, size_t len)
{
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < len; i++) {
    char c = bytes[i];
    if (in_string) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > JSON_DEPTH_MAX) return i;
    } else if (c == '}' || c == ']') {
      if (depth > 0) depth--;
    }
  }
  return len;
}

enum result jsonx_parse(const char *bytes, size_t len, json_t **out_json, char out_why[JSONX_WHY_BYTES])
{
  char scratch[JSONX_WHY_BYTES];
  char *why = out_why != NULL ? out_why : scratch;
  if (len > JSON_BYTES_MAX) {
    snprintf(why, JSONX_WHY_BYTES, "longer than %d bytes", JSON_BYTES_MAX);
    return RESULT_TOO_BIG;
  }
  if (len == 0) {
    snprintf(why, JSONX_WHY_BYTES, "empty");
    return RESULT_INVALID;
  }
  if (find_too_deep(bytes, len) < len) {
    snprintf(why, JSONX_WHY_BYTES, "nested deeper than %d levels", JSON_DEPTH_MAX);
    return RESULT_INVALID;
  }
  json_error_t error;
  json_t *json = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
  if (json == NULL) {
    snprintf(why, JSONX_WHY_BYTES, "line %d column %d: %s", error.line, error.column, error.text);
    make_plain(why);
    return RESULT_INVALID;
  }
  *out_json = json;
  return RESULT_OK;
}

static int append_to_buf(const char *bytes, size_t len, void *out)
{
  buf_append(out, bytes, len);
  return 0;
}

void jsonx_write(const json_t *json, struct buf *out)
{
  // Cannot fail: what jansson refuses (NaN, invalid UTF-8) cannot be made with its constructors either.
  // Fifteen digits are what each decimal of that length comes back from unchanged: 33.3, not 33.299999999999997.
  int ignored = json_dump_callback(json, append_to_buf, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
  (void)ignored;
}

// Undoes ~1 and ~0 of one segment. False if it is malformed or longer than any name we look for.
static bool decode_segment(const char *segment, size_t len, char *out, size_t out_size)
{
  size_t at = 0;
  for (size_t i = 0; i < len; i++) {
    char c = segment[i];
    if (c == '~') {
      if (i + 1 >= len || (segment[i + 1] != '0' && segment[i + 1] != '1')) return false;
      c = segment[++i] == '0' ? '~' : '/';
    }
    if (at + 1 >= out_size) return false;
    out[at++] = c;
  }
  out[at] = '\0';
  return true;
}

static const json_t *step_into(const json_t *json, const char *segment, size_t len)
{
  char name[512];
  uint64_t index = 0;
  if (!decode_segment(segment, len, name, sizeof(name))) return NULL;
  if (json_is_object(json)) return json_object_get(json, name);
  if (!json_is_array(json) || text_to_u64(segment, len, &index) != RESULT_OK) return NULL;
  return index < json_array_size(json) ? json_array_get(json, (size_t)index) : NULL;
}

const json_t *jsonx_pointer(const json_t *root, const char *pointer)
{
  const json_t *json = root;
  while (json != NULL && *pointer != '\0') {
    if (*pointer != '/') return NULL;
    size_t len = strcspn(pointer + 1, "/");
    json = step_into(json, pointer + 1, len);
    pointer += len + 1;
  }
  return json;
}
