// SPDX-License-Identifier: Apache-2.0
// From one item under `sessions` to its sessions: dates × times, or a few that start soon, for demonstrations.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "scheduler/activity_doc.h"
#include "scheduler/event_item.h"

bool event_session_is_demonstration(const struct event_session *s) { return s->local[0] == '\0'; }

void event_session_release(struct event_session *s) { json_decref(s->doc); }

// --- codes

static bool needs_instant(const char *pattern)
{
  return strstr(pattern, "{date}") != NULL || strstr(pattern, "{time}") != NULL;
}

// RESULT_INVALID: an unknown word in braces, or the code becomes too long.
static enum result fill_pattern(const char *pattern, const char *date, const char *time, size_t n,
                                char out_code[CODE_BYTES_MAX + 1])
{
  char number[24];
  (void)snprintf(number, sizeof number, "%zu", n);
  const struct {
    const char *word, *value;
  } words[] = {{"{date}", date}, {"{time}", time}, {"{n}", number}};
  size_t len = 0;
  for (const char *p = pattern; *p != '\0';) {
    const char *piece = p;
    size_t piece_len = 1, taken = 1;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
      if (strncmp(p, words[i].word, strlen(words[i].word)) != 0) continue;
      piece = words[i].value;
      piece_len = strlen(piece);
      taken = strlen(words[i].word);
    }
    if (len + piece_len > CODE_BYTES_MAX) return RESULT_INVALID;
    memcpy(out_code + len, piece, piece_len);
    len += piece_len;
    p += taken;
  }
  out_code[len] = '\0';
  return text_is_code(out_code, len) ? RESULT_OK : RESULT_INVALID;
}

static enum result name_session(const struct event_reader *r, struct event_session *s, const char *date,
                                const char *time)
{
  char at[EVENT_PATH_BYTES], code[CODE_BYTES_MAX + 1];
  (void)snprintf(at, sizeof at, "sessions[%zu].code", s->item);
  if (fill_pattern(s->pattern, date, time, s->n, code) != RESULT_OK) {
    return event_fail(r, event_find(s->node, "code")->line, at,
                      "must give 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit; it may "
                      "hold {date}, {time} and {n}");
  }
  memcpy(s->code, code, sizeof code);
  if (s->doc != NULL) (void)json_object_set_new(s->doc, "code", json_string(code));
  return RESULT_OK;
}

enum result event_session_name(const struct event_file *event, struct event_session *s, const char *date,
                               const char *time, struct conf_fault *out_fault)
{
  const struct event_reader r = {event->name, out_fault};
  return name_session(&r, s, date, time);
}

// --- faults

// What an activity calls a member and what the file calls it.
static const char *key_of_member(const struct conf_node *item, const char *fault)
{
  static const struct {
    const char *member, *keys[3];
  } names[] = {
      {"rewardCode:", {"reward", NULL, NULL}},
      {"startAt:", {"start", "dates", NULL}},
      {"endAt:", {"duration", NULL, NULL}},
  };
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (strncmp(fault, names[i].member, strlen(names[i].member)) != 0) continue;
    for (size_t k = 0; names[i].keys[k] != NULL; k++) {
      if (conf_tree_get(item, names[i].keys[k]) != NULL) return names[i].keys[k];
    }
    return names[i].keys[0];
  }
  return NULL;
}

void event_session_fault(const struct event_file *event, const struct event_session *s, const char *fault,
                         struct conf_fault *out_fault)
{
  const struct event_reader r = {event->name, out_fault};
  const char *key = key_of_member(s->node, fault), *reason = fault;
  char at[EVENT_PATH_BYTES], item[32];
  (void)snprintf(item, sizeof item, "sessions[%zu]", s->item);
  int line = strncmp(fault, "startAt:", 8) == 0 ? s->line : event_find(s->node, key != NULL ? key : fault)->line;
  if (key != NULL) {
    event_path(at, item, key);
    reason = fault + strcspn(fault, ":") + 1;
    reason += strspn(reason, " ");
    (void)event_fail(&r, line, at, "%s", reason);
    return;
  }
  // "timeZone" and "eventCode" are the file's own.
  bool is_head = strncmp(fault, "timeZone:", 9) == 0;
  if (is_head)
    (void)event_fail(&r, event_find(event->root, fault)->line, "", "%s", fault);
  else
    (void)event_fail(&r, line, "", "%s.%s", item, fault);
}

