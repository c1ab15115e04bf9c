// SPDX-License-Identifier: Apache-2.0
// The heap of due items: order, removal of any item, its maximum.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/heap.h"
#include "common/mem.h"

#define MANY 2000

static void items_come_in_order_of_their_due_time(void **state)
{
  (void)state;
  struct heap h;
  heap_init(&h, MANY);
  struct heap_node *nodes = MEM_ARRAY(struct heap_node, MANY);
  uint32_t random = 12345;
  for (int i = 0; i < MANY; i++) {
    random = random * 1664525u + 1013904223u;
    assert_int_equal(heap_add(&h, &nodes[i], (struct mono_time){random % 500}), RESULT_OK);
  }
  int64_t last = -1;
  for (int i = 0; i < MANY; i++) {
    struct heap_node *first = heap_first(&h);
    assert_true(first->due.us >= last);
    last = first->due.us;
    heap_remove(&h, first);
    assert_false(heap_has(first));
  }
  assert_null(heap_first(&h));
  heap_release(&h);
  mem_free(nodes);
}

static void any_item_can_be_removed(void **state)
{
  (void)state;
  struct heap h;
  heap_init(&h, MANY);
  struct heap_node *nodes = MEM_ARRAY(struct heap_node, MANY);
  uint32_t random = 99;
  for (int i = 0; i < MANY; i++) {
    random = random * 1664525u + 1013904223u;
    assert_int_equal(heap_add(&h, &nodes[i], (struct mono_time){random >> 20}), RESULT_OK);
  }
  // Every third goes, in an order that has nothing to do with time; each index must stay right.
  for (int i = 0; i < MANY; i += 3) heap_remove(&h, &nodes[i]);
  for (size_t i = 0; i < h.count; i++) {
    assert_int_equal(h.items[i]->index_plus_1, i + 1);
    if (i > 0) assert_true(h.items[(i - 1) / 2]->due.us <= h.items[i]->due.us);
  }
  for (int i = 0; i < MANY; i++) assert_int_equal(heap_has(&nodes[i]), i % 3 != 0);
  heap_release(&h);
  for (int i = 0; i < MANY; i++) assert_false(heap_has(&nodes[i]));
  mem_free(nodes);
}

static void a_full_heap_says_so(void **state)
{
  (void)state;
  struct heap h;
  struct heap_node a = {0}, b = {0}, c = {0};
  heap_init(&h, 2);
  assert_int_equal(heap_add(&h, &a, (struct mono_time){3}), RESULT_OK);
  assert_int_equal(heap_add(&h, &b, (struct mono_time){2}), RESULT_OK);
  assert_int_equal(heap_add(&h, &c, (struct mono_time){1}), RESULT_FULL);
  assert_false(heap_has(&c));
  assert_ptr_equal(heap_first(&h), &b);
  heap_remove(&h, &b);
  assert_int_equal(heap_add(&h, &c, (struct mono_time){9}), RESULT_OK);
  assert_ptr_equal(heap_first(&h), &a);
  heap_release(&h);
}

static void removing_what_is_not_there_does_nothing(void **state)
{
  (void)state;
  struct heap h;
  struct heap_node a = {0};
  heap_init(&h, 4);
  heap_remove(&h, &a);
  assert_int_equal(heap_add(&h, &a, (struct mono_time){1}), RESULT_OK);
  heap_remove(&h, &a);
  heap_remove(&h, &a);
  assert_null(heap_first(&h));
  heap_release(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items_come_in_order_of_their_due_time),
      cmocka_unit_test(any_item_can_be_removed),
      cmocka_unit_test(a_full_heap_says_so),
      cmocka_unit_test(removing_what_is_not_there_does_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
