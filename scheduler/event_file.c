// SPDX-License-Identifier: Apache-2.0
// An event file: its head, its rewards and discount rules, and that no two sessions share a code.
// Pure; any thread.
#include "scheduler/event_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "scheduler/activity_doc.h"
#include "scheduler/discount_doc.h"

#define REWARDS_MAX    200
#define DISCOUNTS_MAX  200
#define ZONE_CHARS_MAX 64

static enum result read_code(const struct event_reader *r, const struct conf_node *root, const char **out_code)
{
  const char *code = NULL;
  enum result result = event_text(r, root, "", "event", true, &code);
  if (result != RESULT_OK) return result;
  if (!text_is_code(code, strlen(code))) {
    return event_fail(r, conf_tree_get(root, "event")->line, "event",
                      "must be 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit");
  }
  *out_code = code;
  return RESULT_OK;
}

static enum result read_words(const struct event_reader *r, const struct conf_node *root, const char *key,
                              size_t chars_max, const char **out_text)
{
  const char *text = NULL;
  enum result result = event_text(r, root, "", key, true, &text);
  if (result != RESULT_OK) return result;
  size_t len = strlen(text), chars = text_utf8_length(text, len);
  if (chars == 0 || chars > chars_max)
    return event_fail(r, conf_tree_get(root, key)->line, key, "must have 1 to %zu characters", chars_max);
  *out_text = text;
  return RESULT_OK;
}

static enum result read_reward(struct event_file *event, const struct conf_node *node, const struct event_reader *r)
{
  char at[EVENT_PATH_BYTES], fault[JSONX_WHY_BYTES];
  struct reward_terms terms;
  event_path(at, "rewards", node->key);
  if (node->kind != CONF_MAPPING) return event_fail(r, node->line, at, "must be key: value lines");
  json_t *body = event_json(node);
  // A provider's name is text whatever it looks like.
  const struct conf_node *provider = conf_tree_get(node, "provider");
  if (provider != NULL && provider->kind == CONF_SCALAR)
    (void)json_object_set_new(body, "provider", json_string(provider->text));
  struct event_reward *reward = &event->rewards[event->reward_count++];
  *reward = (struct event_reward){node->key, node, body};
  if (reward_doc_check(body, node->key, NULL, 0, &terms, fault) == RESULT_OK) return RESULT_OK;
  return event_fail(r, event_find(node, fault)->line, at, "%s", fault);
}

static enum result read_rewards(struct event_file *event, const struct event_reader *r)
{
  const struct conf_node *rewards = NULL;
  enum result result = event_child(r, event->root, "", "rewards", false, CONF_MAPPING, &rewards);
  if (result == RESULT_NOT_FOUND) return RESULT_OK;
  if (result != RESULT_OK) return result;
  if (rewards->count > REWARDS_MAX) return event_fail(r, rewards->line, "rewards", "at most %d", REWARDS_MAX);
  event->rewards = MEM_ARRAY(struct event_reward, rewards->count + 1);
  for (size_t i = 0; result == RESULT_OK && i < rewards->count; i++)
    result = read_reward(event, &rewards->children[i], r);
  return result;
}

// Texts stay text, whatever they look like.
static void keep_texts(json_t *body, const struct conf_node *node)
{
  static const char *const texts[] = {"id", "name", "exclusiveGroup", "rewardCode", "currency", "startAt", "endAt"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    const struct conf_node *text = conf_tree_get(node, texts[i]);
    if (text != NULL && text->kind == CONF_SCALAR) (void)json_object_set_new(body, texts[i], json_string(text->text));
  }
}

static enum result read_discount(struct event_file *event, const struct conf_node *node, const struct event_reader *r)
{
  char at[EVENT_PATH_BYTES], fault[JSONX_WHY_BYTES];
  event_path(at, "discountRules", node->key);
  if (node->kind != CONF_MAPPING) return event_fail(r, node->line, at, "must be key: value lines");
  json_t *body = event_json(node), *doc = NULL;
  keep_texts(body, node);
  enum result result = discount_doc_check(body, node->key, &doc, fault);
  json_decref(body);
  if (result != RESULT_OK) return event_fail(r, event_find(node, fault)->line, at, "%s", fault);
  event->discounts[event->discount_count++] = (struct event_discount){node->key, node, doc};
  return RESULT_OK;
}

