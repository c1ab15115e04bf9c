// SPDX-License-Identifier: Apache-2.0
// What the commands and calls about providers answer.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/http.h"
#include "tests/support/protection.h"
#include "tests/support/support.h"

// What a command prints.
static void assert_printed(struct stack *s, const char *const *args, const char *expected)
{
  struct buf out;
  buf_init(&out, 65536);
  assert_int_equal(stack_command(s, "fulfiller", args, &out), 0);
  if (strstr(buf_text(&out), expected) == NULL) fail_msg("expected %s, got %s", expected, buf_text(&out));
  buf_release(&out);
}
#define PRINTS(s, expected, ...) \
  assert_printed((s), (const char *const[]){"providers", __VA_ARGS__, "--reason", "test", NULL}, (expected))

static void set_says_what_it_changed(void **state)
{
  struct stack *s = ((struct protection_rig *)*state)->stack;
  PRINTS(s, "nowhere: concurrency 64 -> 5; rate unchanged; the provider is serving\n", "set", "nowhere",
         "--concurrency", "5");
  PRINTS(s, "nowhere: concurrency unchanged; rate unlimited -> 2.5/s; the provider is serving\n", "set", "nowhere",
         "--rate", "2.50");
  PRINTS(s, "nowhere is paused until 2", "pause", "nowhere", "--until", "1h");
  PRINTS(s, "nowhere: concurrency 5 -> 64; rate 2.5/s -> unlimited; the provider is paused until 2", "set", "nowhere",
         "--concurrency", "default", "--rate", "default");
  PRINTS(s, "nowhere is serving\n", "resume", "nowhere");
  PRINTS(s, "breaker closed -> closed (held); the provider is serving\n", "set", "nowhere", "--breaker", "closed");
  PRINTS(s, "breaker closed (held) -> closed;", "set", "nowhere", "--breaker", "auto");
}

static int post(struct stack *s, const char *path, const char *body)
{
  json_t *answer = NULL;
  int status = http_json(s->reconciler_port, "POST", path, body, &answer);
  json_decref(answer);
  return status;
}

static void commands_and_calls_say_what_is_wrong(void **state)
{
  struct stack *s = ((struct protection_rig *)*state)->stack;
  const struct {
    const char *args[8];
    int status;
  } commands[] = {
      {{"providers", "pause", "simulator", NULL}, 64},
      {{"providers", "pause", "simulator", "--reason", "x", "--until", "tomorrow", NULL}, 64},
      {{"providers", "pause", "simulator", "--reason", "x", "--until", "2020-01-01T00:00:00Z", NULL}, 64},
      {{"providers", "pause", "nobody", "--reason", "x", NULL}, 65},
      {{"providers", "history", "nobody", NULL}, 65},
      {{"providers", "set", "simulator", "--reason", "x", NULL}, 64},
      {{"providers", "set", "simulator", "--rate", "fast", "--reason", "x"}, 64},
      {{"providers", "list", "--format", "json", NULL}, 0},
      {{"providers", "list", "--configured", NULL}, 0},
      {{"providers", "history", "simulator", "--limit", "1", NULL}, 0},
  };
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    const char *args[10] = {0};
    struct buf out;
    memcpy(args, commands[i].args, sizeof commands[i].args);
    buf_init(&out, 65536);
    int status = stack_command(s, "fulfiller", args, &out);
    if (status != commands[i].status) fail_msg("%s %s: %d: %s", args[1], args[2], status, buf_text(&out));
    buf_release(&out);
  }
  assert_int_equal(post(s, "/v1/providers/nobody/pause", "{}"), 404);
  assert_int_equal(post(s, "/v1/providers/simulator/pause", "{\"until\":\"soon\"}"), 400);
  assert_int_equal(post(s, "/v1/providers/simulator/pause", "{\"untill\":\"5s\"}"), 400);
  assert_int_equal(post(s, "/v1/providers/simulator/set", "{}"), 400);
  assert_int_equal(post(s, "/v1/providers/simulator/set", "{\"concurrency\":0}"), 400);
  assert_int_equal(post(s, "/v1/providers/simulator/set", "{\"concurrency\":\"8\"}"), 400);
  assert_int_equal(post(s, "/v1/providers/simulator/set", "{\"concurrency\":null,\"rate\":null}"), 200);
  assert_int_equal(post(s, "/v1/providers/simulator/resume", NULL), 200);
  json_t *list = NULL;
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/providers", NULL, &list), 200);
  assert_int_equal(json_array_size(json_object_get(list, "items")), 4);
  json_decref(list);
  // Of the case before.
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/providers/nowhere/history?limit=1", NULL, &list), 200);
  assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
  assert_true(json_is_string(json_object_get(json_array_get(json_object_get(list, "items"), 0), "id")));
  assert_true(json_is_string(json_object_get(list, "next")));
  json_decref(list);
  assert_int_equal(http_json(s->reconciler_port, "GET", "/v1/providers/nobody/history", NULL, &list), 404);
  json_decref(list);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(set_says_what_it_changed),
      cmocka_unit_test(commands_and_calls_say_what_is_wrong),
  };
  return cmocka_run_group_tests(tests, protection_set_up, protection_tear_down);
}
