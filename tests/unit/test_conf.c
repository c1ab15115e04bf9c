// SPDX-License-Identifier: Apache-2.0
// The typed key table: types, ranges, unknown and duplicate keys, environment, printing, reload (B90, B92).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/conf.h"
#include "common/limits.h"
#include "common/mem.h"

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
    {"retry.ladder", CONF_SPANS, offsetof(struct provider, ladder), "[5s, 2m]", 1000, 3600000000, 0, NULL, NULL, "delays"},
    {"headers", CONF_PAIRS, offsetof(struct provider, headers), NULL, 0, 0, 0, NULL, NULL, "sent with each call"},
};
static const struct conf_table provider_table = {provider_keys, ARRAY_LEN(provider_keys), sizeof(struct provider)};

static const struct conf_key sample_keys[] = {
    {"database.enabled", CONF_BOOL, offsetof(struct sample, enabled), "true", 0, 0, CONF_RELOADABLE, NULL, NULL, "on or off"},
    {"database.pool_size", CONF_INT, offsetof(struct sample, pool_size), "8", 1, 64, 0, NULL, NULL, "connections"},
    {"web.body_max", CONF_SIZE, offsetof(struct sample, body_max), "64KiB", 1024, 1048576, 0, NULL, NULL, "largest body"},
    {"database.timeout", CONF_SPAN, offsetof(struct sample, timeout), "10s", 100000, 600000000, CONF_RELOADABLE, NULL, NULL, "time"},
    {"region", CONF_TEXT, offsetof(struct sample, region), "", 0, 16, CONF_RELOADABLE, NULL, NULL, "a text"},
    {"web.file", CONF_TEXT, offsetof(struct sample, file), NULL, 0, 0, 0, NULL, NULL, "a text without default"},
    {"web.anything", CONF_INT, offsetof(struct sample, anything), "0", 0, 0, 0, NULL, NULL, "any integer"},
    {"log.level", CONF_CHOICE, offsetof(struct sample, level), "info", 0, 0, CONF_RELOADABLE, "error|warn|info|debug", NULL, "level"},
    {"ladder", CONF_SPANS, offsetof(struct sample, ladder), NULL, 0, 0, 0, NULL, NULL, "delays"},
    {"names", CONF_TEXTS, offsetof(struct sample, names), "[a, b]", 0, 8, 0, NULL, NULL, "texts"},
    {"params", CONF_PAIRS, offsetof(struct sample, params), NULL, 0, 0, 0, NULL, NULL, "free"},
    {"secrets", CONF_SECRETS, offsetof(struct sample, secrets), NULL, 0, 0, 0, NULL, NULL, "files"},
    {"fulfiller.providers", CONF_MAP, offsetof(struct sample, providers), NULL, 0, 0, 0, NULL, &provider_table, "providers"},
    {"scheduler.lanes", CONF_NAMES, offsetof(struct sample, others), NULL, 0, 0, 0, NULL, NULL, "names only"},
    {"reconciler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "another daemon's"},
};
static const struct conf_table sample_table = {sample_keys, ARRAY_LEN(sample_keys), sizeof(struct sample)};

static struct sample *parse_ok(const char *yaml)
{
  void *config = NULL;
  struct conf_fault fault = {""};
  if (conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  return config;
}

static void assert_fault(const char *yaml, const char *expected)
{
  struct conf_fault fault = {""};
  int untouched = 0;
  void *config = &untouched;
  assert_int_equal(conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault), RESULT_INVALID);
  assert_string_equal(fault.text, expected);
  assert_ptr_equal(config, &untouched);
}

static void an_empty_document_gives_the_defaults(void **state)
{
  (void)state;
  static const char *const empties[] = {"", "# nothing\n", "---\n", "{}", "database:\nlog:\nfulfiller:\n  providers:\n"};
  for (size_t i = 0; i < ARRAY_LEN(empties); i++) {
    struct sample *s = parse_ok(empties[i]);
    assert_true(s->enabled);
    assert_int_equal(s->pool_size, 8);
    assert_int_equal(s->body_max, 65536);
    assert_int_equal(s->timeout.us, 10000000);
    assert_string_equal(s->region, "");
    assert_null(s->file);
    assert_int_equal(s->level, 2);
    assert_int_equal(s->names.count, 2);
    assert_string_equal(s->names.items[1], "b");
    assert_int_equal(s->providers.count, 0);
    conf_free(&sample_table, s);
  }
}

static void every_type_is_read(void **state)
{
  (void)state;
  struct sample *s = parse_ok("database: {enabled: false, pool_size: 64, timeout: 250ms}\n"
                              "web: {body_max: 1MiB, file: 'a b', anything: -9223372036854775808}\n"
                              "log: {level: debug}\nladder: [1s, 5s, 2m]\nnames: []\nparams: {b: 1, a: \"\"}\nsecrets: [x/y]\n"
                              "fulfiller:\n  providers:\n    wallet:\n      url: http://a\n      retry: {ladder: [1s]}\n"
                              "      headers:\n        X-A: \"1\"\n    coupons: {url: http://b, retry: {attempts: 20}}\n"
                              "scheduler:\n  lanes:\n    one: {whatever: [1, {a: b}]}\n    two: 7\n"
                              "reconciler: {unknown: {deep: [no, idea]}}\n");
  assert_false(s->enabled);
  assert_int_equal(s->pool_size, 64);
  assert_int_equal(s->timeout.us, 250000);
  assert_int_equal(s->body_max, 1048576);
  assert_string_equal(s->file, "a b");
  assert_true(s->anything == INT64_MIN);
  assert_int_equal(s->level, 3);
  assert_int_equal(s->ladder.count, 3);
  assert_int_equal(s->ladder.items[2].us, 120000000);
  assert_int_equal(s->names.count, 0);
  assert_int_equal(s->params.count, 2);
  assert_string_equal(s->params.items[0].name, "b");
  assert_string_equal(s->params.items[1].value, "");
  assert_string_equal(s->secrets.items[0], "x/y");
  assert_int_equal(s->providers.count, 2);
  const struct provider *wallet = s->providers.items[0].block;
  const struct provider *coupons = s->providers.items[1].block;
  assert_string_equal(s->providers.items[0].name, "wallet");
  assert_int_equal(s->providers.items[0].line, 10);
  assert_int_equal(wallet->attempts, 5);
  assert_int_equal(wallet->ladder.count, 1);
  assert_string_equal(wallet->headers.items[0].name, "X-A");
  assert_int_equal(coupons->attempts, 20);
  assert_int_equal(coupons->ladder.count, 2);
  assert_int_equal(s->others.count, 2);
  assert_string_equal(s->others.items[1], "two");
  conf_free(&sample_table, s);
}

static void words_that_yaml_1_1_would_convert_stay_text(void **state)
{
  (void)state;
  static const char *const words[] = {"no", "on", "null", "~", "1.10", "yes", "0777", "2026-01-01", "true", "1e3", "0x1F", ".inf"};
  for (size_t i = 0; i < ARRAY_LEN(words); i++) {
    char yaml[64];
    snprintf(yaml, sizeof(yaml), "region: %s\n", words[i]);
    struct sample *s = parse_ok(yaml);
    assert_string_equal(s->region, words[i]);
    conf_free(&sample_table, s);
  }
}

static void bool_accepts_true_and_false_only(void **state)
{
  (void)state;
  static const char *const wrong[] = {"maybe", "yes", "no", "on", "off", "True", "TRUE", "1", "0", "y", "~"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    char yaml[64], expected[128];
    snprintf(yaml, sizeof(yaml), "region: a\ndatabase:\n  enabled: %s\n", wrong[i]);
    snprintf(expected, sizeof(expected), "x.yaml:3: database.enabled: must be true or false (found: %s)", wrong[i]);
    assert_fault(yaml, expected);
  }
  assert_fault("database: {enabled: \"true\"}", "x.yaml:1: database.enabled: must be true or false (found: true)");
  assert_fault("database: {enabled: }", "x.yaml:1: database.enabled: must be true or false (found: nothing)");
}

static void integers_are_plain_decimals(void **state)
{
  (void)state;
  static const char *const wrong[] = {"0777", "08", "0x10", "0o17", "1_000", "1e1", "8.0", "+8", "30s", "\"8\"", "'8'",
                                      "9223372036854775808", "-9223372036854775809", "-0", "0b1"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    char yaml[96];
    void *config = NULL;
    struct conf_fault fault = {""};
    snprintf(yaml, sizeof(yaml), "\nweb:\n  anything: %s\n", wrong[i]);
    assert_int_equal(conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault), RESULT_INVALID);
    if (strncmp(fault.text, "x.yaml:3: web.anything: must be an integer in plain decimal digits", 66) != 0) fail_msg("%s", fault.text);
  }
  struct sample *s = parse_ok("web: {anything: 9223372036854775807}");
  assert_true(s->anything == INT64_MAX);
  conf_free(&sample_table, s);
}

