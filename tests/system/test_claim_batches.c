// SPDX-License-Identifier: Apache-2.0
// Batching must not show: the same seeded clicks (duplicates, reused bizIds, users over their limit, mixed quantities,
// the last units) at a scheduler that gathers them and at one that judges them one by one, on a database each: equal
// answers, equal tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SEED 20261129u
#define CODE "batches"
enum { CLICKS = 2000, USERS = 700, STOCK = 1000, WAVE_MAX = 64 };

struct plan {
  struct claim_click clicks[CLICKS];
  struct claim_answer answers[CLICKS];
  bool scarce[CLICKS];  // less was left than it asked for: memory may name the stock where the database names the limit
};
struct run {
  struct stack *stack;
  struct plan *plan;
};

static uint32_t next_random(uint32_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

// One in five is an earlier click again; one in twenty an earlier bizId with another quantity.
static void make_clicks(struct plan *p)
{
  uint32_t random = SEED;
  for (size_t i = 0; i < CLICKS; i++) {
    struct claim_click *c = &p->clicks[i];
    uint32_t kind = next_random(&random) % 20;
    if (i > 0 && kind < 5) {
      *c = p->clicks[next_random(&random) % i];
      if (kind == 4) c->quantity = c->quantity % 3 + 1;
      continue;
    }
    *c = claim_click(0, CODE, (int64_t)(next_random(&random) % USERS) + 1, "c-%zu", i);
    c->quantity = (int)(next_random(&random) % 3) + 1;
    c->channel = next_random(&random) % 2 == 0 ? "APP" : NULL;
  }
}

static bool is_same(const struct claim_click *a, const struct claim_click *b)
{
  return a->user == b->user && a->quantity == b->quantity && strcmp(a->biz_id, b->biz_id) == 0 &&
         a->channel == b->channel;
}

// The clicks from `first` that may be sent together, since their answers do not depend on the order among them: each of
// a user and bizId of its own, or an exact copy of another. Those of a wave may not run out of stock either, except
// when nothing is left.
static size_t wave_from(const struct plan *p, size_t first, int64_t remaining)
{
  size_t count = 0;
  int64_t wanted = 0;
  for (size_t i = first; i < CLICKS && count < WAVE_MAX; i++, count++) {
    const struct claim_click *c = &p->clicks[i];
    wanted += c->quantity;
    if (remaining > 0 && wanted > remaining) break;
    for (size_t k = first; k < i; k++) {
      const struct claim_click *other = &p->clicks[k];
      if (is_same(c, other)) continue;
      if (c->user == other->user || strcmp(c->biz_id, other->biz_id) == 0) return count;
    }
  }
  return count > 0 ? count : 1;
}

static void send_all(struct run *r)
{
  struct plan *p = r->plan;
  for (size_t first = 0; first < CLICKS;) {
    int64_t remaining = activity_remaining(r->stack->sql, CODE);
    size_t count = wave_from(p, first, remaining);
    for (size_t i = first; i < first + count; i++) {
      p->clicks[i].port = r->stack->scheduler_ports[0];
      p->scarce[i] = remaining < p->clicks[i].quantity;
    }
    claim_send_all(&p->clicks[first], count, &p->answers[first]);
    first += count;
  }
}

static double metric(struct stack *s, const char *name)
{
  struct http_answer a;
  http_get(s->scheduler_ports[0], "/metrics", &a);
  char *line = support_format("\n%s ", name);
  const char *at = strstr(a.body, line);
  assert_non_null(at);
  double value = strtod(at + strlen(line), NULL);
  mem_free(line);
  http_answer_release(&a);
  return value;
}

static double rows_per_batch(struct stack *s)
{
  return metric(s, "largesse_claim_batch_rows_sum") / metric(s, "largesse_claim_batch_rows_count");
}

static void start(struct run *r, struct server *server, const char *batch_max_rows)
{
  char *setting = support_format("LARGESSE_SCHEDULER__CLAIMS__BATCH_MAX_ROWS=%s", batch_max_rows);
  const char *env[] = {setting, NULL};
  struct stack_options options = {.no_fulfiller = true, .no_reconciler = true, .no_simulator = true, .env = env};
  r->stack = stack_start(server, &options);
  r->plan = MEM_NEW(struct plan);
  make_clicks(r->plan);
  activity_make(
      r->stack->sql,
      &(struct activity_terms){.code = CODE,
                               .stock = STOCK,
                               .limits = "[{\"count\":3,\"period\":\"total\"},{\"count\":3,\"period\":\"month\"}]"});
  mem_free(setting);
}

static void release(struct run *r)
{
  stack_free(r->stack);
  mem_free(r->plan);
}

// Copies within a wave share one answer between them: the one that was first is 201, whichever it was.
static int64_t answer_of(const struct plan *p, size_t i)
{
  const struct claim_answer *a = &p->answers[i];
  bool is_scarcity = strcmp(a->code, "SOLD_OUT") == 0 || (p->scarce[i] && strcmp(a->code, "LIMIT_REACHED") == 0);
  if (is_scarcity) return 1000;
  if (strcmp(a->code, "LIMIT_REACHED") == 0) return 1001;
  return a->status;
}

static size_t accepted_of(const struct plan *p, const char *biz_id)
{
  size_t n = 0;
  for (size_t i = 0; i < CLICKS; i++) n += p->answers[i].status == 201 && strcmp(p->clicks[i].biz_id, biz_id) == 0;
  return n;
}

static void compare_answers(const struct plan *a, const struct plan *b)
{
  for (size_t i = 0; i < CLICKS; i++) {
    int64_t one = answer_of(a, i), other = answer_of(b, i);
    bool both_have_it = (one == 200 || one == 201) && (other == 200 || other == 201);
    if (one != other && !both_have_it)
      fail_msg("click %zu (%s, user %lld, %d): %d %s in batches, %d %s alone", i, a->clicks[i].biz_id,
               (long long)a->clicks[i].user, a->clicks[i].quantity, a->answers[i].status, a->answers[i].code,
               b->answers[i].status, b->answers[i].code);
    size_t accepted = accepted_of(a, a->clicks[i].biz_id);
    assert_int_equal(accepted, accepted_of(b, b->clicks[i].biz_id));
    assert_true(accepted <= 1);
    if (one == 200) assert_int_equal(accepted, 1);
  }
}

static void compare_tables(struct stack *a, struct stack *b)
{
  static const char *const queries[] = {
      "select biz_id, user_id, quantity, channel, status, step, attempts from largesse.claim order by biz_id",
      "select user_id, period, used, max_used from largesse.usage order by user_id, period",
      "select segment, remaining, taken from largesse.stock order by segment",
      "select max(r.user_id) from largesse.claim r having count(*) <> count(distinct biz_id)"};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    char *one = sql_table(a->sql, "%s", queries[i]), *other = sql_table(b->sql, "%s", queries[i]);
    assert_string_equal(one, other);
    mem_free(one);
    mem_free(other);
  }
}

