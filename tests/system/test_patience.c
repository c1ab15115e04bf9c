// SPDX-License-Identifier: Apache-2.0
// takes long
// Time as the provider sees it: how long it asks not to be called (B71), an effect that comes when the caller has given
// up (B72), a kept connection that dies under a call (B67), and an order that nobody pays, at a provider that cannot be
// asked. `dedupe` is off: a second POST that takes effect pays again.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define RUNG_MS  1000
#define CAP_MS   12000
#define SLACK_MS 5000  // a rung that comes late, a machine that is busy

// The first rung is shorter than what is asked for, the cap longer. Of payments at simulator-b nobody can ask.
static const char config[] = SWEEPS_SOON
    "fulfiller:\n"
    "  providers:\n"
    "    simulator:\n" SIMULATOR_ELSEWHERE SIMULATOR_DELIVER("") SIMULATOR_INQUIRE
    "      total_timeout: 2s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 4s\n"
    "      ladder: [1s, 8s]\n"
    "      attempts: 6\n"
    "      retry_after_max: 12s\n"
    "    simulator-b:\n" SIMULATOR_ELSEWHERE
    "      request_id_header: Idempotency-Key\n"
    "      charge:\n"
    "        path: /payments\n"
    "        body: '{\"userId\": \"${claim.userId}\", \"amount\": ${claim.amount}, \"currency\": ${reward.currency}}'\n"
    "        answers: {'2xx /status=PENDING': pending, '2xx': unknown}\n"
    "      close:\n"
    "        path: /payments/${claim.requestId}/close\n"
    "        answers: {'2xx /status=CLOSED': done, '2xx': unknown}\n"
    "      total_timeout: 2s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 2s\n"
    "      ladder: [1s]\n";

static int set_up(void **state)
{
  struct server *server = server_start();
  char *path = support_write("patience.yaml", "%s", config);
  struct stack *s = stack_start(server, &(struct stack_options){.config = path, .no_reconciler = true});
  simulator_config(s->simulator_port, "{\"dedupe\":false}");
  mem_free(path);
  *state = s;
  return 0;
}

// --- B71

struct wish {
  const char *name, *value;  // NULL: an HTTP date 10 s ahead
  int64_t at_least_ms, at_most_ms;
};
static const struct wish wishes[] = {
    {"seconds", "7", 7000, 8000 + SLACK_MS},
    {"a date", NULL, 10000, 11000 + SLACK_MS},
    {"a date that is over", "Sun, 06 Nov 1994 08:49:37 GMT", RUNG_MS, RUNG_MS + SLACK_MS},
    {"no time at all", "soon", RUNG_MS, RUNG_MS + SLACK_MS},
    {"for years", "99999999", CAP_MS, CAP_MS + SLACK_MS},
};
#define WISHES (sizeof wishes / sizeof wishes[0])

// From the end of the call that was answered 429 to the beginning of the next.
static int64_t waited_ms(struct stack *s, const char *claim_id)
{
  return sql_int(s->sql,
                 "select (extract(epoch from b.started_at - a.started_at - a.duration_us * interval '1 microsecond') * "
                 "1000)::bigint from largesse.attempt a join largesse.attempt b using (activity_id, claim_id)"
                 " where a.activity_id || '-' || a.claim_id = '%s' and a.attempt = 1 and b.attempt = 2",
                 claim_id);
}

static void the_next_call_comes_when_the_provider_wants_it(void **state)
{
  struct stack *s = *state;
  struct delivery_claim claims[WISHES];
  struct stopwatch watch = stopwatch_start();
  activity_make(s->sql, &(struct activity_terms){.code = "wishes", .stock = 100});
  for (size_t i = 0; i < WISHES; i++) {
    char date[40];
    time_t ahead = time(NULL) + 11;  // a date has no fractions: 10 s at least
    struct tm parts;
    assert_non_null(gmtime_r(&ahead, &parts));
    assert_true(strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0);
    char *steps = support_format("[{\"status\":429,\"effect\":\"none\",\"headers\":{\"Retry-After\":\"%s\"}}]",
                                 wishes[i].value == NULL ? date : wishes[i].value);
    delivery_script(s, 100 + (int64_t)i, steps);
    claims[i] = delivery_claim(s, "wishes", 100 + (int64_t)i);
    mem_free(steps);
  }
  for (size_t i = 0; i < WISHES; i++) {
    const struct wish *w = &wishes[i];
    WAIT_FOR(delivery_is(s, claims[i].id, "succeeded"), 40);
    int64_t waited = waited_ms(s, claims[i].id);
    int64_t at_most = w->at_most_ms + (int64_t)(SLACK_MS * (stopwatch_slowness(&watch) - 1));
    // The date was made before its call: what was left of it then is what counts.
    int64_t at_least = w->value == NULL ? w->at_least_ms - 1500 : w->at_least_ms;
    if (waited < at_least || waited > at_most)
      fail_msg("Retry-After of %s: called again after %lld ms, not within %lld and %lld", w->name, (long long)waited,
               (long long)at_least, (long long)at_most);
    assert_int_equal(delivery_effects(s, claims[i].id), 1);
    assert_int_equal(delivery_hits(s, claims[i].id), 2);
  }
}