static void ranges_are_checked_at_both_ends(void **state)
{
  (void)state;
  assert_fault("database: {pool_size: 0}", "x.yaml:1: database.pool_size: must be from 1 to 64 (found: 0)");
  assert_fault("database: {pool_size: 65}", "x.yaml:1: database.pool_size: must be from 1 to 64 (found: 65)");
  assert_fault("database: {pool_size: -1}", "x.yaml:1: database.pool_size: must be from 1 to 64 (found: -1)");
  assert_fault("web: {body_max: 1023B}", "x.yaml:1: web.body_max: must be from 1024B to 1048576B (found: 1023B)");
  assert_fault("web: {body_max: 2MiB}", "x.yaml:1: web.body_max: must be from 1024B to 1048576B (found: 2MiB)");
  assert_fault("database: {timeout: 99ms}", "x.yaml:1: database.timeout: must be from 100ms to 10m (found: 99ms)");
  assert_fault("database: {timeout: 601s}", "x.yaml:1: database.timeout: must be from 100ms to 10m (found: 601s)");
  assert_fault("region: 12345678901234567", "x.yaml:1: region: must have at most 16 bytes");
  assert_fault("names: [123456789]", "x.yaml:1: names: must have at most 8 bytes");
}

static void durations_and_sizes_need_their_unit(void **state)
{
  (void)state;
  static const char *const spans[] = {"30", "30sx", "s", "1h30m", "-5s", "1.5s", "5 s", "5S", "30s30", "99999999999999999999s", "9223372036854775807d", "no"};
  for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
    char yaml[96], expected[200];
    snprintf(yaml, sizeof(yaml), "database: {timeout: %s}", spans[i]);
    snprintf(expected, sizeof(expected),
             "x.yaml:1: database.timeout: must be a duration with its unit, such as 250ms, 5s, 15m, 2h or 1d (found: %s)", spans[i]);
    assert_fault(yaml, expected);
  }
  static const char *const sizes[] = {"4096", "64KB", "64kib", "64K", "KiB", "1.5MiB", "-1KiB", "18446744073709551615TiB", "0"};
  for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
    char yaml[96], expected[200];
    snprintf(yaml, sizeof(yaml), "web: {body_max: %s}", sizes[i]);
    snprintf(expected, sizeof(expected), "x.yaml:1: web.body_max: must be a size with its unit, such as 512B, 64KiB or 1MiB (found: %s)", sizes[i]);
    assert_fault(yaml, expected);
  }
}

