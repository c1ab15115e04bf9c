// SPDX-License-Identifier: Apache-2.0
// Exchanges of points for rewards: nobody spends a point twice, and what cannot be delivered gives its points back
// once.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define PARALLEL       20
#define SETTLED_WITHIN 20

static int set_up(void **state)
{
  struct delivery_rig *rig = MEM_NEW(struct delivery_rig);
  rig->server = server_start();
  rig->stack = delivery_stack(rig->server, &(struct stack_options){.schedulers = 2, .no_reconciler = true});
  *state = rig;
  return 0;
}

static int tear_down(void **state)
{
  struct delivery_rig *rig = *state;
  stack_free(rig->stack);
  server_free(rig->server);
  mem_free(rig);
  return 0;
}

// --- set-up

static void call(struct stack *s, const char *method, const char *path, const char *body, int status)
{
  int got = http_json(s->scheduler_ports[0], method, path, body, NULL);
  if (got != status) fail_msg("%s %s: %d, expected %d", method, path, got, status);
}

// Opens for both schedulers.
static void make_exchange(struct stack *s, const char *code, int64_t cost)
{
  char *path = support_format("/v1/activities/%s", code), *publish = support_format("/v1/activities/%s/publish", code);
  char *body = support_format(
      "{\"name\":\"Coupons\",\"kind\":\"exchange\",\"startAt\":\"2020-01-01T00:00:00Z\",\"endAt\":\"2099-01-01T00:00:"
      "00Z\","
      "\"timeZone\":\"Asia/"
      "Shanghai\",\"rewardCode\":\"coupon\",\"pointsCost\":%lld,\"stock\":{\"total\":100},\"limits\":[]}",
      (long long)cost);
  int reward = http_json(s->scheduler_ports[0], "PUT", "/v1/rewards/coupon",
                         "{\"provider\":\"simulator\",\"amount\":{\"amount\":100,\"currency\":\"CNY\"}}", NULL);
  assert_true(reward == 201 || reward == 200);
  call(s, "PUT", path, body, 201);
  call(s, "POST", publish, "{}", 200);
  mem_free(path);
  mem_free(publish);
  mem_free(body);
}

static void grant(struct stack *s, int64_t user, const char *key, int64_t amount)
{
  char *path = support_format("/v1/users/%lld/points", (long long)user);
  char *body = support_format("{\"bizId\":\"%s\",\"amount\":%lld,\"reason\":\"test\"}", key, (long long)amount);
  call(s, "POST", path, body, 200);
  mem_free(path);
  mem_free(body);
}

// --- what came of it

static int64_t balance(struct stack *s, int64_t user)
{
  json_t *json = NULL;
  char *path = support_format("/v1/users/%lld/points", (long long)user);
  assert_int_equal(http_json(s->scheduler_ports[1], "GET", path, NULL, &json), 200);
  int64_t value = json_integer_value(json_object_get(json, "balance")), sum = 0;
  const json_t *entries = json_object_get(json, "entries");
  for (size_t i = 0; i < json_array_size(entries); i++)
    sum += json_integer_value(json_object_get(json_array_get(entries, i), "amount"));
  assert_int_equal(sum, value);  // all entries fit into one page here
  json_decref(json);
  mem_free(path);
  return value;
}

static char *entries_of(struct stack *s, int64_t user)
{
  return sql_text(s->sql,
                  "select string_agg(split_part(key, '/', 1) || ' ' || amount || ' ' || balance, ', ' order by id) "
                  "from largesse.points_entry where user_id = %lld",
                  (long long)user);
}

static void assert_entries(struct stack *s, int64_t user, const char *expected)
{
  char *got = entries_of(s, user);
  assert_string_equal(got, expected);
  mem_free(got);
}