static void batches_answer_like_one_by_one(void **state)
{
  struct server *server = *state;
  struct run together = {0}, alone = {0};
  start(&together, server, "256");
  start(&alone, server, "1");
  send_all(&together);
  send_all(&alone);
  compare_answers(together.plan, alone.plan);
  compare_tables(together.stack, alone.stack);
  // The clicks did what they are for: every kind of answer came, and the stock is gone to the last unit.
  const struct claim_answer *answers = together.plan->answers;
  assert_true(claim_count(answers, CLICKS, 201, NULL) > 500);
  assert_true(claim_count(answers, CLICKS, 200, NULL) > 100);
  assert_true(claim_count(answers, CLICKS, 409, "LIMIT_REACHED") > 50);
  assert_true(claim_count(answers, CLICKS, 409, "SOLD_OUT") > 50);
  assert_true(claim_count(answers, CLICKS, 422, "BIZ_ID_REUSED") > 20);
  assert_int_equal(activity_remaining(together.stack->sql, CODE), 0);
  assert_true(rows_per_batch(together.stack) > 1.5);
  assert_true(rows_per_batch(alone.stack) < 1.001);
  release(&together);
  release(&alone);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_answer_like_one_by_one),
  };
  return cmocka_run_group_tests_name("claim batches", tests, server_set_up, server_tear_down);
}
