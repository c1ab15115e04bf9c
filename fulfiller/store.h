// SPDX-License-Identifier: Apache-2.0
// The fulfiller's statements: arguments in, rows out. Only here are the orders of parameters and columns known.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/intake_codec.h"
#include "fulfiller/job.h"

// A request for claims, best in ascending order of keys.
void store_take(struct db_request *req, const struct claim_key *const *keys, size_t count, const struct provider *p);
// One claim of the answer. The job is new, in state JOB_TAKEN, without lane, parcel and times; its key has the attempt
// of the lease.
struct job *store_taken_job(const struct db_rows *rows, size_t row, bool wants_params);
struct claim_key store_taken_key(const struct db_rows *rows, size_t row);
// A "not found" about this claim does not count for so long from now.
struct span store_taken_trust(const struct db_rows *rows, size_t row);

void store_settle(struct db_request *req, struct job *const *jobs, size_t count, struct mono_time now);
struct settled_row {
  int64_t activity_id, claim_id;
  bool is_under_review, has_given_back;
  const char *review_cause;  // "" unless it is under review
};
struct settled_row store_settled_row(const struct db_rows *rows, size_t row);

void store_unreadable(struct db_request *req, const char *provider, const char *why, const char *body);
int64_t store_letter_id(const struct db_rows *rows);

const struct db_statement *store_figures(struct db_args *args);
struct figure_row {
  bool is_due;
  const char *provider;
  int64_t amount;
};
struct figure_row store_figure_row(const struct db_rows *rows, size_t row);
