// SPDX-License-Identifier: Apache-2.0
// One row of event_out in memory: its events one by one, and what became of each. Also how an attribute of a CloudEvent
// is written as a header. Pure: no I/O, no clock; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/list.h"

struct event_row {
  int64_t id;
  const char *type, *at;
  const char *event_ids, *subjects, *traces, *docs;  // an element per event, one a line
};

struct event_item {
  const char *event_id, *subject, *trace, *doc;
  struct event_batch *batch;
  bool is_failed;
};

struct event_batch {
  struct list node;
  void *owner;  // the relay's
  int64_t id;
  const char *type, *at;
  struct mono_time taken_at;
  size_t count, next;   // events; how many were handed over
  size_t open, failed;  // without an outcome yet; refused
  bool is_lost;         // of some it is not known whether they arrived: the row waits for the end of its lease
  const char *fault;    // of the last refused one; static text
  struct event_item *items;
  char bytes[];
};
// A copy of the row. A row whose columns do not go together has all its events failed already.
struct event_batch *event_batch_new(const struct event_row *row);
void event_batch_free(struct event_batch *b);
struct event_item *event_batch_next(struct event_batch *b);  // NULL after the last
void event_batch_fail(struct event_item *item, const char *fault);
static inline bool event_batch_is_over(const struct event_batch *b) { return b->next == b->count && b->open == 0; }

// CloudEvents, HTTP binding 3.1.3.2: space, double quote, percent and all but printable ASCII as %XX of their UTF-8
// bytes. out_size has room for 3 bytes per byte and the end; what does not fit is cut off.
void event_header_encode(const char *text, char *out, size_t out_size);
