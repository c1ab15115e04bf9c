// SPDX-License-Identifier: Apache-2.0
// A binary min-heap of due items. Items embed struct heap_node, which knows its index, so any item can be removed.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/clk.h"
#include "common/result.h"

struct heap_node {
  struct mono_time due;
  size_t index_plus_1;  // 0 = not in a heap
};
struct heap {
  struct heap_node **items;
  size_t count, cap, max;
};

void heap_init(struct heap *h, size_t max_items);
void heap_release(struct heap *h);  // the items are the caller's
// RESULT_FULL at the maximum. The node must not be in a heap.
MUST_CHECK enum result heap_add(struct heap *h, struct heap_node *node, struct mono_time due);
void heap_remove(struct heap *h, struct heap_node *node);  // no effect if it is in no heap
static inline bool heap_has(const struct heap_node *node) { return node->index_plus_1 != 0; }
struct heap_node *heap_first(const struct heap *h);  // NULL when empty
