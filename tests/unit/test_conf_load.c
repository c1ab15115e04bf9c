// SPDX-License-Identifier: Apache-2.0
// Configuration from files and the environment; printing, reloading, secrets.
// One thread.
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/mem.h"
#include "tests/unit/conf_sample.h"

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
  char *environment[] = {(char *)"HOME=/",
                         (char *)"LARGESSE_PORT=7400",
                         (char *)"LARGESSE_DATABASE__POOL_SIZE=12",
                         (char *)"LARGESSE_REGION=no # kept",
                         (char *)"LARGESSE_NAMES=[x, \"y z\"]",
                         (char *)"LARGESSE_LADDER=[1s, 2s]",
                         (char *)"LARGESSE_LOG__LEVEL=warn",
                         (char *)"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__URL=http://env",
                         (char *)"LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__RETRY__ATTEMPTS=3",
                         (char *)"LARGESSE_RECONCILER__ANYTHING=1",
                         (char *)"LARGESSE_SCHEDULER__LANES__A__B=1",
                         NULL};
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
  assert_environment_fault(
      "LARGESSE_DATABASE__POOL_SIZE=65",
      "environment variable LARGESSE_DATABASE__POOL_SIZE: database.pool_size: must be from 1 to 64 (found: 65)");
  assert_environment_fault("LARGESSE_DATABASE__POOL_SISE=5",
                           "environment variable LARGESSE_DATABASE__POOL_SISE: names no known key");
  assert_environment_fault("LARGESSE_FULFILLER__PROVIDERS__NEW__URL=5",
                           "environment variable LARGESSE_FULFILLER__PROVIDERS__NEW__URL: names no known key");
  assert_environment_fault(
      "LARGESSE_NAMES=[a",
      "environment variable LARGESSE_NAMES: value:2: did not find expected ',' or ']' while parsing a flow sequence");
  assert_environment_fault("LARGESSE_NAMES=[*a]",
                           "environment variable LARGESSE_NAMES: value:1: aliases are not allowed");
  assert_environment_fault("LARGESSE_REGION=\xff", "environment variable LARGESSE_REGION: region: must be valid UTF-8");
  assert_environment_fault(
      "LARGESSE_DATABASE__ENABLED=",
      "environment variable LARGESSE_DATABASE__ENABLED: database.enabled: must be true or false (found: nothing)");
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
  struct conf_fault fault = {.text = ""};
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
  struct sample *a = parse_ok(
      "database: {pool_size: 3, timeout: 1500ms}\nweb: {body_max: 1025B, file: \"q\\\"\\\\ \\u2028é\\n\"}\n"
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
  assert_non_null(strstr(
      text, "| `fulfiller.providers.*.url` | text | required | up to 64 bytes | restart | base \\| address |\n"));
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
  assert_int_equal(conf_read_secret(path, &out), RESULT_CONFLICT);
  assert_string_equal(conf_secret_why(RESULT_CONFLICT), "may be read by everybody, or is no plain file");
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
