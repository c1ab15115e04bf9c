// SPDX-License-Identifier: Apache-2.0
// Places over two schedulers: signing up and giving up, the waiting list, offers with a deadline, stock that changes in
// a rush. Never more than there is, strictly in order, nobody twice. Field cases B08, B15.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define ROUNDS       50
#define TRIES        5000  // of each caller: most find the place taken by another
#define CALLERS      3
#define WAITERS      100
#define LEAVERS      30
#define FLOOD        1500
#define RUSH_CALLERS 4
#define RUSH_CLAIMS  150

static int set_up(void **state)
{
  static struct stack_options options = {
      .schedulers = 2, .no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  *state = stack_start(server_start(), &options);
  return 0;
}

static int port_of(const struct stack *s, int i) { return s->scheduler_ports[i % s->scheduler_count]; }

// A running registration without a reward; more: further members.
static void make(struct stack *s, const char *code, int places, int segments, const char *more)
{
  char *path = support_format("/v1/activities/%s", code);
  char *body = support_format(
      "{\"name\":\"places\",\"kind\":\"registration\",\"startAt\":\"2020-01-01T00:00:00Z\",\"endAt\":\"2099-01-01T00:"
      "00:"
      "00Z\",\"timeZone\":\"Asia/Shanghai\",\"stock\":{\"total\":%d,\"segments\":%d}%s}",
      places, segments, more);
  json_t *answer = NULL;
  int status = http_json(port_of(s, 0), "PUT", path, body, &answer);
  if (status != 201) fail_msg("%s: %d %s", code, status, json_dumps(answer, JSON_COMPACT));
  json_decref(answer);
  assert_int_equal(activity_act(port_of(s, 0), code, "publish"), 200);
  mem_free(body);
  mem_free(path);
}

// The status of the answer; its code or the claim's status in word.
static int act(int port, const char *code, const char *biz_id, const char *action, const char *body, char word[40])
{
  char *path = support_format("/v1/claims/%s/%s/%s", code, biz_id, action);
  json_t *answer = NULL;
  int status = http_json(port, "POST", path, body, &answer);
  const char *text = json_string_value(json_object_get(answer, status < 300 ? "status" : "code"));
  (void)snprintf(word, 40, "%s", text != NULL ? text : "");
  json_decref(answer);
  mem_free(path);
  return status;
}

static void expect_act(int port, const char *code, const char *biz_id, const char *action, int status, const char *word)
{
  char got[40];
  int got_status = act(port, code, biz_id, action, "{}", got);
  if (got_status != status || strcmp(got, word) != 0)
    fail_msg("%s %s: %d %s instead of %d %s", action, biz_id, got_status, got, status, word);
}

static void expect_availability(struct stack *s, const char *code, const char *wanted)
{
  char *path = support_format("/v1/activities/%s", code);
  json_t *answer = NULL;
  assert_int_equal(http_json(port_of(s, 1), "GET", path, NULL, &answer), 200);
  char *got = json_dumps(json_object_get(answer, "availability"), JSON_COMPACT | JSON_SORT_KEYS);
  assert_string_equal(got, wanted);
  free(got);
  json_decref(answer);
  mem_free(path);
}

static void expect_clean_books(struct stack *s, const char *code)
{
  char *faults = sql_table(s->sql,
                           "select d.name, r.* from largesse.activity a, largesse.audit_definition d, "
                           "largesse.audit_run(d.name, a.id) r where a.code = '%s'",
                           code);
  assert_string_equal(faults, "");
  mem_free(faults);
}

// B08, B15, and what the calls answer.
static void who_cancels_frees_a_place_and_may_come_again(void **state)
{
  struct stack *s = *state;
  char word[40];
  make(s, "b08", 2, 1, ",\"limits\":[{\"count\":1,\"period\":\"total\"},{\"count\":1,\"period\":\"day\"}]");
  struct claim_click a = claim_click(port_of(s, 0), "b08", 1, "a-1"),
                     again = claim_click(port_of(s, 1), "b08", 1, "a-2");
  struct claim_click b = claim_click(port_of(s, 1), "b08", 2, "b-1"), c = claim_click(port_of(s, 1), "b08", 3, "c-1");
  struct claim_answer first = claim_send(&a);
  assert_int_equal(first.status, 201);
  assert_string_equal(first.claim_status, "succeeded");
  assert_int_equal(claim_send(&b).status, 201);
  assert_string_equal(claim_send(&again).code, "ALREADY_REGISTERED");
  assert_string_equal(claim_send(&c).code, "SOLD_OUT");
  expect_act(port_of(s, 0), "b08", "a-1", "cancel", 200, "cancelled");
  expect_availability(s, "b08", "{\"held\":0,\"issued\":1,\"remaining\":1,\"total\":2,\"waiting\":0}");
  expect_act(port_of(s, 1), "b08", "a-1", "cancel", 200, "cancelled");
  assert_int_equal(activity_remaining(s->sql, "b08"), 1);
  WAIT_FOR(claim_send(&again).status == 201, 5);  // its scheduler's memory says sold out for a moment
  assert_int_equal(sql_int(s->sql,
                           "select sum(used) from largesse.usage u join largesse.activity a on a.id = u.activity_id "
                           "where a.code = 'b08' and u.user_id = 1 and u.used = 1"),
                   2);
  expect_act(port_of(s, 0), "b08", "b-1", "cancel", 200, "cancelled");
  WAIT_FOR(claim_send(&c).status == 201, 5);
  // The click that was cancelled is still known as what became of it.
  struct claim_answer replay = claim_send(&a);
  assert_true(replay.status == 200 && replay.replayed);
  assert_string_equal(replay.claim_status, "cancelled");

  assert_int_equal(act(port_of(s, 0), "b08", "c-1", "cancel", "{\"reason\":\"ill\"}", word), 200);
  expect_act(port_of(s, 0), "b08", "nobody", "cancel", 404, "CLAIM_NOT_FOUND");
  expect_act(port_of(s, 0), "nowhere", "a-1", "accept", 404, "CLAIM_NOT_FOUND");
  expect_act(port_of(s, 0), "b08", "b-1", "accept", 409, "STATE_CONFLICT");
  assert_int_equal(act(port_of(s, 0), "b08", "a-2", "cancel", "{\"why\":1}", word), 400);
  assert_int_equal(act(port_of(s, 0), "b08", "a-2", "accept", "{\"reason\":\"x\"}", word), 400);
  assert_int_equal(act(port_of(s, 0), "b08", "a-2", "accept", NULL, word), 200);  // it is his already
  expect_clean_books(s, "b08");
}

struct caller {
  struct stack *s;
  atomic_int *accepted;  // of all callers
  int number, strange;
};

// The same user signs up and gives up from three places at once.
static void *register_and_cancel(void *ctx)
{
  struct caller *me = ctx;
  char word[40];
  for (int i = 0; i < TRIES && atomic_load(me->accepted) < ROUNDS; i++) {
    struct claim_click click = claim_click(port_of(me->s, i + me->number), "two", 1, "a-%d-%d", me->number, i);
    struct claim_answer answer = claim_send(&click);
    if (answer.status == 201) {
      (void)atomic_fetch_add(me->accepted, 1);
      if (act(port_of(me->s, i), "two", click.biz_id, "cancel", "{}", word) != 200) me->strange++;
    } else if (answer.status != 409) {
      me->strange++;
    }
  }
  return NULL;
}

static void fifty_rounds_beside_a_kept_place(void **state)
{
  struct stack *s = *state;
  struct caller callers[CALLERS];
  pthread_t threads[CALLERS];
  atomic_int accepted = 0;
  make(s, "two", 2, 1, ",\"limits\":[]");
  struct claim_click b = claim_click(port_of(s, 0), "two", 2, "b");
  assert_int_equal(claim_send(&b).status, 201);
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (struct caller){.s = s, .accepted = &accepted, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, register_and_cancel, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(callers[i].strange, 0);
  }
  assert_true(accepted >= ROUNDS);
  // Each claim held its place from when it was made until it was cancelled: at no time were there more than two.
  assert_int_equal(
      sql_int(s->sql,
              "select max(held) from (select sum(change) over (order by at, change) as held from ("
              "  select c.created_at as at, c.quantity as change from largesse.claim c join largesse.activity a on "
              "a.id = c.activity_id where a.code = 'two' union all"
              "  select c.updated_at, -c.quantity from largesse.claim c join largesse.activity a on a.id = "
              "c.activity_id where a.code = 'two' and c.status = 'cancelled') e) h"),
      2);
  assert_int_equal(activity_claims(s->sql, "two"), accepted + 1);
  expect_availability(s, "two", "{\"held\":0,\"issued\":1,\"remaining\":1,\"total\":2,\"waiting\":0}");
  expect_clean_books(s, "two");
}

// 100 who wait, for one to three places each; 30 of 60 give up at the same moment.
static void thirty_leave_at_once_and_the_first_move_up(void **state)
{
  struct stack *s = *state;
  struct claim_click clicks[WAITERS];
  struct claim_answer answers[WAITERS];
  struct http_request requests[LEAVERS];
  struct http_answer done[LEAVERS];
  make(s, "list", 60, 1,
       ",\"limits\":[{\"count\":3,\"period\":\"total\"}],\"waitingList\":{\"max\":100,\"acceptWithin\":\"1h\"}");
  for (int i = 0; i < 60; i++) clicks[i] = claim_click(port_of(s, i), "list", i + 1, "p-%d", i);
  claim_send_all(clicks, 60, answers);
  assert_int_equal(claim_count(answers, 60, 201, NULL), 60);
  for (int i = 0; i < WAITERS; i++) {
    clicks[i] = claim_click(port_of(s, i), "list", 1000 + i, "w-%d", i);
    clicks[i].quantity = 1 + i % 3;
  }
  claim_send_all(clicks, WAITERS, answers);
  for (int i = 0; i < WAITERS; i++) assert_string_equal(answers[i].claim_status, "waiting");
  clicks[0] = claim_click(port_of(s, 0), "list", 5000, "late");
  assert_string_equal(claim_send(&clicks[0]).code, "SOLD_OUT");  // the list is full
  clicks[0] = claim_click(port_of(s, 1), "list", 1007, "twice");
  assert_string_equal(claim_send(&clicks[0]).code, "ALREADY_REGISTERED");

  char *paths[LEAVERS];
  for (int i = 0; i < LEAVERS; i++) {
    paths[i] = support_format("/v1/claims/list/p-%d/cancel", i * 2);
    requests[i] = (struct http_request){.port = port_of(s, i / 2), .path = paths[i], .body = "{}"};
  }
  http_call_all(requests, LEAVERS, done);
  for (int i = 0; i < LEAVERS; i++) {
    assert_int_equal(done[i].status, 200);
    http_answer_release(&done[i]);
    mem_free(paths[i]);
  }
  // 30 places: those in front, by the order of the list, until the next does not fit.
  char *wrong =
      sql_table(s->sql,
                "with list as (select c.user_id, c.status, sum(c.quantity) over (order by c.created_at, c.id) as upto"
                "  from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'list' and "
                "c.user_id >= 1000) select * from list where (upto <= 30) <> (status = 'offered')");
  assert_string_equal(wrong, "");
  mem_free(wrong);
  int64_t held = sql_int(s->sql, "select sum(c.quantity) from largesse.claim c where c.status = 'offered'");
  assert_true(held >= 28 && held <= 30);
  expect_clean_books(s, "list");

  // What nobody accepts goes to the next, whichever scheduler sees it; who accepts in time keeps it.
  char *first = sql_text(s->sql, "select biz_id from largesse.claim where status = 'offered' order by id limit 1");
  expect_act(port_of(s, 1), "list", first, "accept", 200, "succeeded");
  mem_free(first);
  int64_t offers = sql_int(s->sql, "select count(*) from largesse.claim where status = 'offered'");
  sql_exec(s->sql, "update largesse.claim set deadline = now() - interval '1 second' where status = 'offered'");
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'expired'") == offers, 10);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'offered' and deadline > now()") >=
               offers - 1,
           10);
  expect_clean_books(s, "list");
}

