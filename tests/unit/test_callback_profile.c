// SPDX-License-Identifier: Apache-2.0
// What the configuration says about callbacks: faults name the key and the line, what is left out the profile knows,
// and secrets come from files. Owner: unit tests.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/callback_fixture.h"
#include "tests/unit/rsa_fixture.h"

static void assert_fault(const char *lines, const char *expected)
{
  struct fulfiller_conf *conf = fixture_conf(lines);
  struct conf_fault fault = {.text = ""};
  enum result result = callback_check_all(conf, "f.yaml", true, &fault);
  conf_free(fulfiller_conf_table(), conf);
  if (result != RESULT_INVALID || strstr(fault.text, expected) == NULL)
    fail_msg("expected '%s', got '%s'", expected, fault.text);
}

static void faults_name_file_line_and_key(void **state)
{
  (void)state;
  assert_fault("      callback: {profile: stripe}\n", "f.yaml:6: fulfiller.providers.p.callback.secrets: is missing");
  assert_fault("      callback: {profile: stripe, secrets: {a: /nowhere/at/all}}\n",
               "f.yaml:6: fulfiller.providers.p.callback.secrets: /nowhere/at/all is not there");
  assert_fault("      callback: {profile: wechatpay_v3, secrets: {a: b}}\n", "callback.decrypt_key: is missing");
  assert_fault("      callback: {profile: alipay, secrets: {a: b}, decrypt_key: c}\n",
               "callback.decrypt_key: only callbacks of wechatpay_v3");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, event_id_pointer: id}\n",
               "callback.event_id_pointer: a JSON pointer begins with /");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, request_id_pointer: ''}\n",
               "callback.request_id_pointer: is missing");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, require: {x: y}}\n", "callback.require: 'x'");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, answers: {'/type': done}}\n",
               "callback.answers: '/type' must be POINTER=VALUE");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, answers: {'type=x': done}}\n",
               "callback.answers: 'type=x' must be POINTER=VALUE");
  assert_fault("      callback: {profile: stripe, secrets: {a: b}, answers: {'/type=x': retry}}\n",
               "callback.answers: 'retry' must be done, refused, pending or ignored");
}

static void without_a_profile_there_is_nothing_to_check(void **state)
{
  (void)state;
  struct fulfiller_conf *conf = fixture_conf("      attempts: 3\n");
  struct conf_fault fault;
  assert_int_equal(callback_check_all(conf, NULL, true, &fault), RESULT_OK);
  conf_free(fulfiller_conf_table(), conf);
}

static void own_rules_come_before_those_of_the_profile(void **state)
{
  (void)state;
  struct fixture f = fixture_new(
      "      callback: {profile: alipay, secrets: {a: b}, answers: {'/trade_status=TRADE_CLOSED': ignored}}\n");
  assert_int_equal(f.profile.rule_count, 4);  // the one it replaces is left out
  assert_int_equal(f.profile.rules[0].outcome, CALLBACK_IGNORED);
  assert_int_equal(f.profile.amount_decimals, 2);
  assert_string_equal(f.profile.event_id.items[0], "/notify_id");
  fixture_free(&f);
}

// --- files

static char *write_file(const char *text, mode_t mode)
{
  char path[] = "/tmp/largesse-callback-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  assert_int_equal(fchmod(fd, mode), 0);
  close(fd);
  return mem_strdup(path);
}

static enum result load(const char *profile, const char *path, const char *key_path, struct conf_fault *fault)
{
  char lines[600];
  struct callback_keys keys = {0};
  snprintf(lines, sizeof lines, "      callback: {profile: %s, secrets: {one: '%s', two: '%s'}%s%s%s}\n", profile, path,
           path, key_path == NULL ? "" : ", decrypt_key: '", key_path == NULL ? "" : key_path,
           key_path == NULL ? "" : "'");
  struct fulfiller_conf *conf = fixture_conf(lines);
  enum result result = callback_keys_load(&fixture_provider(conf)->callback, &keys, fault);
  if (result == RESULT_OK) {
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.items[1].name, "two");
    callback_keys_release(&keys);
  }
  conf_free(fulfiller_conf_table(), conf);
  return result;
}

static void assert_load_fault(const char *profile, const char *text, mode_t mode, const char *expected)
{
  struct conf_fault fault = {.text = ""};
  char *path = write_file(text, mode);
  assert_int_equal(load(profile, path, NULL, &fault), RESULT_INVALID);
  if (strstr(fault.text, expected) == NULL) fail_msg("%s", fault.text);
  unlink(path);
  mem_free(path);
}

static void secrets_are_read_from_files(void **state)
{
  (void)state;
  struct conf_fault fault = {.text = ""};
  struct rsa_fixture rsa = rsa_fixture_new(2048);
  char *secret = write_file("whsec_x\n", 0600), *pem = write_file(rsa.public_pem, 0600);
  char *right = write_file("0123456789abcdef0123456789abcdef\n", 0600), *wrong = write_file("short", 0600);
  assert_int_equal(load("stripe", secret, NULL, &fault), RESULT_OK);
  assert_int_equal(load("alipay", pem, NULL, &fault), RESULT_OK);
  assert_int_equal(load("wechatpay_v3", pem, right, &fault), RESULT_OK);
  assert_int_equal(load("wechatpay_v3", pem, wrong, &fault), RESULT_INVALID);
  assert_non_null(strstr(fault.text, "must hold exactly 32 bytes"));
  assert_load_fault("alipay", "whsec_x", 0600, "is no public RSA key");
  assert_load_fault("stripe", "", 0600, "is empty");
  assert_load_fault("stripe", "x", 0644, "may be read by everybody");
  char *const paths[] = {secret, pem, right, wrong};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    unlink(paths[i]);
    mem_free(paths[i]);
  }
  rsa_fixture_free(&rsa);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_name_file_line_and_key),
      cmocka_unit_test(without_a_profile_there_is_nothing_to_check),
      cmocka_unit_test(own_rules_come_before_those_of_the_profile),
      cmocka_unit_test(secrets_are_read_from_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
