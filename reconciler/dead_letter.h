// SPDX-License-Identifier: Apache-2.0
// Retrying dead letters: which ones are meant, what became of each, and how that is told.
// Pure; any thread.
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "reconciler/store.h"

#define REASON_CHARS_MAX       500
#define RETRY_ITEMS_LISTED_MAX 10000  // in one answer; the counts are always complete

// A letter by its own number ("17") or by its claim ("683000001-5"; then *out_letter is 0). Else RESULT_INVALID.
MUST_CHECK enum result dead_letter_parse(const char *text, int64_t *out_letter, struct claim_ref *out_claim);

enum retry_outcome { RETRIED, RETRY_ALREADY_DONE, RETRY_NOT_RETRYABLE, RETRY_NOT_FOUND, RETRY_OUTCOME_COUNT };
const char *retry_outcome_name(enum retry_outcome outcome);  // as in SQL: "already_done"

struct retry_result {
  bool is_dry_run;
  int64_t counts[RETRY_OUTCOME_COUNT];
  int64_t total;
  struct buf items;  // JSON, comma separated
};
void retry_result_init(struct retry_result *r, bool is_dry_run);
void retry_result_release(struct retry_result *r);
// RESULT_UNEXPECTED for an outcome that this program does not know.
MUST_CHECK enum result retry_result_add(struct retry_result *r, const struct retry_row *row);
void retry_result_add_unknown(struct retry_result *r, struct claim_ref claim);  // a claim that has no letter

// {"dryRun":false,"retried":6,"alreadyDone":4,"notRetryable":0,"notFound":0,"items":[{"id","claimId","outcome"}]}
void retry_result_put_json(const struct retry_result *r, struct buf *out);
// "retried 6; 4 already done" and the like, one line.
void retry_result_put_text(const struct retry_result *r, struct buf *out);
