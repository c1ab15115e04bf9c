// SPDX-License-Identifier: Apache-2.0
// The ring between the loop and a broker connection: order, bounds, the bell, and two threads at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "common/mq_ring.h"

static bool rings(int bell)
{
  struct pollfd p = {.fd = bell, .events = POLLIN};
  return poll(&p, 1, 0) == 1;
}

static void push_ok(struct mq_ring *r, int n) { assert_int_equal(mq_ring_push(r, &n), RESULT_OK); }

static int pop_one(struct mq_ring *r)
{
  int n = -1;
  return mq_ring_pop(r, &n, 1) == 1 ? n : -1;
}

static void items_come_out_in_order_round_the_end(void **state)
{
  (void)state;
  struct mq_ring r;
  mq_ring_init(&r, sizeof(int), 3, -1);
  for (int i = 0; i < 20; i += 2) {
    push_ok(&r, i);
    push_ok(&r, i + 1);
    assert_int_equal(pop_one(&r), i);
    assert_int_equal(pop_one(&r), i + 1);
  }
  assert_int_equal(pop_one(&r), -1);
  mq_ring_release(&r);
}

static void full_ring_refuses_and_keeps_what_it_has(void **state)
{
  (void)state;
  struct mq_ring r;
  int three[3] = {7, 8, 9};
  mq_ring_init(&r, sizeof(int), 3, -1);
  push_ok(&r, 1);
  assert_int_equal(mq_ring_push_many(&r, three, 3), RESULT_FULL);
  assert_int_equal(mq_ring_push_many(&r, three, 2), RESULT_OK);
  assert_int_equal(mq_ring_push(&r, three), RESULT_FULL);
  assert_int_equal(mq_ring_count(&r), 3);
  int out[8];
  assert_int_equal(mq_ring_pop(&r, out, 8), 3);
  assert_int_equal(out[0], 1);
  assert_int_equal(out[1], 7);
  assert_int_equal(out[2], 8);
  mq_ring_release(&r);
}

static void bell_rings_once_when_something_comes(void **state)
{
  (void)state;
  struct mq_ring r;
  int bell = mq_bell_new();
  mq_ring_init(&r, sizeof(int), 8, bell);
  assert_false(rings(bell));
  push_ok(&r, 1);
  assert_true(rings(bell));
  mq_bell_clear(bell);
  push_ok(&r, 2);
  assert_false(rings(bell));  // the reader has not come back to an empty ring yet
  assert_int_equal(pop_one(&r), 1);
  assert_int_equal(pop_one(&r), 2);
  push_ok(&r, 3);
  assert_true(rings(bell));
  assert_int_equal(mq_ring_push_many(&r, NULL, 0), RESULT_OK);
  mq_ring_release(&r);
  close(bell);
}

static void growing_keeps_order(void **state)
{
  (void)state;
  struct mq_ring r;
  mq_ring_init(&r, sizeof(int), 3, -1);
  for (int i = 0; i < 3; i++) push_ok(&r, i);
  assert_int_equal(pop_one(&r), 0);
  push_ok(&r, 3);  // wraps
  mq_ring_grow(&r, 5);
  mq_ring_grow(&r, 2);  // never shrinks
  push_ok(&r, 4);
  push_ok(&r, 5);
  assert_int_equal(mq_ring_push(&r, &(int){6}), RESULT_FULL);
  for (int i = 1; i <= 5; i++) assert_int_equal(pop_one(&r), i);
  mq_ring_release(&r);
}

static bool is_odd(void *ctx, const void *item)
{
  (*(int *)ctx)++;
  return *(const int *)item % 2 == 1;
}

static void removing_keeps_the_others_in_order(void **state)
{
  (void)state;
  struct mq_ring r;
  int asked = 0;
  mq_ring_init(&r, sizeof(int), 4, -1);
  push_ok(&r, 0);
  push_ok(&r, 1);
  assert_int_equal(pop_one(&r), 0);
  for (int i = 2; i <= 4; i++) push_ok(&r, i);  // 1 2 3 4, wrapped
  assert_int_equal(mq_ring_remove(&r, is_odd, &asked), 2);
  assert_int_equal(asked, 4);
  assert_int_equal(pop_one(&r), 2);
  assert_int_equal(pop_one(&r), 4);
  assert_int_equal(pop_one(&r), -1);
  mq_ring_release(&r);
}

enum { MANY = 200000 };

static void *push_many_numbers(void *ring)
{
  struct mq_ring *r = ring;
  for (int i = 0; i < MANY; i++)
    while (mq_ring_push(r, &i) != RESULT_OK) sched_yield();
  return NULL;
}

// The reader sleeps on the bell only: a lost wake-up would hang (poll gives up after 10 s).
static void no_item_and_no_wake_up_is_lost_between_threads(void **state)
{
  (void)state;
  struct mq_ring r;
  int bell = mq_bell_new(), expected = 0, out[64];
  mq_ring_init(&r, sizeof(int), 128, bell);
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, push_many_numbers, &r), 0);
  while (expected < MANY) {
    struct pollfd p = {.fd = bell, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10000), 1);
    mq_bell_clear(bell);
    size_t n;
    while ((n = mq_ring_pop(&r, out, 64)) > 0)
      for (size_t i = 0; i < n; i++) assert_int_equal(out[i], expected++);
  }
  pthread_join(writer, NULL);
  mq_ring_release(&r);
  close(bell);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items_come_out_in_order_round_the_end),
      cmocka_unit_test(full_ring_refuses_and_keeps_what_it_has),
      cmocka_unit_test(bell_rings_once_when_something_comes),
      cmocka_unit_test(growing_keeps_order),
      cmocka_unit_test(removing_keeps_the_others_in_order),
      cmocka_unit_test(no_item_and_no_wake_up_is_lost_between_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