// --- one activity each

static struct event_session *add_session(struct item *it, size_t n, int line)
{
  struct event_file *event = it->event;
  if ((event->session_count & (event->session_count - 1)) == 0) {
    event->sessions =
        mem_resize(event->sessions, event->session_count == 0 ? 1 : event->session_count * 2, sizeof *event->sessions);
  }
  struct event_session *s = &event->sessions[event->session_count++];
  *s = (struct event_session){.node = it->node,
                              .item = it->index,
                              .n = n,
                              .pattern = it->pattern,
                              .line = line,
                              .publish = it->publish,
                              .numbers = it->numbers,
                              .duration = it->when.duration};
  return s;
}

static enum result check_session(struct item *it, struct event_session *s, const char *date, const char *time)
{
  char fault[JSONX_WHY_BYTES];
  enum result result = name_session(it->reader, s, date, time);
  if (result != RESULT_OK) return result;
  if (activity_doc_check(it->body, s->code, &s->doc, fault) == RESULT_OK) return RESULT_OK;
  event_session_fault(it->event, s, fault, it->reader->fault);
  return RESULT_INVALID;
}

static enum result expand_demonstration(struct item *it)
{
  enum result result = RESULT_OK;
  for (size_t n = 1; result == RESULT_OK && n <= it->when.count; n++) {
    struct event_session *s = add_session(it, n, event_find(it->node, "start")->line);
    s->after = span_us(it->when.start.us + (int64_t)(n - 1) * it->when.every.us);
    if (s->after.us > EVENT_AFTER_MAX.us)
      return event_fail(it->reader, s->line, it->path, "the last one starts more than 366 days ahead");
    result = check_session(it, s, "20000101", "000000");
    if (needs_instant(it->pattern)) s->code[0] = '\0';
  }
  return result;
}

static enum result expand_date(struct item *it, const struct conf_node *day, size_t *io_n)
{
  char at[EVENT_PATH_BYTES], date[9], clock[9], time[7], offset[8];
  event_path(at, it->path, "dates");
  if (!event_when_date(day->text, date))
    return event_fail(it->reader, day->line, at, "must be existing dates such as 2026-10-01");
  event_path(at, it->path, "times");
  for (size_t i = 0; i < it->when.times->count; i++) {
    const struct conf_node *node = &it->when.times->children[i];
    if (!event_when_time(node->text, clock, time, offset)) {
      return event_fail(it->reader, node->line, at,
                        "must be times such as \"11:00\", or \"02:30+02:00\" where a local time repeats");
    }
    struct event_session *s = add_session(it, ++*io_n, node->line);
    (void)snprintf(s->local, sizeof s->local, "%.10s %.8s", day->text, clock);
    memcpy(s->offset, offset, sizeof offset);
    enum result result = check_session(it, s, date, time);
    if (result != RESULT_OK) return result;
  }
  return RESULT_OK;
}

static enum result expand(struct item *it)
{
  size_t n = 0;
  enum result result = RESULT_OK;
  if (it->event->session_count + it->when.count > EVENT_SESSIONS_MAX) {
    return event_fail(it->reader, it->node->line, it->path, "more than %d sessions in one file", EVENT_SESSIONS_MAX);
  }
  if (it->when.dates == NULL) return expand_demonstration(it);
  for (size_t i = 0; result == RESULT_OK && i < it->when.dates->count; i++)
    result = expand_date(it, &it->when.dates->children[i], &n);
  return result;
}

enum result event_session_expand(struct event_file *event, const struct conf_node *node, size_t index,
                                 const struct event_reader *r)
{
  struct item it = {.event = event, .reader = r, .node = node, .index = index, .body = json_object()};
  enum result result = RESULT_OK;
  (void)snprintf(it.path, sizeof it.path, "sessions[%zu]", index);
  TRY(event_keys_check(r, node, it.path, event_item_keys()));
  TRY(event_text(r, node, it.path, "code", true, &it.pattern));
  TRY(event_bool(r, node, it.path, "publish", &it.publish));
  TRY(event_when_read(&it));
  TRY(event_body_read(&it));
  TRY(expand(&it));

cleanup:
  json_decref(it.body);
  return result;
}
