// SPDX-License-Identifier: Apache-2.0
// Settled delivery tags of one channel: a floor and a window of bits above it.
// Owner: the consumer's thread; no locks, no I/O.
#include "common/mq_acks.h"

#include <string.h>

#include "common/mem.h"

#define WORDS (MQ_ACKS_WINDOW / 64)

void mq_acks_init(struct mq_acks *a) { *a = (struct mq_acks){.bits = MEM_ARRAY(uint64_t, WORDS)}; }

void mq_acks_release(struct mq_acks *a)
{
  mem_free(a->bits);
  *a = (struct mq_acks){0};
}

void mq_acks_reset(struct mq_acks *a)
{
  memset(a->bits, 0, WORDS * sizeof *a->bits);
  a->floor = a->delivered = 0;
  a->gave_up = false;
}

static uint64_t *word_of(const struct mq_acks *a, uint64_t tag) { return &a->bits[(tag % MQ_ACKS_WINDOW) / 64]; }
static uint64_t mask_of(uint64_t tag) { return UINT64_C(1) << (tag % 64); }

bool mq_acks_deliver(struct mq_acks *a, uint64_t tag)
{
  if (tag != a->delivered + 1) return false;
  a->delivered = tag;
  return true;
}

bool mq_acks_settle(struct mq_acks *a, uint64_t tag)
{
  if (tag == 0 || tag > a->delivered || tag <= a->floor) return false;
  if (a->gave_up) return true;
  if (tag - a->floor >= MQ_ACKS_WINDOW) {
    a->gave_up = true;
    return true;
  }
  if ((*word_of(a, tag) & mask_of(tag)) != 0) return false;
  *word_of(a, tag) |= mask_of(tag);
  return true;
}

uint64_t mq_acks_run(struct mq_acks *a, uint64_t *tags, size_t count, size_t *out_singles)
{
  if (a->gave_up) {
    *out_singles = count;
    return 0;
  }
  while (a->floor < a->delivered && (*word_of(a, a->floor + 1) & mask_of(a->floor + 1)) != 0) {
    a->floor++;
    *word_of(a, a->floor) &= ~mask_of(a->floor);
  }
  uint64_t highest = 0;
  size_t singles = 0;
  for (size_t i = 0; i < count; i++) {
    if (tags[i] > a->floor)
      tags[singles++] = tags[i];
    else if (tags[i] > highest)
      highest = tags[i];
  }
  *out_singles = singles;
  return highest;
}