static void assert_clean(struct stack *s)
{
  struct buf out;
  buf_init(&out, 1 << 20);
  int status = stack_command(s, "reconciler", (const char *[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("audit: %s", buf_text(&out));
  buf_release(&out);
}

// --- cases

// B05: twenty exchanges at once for the points of one.
static void points_for_one_coupon_buy_one_coupon(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  struct claim_click clicks[PARALLEL];
  struct claim_answer answers[PARALLEL];
  make_exchange(s, "one", 100);
  grant(s, 1, "g", 100);
  for (int i = 0; i < PARALLEL; i++) clicks[i] = claim_click(s->scheduler_ports[i % 2], "one", 1, "c%d", i);
  claim_send_all(clicks, PARALLEL, answers);
  assert_int_equal(claim_count(answers, PARALLEL, 201, NULL), 1);
  assert_int_equal(claim_count(answers, PARALLEL, 409, "INSUFFICIENT_POINTS"), PARALLEL - 1);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where user_id = 1 and status = 'succeeded'") == 1,
           SETTLED_WITHIN);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim where user_id = 1"), 1);
  assert_int_equal(balance(s, 1), 0);
  assert_entries(s, 1, "grant 100 100, claim -100 0");
  // Its own click is a replay, and costs nothing.
  for (int i = 0; i < PARALLEL; i++) {
    if (answers[i].status != 201) continue;
    struct claim_answer again = claim_send(&clicks[i]);
    assert_true(again.replayed && again.status == 200);
    assert_int_equal(delivery_effects(s, answers[i].claim_id), 1);
  }
  assert_int_equal(balance(s, 1), 0);
}

// A quantity costs so many times; several users at once each spend their own.
static void everybody_spends_what_is_theirs(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  struct claim_click clicks[PARALLEL];
  struct claim_answer answers[PARALLEL];
  make_exchange(s, "several", 10);
  for (int user = 101; user <= 105; user++) grant(s, user, "g", 25);
  for (int i = 0; i < PARALLEL; i++) {
    clicks[i] = claim_click(s->scheduler_ports[i / 5 % 2], "several", 101 + i % 5, "c%d", i);
    clicks[i].quantity = i / 5 == 3 ? 2 : 1;
  }
  claim_send_all(clicks, PARALLEL, answers);
  WAIT_FOR(sql_int(s->sql,
                   "select count(*) from largesse.claim where user_id between 101 and 105 and status = 'issuing'") == 0,
           SETTLED_WITHIN);
  for (int user = 101; user <= 105; user++) {
    assert_int_equal(balance(s, user), 5);
    assert_int_equal(sql_int(s->sql, "select sum(quantity) from largesse.claim where user_id = %d", user), 2);
  }
  assert_int_equal(
      claim_count(answers, PARALLEL, 201, NULL) + claim_count(answers, PARALLEL, 409, "INSUFFICIENT_POINTS"), PARALLEL);
}

// A coupon refused for ever gives its points back once, whoever tells of it again; they can be spent then.
static void a_coupon_refused_for_ever_returns_its_points_once(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  make_exchange(s, "refused", 299);
  grant(s, 7, "g", 300);
  delivery_script(s, 7, "[{\"status\":422,\"effect\":\"none\",\"body\":{\"code\":\"NO_SUCH_COUPON\"}}]");
  struct delivery_claim c = delivery_claim(s, "refused", 7);
  WAIT_FOR(delivery_is(s, c.id, "failed"), SETTLED_WITHIN);
  assert_int_equal(balance(s, 7), 300);
  assert_entries(s, 7, "grant 300 300, claim -299 1, return 299 300");
  // The same news once more, as a late or repeated message would bring it.
  (void)sql_int(s->sql,
                "select count(*) from largesse.claim_move(array[split_part('%s', '-', 1)::bigint], "
                "array[split_part('%s', '-', 2)::bigint], 'failed', null, null, null)",
                c.id, c.id);
  assert_int_equal(balance(s, 7), 300);
  struct claim_click click = claim_click(s->scheduler_ports[1], "refused", 7, "second");
  struct claim_answer a = claim_send(&click);
  assert_int_equal(a.status, 201);
  WAIT_FOR(delivery_is(s, a.claim_id, "succeeded"), SETTLED_WITHIN);
  assert_int_equal(balance(s, 7), 1);
}

// One grant sent twenty times at once counts once; twenty grants count twenty times, beside claims that spend.
static void grants_at_once_count_once_per_key(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  struct http_request requests[2 * PARALLEL];
  struct http_answer answers[2 * PARALLEL];
  static char bodies[2 * PARALLEL][80];
  for (int i = 0; i < 2 * PARALLEL; i++) {
    (void)snprintf(bodies[i], sizeof bodies[i], "{\"bizId\":\"g%d\",\"amount\":3,\"reason\":\"r\"}",
                   i < PARALLEL ? 0 : i);
    requests[i] =
        (struct http_request){.port = s->scheduler_ports[i % 2], .path = "/v1/users/8/points", .body = bodies[i]};
  }
  int replays = 0;
  http_call_all(requests, 2 * PARALLEL, answers);
  for (int i = 0; i < 2 * PARALLEL; i++) {
    char *replayed = http_answer_header(&answers[i], "Idempotent-Replayed");
    assert_int_equal(answers[i].status, 200);
    if (replayed != NULL) replays++;
    mem_free(replayed);
    http_answer_release(&answers[i]);
  }
  assert_int_equal(replays, PARALLEL - 1);
  assert_int_equal(balance(s, 8), 3 * (PARALLEL + 1));
}

static void the_books_agree(void **state)
{
  struct stack *s = ((struct delivery_rig *)*state)->stack;
  DELIVERY_BOOKS_AGREE(s);
  assert_clean(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_for_one_coupon_buy_one_coupon),
      cmocka_unit_test(everybody_spends_what_is_theirs),
      cmocka_unit_test(a_coupon_refused_for_ever_returns_its_points_once),
      cmocka_unit_test(grants_at_once_count_once_per_key),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
