// SPDX-License-Identifier: Apache-2.0
// config/largesse.yaml says what is built in, and the shipped event files can be read.
// One thread; run from the top folder.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/config.h"
#include "scheduler/event_file.h"

static char *const nothing[] = {NULL};

// The sections that the scheduler reads itself, as YAML; which providers there are is the fulfiller's affair.
static void print(const char *file, struct buf *out)
{
  void *config = NULL;
  struct conf_fault fault = {.text = ""};
  if (conf_load(scheduler_conf_table(), file, nothing, &config, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  buf_init(out, 1 << 20);
  conf_print(scheduler_conf_table(), config, out);
  conf_free(scheduler_conf_table(), config);
  char *fulfiller = strstr(out->data, "fulfiller:");
  if (fulfiller != NULL) *fulfiller = '\0';
}

static void the_shipped_configuration_is_what_is_built_in(void **state)
{
  (void)state;
  struct buf shipped, built_in;
  print("config/largesse.yaml", &shipped);
  print(NULL, &built_in);
  assert_string_equal(shipped.data, built_in.data);
  buf_release(&shipped);
  buf_release(&built_in);
}

// Every key stands in the file, so that people find it there.
static void the_shipped_configuration_is_complete(void **state)
{
  (void)state;
  FILE *file = fopen("config/largesse.yaml", "re");
  assert_non_null(file);
  static char text[65536];
  size_t len = fread(text, 1, sizeof text - 1, file);
  (void)fclose(file);
  text[len] = '\0';
  struct conf_node *root = NULL;
  struct conf_fault fault = {.text = ""};
  if (conf_tree_parse("largesse.yaml", text, len, &root, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  const struct conf_table *table = scheduler_conf_table();
  for (size_t i = 0; i < table->count; i++) {
    if (strncmp(table->keys[i].path, "fulfiller", 9) == 0 || strncmp(table->keys[i].path, "reconciler", 10) == 0)
      continue;
    if (event_find(root, table->keys[i].path)->kind != CONF_SCALAR) fail_msg("%s is missing", table->keys[i].path);
  }
  conf_tree_free(root);
}

static struct event_file *read_event(const char *path)
{
  static char text[65536];
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  size_t len = fread(text, 1, sizeof text, file);
  (void)fclose(file);
  struct event_file *event = NULL;
  struct conf_fault fault = {.text = ""};
  if (event_file_parse(path, text, len, &event, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  return event;
}

static void the_shipped_events_can_be_read(void **state)
{
  (void)state;
  static const struct {
    const char *path, *kind;
    size_t sessions;
  } files[] = {{"config/events/coupons.yaml", "reward", 3},
               {"config/events/registration.yaml", "registration", 2},
               {"config/events/numbers.yaml", "number", 1},
               {"config/events/exchange.yaml", "exchange", 1},
               {"config/events/festival.yaml", "exchange", 6}};
  for (size_t i = 0; i < ARRAY_LEN(files); i++) {
    struct event_file *event = read_event(files[i].path);
    assert_int_equal(event->session_count, files[i].sessions);
    assert_string_equal(json_string_value(json_object_get(event->sessions[0].doc, "kind")), files[i].kind);
    event_file_free(event);
  }
}

// The demonstration plays all kinds, and begins by itself.
static void the_demonstration_has_all_kinds(void **state)
{
  (void)state;
  struct event_file *demo = read_event("config/events/demo.yaml");
  static const char *const kinds[] = {"reward", "registration", "number", "exchange"};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    size_t found = 0;
    for (size_t k = 0; k < demo->session_count; k++)
      found += strcmp(json_string_value(json_object_get(demo->sessions[k].doc, "kind")), kinds[i]) == 0;
    if (found == 0) fail_msg("no session of kind %s", kinds[i]);
  }
  for (size_t i = 0; i < demo->session_count; i++)
    assert_true(event_session_is_demonstration(&demo->sessions[i]) && demo->sessions[i].publish);
  event_file_free(demo);
}

// The fulfiller's section is not the scheduler's, but a reward may only name a provider that stands there.
static void the_names_of_providers_are_read_and_nothing_else_of_their_section(void **state)
{
  (void)state;
  void *config = NULL;
  struct conf_fault fault = {.text = ""};
  static const char yaml[] =
      "fulfiller:\n  surprise: [1]\n  providers:\n    a: { b: { charge: d } }\n    e:\n    p: { charge: {} }\n";
  if (conf_parse(scheduler_conf_table(), "f", yaml, sizeof yaml - 1, &config, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  const struct scheduler_conf *conf = config;
  assert_int_equal(conf->providers.count, 3);
  assert_string_equal(conf->providers.items[0], "a");
  assert_string_equal(conf->providers.items[1], "e");
  assert_int_equal(conf->charging_providers.count, 1);  // can take payments
  assert_string_equal(conf->charging_providers.items[0], "p");
  conf_free(scheduler_conf_table(), config);
  if (conf_load(scheduler_conf_table(), "config/largesse.yaml", nothing, &config, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  conf = config;
  assert_int_equal(conf->providers.count, 2);
  assert_string_equal(conf->providers.items[0], "simulator");
  assert_string_equal(conf->providers.items[1], "simulator-b");
  assert_string_equal(conf->charging_providers.items[0], "simulator");
  conf_free(scheduler_conf_table(), config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_shipped_configuration_is_what_is_built_in),
      cmocka_unit_test(the_shipped_configuration_is_complete),
      cmocka_unit_test(the_shipped_events_can_be_read),
      cmocka_unit_test(the_demonstration_has_all_kinds),
      cmocka_unit_test(the_names_of_providers_are_read_and_nothing_else_of_their_section),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