static void unknown_keys_are_faults_with_a_suggestion(void **state)
{
  (void)state;
  assert_fault("region: a\ndatabase:\n  pool_sise: 4\n", "x.yaml:3: database.pool_sise: unknown key; did you mean database.pool_size?");
  assert_fault("databse:\n  pool_size: 4\n", "x.yaml:1: databse: unknown key; did you mean database?");
  assert_fault("pool_size: 4\n", "x.yaml:1: pool_size: unknown key; did you mean database.pool_size?");
  assert_fault("completely_different: 4\n", "x.yaml:1: completely_different: unknown key");
  assert_fault("database.pool_size: 4\n", "x.yaml:1: database.pool_size: unknown key");
  assert_fault("fulfiller:\n  providers:\n    w:\n      url: u\n      retry:\n        atempts: 1\n",
               "x.yaml:6: fulfiller.providers.w.retry.atempts: unknown key; did you mean fulfiller.providers.w.retry.attempts?");
  assert_fault("\"evil\\nkey\": 1\n", "x.yaml:1: evil?key: unknown key");
}

static void wrong_shapes_are_faults(void **state)
{
  (void)state;
  assert_fault("database: 5\n", "x.yaml:1: database: must be a section with keys of its own");
  assert_fault("database: [a]\n", "x.yaml:1: database: must be a section with keys of its own");
  assert_fault("region: {a: b}\n", "x.yaml:1: region: must be a single value");
  assert_fault("region: [a]\n", "x.yaml:1: region: must be a single value");
  assert_fault("region:\n", "x.yaml:1: region: has no value (write \"\" for an empty text)");
  assert_fault("names: a\n", "x.yaml:1: names: must be a list such as [a, b]");
  assert_fault("names: {a: b}\n", "x.yaml:1: names: must be a list such as [a, b]");
  assert_fault("names: [[a]]\n", "x.yaml:1: names: must be a single value");
  assert_fault("ladder: [5s,\n 7]\n", "x.yaml:2: ladder: must be a duration with its unit, such as 250ms, 5s, 15m, 2h or 1d (found: 7)");
  assert_fault("params: [a]\n", "x.yaml:1: params: must be a block of name: value");
  assert_fault("fulfiller: {providers: [a]}\n", "x.yaml:1: fulfiller.providers: must be a block of name: value");
  assert_fault("fulfiller: {providers: {a: b}}\n", "x.yaml:1: fulfiller.providers.a: must be key: value lines");
  assert_fault("fulfiller: {providers: {\"a b\": {url: x}}}\n",
               "x.yaml:1: fulfiller.providers: the name a b must be of letters, digits, '.', '_' or '-'");
  assert_fault("log: {level: verbose}\n", "x.yaml:1: log.level: must be one of error|warn|info|debug (found: verbose)");
  assert_fault("log: {level: err}\n", "x.yaml:1: log.level: must be one of error|warn|info|debug (found: err)");
  assert_fault("- a\n- b\n", "x.yaml:1: must be key: value lines");
  assert_fault("just text\n", "x.yaml:1: must be key: value lines");
}

