// SPDX-License-Identifier: Apache-2.0
// Moving a breaker: one guarded statement at a time per provider; who loses learns the state instead.
// Inside guard*.c only; loop thread.
#pragma once

#include "fulfiller/guard.h"

void guard_move_init(struct lane_guard *lg);
void guard_move_to_open(struct lane_guard *lg, struct breaker_count count);
void guard_move_to_probe(struct lane_guard *lg);
void guard_move_after_probe(struct lane_guard *lg, bool failed);
void guard_move_release(struct lane_guard *lg);

void guard_apply(struct lane_guard *lg, const struct guard_row *row);  // in guard.c
