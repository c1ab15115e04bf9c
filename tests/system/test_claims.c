// SPDX-License-Identifier: Apache-2.0
// Many claims at once over two schedulers: never more than there is, never more than one may, one claim per click, and
// no deadlock between activities. Field cases B01, B03, B06, B18, B79.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/simulator.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLICKS_MAX       200
#define ROUNDS           500
#define DELIVERY_SECONDS 20

static int set_up(void **state)
{
  static struct stack_options options = {.schedulers = 2, .no_reconciler = true};
  struct server *server = server_start();
  *state = stack_start(server, &options);
  return 0;
}

static int port_of(const struct stack *s, size_t i) { return s->scheduler_ports[i % (size_t)s->scheduler_count]; }

static int64_t delivered(struct stack *s, const char *code)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code "
                 "= '%s' and c.status = 'succeeded'",
                 code);
}

// B01: one of the ten has a message of its own and is credited once at the provider.
static void the_last_units_are_sold_once(void **state)
{
  struct stack *s = *state;
  struct claim_click clicks[CLICKS_MAX];
  struct claim_answer answers[CLICKS_MAX];
  activity_make(s->sql, &(struct activity_terms){.code = "b01", .stock = 10});
  simulator_reset(s->simulator_port);
  for (size_t i = 0; i < CLICKS_MAX; i++) clicks[i] = claim_click(port_of(s, i), "b01", (int64_t)i + 1, "b01-%zu", i);
  claim_send_all(clicks, CLICKS_MAX, answers);
  assert_int_equal(claim_count(answers, CLICKS_MAX, 201, NULL), 10);
  assert_int_equal(claim_count(answers, CLICKS_MAX, 409, "SOLD_OUT"), 190);
  assert_int_equal(activity_remaining(s->sql, "b01"), 0);
  assert_int_equal(activity_claims(s->sql, "b01"), 10);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.usage u join largesse.activity a on a.id = u.activity_id "
                           "where a.code = 'b01' and u.used > 0"),
                   10);
  // What stands behind all of it: the table itself refuses less than nothing.
  assert_string_equal(sql_try(s->sql, "update largesse.stock set remaining = remaining - 1 where remaining = 0"),
                      "23514");
  WAIT_FOR(delivered(s, "b01") == 10, DELIVERY_SECONDS);
  assert_int_equal(simulator_stat(s->simulator_port, "effects"), 10);
  for (size_t i = 0; i < CLICKS_MAX; i++)
    if (answers[i].status == 201)
      assert_int_equal(simulator_ledger(s->simulator_port, answers[i].claim_id, "effects"), 1);
}

static void one_user_gets_one_however_he_clicks(void **state)
{
  struct stack *s = *state;
  struct claim_click clicks[CLICKS_MAX];
  struct claim_answer answers[CLICKS_MAX];
  activity_make(s->sql, &(struct activity_terms){.code = "one-user", .stock = 1000});
  for (size_t i = 0; i < CLICKS_MAX; i++) clicks[i] = claim_click(port_of(s, i), "one-user", 77, "one-user-%zu", i);
  claim_send_all(clicks, CLICKS_MAX, answers);
  assert_int_equal(claim_count(answers, CLICKS_MAX, 201, NULL), 1);
  assert_int_equal(claim_count(answers, CLICKS_MAX, 409, "LIMIT_REACHED"), 199);
  assert_int_equal(activity_remaining(s->sql, "one-user"), 999);
  assert_int_equal(activity_claims(s->sql, "one-user"), 1);
  assert_int_equal(sql_int(s->sql, "select sum(used)::bigint from largesse.usage where user_id = 77"), 1);
}

// B18
static void one_click_sent_fifty_times_is_one_claim(void **state)
{
  struct stack *s = *state;
  enum { COPIES = 50 };
  struct claim_click clicks[COPIES];
  struct claim_answer answers[COPIES];
  activity_make(s->sql, &(struct activity_terms){.code = "b18", .stock = 1000, .limits = "[]"});
  for (size_t i = 0; i < COPIES; i++) clicks[i] = claim_click(port_of(s, i), "b18", 5, "b18");
  claim_send_all(clicks, COPIES, answers);
  assert_int_equal(claim_count(answers, COPIES, 201, NULL), 1);
  assert_int_equal(claim_count(answers, COPIES, 200, NULL), 49);
  for (size_t i = 0; i < COPIES; i++) {
    assert_true(answers[i].claim_id[0] != '\0');
    assert_string_equal(answers[i].claim_id, answers[0].claim_id);
    assert_int_equal(answers[i].replayed, answers[i].status == 200);
  }
  assert_int_equal(activity_claims(s->sql, "b18"), 1);
  assert_int_equal(activity_remaining(s->sql, "b18"), 999);
}

