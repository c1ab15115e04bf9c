// SPDX-License-Identifier: Apache-2.0
// Which delivery tags of one channel are settled, so that runs of acks can be sent as one, and no tag is acked twice
// (a second ack would cost the channel). Pure; owned by the consumer's thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MQ_ACKS_WINDOW \
  65536u  // tags that may be settled ahead of the oldest open one; beyond, runs are not found any more

struct mq_acks {
  uint64_t floor;      // every tag up to here is settled
  uint64_t delivered;  // highest tag seen
  uint64_t *bits;      // settled tags above the floor, by tag % window
  bool gave_up;        // somebody got too far ahead: single acks from now on
};

void mq_acks_init(struct mq_acks *a);
void mq_acks_release(struct mq_acks *a);
void mq_acks_reset(struct mq_acks *a);  // a new channel starts at tag 1
// A delivery arrived. False: the broker's numbering is broken.
bool mq_acks_deliver(struct mq_acks *a, uint64_t tag);
// False: never delivered or settled before; send nothing.
bool mq_acks_settle(struct mq_acks *a, uint64_t tag);
// Moves the floor over what is settled. Of `tags` (each just settled and to be acked) those up to the floor can go as
// one ack: returns the highest of them (0: none), moves the others to the front and stores how many they are.
uint64_t mq_acks_run(struct mq_acks *a, uint64_t *tags, size_t count, size_t *out_singles);
