// SPDX-License-Identifier: Apache-2.0
// When the sessions of an item are: local dates and times, or soon, for demonstrations.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "scheduler/event_item.h"

#define DURATION_MAX span_s(INT64_C(366) * 86400)

static enum result read_span(const struct item *it, const char *key, const char *text, bool is_after, struct span max,
                             struct span *out_span)
{
  char at[EVENT_PATH_BYTES];
  struct span span = {0};
  event_path(at, it->path, key);
  int line = event_find(it->node, key)->line;
  const char *digits = is_after && text[0] == '+' ? text + 1 : text;
  bool is_ok = (!is_after || text[0] == '+') && text_to_span(digits, strlen(digits), &span) == RESULT_OK;
  if (!is_ok)
    return event_fail(
        it->reader, line, at,
        is_after ? "must be a + and a duration, such as +5s" : "must be a duration with its unit, such as 30m");
  if (span.us > max.us || (!is_after && span.us <= 0))
    return event_fail(it->reader, line, at, "must be more than 0 and at most 366 days");
  *out_span = span;
  return RESULT_OK;
}

static enum result read_list(const struct item *it, const char *key, const struct conf_node **out_list)
{
  char at[EVENT_PATH_BYTES];
  const struct conf_node *list = NULL;
  enum result result = event_child(it->reader, it->node, it->path, key, true, CONF_SEQUENCE, &list);
  if (result != RESULT_OK) return result;
  event_path(at, it->path, key);
  if (list->count == 0) return event_fail(it->reader, list->line, at, "is empty");
  for (size_t i = 0; i < list->count; i++) {
    if (list->children[i].kind != CONF_SCALAR)
      return event_fail(it->reader, list->children[i].line, at, "must be a list of single values");
  }
  *out_list = list;
  return RESULT_OK;
}

static enum result read_count(struct item *it)
{
  char at[EVENT_PATH_BYTES];
  const struct conf_node *node = NULL;
  uint64_t count = 0;
  it->when.count = 1;
  enum result result = event_child(it->reader, it->node, it->path, "count", false, CONF_SCALAR, &node);
  if (result == RESULT_NOT_FOUND) return RESULT_OK;
  if (result != RESULT_OK) return result;
  event_path(at, it->path, "count");
  if (node->quoted || text_to_u64(node->text, strlen(node->text), &count) != RESULT_OK || count < 1 ||
      count > EVENT_SESSIONS_MAX) {
    return event_fail(it->reader, node->line, at, "must be an integer from 1 to %d", EVENT_SESSIONS_MAX);
  }
  it->when.count = (size_t)count;
  return RESULT_OK;
}

static enum result read_demonstration(struct item *it, const char *start)
{
  char at[EVENT_PATH_BYTES];
  const char *every = NULL;
  enum result result = RESULT_OK;
  static const char *const others[] = {"dates", "times"};
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    event_path(at, it->path, others[i]);
    const struct conf_node *other = conf_tree_get(it->node, others[i]);
    if (other != NULL) return event_fail(it->reader, other->line, at, "goes without start");
  }
  TRY(read_span(it, "start", start, true, EVENT_AFTER_MAX, &it->when.start));
  TRY(event_text(it->reader, it->node, it->path, "every", false, &every));
  if (every != NULL) TRY(read_span(it, "every", every, false, EVENT_AFTER_MAX, &it->when.every));
  TRY(read_count(it));
  event_path(at, it->path, "count");
  if (it->when.count > 1 && every == NULL)
    TRY(event_fail(it->reader, event_find(it->node, "count")->line, at, "needs every"));

cleanup:
  return result;
}

enum result event_when_read(struct item *it)
{
  const char *duration = NULL, *start = NULL;
  char at[EVENT_PATH_BYTES];
  enum result result = RESULT_OK;
  TRY(event_text(it->reader, it->node, it->path, "duration", true, &duration));
  TRY(read_span(it, "duration", duration, false, DURATION_MAX, &it->when.duration));
  TRY(event_text(it->reader, it->node, it->path, "start", false, &start));
  if (start != NULL) return read_demonstration(it, start);
  static const char *const others[] = {"every", "count"};
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    event_path(at, it->path, others[i]);
    const struct conf_node *other = conf_tree_get(it->node, others[i]);
    if (other != NULL) return event_fail(it->reader, other->line, at, "goes with start only");
  }
  TRY(read_list(it, "dates", &it->when.dates));
  TRY(read_list(it, "times", &it->when.times));
  it->when.count = it->when.dates->count * it->when.times->count;

cleanup:
  return result;
}

bool event_when_date(const char *text, char out_date[9])
{
  char instant[32];
  struct wall_time t;
  if (strlen(text) != 10) return false;
  (void)snprintf(instant, sizeof instant, "%sT00:00:00Z", text);
  if (text_to_time(instant, strlen(instant), &t) != RESULT_OK) return false;
  (void)snprintf(out_date, 9, "%.4s%.2s%.2s", text, text + 5, text + 8);
  return true;
}

bool event_when_time(const char *text, char out_clock[9], char out_code[7], char out_offset[8])
{
  char instant[48];
  struct wall_time t;
  size_t len = strcspn(text, "+-Zz");
  if ((len != 5 && len != 8) || strlen(text + len) > 6) return false;
  (void)snprintf(instant, sizeof instant, "2000-01-01T%.*s%s%s", (int)len, text, len == 5 ? ":00" : "",
                 text[len] != '\0' ? text + len : "Z");
  if (text_to_time(instant, strlen(instant), &t) != RESULT_OK) return false;
  (void)snprintf(out_clock, 9, "%.*s%s", (int)len, text, len == 5 ? ":00" : "");
  (void)snprintf(out_code, 7, "%.2s%.2s%.2s", text, text + 3, len == 8 ? text + 6 : "");
  bool is_utc = text[len] == 'Z' || text[len] == 'z';
  (void)snprintf(out_offset, 8, "%s", is_utc ? "+00:00" : text + len);
  return true;
}
