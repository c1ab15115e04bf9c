// SPDX-License-Identifier: Apache-2.0
// The clock over two schedulers: each move once, on time and never early, announced once; what was missed while
// everything was down is caught up in order and lets no claim in. Field cases B32, B34 (scaled to 1,000 activities).
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/broker.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

enum { ACTIVITIES = 1000 };

static int set_up(void **state)
{
  // Few rows at a time, so that both schedulers have their share and have to keep out of each other's way.
  static const char *const env[] = {"LARGESSE_SCHEDULER__CLOCK__ROWS=50", "LARGESSE_SCHEDULER__EVENTS__ROWS=100", NULL};
  static struct stack_options options = {.schedulers = 2,
                                         .no_fulfiller = true,
                                         .no_reconciler = true,
                                         .no_simulator = true,
                                         .test_clock = true,
                                         .env = env};
  struct server *server = server_start();
  struct stack *s = stack_start(server, &options);
  for (int i = 0; i < 2; i++) WAIT_FOR(process_log_has(s->schedulers[i], "mq.connected"), 20);
  *state = s;
  return 0;
}

// code-1 … code-1000, published together.
static void make_many(struct stack *s, const char *code, const char *start, const char *end)
{
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = 5, .start = start, .end = end, .draft = true});
  activity_multiply(s->sql, code, ACTIVITIES);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.activity_move(array(select id from largesse.activity where "
                           "code like '%s-%%'), 'published', 'test', null)",
                           code),
                   ACTIVITIES);
}

static int64_t with_status(struct stack *s, const char *code, const char *status)
{
  return sql_int(s->sql, "select count(*) from largesse.activity where code like '%s-%%' and status = '%s'", code,
                 status);
}

// How many of them have exactly this history.
static int64_t with_history(struct stack *s, const char *code, const char *moves)
{
  return sql_int(s->sql,
                 "select count(*) from (select string_agg(h.to_status, ',' order by h.id) as moves from "
                 "largesse.activity_history h"
                 " join largesse.activity a on a.id = h.activity_id where a.code like '%s-%%' group by a.id) m where "
                 "m.moves = '%s'",
                 code, moves);
}

// --- announcements

struct news {
  int ongoing[ACTIVITIES + 1], finished[ACTIVITIES + 1];
  int total, out_of_order;
};

static void take_news(struct broker *b, const char *queue, const char *code, struct news *n)
{
  struct buf body;
  buf_init(&body, 65536);
  for (; broker_get(b, queue, &body); buf_clear(&body)) {
    json_t *json = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, NULL);
    const char *of = json_string_value(json_object_get(json, "code")),
               *status = json_string_value(json_object_get(json, "status"));
    assert_true(of != NULL && status != NULL);
    size_t len = strlen(code);
    if (strncmp(of, code, len) == 0 && of[len] == '-') {
      int32_t number = 0;
      assert_int_equal(text_to_i32(of + len + 1, strlen(of + len + 1), &number), RESULT_OK);
      assert_true(number >= 1 && number <= ACTIVITIES);
      if (strcmp(status, "ongoing") == 0) n->ongoing[number]++;
      if (strcmp(status, "finished") == 0) {
        n->out_of_order += n->ongoing[number] == 0;
        n->finished[number]++;
      }
      n->total += strcmp(status, "published") != 0;
    }
    json_decref(json);
  }
  buf_release(&body);
}

static bool has_news(struct broker *b, const char *queue, const char *code, struct news *n, int total)
{
  take_news(b, queue, code, n);
  return n->total >= total;
}

static bool nothing_is_owed(struct stack *s) { return sql_int(s->sql, "select count(*) from largesse.event_out") == 0; }

// --- cases

#define CODE_BYTES     16
#define LEAD_SECONDS   5
#define LEAD_TRIES_MAX 4

// Published before their instant: a busy machine that needs longer than the lead to make them is given more. Returns
// the seconds it needed.
static double make_before_due(struct stack *s, char out_code[CODE_BYTES])
{
  int lead = LEAD_SECONDS;
  for (int i = 0; i < LEAD_TRIES_MAX; i++, lead *= 2) {
    char start[64];
    (void)snprintf(out_code, CODE_BYTES, "due%d", lead);
    (void)snprintf(start, sizeof start, "now + interval '%d seconds'", lead);
    double begin = support_now();
    make_many(s, out_code, start, "now + interval '1 hour'");
    double took = support_now() - begin;
    if (sql_bool(s->sql, "select largesse.clock_now() < min(start_at) from largesse.activity where code like '%s-%%'",
                 out_code))
      return took;
    // The clock need not move these once more at their end.
    sql_exec(s->sql, "update largesse.activity set status = 'archived' where code like '%s-%%'", out_code);
  }
  fail_msg("a thousand activities are not made in %d s", lead / 2);
  return 0;
}

