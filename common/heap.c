// SPDX-License-Identifier: Apache-2.0
// A binary min-heap of due items that know their own index.
// Owned by one module; no thread may share one.
#include "common/heap.h"

#include "common/contract.h"
#include "common/mem.h"

void heap_init(struct heap *h, size_t max_items) { *h = (struct heap){.max = max_items}; }

void heap_release(struct heap *h)
{
  // Nodes that stay behind must not claim to be in a heap that is gone.
  for (size_t i = 0; i < h->count; i++) h->items[i]->index_plus_1 = 0;
  mem_free(h->items);
  *h = (struct heap){.max = h->max};
}

static void place(struct heap *h, size_t index, struct heap_node *node)
{
  h->items[index] = node;
  node->index_plus_1 = index + 1;
}

static void sift_up(struct heap *h, size_t index)
{
  struct heap_node *node = h->items[index];
  while (index > 0) {
    size_t parent = (index - 1) / 2;
    if (!mono_before(node->due, h->items[parent]->due)) break;
    place(h, index, h->items[parent]);
    index = parent;
  }
  place(h, index, node);
}

static void sift_down(struct heap *h, size_t index)
{
  struct heap_node *node = h->items[index];
  for (;;) {
    size_t child = index * 2 + 1;
    if (child >= h->count) break;
    if (child + 1 < h->count && mono_before(h->items[child + 1]->due, h->items[child]->due)) child++;
    if (!mono_before(h->items[child]->due, node->due)) break;
    place(h, index, h->items[child]);
    index = child;
  }
  place(h, index, node);
}

enum result heap_add(struct heap *h, struct heap_node *node, struct mono_time due)
{
  REQUIRE(node->index_plus_1 == 0);
  if (h->count >= h->max) return RESULT_FULL;
  if (h->count == h->cap) {
    size_t cap = h->cap == 0 ? 16 : h->cap * 2;
    if (cap > h->max) cap = h->max;
    h->items = mem_resize(h->items, cap, sizeof(struct heap_node *));
    h->cap = cap;
  }
  node->due = due;
  place(h, h->count++, node);
  sift_up(h, h->count - 1);
  return RESULT_OK;
}

void heap_remove(struct heap *h, struct heap_node *node)
{
  if (node->index_plus_1 == 0) return;
  size_t index = node->index_plus_1 - 1;
  REQUIRE(index < h->count && h->items[index] == node);
  node->index_plus_1 = 0;
  struct heap_node *last = h->items[--h->count];
  if (last == node) return;
  place(h, index, last);
  sift_up(h, index);
  sift_down(h, last->index_plus_1 - 1);
}

struct heap_node *heap_first(const struct heap *h) { return h->count > 0 ? h->items[0] : NULL; }
