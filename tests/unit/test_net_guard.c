// SPDX-License-Identifier: Apache-2.0
// Which addresses a request may leave for.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <cmocka.h>

#include "common/net_guard.h"

static bool passes(const struct net_guard *guard, const char *text)
{
  struct sockaddr_in v4 = {.sin_family = AF_INET};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
  if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
    return net_guard_allows(guard, (const struct sockaddr *)(const void *)&v4);
  assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
  return net_guard_allows(guard, (const struct sockaddr *)(const void *)&v6);
}

static const struct net_guard strict = {NULL, 0};

static void addresses_of_the_internet_pass(void **state)
{
  static const char *const good[] = {
      "1.1.1.1",        "8.8.8.8",         "9.255.255.255",   "11.0.0.0",         "100.63.255.255",
      "100.128.0.0",    "126.255.255.255", "128.0.0.0",       "169.253.255.255",  "169.255.0.0",
      "172.15.255.255", "172.32.0.0",      "192.0.1.0",       "192.167.255.255",  "192.169.0.0",
      "198.17.255.255", "198.20.0.0",      "223.255.255.255", "2600::1",          "2001:4860:4860::8888",
      "2a00:1450::1",   "::ffff:8.8.8.8",  "2002:808:808::1", "64:ff9b::8.8.8.8",
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    if (!passes(&strict, good[i])) fail_msg("%s is refused", good[i]);
  }
}

static void internal_addresses_are_refused(void **state)
{
  static const char *const bad[] = {
      "0.0.0.0",
      "0.1.2.3",
      "10.0.0.1",
      "10.255.255.255",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.255.254",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.88.99.1",
      "192.168.1.1",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.7",
      "203.0.113.9",
      "224.0.0.1",
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::127.0.0.1",
      "::ffff:127.0.0.1",
      "::ffff:10.1.2.3",
      "::ffff:169.254.169.254",
      "64:ff9b::10.0.0.1",
      "64:ff9b::127.0.0.1",
      "64:ff9b:1::8.8.8.8",
      "100::1",
      "2001::1",
      "2001:db8::1",
      "2001:10::1",
      "2002:7f00:1::",
      "2002:a00:1::1",
      "2002:c0a8:101::1",
      "3fff::1",
      "fc00::1",
      "fd12:3456::1",
      "fe80::1",
      "fec0::1",
      "ff02::1",
      "4000::1",
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    if (passes(&strict, bad[i])) fail_msg("%s passes", bad[i]);
  }
}

static void what_is_no_internet_address_is_refused(void **state)
{
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
  (void)state;
  assert_false(net_guard_allows(&strict, (const struct sockaddr *)(const void *)&local));
}

static void allowed_blocks_pass_and_nothing_else(void **state)
{
  struct net_block blocks[3];
  (void)state;
  assert_int_equal(net_block_parse("10.1.0.0/16", &blocks[0]), RESULT_OK);
  assert_int_equal(net_block_parse("127.0.0.1", &blocks[1]), RESULT_OK);
  assert_int_equal(net_block_parse("fd00:aa::/33", &blocks[2]), RESULT_OK);
  struct net_guard guard = {blocks, ARRAY_LEN(blocks)};
  assert_true(passes(&guard, "10.1.200.3"));
  assert_true(passes(&guard, "::ffff:10.1.0.1"));
  assert_true(passes(&guard, "64:ff9b::10.1.0.1"));
  assert_false(passes(&guard, "10.2.0.1"));
  assert_true(passes(&guard, "127.0.0.1"));
  assert_false(passes(&guard, "127.0.0.2"));
  assert_true(passes(&guard, "fd00:aa:0:0::1"));
  assert_true(passes(&guard, "fd00:aa:7fff::1"));
  assert_false(passes(&guard, "fd00:aa:8000::1"));
  assert_true(passes(&guard, "8.8.8.8"));
}

static void everything_may_be_allowed(void **state)
{
  struct net_block blocks[2];
  (void)state;
  assert_int_equal(net_block_parse("0.0.0.0/0", &blocks[0]), RESULT_OK);
  assert_int_equal(net_block_parse("::/0", &blocks[1]), RESULT_OK);
  struct net_guard guard = {blocks, 1};
  assert_true(passes(&guard, "10.2.0.1"));
  assert_false(passes(&guard, "::1"));
  guard = (struct net_guard){blocks, 2};
  assert_true(passes(&guard, "::1"));
}

static void blocks_are_written_exactly(void **state)
{
  static const char *const bad[] = {"",
                                    "10",
                                    "10.0.0.0/33",
                                    "10.0.0.1/8",
                                    "10.0.0.0/",
                                    "10.0.0.0/8 ",
                                    "/8",
                                    "localhost",
                                    "fd00::/129",
                                    "fd00::1/8",
                                    "10.0.0.0/-1",
                                    "10.0.0.0/8/8",
                                    "10.0.0.0/+8",
                                    "1.2.3.4.5",
                                    "0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0/8"};
  struct net_block block = {{7}, 7};
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    if (net_block_parse(bad[i], &block) != RESULT_INVALID) fail_msg("'%s' is taken", bad[i]);
  }
  assert_int_equal(block.bits, 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_of_the_internet_pass),
      cmocka_unit_test(internal_addresses_are_refused),
      cmocka_unit_test(what_is_no_internet_address_is_refused),
      cmocka_unit_test(allowed_blocks_pass_and_nothing_else),
      cmocka_unit_test(everything_may_be_allowed),
      cmocka_unit_test(blocks_are_written_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
