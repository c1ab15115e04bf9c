// SPDX-License-Identifier: Apache-2.0
// Settled delivery tags: runs, repeated acks, tags far ahead, and a random order against a plain model.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/mq_acks.h"

static void deliver(struct mq_acks *a, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++) assert_true(mq_acks_deliver(a, a->delivered + 1));
}

static void contiguous_tags_are_one_run(void **state)
{
  (void)state;
  struct mq_acks a;
  size_t singles;
  mq_acks_init(&a);
  deliver(&a, 6);
  uint64_t tags[] = {3, 1, 2, 5};
  for (size_t i = 0; i < 4; i++) assert_true(mq_acks_settle(&a, tags[i]));
  assert_int_equal(mq_acks_run(&a, tags, 4, &singles), 3);
  assert_int_equal(singles, 1);
  assert_int_equal(tags[0], 5);
  uint64_t next[] = {4};
  assert_true(mq_acks_settle(&a, 4));
  assert_int_equal(mq_acks_run(&a, next, 1, &singles), 4);  // not 5: that one was acked by itself before
  assert_int_equal(singles, 0);
  assert_int_equal(a.floor, 5);
  mq_acks_release(&a);
}

static void a_tag_is_settled_once(void **state)
{
  (void)state;
  struct mq_acks a;
  size_t singles;
  mq_acks_init(&a);
  deliver(&a, 3);
  assert_false(mq_acks_settle(&a, 0));
  assert_false(mq_acks_settle(&a, 4));
  assert_true(mq_acks_settle(&a, 1));
  assert_false(mq_acks_settle(&a, 1));
  assert_int_equal(mq_acks_run(&a, (uint64_t[]){1}, 1, &singles), 1);
  assert_false(mq_acks_settle(&a, 1));
  assert_true(mq_acks_settle(&a, 3));
  assert_false(mq_acks_settle(&a, 3));
  mq_acks_release(&a);
}

static void broken_numbering_is_noticed(void **state)
{
  (void)state;
  struct mq_acks a;
  mq_acks_init(&a);
  assert_true(mq_acks_deliver(&a, 1));
  assert_false(mq_acks_deliver(&a, 1));
  assert_false(mq_acks_deliver(&a, 3));
  mq_acks_reset(&a);
  assert_false(mq_acks_deliver(&a, 2));
  assert_true(mq_acks_deliver(&a, 1));
  mq_acks_release(&a);
}

// One delivery hangs while tens of thousands pass it: acks stay right, only not in runs.
static void a_very_late_ack_ends_runs_but_nothing_else(void **state)
{
  (void)state;
  struct mq_acks a;
  size_t singles;
  mq_acks_init(&a);
  deliver(&a, 3 * MQ_ACKS_WINDOW);
  for (uint64_t tag = 2; tag <= 3 * MQ_ACKS_WINDOW; tag++) {
    uint64_t one[] = {tag};
    assert_true(mq_acks_settle(&a, tag));
    assert_int_equal(mq_acks_run(&a, one, 1, &singles), 0);
    assert_int_equal(singles, 1);
  }
  uint64_t late[] = {1};
  assert_true(mq_acks_settle(&a, 1));
  assert_int_equal(mq_acks_run(&a, late, 1, &singles), 0);
  assert_int_equal(singles, 1);
  mq_acks_release(&a);
}

// What the broker would have: a multiple ack settles every open tag up to its own, and its own must be open.
enum { MODEL_TAGS = 5000 };
struct model {
  bool open[MODEL_TAGS + 1];
};

static void model_ack(struct model *m, uint64_t tag, bool multiple)
{
  assert_true(m->open[tag]);
  for (uint64_t t = multiple ? 1 : tag; t <= tag; t++) m->open[t] = false;
}

static void random_order_acks_exactly_what_was_asked(void **state)
{
  (void)state;
  static struct model broker, wanted;
  struct mq_acks a;
  mq_acks_init(&a);
  srandom(7);
  uint64_t order[MODEL_TAGS], tags[64];
  for (uint64_t i = 0; i < MODEL_TAGS; i++) order[i] = i + 1;
  for (size_t i = 0; i + 50 < MODEL_TAGS; i++) {  // neighbours change places
    size_t j = i + (size_t)random() % 50;
    uint64_t t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  deliver(&a, MODEL_TAGS);
  memset(broker.open, 1, sizeof broker.open);
  memset(wanted.open, 1, sizeof wanted.open);
  for (size_t at = 0; at < MODEL_TAGS;) {
    size_t count = 0, singles, batch = 1 + (size_t)random() % 64;
    for (; count < batch && at < MODEL_TAGS; at++) {
      if (!mq_acks_settle(&a, order[at])) fail();
      wanted.open[order[at]] = false;
      if (order[at] % 7 == 0)
        broker.open[order[at]] = false;  // requeued: sent at once, by itself
      else
        tags[count++] = order[at];
    }
    uint64_t highest = mq_acks_run(&a, tags, count, &singles);
    if (highest != 0) model_ack(&broker, highest, count - singles > 1);
    for (size_t i = 0; i < singles; i++) model_ack(&broker, tags[i], false);
    assert_memory_equal(broker.open + 1, wanted.open + 1, MODEL_TAGS);
  }
  assert_int_equal(a.floor, MODEL_TAGS);
  mq_acks_release(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contiguous_tags_are_one_run),
      cmocka_unit_test(a_tag_is_settled_once),
      cmocka_unit_test(broken_numbering_is_noticed),
      cmocka_unit_test(a_very_late_ack_ends_runs_but_nothing_else),
      cmocka_unit_test(random_order_acks_exactly_what_was_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
