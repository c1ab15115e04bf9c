// SPDX-License-Identifier: Apache-2.0
// Takes a JSON object apart member by member; keeps the first fault, and finds members nobody asked for.
// Pure; any thread.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/jsonx.h"
#include "common/text.h"

#define NAME_SHOWN_BYTES 80  // of names that come from outside

static PRINTF_LIKE(3, 4) void set_fault(struct jsonx_reader *r, const char *name, const char *format, ...)
{
  if (r->fault[0] != '\0') return;
  const char *dot = r->path[0] != '\0' && name[0] != '\0' ? "." : "";
  const char *colon = r->path[0] != '\0' || name[0] != '\0' ? ": " : "";
  int len = snprintf(r->fault, sizeof(r->fault), "%s%s%s%s", r->path, dot, name, colon);
  if (len < 0 || (size_t)len >= sizeof(r->fault)) return;
  va_list args;
  va_start(args, format);
  vsnprintf(r->fault + len, sizeof(r->fault) - (size_t)len, format, args);
  va_end(args);
}

void jsonx_reader_init(struct jsonx_reader *r, const json_t *object, const char *path)
{
  r->object = object;
  r->path = path;
  r->seen_count = 0;
  r->fault[0] = '\0';
  if (!json_is_object(object)) set_fault(r, "", "must be an object");
}

static bool is_seen(const struct jsonx_reader *r, const char *name)
{
  for (size_t i = 0; i < r->seen_count; i++) {
    if (strcmp(r->seen[i], name) == 0) return true;
  }
  return false;
}

// The member, marked as known; NULL if it is missing (a fault when required) or there is a fault already.
static json_t *take(struct jsonx_reader *r, const char *name, bool required)
{
  if (r->fault[0] != '\0') return NULL;
  if (!is_seen(r, name)) {
    REQUIRE(r->seen_count < ARRAY_LEN(r->seen) && strlen(name) < sizeof(r->seen[0]));
    snprintf(r->seen[r->seen_count++], sizeof(r->seen[0]), "%s", name);
  }
  json_t *member = json_object_get(r->object, name);
  if (member == NULL && required) set_fault(r, name, "is missing");
  return member;
}

const char *jsonx_read_text(struct jsonx_reader *r, const char *name, bool required, size_t max_chars)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return NULL;
  if (!json_is_string(member)) {
    set_fault(r, name, "must be a text");
    return NULL;
  }
  if (text_utf8_length(json_string_value(member), json_string_length(member)) > max_chars) {
    set_fault(r, name, "must have at most %zu characters", max_chars);
    return NULL;
  }
  return json_string_value(member);
}

static void fault_of_range(struct jsonx_reader *r, const char *name, int64_t min, int64_t max)
{
  if (min == INT64_MIN && max == INT64_MAX)
    set_fault(r, name, "must be an integer");
  else if (max == INT64_MAX)
    set_fault(r, name, "must be an integer of at least %lld", (long long)min);
  else if (min == INT64_MIN)
    set_fault(r, name, "must be an integer of at most %lld", (long long)max);
  else
    set_fault(r, name, "must be an integer from %lld to %lld", (long long)min, (long long)max);
}

void jsonx_read_i64(struct jsonx_reader *r, const char *name, bool required, int64_t min, int64_t max, int64_t *out)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return;
  int64_t value = json_integer_value(member);
  if (!json_is_integer(member) || value < min || value > max)
    fault_of_range(r, name, min, max);
  else
    *out = value;
}

void jsonx_read_id(struct jsonx_reader *r, const char *name, bool required, int64_t *out)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return;
  int64_t value = 0;
  if (json_is_integer(member))
    value = json_integer_value(member);
  else if (json_is_string(member) &&
           text_to_i64(json_string_value(member), json_string_length(member), &value) != RESULT_OK)
    value = 0;
  if (value < 1)
    set_fault(r, name, "must be an id from 1 to 9223372036854775807");
  else
    *out = value;
}

void jsonx_read_bool(struct jsonx_reader *r, const char *name, bool required, bool *out)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return;
  if (!json_is_boolean(member))
    set_fault(r, name, "must be true or false");
  else
    *out = json_is_true(member);
}

void jsonx_read_time(struct jsonx_reader *r, const char *name, bool required, struct wall_time *out)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return;
  if (!json_is_string(member) ||
      text_to_time(json_string_value(member), json_string_length(member), out) != RESULT_OK) {
    set_fault(r, name, "must be an existing time such as \"2026-11-29T12:00:00+08:00\"");
  }
}

void jsonx_read_span(struct jsonx_reader *r, const char *name, bool required, struct span *out)
{
  json_t *member = take(r, name, required);
  if (member == NULL) return;
  if (!json_is_string(member) ||
      text_to_span(json_string_value(member), json_string_length(member), out) != RESULT_OK) {
    set_fault(r, name, "must be a duration with its unit, such as \"15m\"");
  }
}

const json_t *jsonx_read_object(struct jsonx_reader *r, const char *name, bool required)
{
  json_t *member = take(r, name, required);
  if (member == NULL || json_is_object(member)) return member;
  set_fault(r, name, "must be an object");
  return NULL;
}

const json_t *jsonx_read_array(struct jsonx_reader *r, const char *name, bool required)
{
  json_t *member = take(r, name, required);
  if (member == NULL || json_is_array(member)) return member;
  set_fault(r, name, "must be a list");
  return NULL;
}

bool jsonx_has(struct jsonx_reader *r, const char *name) { return take(r, name, false) != NULL; }

void jsonx_reader_fail(struct jsonx_reader *r, const char *name, const char *reason)
{
  set_fault(r, name, "%s", reason);
}

// The name comes from outside: shortened, and without anything that could end or forge a line.
static void fault_of_unknown(struct jsonx_reader *r, const char *name)
{
  char shown[NAME_SHOWN_BYTES];
  size_t len = 0;
  for (; name[len] != '\0' && len + 1 < sizeof(shown); len++) {
    shown[len] = name[len] >= 0x20 && name[len] <= 0x7E ? name[len] : '?';
  }
  shown[len] = '\0';
  set_fault(r, shown, "is not known here");
}

enum result jsonx_reader_finish(struct jsonx_reader *r)
{
  if (r->fault[0] == '\0') {
    const char *name;
    json_t *member;
    // jansson only reads here, but its iterators want a plain pointer.
    json_object_foreach((json_t *)(uintptr_t)r->object, name, member)
    {
      if (!is_seen(r, name)) fault_of_unknown(r, name);
    }
  }
  return r->fault[0] == '\0' ? RESULT_OK : RESULT_INVALID;
}

void jsonx_reader_join(struct jsonx_reader *whole, struct jsonx_reader *inner)
{
  if (jsonx_reader_finish(inner) == RESULT_OK || whole->fault[0] != '\0') return;
  memcpy(whole->fault, inner->fault, sizeof whole->fault);
}
