// SPDX-License-Identifier: Apache-2.0
// Tests of common/cmdline.c.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/cmdline.h"
#include "common/compiler.h"

struct parsed {
  const char *reason, *kind;
  bool all;
  size_t words;
  char why[CMDLINE_WHY_BYTES];
};

static enum result parse(struct parsed *p, int argc, char **argv)
{
  *p = (struct parsed){.why = ""};
  const struct cmdline_option options[] = {
      {"--reason", &p->reason, NULL}, {"--kind", &p->kind, NULL}, {"--all", NULL, &p->all}};
  return cmdline_parse(options, ARRAY_LEN(options), argc, argv, &p->words, p->why);
}

static void options_and_words_mix(void **state)
{
  (void)state;
  struct parsed p;
  char a[] = "7", b[] = "--reason", c[] = "because of", d[] = "8", e[] = "--kind=x=y", f[] = "--all", g[] = "--",
       h[] = "--kind";
  char *argv[] = {a, b, c, d, e, f, g, h};
  assert_int_equal(parse(&p, ARRAY_LEN(argv), argv), RESULT_OK);
  assert_string_equal(p.reason, "because of");
  assert_string_equal(p.kind, "x=y");
  assert_true(p.all);
  assert_int_equal(p.words, 3);
  assert_string_equal(argv[0], "7");
  assert_string_equal(argv[1], "8");
  assert_string_equal(argv[2], "--kind");
}

static void check_fault(char *one, char *two, const char *why)
{
  struct parsed p;
  char *argv[] = {one, two};
  assert_int_equal(parse(&p, two != NULL ? 2 : 1, argv), RESULT_INVALID);
  assert_string_equal(p.why, why);
}

static void a_choice_is_one_of_the_words(void **state)
{
  (void)state;
  int index = -1;
  assert_true(cmdline_choice("text", "text|json|csv", &index) && index == 0);
  assert_true(cmdline_choice("csv", "text|json|csv", &index) && index == 2);
  const char *const others[] = {"", "tex", "texts", "TEXT", "text|json", "|"};
  for (size_t i = 0; i < ARRAY_LEN(others); i++) assert_false(cmdline_choice(others[i], "text|json|csv", &index));
  assert_int_equal(index, 2);
}

static void faults_are_named(void **state)
{
  (void)state;
  char reason[] = "--reason", twice[] = "--reason=a", flag[] = "--all=yes", unknown[] = "--nope",
       shortened[] = "--reas", letter[] = "-x";
  check_fault(reason, NULL, "--reason: needs a value");
  check_fault(twice, twice, "--reason: given twice");
  check_fault(flag, NULL, "--all: takes no value");
  check_fault(unknown, NULL, "--nope: unknown option");
  check_fault(shortened, letter, "--reas: unknown option");
  check_fault(letter, NULL, "-x: unknown option");
}

static void actor_is_a_name_or_a_number(void **state)
{
  (void)state;
  char actor[CMDLINE_ACTOR_BYTES];
  assert_int_equal(setenv("USER", "alice", 1), 0);
  cmdline_actor(actor);
  assert_string_equal(actor, "cli:alice");
  assert_int_equal(setenv("USER", "a\nb", 1), 0);
  cmdline_actor(actor);
  assert_null(strchr(actor, '\n'));
  assert_int_equal(strncmp(actor, "cli:", 4), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_and_words_mix),
      cmocka_unit_test(a_choice_is_one_of_the_words),
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(actor_is_a_name_or_a_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
