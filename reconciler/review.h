// SPDX-License-Identifier: Apache-2.0
// A review's statements, one after the other: what it goes through, the parts of each activity, all of them together.
// Whoever runs them asks for the next until there is none. Owner: the command or the call that made it.
#pragma once

#include "common/db.h"

enum review_what { REVIEW_ACTIVITY, REVIEW_EVENT };
enum review_step { REVIEW_BEGIN, REVIEW_PARTS, REVIEW_END, REVIEW_DONE, REVIEW_UNKNOWN };

struct review {
  enum review_what what;
  enum review_step step;
  char *code;
  struct wall_time from;
  int64_t width, buckets;
  int64_t *activities;
  size_t activity_count, next;  // parts, counted over all activities
  char **parts;
  size_t part_count;
};
void review_init(struct review *r, enum review_what what, const char *code);
void review_release(struct review *r);

// The next statement with its arguments; NULL: it is REVIEW_DONE, and the last rows had the document, or there is
// none of this code (REVIEW_UNKNOWN).
const struct db_statement *review_next(const struct review *r, struct db_args *args);
void review_take(struct review *r, const struct db_rows *rows);
