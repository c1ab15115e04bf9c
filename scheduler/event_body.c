// SPDX-License-Identifier: Apache-2.0
// What an item under `sessions` says of its activities: the members of the API, some under a name of the file's own.
// Pure; any thread.
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/event_item.h"

// Keys whose value is text whatever it looks like, and what an activity calls them.
static const struct text_key {
  const char *key, *member;
} text_keys[] = {
    {"name", "name"},
    {"kind", "kind"},
    {"reward", "rewardCode"},
    {"venue", "venue"},
    {"eligibility", "eligibility"},
    {"exclusiveGroup", "exclusiveGroup"},
    {"paymentProvider", "paymentProvider"},
    {"holdFor", "holdFor"},
    {"latePayment", "latePayment"},
    {"onRefused", "onRefused"},
    {"intake", "intake"},
};
static const char *const other_keys[] = {"stock", "limits",      "attributes",  "needsQualification", "pointsCost",
                                         "price", "signUpAgain", "waitingList", "rateLimit"};

const char *const *event_item_keys(void)
{
  static const char *const keys[] = {"code",
                                     "dates",
                                     "times",
                                     "start",
                                     "every",
                                     "count",
                                     "duration",
                                     "publish",
                                     "numbers",
                                     "channels",
                                     "name",
                                     "kind",
                                     "reward",
                                     "venue",
                                     "eligibility",
                                     "exclusiveGroup",
                                     "holdFor",
                                     "paymentProvider",
                                     "stock",
                                     "latePayment",
                                     "onRefused",
                                     "intake",
                                     "limits",
                                     "attributes",
                                     "price",
                                     "pointsCost",
                                     "needsQualification",
                                     "signUpAgain",
                                     "waitingList",
                                     "rateLimit",
                                     NULL};
  return keys;
}

// Instants are set when the file is applied; until then these two hold their place and give the check its duration.
static void put_placeholders(json_t *body, struct span duration)
{
  char text[TEXT_TIME_BYTES];
  text_from_time((struct wall_time){0}, text);
  (void)json_object_set_new(body, "startAt", json_string(text));
  text_from_time((struct wall_time){duration.us}, text);
  (void)json_object_set_new(body, "endAt", json_string(text));
}

static void put_stock(json_t *body, const struct conf_node *item)
{
  const struct conf_node *stock = conf_tree_get(item, "stock"),
                         *total = stock != NULL ? conf_tree_get(stock, "total") : NULL;
  if (total == NULL || total->kind != CONF_SCALAR || strcmp(total->text, "unlimited") != 0) return;
  (void)json_object_set_new(json_object_get(body, "stock"), "total", json_null());
}

// Channels are text whatever they look like.
static void put_channels(json_t *body, const struct conf_node *item)
{
  const struct conf_node *channels = conf_tree_get(item, "channels");
  if (channels == NULL) return;
  json_t *list = event_json(channels);
  for (size_t i = 0; channels->kind == CONF_SEQUENCE && i < channels->count; i++) {
    const struct conf_node *channel = &channels->children[i];
    if (channel->kind == CONF_SCALAR) (void)json_array_set_new(list, i, json_string(channel->text));
  }
  (void)json_object_set_new(body, "channels", list);
}

static enum result read_number(const struct item *it, const struct conf_node *range, const char *key, int64_t *out)
{
  char at[EVENT_PATH_BYTES], path[EVENT_PATH_BYTES];
  const struct conf_node *node = NULL;
  event_path(path, it->path, "numbers");
  event_path(at, path, key);
  enum result result = event_child(it->reader, range, path, key, true, CONF_SCALAR, &node);
  if (result != RESULT_OK) return result;
  if (node->quoted || text_to_i64(node->text, strlen(node->text), out) != RESULT_OK || *out < 0 || *out > NUMBER_MAX)
    return event_fail(it->reader, node->line, at, "must be an integer from 0 to 999999999999");
  return RESULT_OK;
}

static enum result read_numbers(struct item *it)
{
  static const char *const keys[] = {"from", "to", NULL};
  char path[EVENT_PATH_BYTES];
  const char *kind = NULL;
  const struct conf_node *range = conf_tree_get(it->node, "numbers");
  struct number_range *n = &it->numbers;
  enum result result = RESULT_OK;
  if (range == NULL) return RESULT_OK;
  event_path(path, it->path, "numbers");
  TRY(event_text(it->reader, it->node, it->path, "kind", true, &kind));
  TRY(event_keys_check(it->reader, range, path, keys));
  TRY(read_number(it, range, "from", &n->from));
  TRY(read_number(it, range, "to", &n->to));
  if (strcmp(kind, "number") != 0) TRY(event_fail(it->reader, range->line, path, "goes with kind number only"));
  if (n->to < n->from || n->to - n->from >= EVENT_NUMBERS_MAX)
    TRY(event_fail(it->reader, range->line, path, "must be 1 to %d numbers", EVENT_NUMBERS_MAX));
  n->is_given = true;

cleanup:
  return result;
}

// The item as an activity, in the words of the API.
enum result event_body_read(struct item *it)
{
  (void)json_object_set_new(it->body, "name", json_string(it->event->title));
  (void)json_object_set_new(it->body, "timeZone", json_string(it->event->time_zone));
  (void)json_object_set_new(it->body, "eventCode", json_string(it->event->code));
  for (size_t i = 0; i < ARRAY_LEN(text_keys); i++) {
    const char *text = NULL;
    enum result result = event_text(it->reader, it->node, it->path, text_keys[i].key, false, &text);
    if (result != RESULT_OK) return result;
    if (text != NULL) (void)json_object_set_new(it->body, text_keys[i].member, json_string(text));
  }
  for (size_t i = 0; i < ARRAY_LEN(other_keys); i++) {
    const struct conf_node *node = conf_tree_get(it->node, other_keys[i]);
    if (node != NULL) (void)json_object_set_new(it->body, other_keys[i], event_json(node));
  }
  put_stock(it->body, it->node);
  put_channels(it->body, it->node);
  put_placeholders(it->body, it->when.duration);
  return read_numbers(it);
}