static void required_keys_must_be_given(void **state)
{
  (void)state;
  assert_fault("fulfiller:\n  providers:\n    wallet: {}\n", "x.yaml:3: fulfiller.providers.wallet.url: is required");
  assert_fault("fulfiller:\n  providers:\n    wallet:\n", "x.yaml:3: fulfiller.providers.wallet.url: is required");
}

static void lists_and_maps_are_bounded(void **state)
{
  (void)state;
  struct buf yaml;
  buf_init(&yaml, 65536);
  buf_puts(&yaml, "names: [");
  for (int i = 0; i < CONF_LIST_ITEMS_MAX; i++) buf_puts(&yaml, "a, ");
  buf_puts(&yaml, "]");
  struct sample *s = parse_ok(buf_text(&yaml));
  assert_int_equal(s->names.count, CONF_LIST_ITEMS_MAX);
  conf_free(&sample_table, s);
  yaml.len--;
  buf_puts(&yaml, "a]");
  assert_fault(buf_text(&yaml), "x.yaml:1: names: must have at most 64 items");
  buf_release(&yaml);
}

static struct sample *load_with(const char *file, char *const *environment, struct conf_fault *fault)
{
  void *config = NULL;
  fault->text[0] = '\0';
  return conf_load(&sample_table, file, environment, &config, fault) == RESULT_OK ? config : NULL;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(chmod(path, mode), 0);
}

