// SPDX-License-Identifier: Apache-2.0
// A key table with every type, for the tests of the configuration.
// Included by test_conf*.c only.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/conf.h"

struct provider {
  char *url;
  int64_t attempts;
  struct conf_spans ladder;
  struct conf_pairs headers;
};

struct sample {
  bool enabled;
  int64_t pool_size, anything;
  uint64_t body_max;
  struct span timeout;
  char *region, *file;
  int level;
  struct conf_spans ladder;
  struct conf_texts names;
  struct conf_pairs params;
  struct conf_texts secrets;
  struct conf_map providers;
  struct conf_texts others;
};

static const struct conf_key provider_keys[] = {
    {"url", CONF_TEXT, offsetof(struct provider, url), NULL, 0, 64, CONF_REQUIRED, NULL, NULL, "base | address"},
    {"retry.attempts", CONF_INT, offsetof(struct provider, attempts), "5", 1, 20, CONF_RELOADABLE, NULL, NULL, "calls"},
    {"retry.ladder", CONF_SPANS, offsetof(struct provider, ladder), "[5s, 2m]", 1000, 3600000000, 0, NULL, NULL,
     "delays"},
    {"headers", CONF_PAIRS, offsetof(struct provider, headers), NULL, 0, 0, 0, NULL, NULL, "sent with each call"},
};
static const struct conf_table provider_table = {provider_keys, ARRAY_LEN(provider_keys), sizeof(struct provider)};

static const struct conf_key sample_keys[] = {
    {"database.enabled", CONF_BOOL, offsetof(struct sample, enabled), "true", 0, 0, CONF_RELOADABLE, NULL, NULL,
     "on or off"},
    {"database.pool_size", CONF_INT, offsetof(struct sample, pool_size), "8", 1, 64, 0, NULL, NULL, "connections"},
    {"web.body_max", CONF_SIZE, offsetof(struct sample, body_max), "64KiB", 1024, 1048576, 0, NULL, NULL,
     "largest body"},
    {"database.timeout", CONF_SPAN, offsetof(struct sample, timeout), "10s", 100000, 600000000, CONF_RELOADABLE, NULL,
     NULL, "time"},
    {"region", CONF_TEXT, offsetof(struct sample, region), "", 0, 16, CONF_RELOADABLE, NULL, NULL, "a text"},
    {"web.file", CONF_TEXT, offsetof(struct sample, file), NULL, 0, 0, 0, NULL, NULL, "a text without default"},
    {"web.anything", CONF_INT, offsetof(struct sample, anything), "0", 0, 0, 0, NULL, NULL, "any integer"},
    {"log.level", CONF_CHOICE, offsetof(struct sample, level), "info", 0, 0, CONF_RELOADABLE, "error|warn|info|debug",
     NULL, "level"},
    {"ladder", CONF_SPANS, offsetof(struct sample, ladder), NULL, 0, 0, 0, NULL, NULL, "delays"},
    {"names", CONF_TEXTS, offsetof(struct sample, names), "[a, b]", 0, 8, 0, NULL, NULL, "texts"},
    {"params", CONF_PAIRS, offsetof(struct sample, params), NULL, 0, 0, 0, NULL, NULL, "free"},
    {"secrets", CONF_SECRETS, offsetof(struct sample, secrets), NULL, 0, 0, 0, NULL, NULL, "files"},
    {"fulfiller.providers", CONF_MAP, offsetof(struct sample, providers), NULL, 0, 0, 0, NULL, &provider_table,
     "providers"},
    {"scheduler.lanes", CONF_NAMES, offsetof(struct sample, others), NULL, 0, 0, 0, NULL, NULL, "names only"},
    {"reconciler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "another daemon's"},
};
static const struct conf_table sample_table = {sample_keys, ARRAY_LEN(sample_keys), sizeof(struct sample)};

static struct sample *parse_ok(const char *yaml)
{
  void *config = NULL;
  struct conf_fault fault = {.text = ""};
  if (conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  return config;
}
