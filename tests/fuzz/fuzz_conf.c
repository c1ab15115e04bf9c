// SPDX-License-Identifier: Apache-2.0
// Fuzzes configuration and YAML trees: no input crashes, every fault is one line with a place, what is accepted is
// printed, loaded again and equal.
// libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

struct entry {
  char *url;
  struct span timeout;
};
struct settings {
  bool flag;
  int64_t number;
  uint64_t size;
  struct span span;
  char *text;
  int choice;
  struct conf_spans spans;
  struct conf_texts texts, names;
  struct conf_pairs pairs;
  struct conf_map map;
};

static const struct conf_key entry_keys[] = {
    {"url", CONF_TEXT, offsetof(struct entry, url), NULL, 0, 32, CONF_REQUIRED, NULL, NULL, ""},
    {"x.t", CONF_SPAN, offsetof(struct entry, timeout), "5s", 0, 0, 0, NULL, NULL, ""},
};
static const struct conf_table entry_table = {entry_keys, ARRAY_LEN(entry_keys), sizeof(struct entry)};
static const struct conf_key keys[] = {
    {"a.b", CONF_BOOL, offsetof(struct settings, flag), "true", 0, 0, 0, NULL, NULL, ""},
    {"a.i", CONF_INT, offsetof(struct settings, number), "1", 0, 0, 0, NULL, NULL, ""},
    {"a.z", CONF_SIZE, offsetof(struct settings, size), "1KiB", 0, 0, 0, NULL, NULL, ""},
    {"d", CONF_SPAN, offsetof(struct settings, span), "1s", 0, 0, 0, NULL, NULL, ""},
    {"t", CONF_TEXT, offsetof(struct settings, text), NULL, 0, 0, 0, NULL, NULL, ""},
    {"c", CONF_CHOICE, offsetof(struct settings, choice), "on", 0, 0, 0, "on|off", NULL, ""},
    {"s", CONF_SPANS, offsetof(struct settings, spans), NULL, 0, 0, 0, NULL, NULL, ""},
    {"l", CONF_TEXTS, offsetof(struct settings, texts), NULL, 0, 0, 0, NULL, NULL, ""},
    {"p", CONF_PAIRS, offsetof(struct settings, pairs), NULL, 0, 0, 0, NULL, NULL, ""},
    {"m", CONF_MAP, offsetof(struct settings, map), NULL, 0, 0, 0, NULL, &entry_table, ""},
    {"n", CONF_NAMES, offsetof(struct settings, names), NULL, 0, 0, 0, NULL, NULL, ""},
    {"o", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, ""},
};
static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct settings)};

static void check_fault(const struct conf_fault *fault)
{
  CHECK(strncmp(fault->text, "f:", 2) == 0 && strlen(fault->text) < sizeof(fault->text));
  for (const char *c = fault->text; *c != '\0'; c++) CHECK((unsigned char)*c >= 0x20 && *c != 0x7F);
}

static void check_round_trip(void *config)
{
  struct buf printed;
  struct conf_fault fault = {.text = ""};
  void *again = NULL;
  const char *key = NULL;
  buf_init(&printed, 8 << 20);
  conf_print(&table, config, &printed);
  CHECK(buf_result(&printed) == RESULT_OK);
  if (conf_parse(&table, "f", buf_text(&printed), printed.len, &again, &fault) != RESULT_OK) abort();
  CHECK(!conf_needs_restart(&table, config, again, &key));
  conf_free(&table, again);
  buf_release(&printed);
}

// The same bytes as the value of a variable.
static void fuzz_environment(const uint8_t *data, size_t size)
{
  struct buf list, text;
  struct conf_fault fault = {.text = ""};
  void *config = NULL;
  buf_init(&list, 1 << 20);
  buf_init(&text, 1 << 20);
  buf_puts(&list, "LARGESSE_M__W__URL=");
  buf_append(&list, data, size);
  buf_puts(&text, "LARGESSE_M=");
  buf_append(&text, data, size);
  char *environment[] = {text.data, list.data, NULL};
  if (conf_load(&table, NULL, environment, &config, &fault) == RESULT_OK) check_round_trip(config);
  conf_free(&table, config);
  buf_release(&list);
  buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  void *config = NULL;
  struct conf_node *root = NULL;
  struct conf_fault fault = {.text = ""};
  if (size > 1 << 16) return 0;
  if (conf_tree_parse("f", (const char *)data, size, &root, &fault) != RESULT_OK) check_fault(&fault);
  conf_tree_free(root);
  if (conf_parse(&table, "f", (const char *)data, size, &config, &fault) == RESULT_OK)
    check_round_trip(config);
  else
    check_fault(&fault);
  conf_free(&table, config);
  fuzz_environment(data, size);
  return 0;
}