// B03: the refusal of a counter is heeded, and leaves nothing behind.
static void refusals_take_nothing(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "b03", .stock = 3});
  static const struct {
    int64_t user;
    int status;
    const char *code;
  } steps[] = {{1, 201, ""}, {1, 409, "LIMIT_REACHED"}, {2, 201, ""}, {3, 201, ""}, {4, 409, "SOLD_OUT"}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    struct claim_click click = claim_click(port_of(s, i), "b03", steps[i].user, "b03-%zu", i);
    struct claim_answer a = claim_send(&click);
    assert_int_equal(a.status, steps[i].status);
    assert_string_equal(a.code, steps[i].code);
  }
  assert_int_equal(activity_claims(s->sql, "b03"), 3);
  assert_int_equal(
      sql_int(
          s->sql,
          "select s.taken from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'b03'"),
      3);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where biz_id in ('b03-1', 'b03-4')"), 0);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.usage u join largesse.activity a on a.id = u.activity_id "
                           "where a.code = 'b03'"),
                   3);
}

// B06: all or nothing.
static void a_quantity_is_not_split(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "b06", .stock = 4, .limits = "[]"});
  static const struct {
    int quantity, status;
    int64_t left;
  } steps[] = {{5, 409, 4}, {4, 201, 0}, {1, 409, 0}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    struct claim_click click = claim_click(port_of(s, i), "b06", (int64_t)i + 1, "b06-%zu", i);
    click.quantity = steps[i].quantity;
    struct claim_answer a = claim_send(&click);
    assert_int_equal(a.status, steps[i].status);
    assert_string_equal(a.code, a.status == 409 ? "SOLD_OUT" : "");
    assert_int_equal(activity_remaining(s->sql, "b06"), steps[i].left);
  }
}

// The last unit goes to one of two who want it at the same moment, again and again.
static void two_never_share_the_last_unit(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "last", .stock = 1, .draft = true});
  activity_multiply(s->sql, "last", 20);
  sql_exec(s->sql,
           "select count(*) from largesse.activity_move(array(select id from largesse.activity where code like "
           "'last-%%'), 'published', 'test', null)");
  for (int round = 1; round <= 20; round++) {
    char code[16];
    (void)snprintf(code, sizeof code, "last-%d", round);
    struct claim_click clicks[8];
    struct claim_answer answers[8];
    for (size_t i = 0; i < 8; i++) clicks[i] = claim_click(port_of(s, i), code, (int64_t)i + 1, "%s-%zu", code, i);
    claim_send_all(clicks, 8, answers);
    assert_int_equal(claim_count(answers, 8, 201, NULL), 1);
    assert_int_equal(claim_count(answers, 8, 409, "SOLD_OUT"), 7);
    assert_int_equal(activity_claims(s->sql, code), 1);
  }
}

struct shopper {
  int port, number;
  const char *codes[2];
  int failures;
  char why[64];
};

static void *shop(void *ctx)
{
  struct shopper *me = ctx;
  struct http_conn conn;
  http_conn_init(&conn, me->port);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    struct claim_click click = claim_click(me->port, me->codes[i % 2], 1, "b79-%d-%d", me->number, i);
    char *body = claim_body(&click);
    struct http_answer answer;
    http_conn_call(&conn, &(struct http_request){.path = "/v1/claims", .body = body}, &answer);
    if (answer.status != 201 && me->failures++ == 0)
      (void)snprintf(me->why, sizeof me->why, "round %d: %d %.40s", i, answer.status, answer.body);
    http_answer_release(&answer);
    mem_free(body);
  }
  http_conn_release(&conn);
  return NULL;
}

// B79: the same rows of two activities, in opposite order, at two schedulers; also one user's counters.
static void opposite_orders_do_not_deadlock(void **state)
{
  struct stack *s = *state;
  const char *limits = "[{\"count\":100000,\"period\":\"total\"},{\"count\":100000,\"period\":\"day\"}]";
  activity_make(s->sql, &(struct activity_terms){.code = "b79-a", .stock = 5000, .limits = limits});
  activity_make(s->sql, &(struct activity_terms){.code = "b79-b", .stock = 5000, .limits = limits});
  struct shopper shoppers[] = {{.port = port_of(s, 0), .number = 0, .codes = {"b79-a", "b79-b"}},
                               {.port = port_of(s, 1), .number = 1, .codes = {"b79-b", "b79-a"}}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, shop, &shoppers[i]), 0);
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 2; i++)
    if (shoppers[i].failures > 0) fail_msg("%d claims failed, first in %s", shoppers[i].failures, shoppers[i].why);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(activity_claims(s->sql, shoppers[0].codes[i]), 2 * ROUNDS);
    assert_int_equal(activity_remaining(s->sql, shoppers[0].codes[i]), 5000 - 2 * ROUNDS);
  }
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.usage u join largesse.activity a on a.id = u.activity_id "
                           "where a.code like 'b79-_' and u.used = %d",
                           2 * ROUNDS),
                   4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_units_are_sold_once),
      cmocka_unit_test(one_user_gets_one_however_he_clicks),
      cmocka_unit_test(one_click_sent_fifty_times_is_one_claim),
      cmocka_unit_test(refusals_take_nothing),
      cmocka_unit_test(a_quantity_is_not_split),
      cmocka_unit_test(two_never_share_the_last_unit),
      cmocka_unit_test(opposite_orders_do_not_deadlock),
  };
  return cmocka_run_group_tests_name("claims", tests, set_up, stack_tear_down);
}
