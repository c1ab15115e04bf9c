// SPDX-License-Identifier: Apache-2.0
// Refusals leave only numbers per activity, minute and code: added up here, written about once a second.
// Owner: app; loop thread.
#pragma once

#include "scheduler/activity_cache.h"

struct refusal_counts;
struct refusal_counts *refusal_counts_new(struct runtime *rt, struct db_pool *db);
void refusal_counts_free(struct refusal_counts *c);
void refusal_counts_add(struct refusal_counts *c, struct activity *a, enum verdict v);
void refusal_counts_flush(struct refusal_counts *c);  // soon instead of within a second
bool refusal_counts_is_empty(const struct refusal_counts *c);
