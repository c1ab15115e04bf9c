// SPDX-License-Identifier: Apache-2.0
// The bounded ring between the loop and a broker connection's thread, and its eventfd.
// Any thread: every function takes the ring's own lock.
#include "common/mq_ring.h"

#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"

int mq_bell_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void mq_bell_ring(int bell)
{
  uint64_t one = 1;
  // A full counter (EAGAIN) means that it rings already; nothing else can fail on a live eventfd.
  ssize_t written = write(bell, &one, sizeof one);
  (void)written;
}

void mq_bell_clear(int bell)
{
  uint64_t count;
  ssize_t got = read(bell, &count, sizeof count);
  (void)got;
}

void mq_ring_init(struct mq_ring *r, size_t item_size, size_t capacity, int bell)
{
  REQUIRE(item_size > 0 && capacity > 0);
  *r = (struct mq_ring){.item_size = item_size, .capacity = capacity, .bell = bell};
  REQUIRE(pthread_mutex_init(&r->lock, NULL) == 0);
  r->items = mem_zalloc(capacity, item_size);
}

void mq_ring_release(struct mq_ring *r)
{
  if (r->items == NULL) return;
  mem_free(r->items);
  pthread_mutex_destroy(&r->lock);
  *r = (struct mq_ring){.bell = -1};
}

static unsigned char *slot(const struct mq_ring *r, size_t nth)
{
  return r->items + ((r->head + nth) % r->capacity) * r->item_size;
}

enum result mq_ring_push_many(struct mq_ring *r, const void *items, size_t count)
{
  pthread_mutex_lock(&r->lock);
  bool fits = count <= r->capacity - r->count;
  bool was_empty = r->count == 0;
  if (fits) {
    const unsigned char *from = items;
    for (size_t i = 0; i < count; i++) memcpy(slot(r, r->count + i), from + i * r->item_size, r->item_size);
    r->count += count;
  }
  pthread_mutex_unlock(&r->lock);
  if (!fits) return RESULT_FULL;
  if (was_empty && count > 0 && r->bell >= 0) mq_bell_ring(r->bell);
  return RESULT_OK;
}

enum result mq_ring_push(struct mq_ring *r, const void *item) { return mq_ring_push_many(r, item, 1); }

size_t mq_ring_pop(struct mq_ring *r, void *out_items, size_t max)
{
  unsigned char *to = out_items;
  pthread_mutex_lock(&r->lock);
  size_t taken = max < r->count ? max : r->count;
  for (size_t i = 0; i < taken; i++) memcpy(to + i * r->item_size, slot(r, i), r->item_size);
  r->head = (r->head + taken) % r->capacity;
  r->count -= taken;
  pthread_mutex_unlock(&r->lock);
  return taken;
}

size_t mq_ring_count(struct mq_ring *r)
{
  pthread_mutex_lock(&r->lock);
  size_t count = r->count;
  pthread_mutex_unlock(&r->lock);
  return count;
}

void mq_ring_grow(struct mq_ring *r, size_t capacity)
{
  pthread_mutex_lock(&r->lock);
  if (capacity > r->capacity) {
    unsigned char *items = mem_zalloc(capacity, r->item_size);
    for (size_t i = 0; i < r->count; i++) memcpy(items + i * r->item_size, slot(r, i), r->item_size);
    mem_free(r->items);
    r->items = items;
    r->capacity = capacity;
    r->head = 0;
  }
  pthread_mutex_unlock(&r->lock);
}

size_t mq_ring_remove(struct mq_ring *r, bool (*remove)(void *ctx, const void *item), void *ctx)
{
  pthread_mutex_lock(&r->lock);
  size_t kept = 0;
  size_t before = r->count;
  for (size_t i = 0; i < before; i++) {
    if (remove(ctx, slot(r, i))) continue;
    if (kept != i) memcpy(slot(r, kept), slot(r, i), r->item_size);
    kept++;
  }
  r->count = kept;
  pthread_mutex_unlock(&r->lock);
  return before - kept;
}
