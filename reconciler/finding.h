// SPDX-License-Identifier: Apache-2.0
// Findings of an audit: their stable keys, their order, what they add up to and what the program's status says about
// them. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/result.h"

enum finding_state { FINDING_OPENED, FINDING_OPEN, FINDING_GONE, FINDING_STATE_COUNT };
enum finding_severity { SEVERITY_CRITICAL, SEVERITY_HIGH, SEVERITY_MEDIUM, SEVERITY_COUNT };

struct finding {
  char *key, *kind;
  enum finding_severity severity;
  enum finding_state state;
  int64_t activity_id;
  char *activity_code;  // "" where the activity is gone
  bool has_claim;
  int64_t claim_id;  // the number behind the dash
  char *expected, *actual, *cause, *next_step;
};
struct finding_set {
  struct finding *items;
  size_t count, cap;
};
struct finding_counts {
  size_t live;  // opened and open
  size_t by_state[FINDING_STATE_COUNT];
  size_t by_severity[SEVERITY_COUNT];  // of the live ones
};

const char *finding_state_name(enum finding_state state);
const char *finding_severity_name(enum finding_severity severity);
// Unknown words are RESULT_INVALID.
MUST_CHECK enum result finding_state_parse(const char *name, enum finding_state *out_state);
MUST_CHECK enum result finding_severity_parse(const char *name, enum finding_severity *out_severity);

// "stock_not_matching_claims:683000001:stock": the same fault has the same key in every run.
void finding_key(const char *kind, int64_t activity_id, const char *subject, struct buf *out);

void finding_set_init(struct finding_set *set);
void finding_set_release(struct finding_set *set);
void finding_set_add(struct finding_set *set, const struct finding *f);  // copies the texts
// Live ones before those that are gone; then the most severe; then by activity and key.
void finding_set_sort(struct finding_set *set);
struct finding_counts finding_set_count(const struct finding_set *set);

// EXIT_OK: clean; EXIT_FINDINGS: something was found; EXIT_TEMPORARY: nothing was found, but not everything could be
// looked at.
int finding_exit_status(const struct finding_counts *counts, int64_t failed_audits);
