// SPDX-License-Identifier: Apache-2.0
// What applying an event file did, or would do, for people and for programs.
// Owner: the command; blocking.
#include <stdio.h>
#include <string.h>

#include "scheduler/apply_run.h"

static const char *text_of(const json_t *item, const char *name)
{
  const json_t *member = json_object_get(item, name);
  return json_is_string(member) ? json_string_value(member) : "";
}

static void print_changes(const json_t *item)
{
  const json_t *changed = json_object_get(item, "changed"), *adjustment = json_object_get(item, "adjustment"),
               *numbers = json_object_get(item, "numbersAdded");
  if (numbers != NULL) (void)printf("  (%lld numbers added)", (long long)json_integer_value(numbers));
  for (size_t i = 0; i < json_array_size(changed); i++) {
    (void)printf("%s%s", i > 0 ? ", " : "  ", json_string_value(json_array_get(changed, i)));
  }
  if (adjustment == NULL) return;
  long long from = json_integer_value(json_object_get(adjustment, "from")),
            to = json_integer_value(json_object_get(adjustment, "to"));
  (void)printf(" (adjustment by %+lld: %lld -> %lld)", to - from, from, to);
}

static void print_item(const json_t *item)
{
  const char *outcome = text_of(item, "outcome");
  bool is_left_alone = strcmp(outcome, "left_alone") == 0,
       is_published = json_is_true(json_object_get(item, "published"));
  (void)printf("%-8s  %-40s  ", text_of(item, "type"), text_of(item, "code"));
  if (is_left_alone) {
    (void)printf("left alone: %s, not in the file\n", text_of(item, "status"));
    return;
  }
  bool is_alone = is_published && strcmp(outcome, "unchanged") == 0;
  (void)printf("%s%s", is_alone ? "" : outcome, is_published ? is_alone ? "published" : ", published" : "");
  if (strcmp(outcome, "created") == 0 && json_object_get(item, "startAt") != NULL) {
    (void)printf("  %s to %s", text_of(item, "startAt"), text_of(item, "endAt"));
  }
  print_changes(item);
  if (json_object_get(item, "notPublished") != NULL) (void)printf("  not published: %s", text_of(item, "notPublished"));
  (void)putchar('\n');
}

static size_t count(const struct apply_run *run, const char *outcome)
{
  size_t found = 0;
  for (size_t i = 0; i < json_array_size(run->items); i++)
    found += strcmp(text_of(json_array_get(run->items, i), "outcome"), outcome) == 0;
  return found;
}

static size_t count_published(const struct apply_run *run)
{
  size_t found = 0;
  for (size_t i = 0; i < json_array_size(run->items); i++)
    found += json_is_true(json_object_get(json_array_get(run->items, i), "published"));
  return found;
}

void apply_report_text(const struct apply_run *run)
{
  for (size_t i = 0; i < json_array_size(run->items); i++) print_item(json_array_get(run->items, i));
  (void)printf("%s: %s%zu created, %zu updated, %zu unchanged, %zu published, %zu left alone\n", run->event->name,
               run->command->is_plan ? "plan, nothing was changed: " : "", count(run, "created"), count(run, "updated"),
               count(run, "unchanged"), count_published(run), count(run, "left_alone"));
}

json_t *apply_report_json(const struct apply_run *run)
{
  return json_pack("{s:s, s:s, s:b, s:O}", "file", run->event->name, "event", run->event->code, "plan",
                   run->command->is_plan ? 1 : 0, "items", run->items);
}
