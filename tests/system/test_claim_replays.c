// SPDX-License-Identifier: Apache-2.0
// One click keeps one bizId: repeating it finds the claim again, whatever has happened since; using it for something
// else is refused. And a pause holds from the moment it was answered. Field cases B16, B19, B21; rulings on replays.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define MEMORY_SECONDS 1.5  // answers from memory follow within a second
#define PAUSES         5

static int set_up(void **state)
{
  static struct stack_options options = {.schedulers = 2, .no_reconciler = true, .test_clock = true};
  struct server *server = server_start();
  *state = stack_start(server, &options);
  return 0;
}

static struct claim_answer click_with(int port, const char *code, int64_t user, const char *biz_id, int quantity,
                                      const char *channel)
{
  struct claim_click c = claim_click(port, code, user, "%s", biz_id);
  c.quantity = quantity;
  c.channel = channel;
  return claim_send(&c);
}

// B16, B19: another user, quantity or channel is another request; the first one's answer stays what it was.
static void other_content_under_one_biz_id_is_refused(void **state)
{
  struct stack *s = *state;
  const int *ports = s->scheduler_ports;
  activity_make(s->sql, &(struct activity_terms){.code = "b16", .stock = 100, .limits = "[]"});
  struct claim_answer first = click_with(ports[0], "b16", 1, "k", 1, "APP");
  assert_int_equal(first.status, 201);
  static const struct {
    int64_t user;
    int quantity;
    const char *channel;
  } others[] = {{1, 2, "APP"}, {2, 1, "APP"}, {1, 1, "WEB"}, {1, 1, NULL}, {2, 2, "WEB"}};
  for (size_t i = 0; i < 2 * sizeof others / sizeof *others; i++) {
    struct claim_answer a =
        click_with(ports[i % 2], "b16", others[i / 2].user, "k", others[i / 2].quantity, others[i / 2].channel);
    assert_int_equal(a.status, 422);
    assert_string_equal(a.code, "BIZ_ID_REUSED");
    assert_string_equal(a.claim_id, "");  // nothing of somebody else's claim
  }
  for (int i = 0; i < 2; i++) {
    struct claim_answer again = click_with(ports[i], "b16", 1, "k", 1, "APP");
    assert_int_equal(again.status, 200);
    assert_true(again.replayed);
    assert_string_equal(again.claim_id, first.claim_id);
  }
  // Left out is one.
  struct claim_answer defaulted = click_with(ports[0], "b16", 1, "k", 0, "APP");
  assert_int_equal(defaulted.status, 200);
  // The scope of a bizId is the activity.
  activity_make(s->sql, &(struct activity_terms){.code = "b16-other", .stock = 100, .limits = "[]"});
  struct claim_answer elsewhere = click_with(ports[1], "b16-other", 2, "k", 2, NULL);
  assert_int_equal(elsewhere.status, 201);
  assert_string_not_equal(elsewhere.claim_id, first.claim_id);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'succeeded' and biz_id = 'k'") == 2, 20);
  assert_int_equal(activity_claims(s->sql, "b16"), 1);
  assert_int_equal(activity_remaining(s->sql, "b16"), 99);
}

// Other content that arrives together with the first: one is accepted, the copies of it are replays, the others are
// refused.
static void other_content_at_the_same_moment_is_refused(void **state)
{
  struct stack *s = *state;
  enum { CLICKS = 40 };
  struct claim_click clicks[CLICKS];
  struct claim_answer answers[CLICKS];
  activity_make(s->sql, &(struct activity_terms){.code = "reused", .stock = 100, .limits = "[]"});
  for (size_t i = 0; i < CLICKS; i++) {
    clicks[i] = claim_click(s->scheduler_ports[i % 2], "reused", 1, "one");
    clicks[i].quantity = (int)(i / 2 % 2) + 1;
  }
  claim_send_all(clicks, CLICKS, answers);
  assert_int_equal(claim_count(answers, CLICKS, 201, NULL), 1);
  assert_int_equal(claim_count(answers, CLICKS, 200, NULL), CLICKS / 2 - 1);
  assert_int_equal(claim_count(answers, CLICKS, 422, "BIZ_ID_REUSED"), CLICKS / 2);
  assert_int_equal(activity_claims(s->sql, "reused"), 1);
}

// B21: a refusal is not the end of a click: it may be tried again, and says the same as long as the reason stays.
static void a_refused_click_may_be_tried_again(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "b21", .stock = 0});
  for (int i = 0; i < 3; i++) {
    struct claim_answer a = click_with(s->scheduler_ports[0], "b21", 1, "again", 0, NULL);
    assert_int_equal(a.status, 409);
    assert_string_equal(a.code, "SOLD_OUT");
  }
  char *path = support_format("/v1/activities/%s/stock-adjustments", "b21");
  assert_int_equal(
      http_json(s->scheduler_ports[0], "POST", path, "{\"key\":\"k1\",\"by\":2,\"reason\":\"restock\"}", NULL), 200);
  mem_free(path);
  WITHIN(click_with(s->scheduler_ports[0], "b21", 1, "again", 0, NULL).status == 201, MEMORY_SECONDS);
  WITHIN(click_with(s->scheduler_ports[1], "b21", 2, "fresh", 0, NULL).status == 201, MEMORY_SECONDS);
  assert_int_equal(activity_claims(s->sql, "b21"), 2);
}

enum { WINNERS = 10, CROWD = 50 };

