// SPDX-License-Identifier: Apache-2.0
// What people do about dead letters and delivered claims: what an order says, and how its result is told.
// Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/buf.h"
#include "common/result.h"
#include "reconciler/store_operation.h"

#define PROOF_CHARS_MAX             200
#define KEY_CHARS_MAX               128
#define OPERATION_IDS_MAX           10000
#define OPERATION_PREVIEW_ITEMS_MAX 10000
#define FINDING_KEY_BYTES_MAX       1024

// "retry", "roll_back": as in SQL.
const char *operation_kind_name(enum operation_kind kind);

bool operation_is_about_findings(enum operation_kind kind);

// NULL, or what is wrong with a filter of findings: "state: must be …".
const char *finding_filter_fault(const struct finding_filter *f);

// The same of an order: nothing is done about findings that are gone.
const char *finding_order_fault(const struct finding_filter *f);

// A letter by its own number ("17") or by its claim ("683000001-5"; then *out_letter is 0). Else RESULT_INVALID.
MUST_CHECK enum result operation_target_parse(const char *text, int64_t *out_letter, struct claim_ref *out_claim);

// Room for `count` letters and as many claims, or as many findings; operation_order_release frees it.
void operation_order_init(struct operation_order *o, enum operation_kind kind);
void operation_order_make_room(struct operation_order *o, size_t count);
// A finding's key is borrowed. RESULT_INVALID: neither a letter nor a claim; or a letter, where claims are taken back;
// no key that a finding can have.
MUST_CHECK enum result operation_order_add(struct operation_order *o, const char *text);
void operation_order_release(struct operation_order *o);
// "delivered" or "not-delivered".
MUST_CHECK enum result operation_order_put_as(struct operation_order *o, const char *text);

// One line about the result, an operation or a preview as the database shows it: "retried 6; already done and skipped:
// 4".
void operation_put_summary(const json_t *result, struct buf *out);
// How many of its items could not be done, as they are named: not found, not reversible, not delivered, without proof,
// not repairable.
int64_t operation_failures(const json_t *result);
