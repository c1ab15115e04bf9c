// SPDX-License-Identifier: Apache-2.0
// A bounded ring of fixed-size items between two threads, with an eventfd ("bell") that rings when it stops being
// empty. Several rings may share one bell. Any thread; the lock is held for copying only, never across a callback.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/result.h"

struct mq_ring {
  pthread_mutex_t lock;
  unsigned char *items;
  size_t item_size, capacity, head, count;
  int bell;
};

int mq_bell_new(void);  // a non-blocking eventfd; -1 with errno
void mq_bell_ring(int bell);
void mq_bell_clear(int bell);

void mq_ring_init(struct mq_ring *r, size_t item_size, size_t capacity,
                  int bell);              // bell -1: none; it stays the caller's
void mq_ring_release(struct mq_ring *r);  // items left inside are the caller's loss
// RESULT_FULL: not taken. Rings the bell when the ring was empty.
MUST_CHECK enum result mq_ring_push(struct mq_ring *r, const void *item);
// Takes all or none.
MUST_CHECK enum result mq_ring_push_many(struct mq_ring *r, const void *items, size_t count);
// Copies out and removes up to max items, oldest first; returns how many.
size_t mq_ring_pop(struct mq_ring *r, void *out_items, size_t max);
size_t mq_ring_count(struct mq_ring *r);
void mq_ring_grow(struct mq_ring *r, size_t capacity);  // never shrinks
// Removes the items for which remove says true (which then owns them); the others keep their order. Called under the
// lock: remove must be short and touch no ring.
size_t mq_ring_remove(struct mq_ring *r, bool (*remove)(void *ctx, const void *item), void *ctx);
