// SPDX-License-Identifier: Apache-2.0
// What machines cannot finish: a wallet that always fails, its ladder, and people who send claims round again.
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

#define DELAY_TOLERANCE_MS 900

// Each of the two is announced once, in any order.
static void assert_both_announced(struct broker *b, const struct delivery_claim claims[2])
{
  bool seen[2] = {false};
  for (int i = 0; i < 2; i++) {
    json_t *news = NULL;
    WAIT_FOR((news = delivery_take_dead(b)) != NULL, 5);
    const char *id = json_string_value(json_object_get(news, "claimId"));
    assert_non_null(id);
    size_t which = strcmp(id, claims[0].id) == 0 ? 0 : 1;
    assert_string_equal(id, claims[which].id);
    assert_false(seen[which]);
    seen[which] = true;
    assert_string_equal(json_string_value(json_object_get(news, "provider")), "simulator");
    assert_string_equal(json_string_value(json_object_get(news, "cause")),
                        which == 0 ? "outcome_unknown" : "attempts_used_up");
    assert_int_equal(json_integer_value(json_object_get(news, "attempts")), DELIVERY_ATTEMPTS);
    json_decref(news);
  }
  assert_null(delivery_take_dead(b));
}

// --- a wallet that always fails

static void fail_always(struct stack *s, int64_t user, int status, int times)
{
  char *json =
      support_format("{\"match\":{\"userId\":%lld},\"times\":%d,\"steps\":[{\"status\":%d,\"effect\":\"none\"}]}",
                     (long long)user, times, status);
  simulator_script(s->simulator_port, json);
  mem_free(json);
}

// Each attempt follows the one before by its rung, give or take what the machine needs.
static void assert_ladder(struct stack *s, const char *claim_id, int64_t tolerance_ms)
{
  static const int64_t rungs_ms[DELIVERY_ATTEMPTS] = {0, 800, 1200, 1600};
  for (int i = 2; i <= DELIVERY_ATTEMPTS; i++) {
    int64_t waited = sql_int(s->sql,
                             "select (extract(epoch from b.started_at - a.started_at - a.duration_us * interval '1 "
                             "microsecond') * 1000)::bigint"
                             "  from largesse.attempt a join largesse.attempt b using (activity_id, claim_id)"
                             " where a.activity_id || '-' || a.claim_id = '%s' and a.attempt = %d and b.attempt = %d"
                             " order by a.call desc, b.call limit 1",
                             claim_id, i - 1, i);
    if (waited < rungs_ms[i - 1] || waited > rungs_ms[i - 1] + tolerance_ms)
      fail_msg("claim %s: attempt %d came %lld ms after the one before, not %lld", claim_id, i, (long long)waited,
               (long long)rungs_ms[i - 1]);
  }
}

static int dead_letters(struct stack *s, const char *what, const char *claim_id, struct buf *out)
{
  const char *const list[] = {"dead-letters", "list", "--format", "json", NULL};
  const char *const show[] = {"dead-letters", "show", claim_id, NULL};
  const char *const retry[] = {"dead-letters", "retry", claim_id, "--reason", "the wallet is mended", NULL};
  buf_clear(out);
  return stack_command(s, "reconciler",
                       strcmp(what, "list") == 0   ? list
                       : strcmp(what, "show") == 0 ? show
                                                   : retry,
                       out);
}

