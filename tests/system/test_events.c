// SPDX-License-Identifier: Apache-2.0
// News on the message bus: what the scheduler's relay makes of rows in event_out, with and without somebody who
// listens. Owner: nobody; one thread.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "tests/support/broker.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SECONDS 20
#define QUEUE   "probe"

static int set_up(void **state)
{
  static struct stack_options options = {
      .schedulers = 2, .no_reconciler = true, .no_fulfiller = true, .no_simulator = true};
  *state = stack_start(server_start(), &options);
  return 0;
}

static int64_t unsent(struct stack *s) { return sql_int(s->sql, "select count(*) from largesse.event_out"); }

static int64_t seen(struct broker *b) { return broker_count(b, QUEUE); }

// How many of the messages in the queue hold the text.
static int take_all(struct broker *b, const char *text)
{
  struct buf body;
  int found = 0;
  buf_init(&body, 65536);
  while (broker_get(b, QUEUE, &body)) {
    if (strstr(buf_text(&body), text)) found++;
    buf_clear(&body);
  }
  buf_release(&body);
  return found;
}

// Two schedulers relay; each piece of news arrives once in normal running.
static void moves_are_announced_once(void **state)
{
  struct stack *s = *state;
  struct broker *b = broker_open(s->broker_url);
  broker_bind_queue(b, QUEUE, "largesse.events", "activity.#");
  activity_make(s->sql, &(struct activity_terms){.code = "news", .stock = 10});  // published, and ongoing soon after
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.activity where code = 'news' and status = 'ongoing'") == 1,
           SECONDS);
  WAIT_FOR(unsent(s) == 0 && seen(b) >= 2, SECONDS);
  support_sleep(0.5);
  assert_int_equal(seen(b), 2);
  assert_int_equal(take_all(b, "\"news\""), 2);
  broker_close(b);
}

static void nobody_listening_is_fine(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "unheard", .stock = 10});
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.activity where code = 'unheard' and status = 'ongoing'") == 1,
           SECONDS);
  WAIT_FOR(unsent(s) == 0, SECONDS);
}

static void news_waits_for_the_broker(void **state)
{
  struct stack *s = *state;
  server_broker_stop_app(s->server);
  activity_make(s->sql, &(struct activity_terms){.code = "later", .stock = 10});
  struct claim_click click = claim_click(s->scheduler_ports[0], "later", 7, "later-1");
  struct claim_answer answer = claim_send(&click);
  assert_int_equal(answer.status, 201);  // claims do without a broker
  assert_true(unsent(s) > 0);
  server_broker_start_app(s->server);
  WAIT_FOR(unsent(s) == 0, 40);
  struct broker *b = broker_open(s->broker_url);
  // The claim's message was lost with the broker or never left: the sweeper sends it.
  WAIT_FOR(broker_count(b, "largesse.issuing.simulator") >= 1, 40);
  broker_close(b);
}

static void emit(struct stack *s, const char *type, int from, int count, const char *doc)
{
  sql_exec(
      s->sql,
      "select largesse.event_emit('%s', largesse.clock_now(), array_agg('e-' || n), array_agg('s ' || n || '%%\"'), "
      "array_agg('0af7651916cd43dd8448eb211c80319c'::text), array_agg(%s)) from generate_series(%d, %d) n",
      type, doc, from, from + count - 1);
}

static void a_row_holds_many_events(void **state)
{
  struct stack *s = *state;
  struct broker *b = broker_open(s->broker_url);
  struct buf body, headers;
  buf_init(&body, 65536);
  buf_init(&headers, 65536);
  broker_bind_queue(b, "many", "largesse.events", "claim.succeeded");
  emit(s, "claim.succeeded", 1, 3000, "json_build_object('n', n)::text");
  WAIT_FOR(unsent(s) == 0 && broker_count(b, "many") == 3000, SECONDS);
  assert_true(broker_get_all(b, "many", &body, &headers));
  assert_string_equal(buf_text(&body), "{\"n\" : 1}");
  static const char *const lines[] = {"message-id: e-1\n",
                                      "content-type: application/json\n",
                                      "ce-id: e-1\n",
                                      "ce-specversion: 1.0\n",
                                      "ce-source: /largesse/scheduler\n",
                                      "ce-type: claim.succeeded\n",
                                      "ce-subject: s%201%25%22\n",
                                      "\nce-time: 20",
                                      "\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-"};
  for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
    if (strstr(buf_text(&headers), lines[i]) == NULL) fail_msg("no '%s' in %s", lines[i], buf_text(&headers));
  }
  buf_release(&body);
  buf_release(&headers);
  broker_close(b);
}

// B66: a hundred rows that cannot be sent, before a good one; and rows of which one event cannot be sent.
static void b66_what_cannot_be_sent_holds_nobody_back(void **state)
{
  static const char *const list[] = {"events", "parked", "--format", "json", NULL}, *const discard[] = {"events",
                                                                                                        "discard",
                                                                                                        "all", NULL};
  struct stack *s = *state;
  struct broker *b = broker_open(s->broker_url);
  struct buf out;
  buf_init(&out, 1 << 20);
  broker_bind_queue(b, "good", "largesse.events", "claim.#");
  for (int i = 0; i < 100; i++) emit(s, "claim.big", i, 1, "json_build_object('x', repeat('x', 1100000))::text");
  emit(s, "claim.mixed", 200, 20, "json_build_object('x', repeat('x', case n when 205 then 1100000 else 1 end))::text");
  emit(s, "claim.good", 300, 1, "'{}'::text");
  WITHIN(broker_count(b, "good") == 20, 5);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.event_out where parked_at is not null") == 101, 60);
  assert_int_equal(broker_count(b, "good"), 20);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.event_out where tries = 5 and fault = 'too big for a "
                           "message' and cardinality(event_ids) = 1"),
                   101);
  assert_int_equal(stack_command(s, "scheduler", list, &out), 0);
  assert_non_null(strstr(buf_text(&out), "e-205"));
  assert_int_equal(stack_command(s, "scheduler", discard, &out), 0);
  assert_non_null(strstr(buf_text(&out), "101 events are thrown away"));
  assert_int_equal(unsent(s), 0);
  buf_release(&out);
  broker_close(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_are_announced_once),  cmocka_unit_test(nobody_listening_is_fine),
      cmocka_unit_test(a_row_holds_many_events),   cmocka_unit_test(b66_what_cannot_be_sent_holds_nobody_back),
      cmocka_unit_test(news_waits_for_the_broker),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