// B32: every move and every announcement once, at its time.
static void a_thousand_at_one_instant_move_once_each(void **state)
{
  struct stack *s = *state;
  struct broker *b = broker_open(s->broker_url);
  broker_bind_queue(b, "test.due", "largesse.events", "activity.*");
  char code[CODE_BYTES];
  double making = make_before_due(s, code);
  WAIT_FOR(with_status(s, code, "ongoing") == ACTIVITIES, 60);
  assert_int_equal(with_history(s, code, "published,ongoing"), ACTIVITIES);
  double lag = (double)sql_int(s->sql,
                               "select (extract(epoch from max(h.at - a.start_at)) * 1000)::bigint from "
                               "largesse.activity_history h join largesse.activity a on a.id = h.activity_id"
                               " where a.code like '%s-%%' and h.to_status = 'ongoing'",
                               code) /
               1000;
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.activity_history h join largesse.activity a on a.id = h.activity_id"
              " where a.code like '%s-%%' and h.to_status = 'ongoing' and h.at < a.start_at",
              code),
      0);
  print_message("the last of %d moved %.3f s after it was due\n", ACTIVITIES, lag);
  // Moving them is no more work than making them was.
  if (lag > 2 + making) fail_msg("%.3f s, on a machine that made them in %.3f s", lag, making);
  struct news *n = MEM_NEW(struct news);
  WAIT_FOR(has_news(b, "test.due", code, n, ACTIVITIES), 20);
  WAIT_FOR(nothing_is_owed(s), 10);
  take_news(b, "test.due", code, n);
  assert_int_equal(n->total, ACTIVITIES);
  for (int i = 1; i <= ACTIVITIES; i++) assert_int_equal(n->ongoing[i], 1);
  mem_free(n);
  broker_close(b);
}

// What was paused ends too.
static void paused_activities_end(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "paused", .stock = 5, .end = "now + interval '10 minutes'"});
  WAIT_FOR(sql_bool(s->sql, "select status = 'ongoing' from largesse.activity where code = 'paused'"), 5);
  sql_exec(s->sql, "select largesse.activity_action('paused', 'pause', 'test', 'why not', null)");
  sql_exec(s->sql, "select largesse.clock_set(interval '11 minutes')");
  WAIT_FOR(sql_bool(s->sql, "select status = 'finished' from largesse.activity where code = 'paused'"), 5);
  char *moves =
      sql_text(s->sql,
               "select string_agg(h.to_status || ' ' || h.actor, ', ' order by h.id) from largesse.activity_history h"
               " join largesse.activity a on a.id = h.activity_id where a.code = 'paused'");
  assert_string_equal(moves, "draft test, published test, ongoing clock, paused test, finished clock");
  mem_free(moves);
}

static void assert_refused_at_once(struct stack *s, int port, int first)
{
  enum { CLICKS = 25 };
  struct claim_click clicks[CLICKS];
  struct claim_answer answers[CLICKS];
  char codes[CLICKS][24];
  for (int i = 0; i < CLICKS; i++) {
    (void)snprintf(codes[i], sizeof codes[i], "missed-%d", first + i * (ACTIVITIES / CLICKS));
    clicks[i] = claim_click(port, codes[i], i + 1, "missed-%d-%d", first, i);
  }
  struct stopwatch watch = stopwatch_start();
  claim_send_all(clicks, CLICKS, answers);
  double seconds = stopwatch_seconds(&watch);
  char *said = claim_summary(answers, CLICKS);
  if (claim_count(answers, CLICKS, 410, "ENDED") != CLICKS || seconds > 1) fail_msg("%s; %.2f s in all", said, seconds);
  mem_free(said);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim"), 0);
}

// B34
static void three_hours_down_are_caught_up_in_order(void **state)
{
  struct stack *s = *state;
  struct broker *b = broker_open(s->broker_url);
  broker_bind_queue(b, "test.missed", "largesse.events", "activity.*");
  make_many(s, "missed", "now + interval '1 hour'", "now + interval '2 hours'");
  WAIT_FOR(nothing_is_owed(s), 20);
  for (int i = 0; i < 2; i++) assert_int_equal(process_stop(s->schedulers[i], 20), 0);
  sql_exec(s->sql, "select largesse.clock_set(interval '3 hours 11 minutes')");
  assert_int_equal(with_status(s, "missed", "published"), ACTIVITIES);
  stack_start_scheduler(s, 0);
  for (int i = 1; i <= 8; i++) assert_refused_at_once(s, s->scheduler_ports[0], i);
  WAIT_FOR(with_status(s, "missed", "finished") == ACTIVITIES, 15);
  assert_int_equal(with_history(s, "missed", "published,ongoing,finished"), ACTIVITIES);
  struct news *n = MEM_NEW(struct news);
  WAIT_FOR(has_news(b, "test.missed", "missed", n, 2 * ACTIVITIES), 20);
  WAIT_FOR(nothing_is_owed(s), 10);
  take_news(b, "test.missed", "missed", n);
  assert_int_equal(n->total, 2 * ACTIVITIES);
  assert_int_equal(n->out_of_order, 0);
  for (int i = 1; i <= ACTIVITIES; i++) {
    assert_int_equal(n->ongoing[i], 1);
    assert_int_equal(n->finished[i], 1);
  }
  stack_start_scheduler(s, 1);
  assert_refused_at_once(s, s->scheduler_ports[1], 9);
  mem_free(n);
  broker_close(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_at_one_instant_move_once_each),
      cmocka_unit_test(paused_activities_end),
      cmocka_unit_test(three_hours_down_are_caught_up_in_order),
  };
  return cmocka_run_group_tests_name("clock", tests, set_up, stack_tear_down);
}
