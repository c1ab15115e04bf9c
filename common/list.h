// SPDX-License-Identifier: Apache-2.0
// An intrusive doubly linked list: the node lives in the listed struct, so adding and removing never allocate.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct list {
  struct list *prev, *next;
};  // both the head and each node; an unlinked node points to itself

static inline void list_init(struct list *l) { l->prev = l->next = l; }
static inline bool list_is_empty(const struct list *l) { return l->next == l; }
static inline bool list_is_linked(const struct list *node) { return node->next != node; }
static inline void list_add_last(struct list *head, struct list *node)
{
  node->prev = head->prev;
  node->next = head;
  head->prev->next = node;
  head->prev = node;
}
static inline void list_add_first(struct list *head, struct list *node) { list_add_last(head->next, node); }
static inline void list_remove(struct list *node)
{
  node->prev->next = node->next;
  node->next->prev = node->prev;
  list_init(node);
}
// Removes and returns the first node, or NULL.
static inline struct list *list_take_first(struct list *head)
{
  struct list *node = head->next;
  if (node == head) return NULL;
  list_remove(node);
  return node;
}
// Moves all nodes of `from` to the end of `to`.
static inline void list_splice(struct list *to, struct list *from)
{
  if (list_is_empty(from)) return;
  from->next->prev = to->prev;
  to->prev->next = from->next;
  from->prev->next = to;
  to->prev = from->prev;
  list_init(from);
}
// Safe against removal of the current node.
#define LIST_EACH(node, following, head)                                          \
  for (struct list *node = (head)->next, *following = node->next; node != (head); \
       node = following, following = node->next)
