// SPDX-License-Identifier: Apache-2.0
// A guarded HTTP client reaches no internal address, by whatever name or detour. Against a real server on loopback.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "common/http_client.h"
#include "common/loop.h"
#include "tests/unit/fake_http.h"

#define REFUSED "the address is internal and not allowed"

struct fixture {
  struct runtime rt;
  struct http_client *client;
  struct fake fake;
};

struct outcome {
  int calls;
  enum http_stage stage;
  int status;
  char fault[300];
};

static int set_up(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->rt.loop = loop_new();
  f->client = http_client_new(&f->rt, 4, 4);
  fake_start(&f->fake, &(struct step){.answer = OK_ANSWER}, 1);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  struct fixture *f = *state;
  http_client_free(f->client);
  fake_stop(&f->fake);
  loop_free(f->rt.loop);
  mem_free(f);
  return 0;
}

static void on_answer(void *ctx, const struct http_answer *a)
{
  struct outcome *o = ctx;
  o->calls++;
  o->stage = a->stage;
  o->status = a->status;
  (void)snprintf(o->fault, sizeof o->fault, "%s", a->fault);
}

static struct outcome get(struct fixture *f, const char *host)
{
  char url[128];
  struct outcome o = {0};
  (void)snprintf(url, sizeof url, "http://%s:%d/hook", host, f->fake.port);
  struct http_request r = {.method = "POST",
                           .url = url,
                           .body = "{}",
                           .body_len = 2,
                           .connect_timeout = span_s(5),
                           .total_timeout = span_s(5),
                           .answer_max = 1024};
  assert_int_equal(http_client_send(f->client, &r, on_answer, &o, NULL), RESULT_OK);
  struct mono_time end = mono_after(clk_mono(), span_s(8));
  while (o.calls == 0 && mono_before(clk_mono(), end)) loop_turn(f->rt.loop, span_ms(10));
  assert_int_equal(o.calls, 1);
  return o;
}

static void internal_addresses_are_not_reached_by_any_name(void **state)
{
  static const char *const hosts[] = {"127.0.0.1", "localhost",       "[::1]",      "[::ffff:127.0.0.1]", "127.1",
                                      "0",         "2130706433",      "0x7f000001", "0177.0.0.1",         "127.0.0.1.",
                                      "10.0.0.1",  "169.254.169.254", "[fe80::1]",  "[64:ff9b::7f00:1]"};
  static const struct net_guard strict = {NULL, 0};
  struct fixture *f = *state;
  http_client_set_guard(f->client, &strict);
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    struct outcome o = get(f, hosts[i]);
    if (o.stage != HTTP_NEVER_SENT) fail_msg("%s was reached", hosts[i]);
    bool is_a_number = strpbrk(hosts[i], "ghijklmnopqrstuvwyz") == NULL && hosts[i][strlen(hosts[i]) - 1] != '.';
    if (is_a_number && hosts[i][0] != '[') assert_string_equal(o.fault, REFUSED);
  }
  assert_string_equal(get(f, "localhost").fault, REFUSED);
  assert_int_equal(atomic_load(&f->fake.connections), 0);
}

static void what_is_allowed_is_reached(void **state)
{
  static const struct net_block blocks[] = {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}, 128}};
  static const struct net_guard guard = {blocks, 1};
  struct fixture *f = *state;
  http_client_set_guard(f->client, &guard);
  assert_int_equal(get(f, "127.0.0.1").status, 200);
  assert_int_equal(get(f, "localhost").status, 200);  // ::1 is refused, the next address is taken
  assert_int_equal(get(f, "127.0.0.1").status, 200);  // on the kept connection
  assert_string_equal(get(f, "127.0.0.2").fault, REFUSED);
}

// A proxy of the environment would resolve names itself, behind the guard.
static void proxies_of_the_environment_are_not_used(void **state)
{
  static const char *const names[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"};
  static const struct net_guard strict = {NULL, 0};
  struct fixture *f = *state;
  char proxy[64];
  (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", f->fake.port);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) assert_int_equal(setenv(names[i], proxy, 1), 0);
  http_client_set_guard(f->client, &strict);
  struct outcome o = get(f, "10.9.8.7");
  for (size_t i = 0; i < ARRAY_LEN(names); i++) assert_int_equal(unsetenv(names[i]), 0);
  assert_int_equal(o.stage, HTTP_NEVER_SENT);
  assert_string_equal(o.fault, REFUSED);
  assert_int_equal(atomic_load(&f->fake.connections), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      T(internal_addresses_are_not_reached_by_any_name),
      T(what_is_allowed_is_reached),
      T(proxies_of_the_environment_are_not_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