// --- B72

static void an_effect_behind_the_time_out_is_one_effect(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "behind", .stock = 1});
  delivery_script(s, 200, "[{\"delayMs\":3000,\"effect\":\"after\"}]");
  struct delivery_claim claim = delivery_claim(s, "behind", 200);
  // Given up after 2 s, the provider commits at 3 s: nobody says that it failed, and nothing is given back.
  WAIT_FOR(delivery_int(s, claim.id, "(outcome = 'unknown')::int") == 1, 10);
  assert_true(delivery_is(s, claim.id, "issuing"));
  assert_int_equal(activity_remaining(s->sql, "behind"), 0);
  struct claim_click other = claim_click(s->scheduler_ports[0], "behind", 201, "behind-201");
  assert_int_equal(claim_send(&other).status, 409);
  WAIT_FOR(delivery_is(s, claim.id, "succeeded"), 30);
  assert_int_equal(delivery_hits(s, claim.id), 1);  // it was asked for its status, not again for the money
  assert_int_equal(delivery_effects(s, claim.id), 1);
  assert_true(simulator_stat(s->simulator_port, "inquiries") > 0);
  assert_int_equal(activity_remaining(s->sql, "behind"), 0);
}

// --- B67

static void a_kept_connection_that_dies_is_no_second_payment(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "kept", .stock = 100});
  for (int64_t i = 0; i < 5; i++) {
    // One after the other, so that the second call goes over the connection of the first.
    struct delivery_claim first = delivery_claim(s, "kept", 300 + 2 * i);
    WAIT_FOR(delivery_is(s, first.id, "succeeded"), 20);
    delivery_script(s, 301 + 2 * i, "[{\"close\":true}]");  // read fully, paid, and closed without an answer
    struct delivery_claim second = delivery_claim(s, "kept", 301 + 2 * i);
    WAIT_FOR(delivery_is(s, second.id, "succeeded"), 20);
    assert_int_equal(delivery_hits(s, second.id), 1);
    assert_int_equal(delivery_effects(s, second.id), 1);
    assert_int_equal(delivery_effects(s, first.id), 1);
  }
}

// --- what nobody pays

static char *order_of(struct stack *s, const char *code)
{
  return sql_text(
      s->sql,
      "select concat_ws(' ', c.status, c.payment, (select string_agg(t.step || ' ' || t.outcome, ', ' order "
      "by t.attempt, t.call) from largesse.attempt t where t.claim_id = c.id and t.step = 'close'), (select "
      "count(*) from largesse.dead_letter d where d.claim_id = c.id)) from largesse.claim c join "
      "largesse.activity a on a.id = c.activity_id where a.code = '%s'",
      code);
}

// As long as there is no certainty it is tried again, on the ladder.
static void an_order_that_nobody_can_ask_about_is_closed_all_the_same(void **state)
{
  struct stack *s = *state;
  char *made = sql_text(
      s->sql,
      "select p.outcome || coalesce(p.detail, '') from largesse.activity_put(jsonb_build_object('code', 'unasked', "
      "'name', 'n', 'kind', 'number', 'timeZone', 'UTC', 'holdFor', '1s', 'startAt', now() - interval '1 hour', "
      "'endAt', now() + interval '1 hour', 'stock', '{}'::jsonb, 'price', '{\"amount\": 500, \"currency\": "
      "\"JPY\"}'::jsonb, 'paymentProvider', 'simulator-b'), 'test', null) p");
  assert_string_equal(made, "created");
  mem_free(made);
  sql_exec(s->sql, "select largesse.numbers_add('unasked', null, 1, 1, 'test')");
  sql_exec(s->sql, "select largesse.activity_action('unasked', 'publish', 'test', null, null)");
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":400,\"call\":\"close\"},\"steps\":[{\"status\":503,\"effect\":\"none\"}]}");
  struct claim_click click = claim_click(s->scheduler_ports[0], "unasked", 400, "unasked-400");
  click.numbers = "[1]";
  assert_int_equal(claim_send(&click).status, 201);
  char *order = NULL;
  WAIT_FOR((mem_free(order), order = order_of(s, "unasked"), strstr(order, "close done") != NULL), 20);
  assert_memory_equal(order, "expired closed close unknown, ", 30);
  assert_string_equal(strstr(order, "close done"), "close done 0");
  mem_free(order);
}

static void the_books_agree(void **state) { DELIVERY_BOOKS_AGREE((struct stack *)*state); }

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kept_connection_that_dies_is_no_second_payment),
      cmocka_unit_test(the_next_call_comes_when_the_provider_wants_it),
      cmocka_unit_test(an_effect_behind_the_time_out_is_one_effect),
      cmocka_unit_test(the_books_agree),  // of deliveries
      cmocka_unit_test(an_order_that_nobody_can_ask_about_is_closed_all_the_same),
  };
  return cmocka_run_group_tests_name("patience", tests, set_up, stack_tear_down);
}
