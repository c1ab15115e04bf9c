// SPDX-License-Identifier: Apache-2.0
// claim_submit and claim_lookup: from requests to arguments, from rows to answers.
// Owner: the batcher.
#pragma once

#include "common/db.h"
#include "scheduler/claim_request.h"

// segment: any number, where to look for stock first if the activity's is split.
const struct db_statement *store_claim_submit(struct db_args *args, const struct activity *a,
                                              struct claim_request *const *rows, size_t count, struct span sweep_after,
                                              uint32_t segment);
const struct db_statement *store_claim_lookup(struct db_args *args, const struct activity *a,
                                              struct claim_request *const *rows, size_t count);

// Into the queue of an activity whose intake is queued, or only asked whether it is known; rows as those of
// claim_submit.
const struct db_statement *store_claim_enqueue(struct db_args *args, const struct activity *a,
                                               struct claim_request *const *rows, size_t count, int64_t queue_max,
                                               bool may_add);

struct claim_row {
  size_t ord;  // 0: about the activity, in the three members below
  const char *activity_status;
  bool is_limited;
  int64_t remaining;
  bool is_known;               // false: the look-up does not know it (UNKNOWN), or a verdict of a newer schema
  struct claim_answer answer;  // ord > 0; its at is set for row 0 too
};
struct claim_row store_claim_row(const struct db_rows *rows, size_t row);
