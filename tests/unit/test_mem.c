// SPDX-License-Identifier: Apache-2.0
// Allocation and the contract checks that end the process.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"

// Runs a function in a child; returns the signal that ended it and what it wrote to stderr.
static int signal_of(void (*run)(void), char *out_text, size_t size)
{
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    run();
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  for (ssize_t n = 1; n > 0 && len + 1 < size; len += (size_t)n) n = read(ends[0], out_text + len, size - 1 - len);
  out_text[len] = '\0';
  close(ends[0]);
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void allocate_an_overflowing_product(void)
{
  void *volatile p = mem_zalloc(SIZE_MAX / 2, 3);
  mem_free(p);
}

static void resize_to_an_overflowing_product(void)
{
  void *volatile p = mem_resize(NULL, SIZE_MAX / 2, 3);
  mem_free(p);
}

static void break_a_contract(void)
{
  volatile int two = 2;
  REQUIRE(two == 3);
}

static void an_overflowing_product_ends_the_process(void **state)
{
  (void)state;
  char text[8192];
  // Under ASan its own allocator reports first; either way the process is gone.
  assert_int_not_equal(signal_of(resize_to_an_overflowing_product, text, sizeof(text)) + (text[0] != '\0'), 0);
  assert_int_not_equal(signal_of(allocate_an_overflowing_product, text, sizeof(text)) + (text[0] != '\0'), 0);
}

static void a_broken_contract_names_file_and_condition(void **state)
{
  (void)state;
  char text[512];
  assert_int_equal(signal_of(break_a_contract, text, sizeof(text)), SIGABRT);
  assert_non_null(strstr(text, "test_mem.c:"));
  assert_non_null(strstr(text, "REQUIRE(two == 3) failed"));
}

static void a_kept_contract_costs_nothing(void **state)
{
  (void)state;
  int calls = 0;
  REQUIRE(++calls == 1);
  ENSURE(calls == 1);
}

static void memory_is_zeroed_and_never_null(void **state)
{
  (void)state;
  unsigned char *bytes = MEM_ARRAY(unsigned char, 4096);
  for (size_t i = 0; i < 4096; i++) assert_int_equal(bytes[i], 0);
  bytes = mem_resize(bytes, 8192, 1);
  assert_int_equal(bytes[4095], 0);
  bytes[8191] = 1;
  mem_free(bytes);
  void *nothing = mem_zalloc(0, 8);
  assert_non_null(nothing);
  nothing = mem_resize(nothing, 0, 8);
  assert_non_null(nothing);
  mem_free(nothing);
  mem_free(NULL);
}

static void copies_end_with_nul(void **state)
{
  (void)state;
  char *copy = mem_strndup("abcdef", 3);
  assert_string_equal(copy, "abc");
  mem_free(copy);
  copy = mem_strndup(NULL, 0);
  assert_string_equal(copy, "");
  mem_free(copy);
  copy = mem_strdup("x");
  assert_string_equal(copy, "x");
  mem_free(copy);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_overflowing_product_ends_the_process),
      cmocka_unit_test(a_broken_contract_names_file_and_condition),
      cmocka_unit_test(a_kept_contract_costs_nothing),
      cmocka_unit_test(memory_is_zeroed_and_never_null),
      cmocka_unit_test(copies_end_with_nul),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
