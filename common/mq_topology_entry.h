// SPDX-License-Identifier: Apache-2.0
// Inside mq_topology*.c only: what is declared, and who asked for a depth. Written by the loop until handed over, by
// the connection's thread afterwards.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/mq.h"

enum mq_step { MQ_STEP_DECLARE, MQ_STEP_BIND, MQ_STEP_DONE, MQ_STEP_REFUSED };

struct mq_entry {
  bool is_queue;
  char *name;
  enum mq_exchange_type type;  // exchanges
  struct span ttl;             // queues, as the rest
  char *dead_letter_exchange, *bind_exchange, *bind_key;
  enum mq_step step;
  char *fault;                // NULL: none
  struct mono_time retry_at;  // MQ_STEP_REFUSED
};

struct mq_ask {
  char *queue;
  mq_depth_fn *on_depth;
  void *ctx;
  enum result result;
  uint64_t messages;
};

void mq_entry_set_fault(struct mq_entry *e, const char *text);  // NULL clears
