// SPDX-License-Identifier: Apache-2.0
// Callbacks take turns at the database: they may wait there for each other (all that give back to one activity do), and
// deliveries need connections meanwhile. So a part of the pool at most, and the rest in a line that has an end.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/list.h"

struct callback_line;
struct callback_turn {
  struct db_request db;  // the caller fills in statement and arguments, and releases these
  // Exactly once, perhaps before callback_line_add returns. rows NULL: why it is not known to be kept.
  void (*on_end)(struct callback_turn *turn, const struct db_rows *rows, const char *why);
  struct callback_line *line;  // private from here on
  struct list node;
  struct mono_time due;
};

struct callback_line *callback_line_new(struct runtime *rt, struct db_pool *db, int64_t pool_size);
void callback_line_free(struct callback_line *line);  // after the pool, which ends every turn
void callback_line_add(struct callback_line *line, struct callback_turn *turn);