static enum result read_discounts(struct event_file *event, const struct event_reader *r)
{
  const struct conf_node *rules = NULL;
  enum result result = event_child(r, event->root, "", "discountRules", false, CONF_MAPPING, &rules);
  if (result == RESULT_NOT_FOUND) return RESULT_OK;
  if (result != RESULT_OK) return result;
  if (rules->count > DISCOUNTS_MAX) return event_fail(r, rules->line, "discountRules", "at most %d", DISCOUNTS_MAX);
  event->discounts = MEM_ARRAY(struct event_discount, rules->count + 1);
  for (size_t i = 0; result == RESULT_OK && i < rules->count; i++)
    result = read_discount(event, &rules->children[i], r);
  return result;
}

static int compare_codes(const void *a, const void *b)
{
  const struct event_session *const *x = a, *const *y = b;
  int order = strcmp((*x)->code, (*y)->code);
  return order != 0 ? order : (*x)->line - (*y)->line;
}

static enum result check_codes_differ(const struct event_file *event, const struct event_reader *r)
{
  enum result result = RESULT_OK;
  const struct event_session **sorted = MEM_ARRAY(const struct event_session *, event->session_count + 1);
  for (size_t i = 0; i < event->session_count; i++) sorted[i] = &event->sessions[i];
  qsort(sorted, event->session_count, sizeof *sorted, compare_codes);
  for (size_t i = 1; result == RESULT_OK && i < event->session_count; i++) {
    if (sorted[i]->code[0] == '\0' || strcmp(sorted[i - 1]->code, sorted[i]->code) != 0) continue;
    char at[EVENT_PATH_BYTES];
    (void)snprintf(at, sizeof at, "sessions[%zu].code", sorted[i]->item);
    result = event_fail(r, sorted[i]->line, at, "two sessions have the code %s; use {date}, {time} or {n} in it",
                        sorted[i]->code);
  }
  mem_free(sorted);
  return result;
}

static enum result read_sessions(struct event_file *event, const struct event_reader *r)
{
  const struct conf_node *sessions = NULL;
  enum result result = event_child(r, event->root, "", "sessions", true, CONF_SEQUENCE, &sessions);
  if (result != RESULT_OK) return result;
  if (sessions->count == 0) return event_fail(r, sessions->line, "sessions", "there is none");
  for (size_t i = 0; result == RESULT_OK && i < sessions->count; i++)
    result = event_session_expand(event, &sessions->children[i], i, r);
  return result == RESULT_OK ? check_codes_differ(event, r) : result;
}

enum result event_file_parse(const char *name, const char *bytes, size_t len, struct event_file **out_event,
                             struct conf_fault *out_fault)
{
  static const char *const keys[] = {"event", "name", "timeZone", "rewards", "discountRules", "sessions", NULL};
  struct event_file *event = MEM_NEW(struct event_file);
  event->name = mem_strdup(name);
  const struct event_reader r = {event->name, out_fault};
  enum result result = RESULT_OK;
  TRY(conf_tree_parse(name, bytes, len, &event->root, out_fault));
  TRY(event_keys_check(&r, event->root, "", keys));
  TRY(read_code(&r, event->root, &event->code));
  TRY(read_words(&r, event->root, "name", NAME_CHARS_MAX, &event->title));
  TRY(read_words(&r, event->root, "timeZone", ZONE_CHARS_MAX, &event->time_zone));
  TRY(read_rewards(event, &r));
  TRY(read_discounts(event, &r));
  TRY(read_sessions(event, &r));
  *out_event = event;

cleanup:
  if (result != RESULT_OK) event_file_free(event);
  return result;
}

void event_file_free(struct event_file *event)
{
  if (event == NULL) return;
  for (size_t i = 0; i < event->reward_count; i++) json_decref(event->rewards[i].body);
  for (size_t i = 0; i < event->discount_count; i++) json_decref(event->discounts[i].doc);
  for (size_t i = 0; i < event->session_count; i++) event_session_release(&event->sessions[i]);
  mem_free(event->rewards);
  mem_free(event->discounts);
  mem_free(event->sessions);
  conf_tree_free(event->root);
  mem_free(event->name);
  mem_free(event);
}
