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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_are_announced_once),
      cmocka_unit_test(nobody_listening_is_fine),
      cmocka_unit_test(news_waits_for_the_broker),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