static void repeat_the_winners(struct stack *s, const struct claim_click *clicks, const struct claim_answer *first,
                               const char *status)
{
  for (size_t scheduler = 0; scheduler < 2; scheduler++) {
    size_t replays = 0;
    for (size_t i = 0; i < CROWD; i++) {
      if (first[i].status != 201) continue;
      struct claim_click again = clicks[i];
      again.port = s->scheduler_ports[scheduler];
      struct claim_answer a = claim_send(&again);
      assert_int_equal(a.status, 200);
      assert_true(a.replayed);
      assert_string_equal(a.claim_id, first[i].claim_id);
      assert_string_equal(a.claim_status, status);
      replays++;
    }
    assert_int_equal(replays, WINNERS);
  }
}

static bool is_refused_everywhere(struct stack *s, int status, const char *refusal)
{
  for (size_t i = 0; i < 2; i++) {
    struct claim_answer a = click_with(s->scheduler_ports[i], "winners", 9000, "late", 0, NULL);
    if (a.status != status || strcmp(a.code, refusal) != 0) return false;
  }
  return true;
}

// After sell-out, pause and end the ten find their claims, with their present status; newcomers are refused for the
// present reason.
static void winners_find_their_claims_whatever_happened_since(void **state)
{
  struct stack *s = *state;
  struct claim_click clicks[CROWD];
  struct claim_answer first[CROWD];
  activity_make(s->sql, &(struct activity_terms){.code = "winners", .stock = WINNERS});
  for (size_t i = 0; i < CROWD; i++)
    clicks[i] = claim_click(s->scheduler_ports[i % 2], "winners", (int64_t)i + 1, "w-%zu", i);
  claim_send_all(clicks, CROWD, first);
  assert_int_equal(claim_count(first, CROWD, 201, NULL), WINNERS);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where biz_id like 'w-%%' and status = 'succeeded'") ==
               WINNERS,
           20);
  assert_true(is_refused_everywhere(s, 409, "SOLD_OUT"));
  repeat_the_winners(s, clicks, first, "succeeded");

  assert_int_equal(activity_act(s->scheduler_ports[0], "winners", "pause"), 200);
  WITHIN(is_refused_everywhere(s, 409, "PAUSED"), MEMORY_SECONDS);
  repeat_the_winners(s, clicks, first, "succeeded");
  assert_int_equal(activity_act(s->scheduler_ports[1], "winners", "resume"), 200);

  sql_exec(s->sql, "select largesse.clock_set(interval '2 hours')");
  assert_true(is_refused_everywhere(s, 410, "ENDED"));
  WAIT_FOR(sql_bool(s->sql, "select status = 'finished' from largesse.activity where code = 'winners'"), 5);
  assert_true(is_refused_everywhere(s, 410, "ENDED"));
  repeat_the_winners(s, clicks, first, "succeeded");
  assert_int_equal(activity_claims(s->sql, "winners"), WINNERS);
  assert_int_equal(activity_remaining(s->sql, "winners"), 0);
}

static struct process *start_crowd(struct stack *s)
{
  char *load = support_bin("../bench/load"), *urls[2];
  for (int i = 0; i < 2; i++) urls[i] = support_format("http://127.0.0.1:%d", s->scheduler_ports[i]);
  struct process *p = process_start(&(struct process_spec){
      .name = "crowd",
      .argv = (const char *[]){load, "--url", urls[0], "--url", urls[1], "--activity", "pause", "--connections", "32",
                               "--rate", "600", "--seconds", "60", "--biz-prefix", "p-", NULL}});
  for (int i = 0; i < 2; i++) mem_free(urls[i]);
  mem_free(load);
  return p;
}

// While a crowd clicks at both schedulers: claims are judged at one instant each, and none lies between the
// answer to the pause and the resume.
static void a_pause_holds_from_its_answer(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "pause", .stock = CLAIM_STOCK_UNLIMITED, .limits = "[]"});
  struct process *crowd = start_crowd(s);
  for (int i = 0; i < PAUSES; i++) {
    int64_t seen = activity_claims(s->sql, "pause");
    WAIT_FOR(activity_claims(s->sql, "pause") > seen + 20, 5);
    assert_int_equal(activity_act(s->scheduler_ports[i % 2], "pause", "pause"), 200);
    char *paused = sql_text(s->sql, "select largesse.clock_now()");
    for (size_t k = 0; k < 10; k++) {
      struct claim_answer a = click_with(s->scheduler_ports[k % 2], "pause", 1, "while-paused", 0, NULL);
      assert_int_equal(a.status, 409);
      assert_string_equal(a.code, "PAUSED");
    }
    char *resumed = sql_text(s->sql, "select largesse.clock_now()");
    assert_int_equal(activity_act(s->scheduler_ports[(i + 1) % 2], "pause", "resume"), 200);
    for (int k = 0; k < 2; k++) {
      char biz_id[32];
      (void)snprintf(biz_id, sizeof biz_id, "resumed-%d-%d", i, k);
      WITHIN(click_with(s->scheduler_ports[k], "pause", 1, biz_id, 0, NULL).status == 201, MEMORY_SECONDS);
    }
    assert_int_equal(sql_int(s->sql,
                             "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id"
                             " where a.code = 'pause' and c.created_at between '%s' and '%s'",
                             paused, resumed),
                     0);
    mem_free(paused);
    mem_free(resumed);
  }
  process_kill(crowd);
  process_free(crowd);
  assert_int_equal(
      sql_int(s->sql,
              "select count(*) from largesse.activity_history h join largesse.activity a on a.id = h.activity_id"
              " where a.code = 'pause' and h.to_status = 'paused' and h.reason = 'test'"),
      PAUSES);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_content_under_one_biz_id_is_refused),
      cmocka_unit_test(other_content_at_the_same_moment_is_refused),
      cmocka_unit_test(a_refused_click_may_be_tried_again),
      cmocka_unit_test(winners_find_their_claims_whatever_happened_since),
      cmocka_unit_test(a_pause_holds_from_its_answer),
  };
  return cmocka_run_group_tests_name("claim replays", tests, set_up, stack_tear_down);
}
