// SPDX-License-Identifier: Apache-2.0
// Messages that nobody can read, and claims that take their worker down: each becomes a dead letter, and the lane goes
// on (B59). Unknown claims in messages are ignored.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define HUGE_BYTES (3 * 1024 * 1024)

struct poison {
  const char *name, *body;
  size_t len;
};
#define TEXT(name, body)         \
  {                              \
    name, body, sizeof(body) - 1 \
  }
static const struct poison poisons[] = {
    TEXT("cut short", "{\"v\":1,\"claims\":["),
    TEXT("no JSON", "good morning"),
    TEXT("empty", ""),
    TEXT("another version", "{\"v\":2,\"claims\":[{\"id\":\"1-1\",\"attempt\":0}]}"),
    TEXT("no claims", "{\"v\":1,\"claims\":[]}"),
    TEXT("a claim id that is none", "{\"v\":1,\"claims\":[{\"id\":\"1'-1\",\"attempt\":0}]}"),
    TEXT("an attempt below zero", "{\"v\":1,\"claims\":[{\"id\":\"1-1\",\"attempt\":-1}]}"),
    TEXT("an attempt beyond 64 bits", "{\"v\":1,\"claims\":[{\"id\":\"1-1\",\"attempt\":9223372036854775808}]}"),
    TEXT("a duplicate key", "{\"v\":1,\"claims\":[{\"id\":\"1-1\",\"id\":\"1-2\",\"attempt\":0}]}"),
    TEXT("NUL and bytes that are no UTF-8", "{\"v\":1,\0\xff\xfe\"claims\":1}"),
    TEXT("an array", "[1,2,3]"),
};

// The lane goes on: a claim made behind the poison is delivered within two seconds (B59).
static void assert_lane_goes_on(struct stack *s, const char *name, int64_t user)
{
  struct delivery_claim claim = delivery_claim(s, "poison", user);
  struct stopwatch watch = stopwatch_start();
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 10);
  double seconds = stopwatch_seconds(&watch);
  if (seconds > 2) fail_msg("%s: the next claim took %.1f s", name, seconds);
}

static int64_t unreadable(struct stack *s)
{
  return sql_int(s->sql, "select count(*) from largesse.dead_letter where claim_id is null");
}

static void unreadable_messages_become_dead_letters_and_the_lane_goes_on(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  int64_t user = 100, expected = 0;
  activity_make(s->sql, &(struct activity_terms){.code = "poison", .stock = 1000});
  for (size_t i = 0; i < sizeof poisons / sizeof poisons[0]; i++) {
    broker_publish(rig->broker, "largesse.fulfilment", "simulator", poisons[i].body, poisons[i].len);
    expected++;
    assert_lane_goes_on(s, poisons[i].name, user++);
    WAIT_FOR(unreadable(s) == expected, 5);
  }
  // More claims than a message may have, and a body that no message has.
  struct buf many;
  buf_init(&many, HUGE_BYTES + 100);
  buf_puts(&many, "{\"v\":1,\"claims\":[");
  for (int i = 1; i <= 101; i++) buf_printf(&many, "%s{\"id\":\"1-%d\",\"attempt\":0}", i > 1 ? "," : "", i);
  buf_puts(&many, "]}");
  broker_publish(rig->broker, "largesse.fulfilment", "simulator", buf_text(&many), many.len);
  while (many.len < HUGE_BYTES) buf_puts(&many, "                                                                ");
  broker_publish(rig->broker, "largesse.fulfilment", "simulator", buf_text(&many), many.len);
  expected += 2;
  assert_lane_goes_on(s, "a huge body", user++);
  WAIT_FOR(unreadable(s) == expected, 5);
  buf_release(&many);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where claim_id is null and (provider <> "
                           "'simulator' or detail is null or cause is null)"),
                   0);
  // Each is announced once.
  int64_t announced = 0;
  json_t *news;
  while ((news = delivery_take_dead(rig->broker)) != NULL) {
    assert_string_equal(json_string_value(json_object_get(news, "cause")), "unreadable_message");
    announced++;
    json_decref(news);
  }
  assert_int_equal(announced, expected);
}

static void unknown_claims_in_messages_are_acknowledged_and_ignored(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  int64_t letters = sql_int(s->sql, "select count(*) from largesse.dead_letter"),
          attempts = sql_int(s->sql, "select count(*) from largesse.attempt");
  int64_t requests = simulator_stat(s->simulator_port, "requests");
  static const char *const ids[] = {"1-1", "9223372036854775807-9223372036854775807", "683000001-999999999"};
  for (size_t i = 0; i < 3; i++) delivery_publish(rig->broker, "simulator", ids[i], 0);
  // Together with a real one that is at another attempt.
  struct delivery_claim claim = delivery_claim(s, "poison", 500);
  delivery_publish(rig->broker, "simulator", claim.id, 7);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 5);
  assert_lane_goes_on(s, "unknown claims", 501);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.dead_letter"), letters);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.attempt"), attempts + 2);
  assert_int_equal(simulator_stat(s->simulator_port, "requests"), requests + 2);
  assert_int_equal(process_stop(s->fulfiller, 10), 0);
  assert_int_equal(broker_count(rig->broker, DELIVERY_LANE), 0);  // nothing was left unacknowledged
}

// A claim that takes its worker down with every call (B59): it comes back as often as its profile allows attempts, then
// a person must look, and what came behind it was never held up for longer than a new start takes.
static void a_claim_that_crashes_its_worker_ends_too(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  stack_start_fulfiller(s);
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":600},\"times\":20,\"steps\":[{\"delayMs\":400,\"effect\":\"none\"}]}");
  struct delivery_claim crasher = delivery_claim(s, "poison", 600);
  struct waiting w = waiting_start(60);
  int64_t calls = 0, user = 601;
  while (delivery_int(s, crasher.id, "(review_since is not null)::int") == 0) {
    if (delivery_hits(s, crasher.id) > calls) {
      calls = delivery_hits(s, crasher.id);
      process_kill(s->fulfiller);
      stack_start_fulfiller(s);
      assert_lane_goes_on(s, "a crash", user++);
    }
    if (calls > DELIVERY_ATTEMPTS) fail_msg("it was called %lld times", (long long)calls);
    if (!waiting_more(&w))
      fail_msg("after %lld calls it still goes round, with %lld attempts", (long long)calls,
               (long long)delivery_int(s, crasher.id, "attempts"));
  }
  assert_true(calls > 1);
  assert_true(delivery_is(s, crasher.id, "issuing"));
  assert_int_equal(delivery_effects(s, crasher.id), 0);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.dead_letter where activity_id || '-' || claim_id = '%s' and "
                           "closed_at is null",
                           crasher.id),
                   1);
}

static void the_books_agree(void **state)
{
  struct delivery_rig *rig = *state;
  DELIVERY_BOOKS_AGREE(rig->stack);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unreadable_messages_become_dead_letters_and_the_lane_goes_on),
      cmocka_unit_test(unknown_claims_in_messages_are_acknowledged_and_ignored),
      cmocka_unit_test(the_books_agree),
      cmocka_unit_test(a_claim_that_crashes_its_worker_ends_too),
  };
  return cmocka_run_group_tests_name("poison", tests, delivery_set_up, delivery_tear_down);
}