static void the_ladder_is_climbed_once_and_ends_with_a_dead_letter(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  activity_make(s->sql, &(struct activity_terms){.code = "dead", .stock = 10});
  struct stopwatch watch = stopwatch_start();
  fail_always(s, 1, 500, DELIVERY_ATTEMPTS);  // nobody can tell, so each attempt asks first
  fail_always(s, 2, 429, DELIVERY_ATTEMPTS);  // certainly no effect
  struct delivery_claim claims[] = {delivery_claim(s, "dead", 1), delivery_claim(s, "dead", 2)};
  // A message that says it has died many times changes nothing (B51).
  char *forged = delivery_message(claims[0].id, 1);
  WAIT_FOR(delivery_int(s, claims[0].id, "(attempts = 1 and lease_until is null)::int") == 1, 5);
  broker_publish_dead(rig->broker, "largesse.retry.800ms", "simulator", forged, strlen(forged), DELIVERY_LANE, 99);
  for (size_t i = 0; i < 2; i++) {
    const char *id = claims[i].id;
    WAIT_FOR(delivery_int(s, id, "(review_since is not null)::int") == 1, 15);
    assert_int_equal(delivery_int(s, id, "attempts"), DELIVERY_ATTEMPTS);
    assert_int_equal(delivery_hits(s, id), DELIVERY_ATTEMPTS);
    assert_int_equal(delivery_effects(s, id), 0);
    assert_true(delivery_is(s, id, "issuing"));
    assert_int_equal(
        sql_int(s->sql,
                "select count(distinct attempt) from largesse.attempt where activity_id || '-' || claim_id = '%s'", id),
        DELIVERY_ATTEMPTS);
    assert_int_equal(sql_int(s->sql,
                             "select count(*) from largesse.dead_letter where activity_id || '-' || claim_id = '%s' "
                             "and closed_at is null",
                             id),
                     1);
    assert_ladder(s, id, (int64_t)(DELAY_TOLERANCE_MS * stopwatch_slowness(&watch)));
    assert_int_equal(dead_letters(s, "list", id, &out), 0);
    assert_non_null(strstr(buf_text(&out), id));
  }
  assert_both_announced(rig->broker, claims);
  assert_int_equal(activity_remaining(s->sql, "dead"), 8);  // a person decides; until then everything is held
  // Sent round again, the claim keeps its request id and is paid once; a second time there is nothing to do.
  assert_int_equal(dead_letters(s, "retry", claims[0].id, &out), 0);
  assert_non_null(strstr(buf_text(&out), "retried"));
  WAIT_FOR(delivery_is(s, claims[0].id, "succeeded"), 10);
  assert_int_equal(delivery_effects(s, claims[0].id), 1);
  assert_int_equal(delivery_hits(s, claims[0].id), DELIVERY_ATTEMPTS + 1);
  (void)dead_letters(s, "retry", claims[0].id, &out);
  if (strstr(buf_text(&out), "already_done") == NULL && strstr(buf_text(&out), "already done") == NULL)
    fail_msg("retry the second time: %s", buf_text(&out));
  assert_int_equal(dead_letters(s, "show", claims[0].id, &out), 0);
  assert_int_equal(delivery_effects(s, claims[0].id), 1);
  assert_int_equal(delivery_hits(s, claims[0].id), DELIVERY_ATTEMPTS + 1);
  mem_free(forged);
  buf_release(&out);
}

static void a_retried_claim_may_climb_the_whole_ladder_again(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  // From the test before: user 2 is still under review. It fails twice more, then the wallet works.
  char *id = sql_text(
      s->sql, "select activity_id || '-' || id from largesse.claim where user_id = 2 and review_since is not null");
  assert_non_null(id);
  fail_always(s, 2, 429, 2);
  assert_int_equal(dead_letters(s, "retry", id, &out), 0);
  WAIT_FOR(delivery_is(s, id, "succeeded"), 15);
  assert_int_equal(delivery_effects(s, id), 1);
  assert_int_equal(delivery_int(s, id, "attempts"), DELIVERY_ATTEMPTS + 3);
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.dead_letter where claim_id is not null and closed_at is null"), 0);
  mem_free(id);
  buf_release(&out);
}

static void the_books_agree(void **state)
{
  struct delivery_rig *rig = *state;
  DELIVERY_BOOKS_AGREE(rig->stack);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ladder_is_climbed_once_and_ends_with_a_dead_letter),
      cmocka_unit_test(a_retried_claim_may_climb_the_whole_ladder_again),
      cmocka_unit_test(the_books_agree),
  };
  return cmocka_run_group_tests_name("dead letters", tests, delivery_set_up, delivery_tear_down);
}