// Many places at once for many who wait: in steps of at most a hundred, in order, each once, by both schedulers.
static void places_for_all_come_in_steps(void **state)
{
  struct stack *s = *state;
  json_t *answer = NULL;
  make(s, "flood", 0, 1, ",\"limits\":[],\"waitingList\":{\"max\":100000}");
  sql_exec(s->sql,
           "begin;"
           "insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, biz_id, status)"
           "  select a.id, n, now(), now(), 1, 'f-' || n, 'waiting' from largesse.activity a, generate_series(1, %d) n "
           "where a.code = 'flood';"
           "insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity) select c.activity_id, c.id, "
           "c.user_id, 1"
           "  from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'flood' order by "
           "c.user_id;"
           "update largesse.stock s set waiting = %d from largesse.activity a where a.code = 'flood' and s.activity_id "
           "= a.id;"
           "commit",
           FLOOD, FLOOD);
  assert_int_equal(http_json(port_of(s, 0), "POST", "/v1/activities/flood/stock-adjustments",
                             "{\"key\":\"k\",\"by\":10000,\"reason\":\"a bigger hall\"}", &answer),
                   200);
  json_decref(answer);
  // Who comes meanwhile stands behind those who wait, or gets a place after the last of them.
  struct claim_click late = claim_click(port_of(s, 1), "flood", FLOOD + 1, "late");
  assert_int_equal(claim_send(&late).status, 201);
  WAIT_FOR(sql_int(s->sql,
                   "select s.waiting from largesse.stock s join largesse.activity a on a.id = s.activity_id where "
                   "a.code = 'flood'") == 0,
           20);
  char *steps = sql_table(s->sql,
                          "select case when max(n) <= 100 and bool_and(in_order) then 'well' else 'wrong' end from ("
                          "  select count(*) as n, coalesce(min(c.user_id) > max(max(c.user_id)) over (order by "
                          "c.updated_at rows between unbounded preceding and 1 "
                          "preceding), true) as in_order"
                          "    from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = "
                          "'flood' and c.biz_id <> 'late' group by c.updated_at) s");
  assert_string_equal(steps, "well\n");
  mem_free(steps);
  expect_availability(s, "flood", "{\"held\":0,\"issued\":1501,\"remaining\":8499,\"total\":10000,\"waiting\":0}");
  expect_clean_books(s, "flood");
}