static void the_environment_wins_over_the_file(void **state)
{
  (void)state;
  char path[] = "/tmp/test_conf_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  write_file(path, "database:\n  pool_size: 4\nfulfiller:\n  providers:\n    simulator-b: {url: http://file}\n", 0600);
  char *environment[] = {(char *)"HOME=/", (char *)"LARGESSE_PORT=7400", (char *)"LARGESSE_DATABASE__POOL_SIZE=12", (char *)"LARGESSE_REGION=no # kept",
                         (char *)"LARGESSE_NAMES=[x, \"y z\"]", (char *)"LARGESSE_LADDER=[1s, 2s]", (char *)"LARGESSE_LOG__LEVEL=warn",
                         (char *)"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__URL=http://env",
                         (char *)"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__RETRY__ATTEMPTS=3",
                         (char *)"LARGESSE_RECONCILER__ANYTHING=1", (char *)"LARGESSE_SCHEDULER__LANES__A__B=1", NULL};
  struct conf_fault fault;
  struct sample *s = load_with(path, environment, &fault);
  if (s == NULL) fail_msg("%s", fault.text);
  assert_int_equal(s->pool_size, 12);
  assert_string_equal(s->region, "no # kept");
  assert_int_equal(s->names.count, 2);
  assert_string_equal(s->names.items[1], "y z");
  assert_int_equal(s->ladder.count, 2);
  assert_int_equal(s->level, 1);
  const struct provider *p = s->providers.items[0].block;
  assert_string_equal(p->url, "http://env");
  assert_int_equal(p->attempts, 3);
  conf_free(&sample_table, s);
  unlink(path);
}

static void assert_environment_fault(const char *variable, const char *expected)
{
  char *environment[] = {(char *)"A=b", (char *)variable, NULL};
  struct conf_fault fault;
  assert_null(load_with(NULL, environment, &fault));
  assert_string_equal(fault.text, expected);
}

static void faults_of_the_environment_name_the_variable(void **state)
{
  (void)state;
  assert_environment_fault("LARGESSE_DATABASE__POOL_SIZE=65",
                           "environment variable LARGESSE_DATABASE__POOL_SIZE: database.pool_size: must be from 1 to 64 (found: 65)");
  assert_environment_fault("LARGESSE_DATABASE__POOL_SISE=5", "environment variable LARGESSE_DATABASE__POOL_SISE: names no known key");
  assert_environment_fault("LARGESSE_FULFILLER__PROVIDERS__NEW__URL=5",
                           "environment variable LARGESSE_FULFILLER__PROVIDERS__NEW__URL: names no known key");
  assert_environment_fault("LARGESSE_NAMES=[a", "environment variable LARGESSE_NAMES: value:2: did not find expected ',' or ']' while parsing a flow sequence");
  assert_environment_fault("LARGESSE_NAMES=[*a]", "environment variable LARGESSE_NAMES: value:1: aliases are not allowed");
  assert_environment_fault("LARGESSE_REGION=\xff", "environment variable LARGESSE_REGION: region: must be valid UTF-8");
  assert_environment_fault("LARGESSE_DATABASE__ENABLED=", "environment variable LARGESSE_DATABASE__ENABLED: database.enabled: must be true or false (found: nothing)");
}

static void an_empty_text_from_the_environment_is_empty(void **state)
{
  (void)state;
  char *environment[] = {(char *)"LARGESSE_WEB__FILE=", NULL};
  struct conf_fault fault;
  struct sample *s = load_with(NULL, environment, &fault);
  assert_non_null(s);
  assert_string_equal(s->file, "");
  conf_free(&sample_table, s);
}

static void a_missing_or_huge_file_is_a_fault(void **state)
{
  (void)state;
  struct conf_fault fault = {""};
  void *config = NULL;
  assert_int_equal(conf_load(&sample_table, "/nowhere/x.yaml", NULL, &config, &fault), RESULT_NOT_FOUND);
  assert_string_equal(fault.text, "/nowhere/x.yaml: cannot be read: not found");
  assert_int_equal(conf_load(&sample_table, "/tmp", NULL, &config, &fault), RESULT_INVALID);
  char *huge = MEM_ARRAY(char, CONF_FILE_BYTES_MAX + 1);
  memset(huge, '#', CONF_FILE_BYTES_MAX + 1);
  assert_int_equal(conf_parse(&sample_table, "x", huge, CONF_FILE_BYTES_MAX + 1, &config, &fault), RESULT_TOO_BIG);
  assert_null(config);
  mem_free(huge);
}

static void what_is_printed_loads_again_and_is_equal(void **state)
{
  (void)state;
  struct sample *a = parse_ok("database: {pool_size: 3, timeout: 1500ms}\nweb: {body_max: 1025B, file: \"q\\\"\\\\ \\u2028é\\n\"}\n"
                              "region: '# no'\nnames: [\"\", \"a: b\"]\nparams: {\"k: \\t\": ' v'}\nladder: [0, 90s]\nsecrets: [a]\n"
                              "fulfiller: {providers: {w: {url: u, headers: {A: b}}, \"1.10\": {url: v}}}\nscheduler: {lanes: {l: {x: y}}}\n");
  struct buf printed, again;
  buf_init(&printed, 65536);
  buf_init(&again, 65536);
  conf_print(&sample_table, a, &printed);
  struct sample *b = parse_ok(buf_text(&printed));
  conf_print(&sample_table, b, &again);
  assert_string_equal(buf_text(&printed), buf_text(&again));
  const char *key = NULL;
  assert_false(conf_needs_restart(&sample_table, a, b, &key));
  assert_string_equal(b->file, a->file);
  assert_string_equal(b->params.items[0].name, "k: \t");
  // Sections whose keys are scattered over the table appear once.
  assert_non_null(strstr(buf_text(&printed), "database:\n  enabled: true\n  pool_size: 3\n  timeout: 1500ms\n"));
  conf_free(&sample_table, a);
  conf_free(&sample_table, b);
  buf_release(&printed);
  buf_release(&again);
}

static const char *restart_key(const char *before, const char *after)
{
  const char *key = NULL;
  struct sample *a = parse_ok(before);
  struct sample *b = parse_ok(after);
  bool needed = conf_needs_restart(&sample_table, a, b, &key);
  conf_free(&sample_table, a);
  conf_free(&sample_table, b);
  return needed ? key : NULL;
}

static void only_keys_that_are_not_reloadable_need_a_restart(void **state)
{
  (void)state;
  assert_null(restart_key("", ""));
  assert_null(restart_key("region: a\ndatabase: {timeout: 5s}", "log: {level: debug}\ndatabase: {enabled: false}"));
  assert_string_equal(restart_key("database: {pool_size: 5}", ""), "database.pool_size");
  assert_string_equal(restart_key("web: {file: a}", "web: {file: b}"), "web.file");
  assert_string_equal(restart_key("web: {file: a}", ""), "web.file");
  assert_string_equal(restart_key("names: [a]", "names: [a, b]"), "names");
  assert_string_equal(restart_key("ladder: [1s]", "ladder: [2s]"), "ladder");
  const char *one = "fulfiller: {providers: {a: {url: x, retry: {attempts: 3}}}}";
  assert_null(restart_key(one, "fulfiller: {providers: {a: {url: x}}}"));
  assert_string_equal(restart_key(one, "fulfiller: {providers: {a: {url: y}}}"), "fulfiller.providers");
  assert_string_equal(restart_key(one, "fulfiller: {providers: {b: {url: x}}}"), "fulfiller.providers");
}

static void the_help_table_lists_every_key(void **state)
{
  (void)state;
  struct buf out;
  buf_init(&out, 65536);
  conf_print_help(&sample_table, &out);
  const char *text = buf_text(&out);
  assert_non_null(strstr(text, "| `database.pool_size` | integer | `8` | 1 – 64 | restart | connections |\n"));
  assert_non_null(strstr(text, "| `web.body_max` | size | `64KiB` | 1KiB – 1MiB | restart | largest body |\n"));
  assert_non_null(strstr(text, "| `log.level` | choice | `info` | `error\\|warn\\|info\\|debug` | reload | level |\n"));
  assert_non_null(strstr(text, "| `fulfiller.providers.*.url` | text | required | up to 64 bytes | restart | base \\| address |\n"));
  assert_null(strstr(text, "reconciler"));
  buf_release(&out);
}

static void secrets_are_read_and_guarded(void **state)
{
  (void)state;
  char path[] = "/tmp/test_conf_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  struct buf out;
  buf_init(&out, CONF_SECRET_BYTES_MAX);
  write_file(path, "s3cret\n\n", 0640);
  assert_int_equal(conf_read_secret(path, &out), RESULT_OK);
  assert_string_equal(buf_text(&out), "s3cret\n");
  assert_int_equal(conf_read_secret("/nowhere", &out), RESULT_NOT_FOUND);
  assert_int_equal(chmod(path, 0644), 0);
  assert_int_equal(conf_read_secret(path, &out), RESULT_DENIED);
  write_file(path, "\n", 0600);
  assert_int_equal(conf_read_secret(path, &out), RESULT_INVALID);
  assert_int_equal(truncate(path, CONF_SECRET_BYTES_MAX + 1), 0);
  assert_int_equal(conf_read_secret(path, &out), RESULT_TOO_BIG);
  assert_string_equal(buf_text(&out), "s3cret\n");
  buf_release(&out);
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_document_gives_the_defaults),
      cmocka_unit_test(every_type_is_read),
      cmocka_unit_test(words_that_yaml_1_1_would_convert_stay_text),
      cmocka_unit_test(bool_accepts_true_and_false_only),
      cmocka_unit_test(integers_are_plain_decimals),
      cmocka_unit_test(ranges_are_checked_at_both_ends),
      cmocka_unit_test(durations_and_sizes_need_their_unit),
      cmocka_unit_test(unknown_keys_are_faults_with_a_suggestion),
      cmocka_unit_test(wrong_shapes_are_faults),
      cmocka_unit_test(required_keys_must_be_given),
      cmocka_unit_test(lists_and_maps_are_bounded),
      cmocka_unit_test(the_environment_wins_over_the_file),
      cmocka_unit_test(faults_of_the_environment_name_the_variable),
      cmocka_unit_test(an_empty_text_from_the_environment_is_empty),
      cmocka_unit_test(a_missing_or_huge_file_is_a_fault),
      cmocka_unit_test(what_is_printed_loads_again_and_is_equal),
      cmocka_unit_test(only_keys_that_are_not_reloadable_need_a_restart),
      cmocka_unit_test(the_help_table_lists_every_key),
      cmocka_unit_test(secrets_are_read_and_guarded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
