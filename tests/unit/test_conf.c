// SPDX-License-Identifier: Apache-2.0
// The typed key table: types, ranges, unknown and required keys, shapes (B90, B92).
// One thread.
#include "common/limits.h"
#include "tests/unit/conf_sample.h"

static void assert_fault(const char *yaml, const char *expected)
{
  struct conf_fault fault = {.text = ""};
  int untouched = 0;
  void *config = &untouched;
  assert_int_equal(conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault), RESULT_INVALID);
  assert_string_equal(fault.text, expected);
  assert_ptr_equal(config, &untouched);
}

static void an_empty_document_gives_the_defaults(void **state)
{
  (void)state;
  static const char *const empties[] = {"", "# nothing\n", "---\n", "{}",
                                        "database:\nlog:\nfulfiller:\n  providers:\n"};
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
  struct sample *s = parse_ok(
      "database: {enabled: false, pool_size: 64, timeout: 250ms}\n"
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
  static const char *const words[] = {"no",   "on",         "null", "~",   "1.10", "yes",
                                      "0777", "2026-01-01", "true", "1e3", "0x1F", ".inf"};
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
  static const char *const wrong[] = {"0777",
                                      "08",
                                      "0x10",
                                      "0o17",
                                      "1_000",
                                      "1e1",
                                      "8.0",
                                      "+8",
                                      "30s",
                                      "\"8\"",
                                      "'8'",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "-0",
                                      "0b1"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    char yaml[96];
    void *config = NULL;
    struct conf_fault fault = {.text = ""};
    snprintf(yaml, sizeof(yaml), "\nweb:\n  anything: %s\n", wrong[i]);
    assert_int_equal(conf_parse(&sample_table, "x.yaml", yaml, strlen(yaml), &config, &fault), RESULT_INVALID);
    if (strncmp(fault.text, "x.yaml:3: web.anything: must be an integer in plain decimal digits", 66) != 0)
      fail_msg("%s", fault.text);
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
  static const char *const spans[] = {
      "30", "30sx", "s", "1h30m", "-5s", "1.5s", "5 s", "5S", "30s30", "99999999999999999999s", "9223372036854775807d",
      "no"};
  for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
    char yaml[96], expected[200];
    snprintf(yaml, sizeof(yaml), "database: {timeout: %s}", spans[i]);
    snprintf(
        expected, sizeof(expected),
        "x.yaml:1: database.timeout: must be a duration with its unit, such as 250ms, 5s, 15m, 2h or 1d (found: %s)",
        spans[i]);
    assert_fault(yaml, expected);
  }
  static const char *const sizes[] = {
      "4096", "64KB", "64kib", "64K", "KiB", "1.5MiB", "-1KiB", "18446744073709551615TiB", "0"};
  for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
    char yaml[96], expected[200];
    snprintf(yaml, sizeof(yaml), "web: {body_max: %s}", sizes[i]);
    snprintf(expected, sizeof(expected),
             "x.yaml:1: web.body_max: must be a size with its unit, such as 512B, 64KiB or 1MiB (found: %s)", sizes[i]);
    assert_fault(yaml, expected);
  }
}

static void unknown_keys_are_faults_with_a_suggestion(void **state)
{
  (void)state;
  assert_fault("region: a\ndatabase:\n  pool_sise: 4\n",
               "x.yaml:3: database.pool_sise: unknown key; did you mean database.pool_size?");
  assert_fault("databse:\n  pool_size: 4\n", "x.yaml:1: databse: unknown key; did you mean database?");
  assert_fault("pool_size: 4\n", "x.yaml:1: pool_size: unknown key; did you mean database.pool_size?");
  assert_fault("completely_different: 4\n", "x.yaml:1: completely_different: unknown key");
  assert_fault("database.pool_size: 4\n", "x.yaml:1: database.pool_size: unknown key");
  assert_fault(
      "fulfiller:\n  providers:\n    w:\n      url: u\n      retry:\n        atempts: 1\n",
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
  assert_fault("ladder: [5s,\n 7]\n",
               "x.yaml:2: ladder: must be a duration with its unit, such as 250ms, 5s, 15m, 2h or 1d (found: 7)");
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