struct rusher {
  struct stack *s;
  int number;
  _Atomic int accepted, refused, strange;
};

static void *claim_on(void *ctx)
{
  struct rusher *me = ctx;
  for (int i = 0; i < RUSH_CLAIMS; i++) {
    struct claim_click click =
        claim_click(port_of(me->s, i), "rush", me->number * 10000 + i + 1, "r-%d-%d", me->number, i);
    struct claim_answer answer = claim_send(&click);
    if (answer.status == 201)
      me->accepted++;
    else if (strcmp(answer.code, "SOLD_OUT") == 0)
      me->refused++;
    else
      me->strange++;
  }
  return NULL;
}

// Stock of a split activity goes up and down while everybody claims: what is free is what the books say.
static void stock_changes_in_a_rush(void **state)
{
  struct stack *s = *state;
  struct rusher callers[RUSH_CALLERS];
  pthread_t threads[RUSH_CALLERS];
  json_t *answer = NULL;
  int64_t total = 100;
  make(s, "rush", 100, 4, "");
  for (int i = 0; i < RUSH_CALLERS; i++) {
    callers[i] = (struct rusher){.s = s, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, claim_on, &callers[i]), 0);
  }
  for (int i = 0; i < 60; i++) {
    int by = i % 3 == 2 ? -15 : 10;
    char *body = support_format("{\"key\":\"k-%d\",\"by\":%d,\"reason\":\"x\"}", i, by);
    int status = http_json(port_of(s, i), "POST", "/v1/activities/rush/stock-adjustments", body, &answer);
    assert_true(status == 200 || status == 409);
    if (status == 200) total += by;
    json_decref(answer);
    answer = NULL;
    mem_free(body);
  }
  int accepted = 0;
  for (int i = 0; i < RUSH_CALLERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(callers[i].strange, 0);
    accepted += callers[i].accepted;
  }
  assert_int_equal(activity_claims(s->sql, "rush"), accepted);
  assert_int_equal(activity_remaining(s->sql, "rush"), total - accepted);
  expect_clean_books(s, "rush");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_cancels_frees_a_place_and_may_come_again),
      cmocka_unit_test(fifty_rounds_beside_a_kept_place),
      cmocka_unit_test(thirty_leave_at_once_and_the_first_move_up),
      cmocka_unit_test(places_for_all_come_in_steps),
      cmocka_unit_test(stock_changes_in_a_rush),
  };
  return cmocka_run_group_tests_name("registrations", tests, set_up, stack_tear_down);
}
