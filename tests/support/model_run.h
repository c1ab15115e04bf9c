// SPDX-License-Identifier: Apache-2.0
// A seeded run of random calls against a database and against the model, compared step by step. A difference ends the
// program with the last steps and the seed. One thread; blocking.
#pragma once

#include "common/buf.h"
#include "tests/support/model.h"
#include "tests/support/sql.h"

#define MODEL_SLOTS 16  // activities at a time
#define MODEL_LAST  60  // steps that are told of a difference
#define MODEL_BATCH 25  // requests at once

struct model_run {
  struct sql *sql;  // borrowed
  uint64_t seed, random, step;
  struct model m;
  int slots[MODEL_SLOTS];                              // the activity of each, -1: none yet
  int next_biz, next_key;                              // numbers of clicks and of other calls
  uint64_t dry_runs, accepted, refused, known, moves;  // how much was seen
  char last[MODEL_LAST][400];
};

// A whole run on an empty database that is migrated.
void model_run(struct model_run *run, struct sql *sql, uint64_t seed, uint64_t steps);
void model_run_release(struct model_run *run);

// --- between the parts of a run

uint64_t model_random(struct model_run *run, uint64_t below);
bool model_chance(struct model_run *run, int percent);
void model_note(struct model_run *run, const char *format, ...) PRINTF_LIKE(2, 3);  // a step, for the list of the last
NO_RETURN void model_differs(struct model_run *run, const char *what, const char *database, const char *model);
void model_expect(struct model_run *run, const char *what, const char *database, const char *model);
const char *model_status_name(enum model_status status);
const char *model_period_name(enum model_period period);

// model_world.c: a fresh activity for a slot; what is known of users.
void model_world_open(struct model_run *run, int slot);
void model_world_change(struct model_run *run, int activity);
// model_calls.c: one call each.
void model_call_submit(struct model_run *run, int activity, const struct model_request *requests, int count);
void model_call_dry_run(struct model_run *run, int activity, const struct model_request *request);
void model_call_cancel(struct model_run *run, int claim);
void model_call_take_place(struct model_run *run, int claim);
bool model_call_take(struct model_run *run, int claim);
void model_call_settle(struct model_run *run, int claim, enum model_outcome outcome);
void model_call_close(struct model_run *run, int claim, enum model_outcome outcome);
void model_call_tell(struct model_run *run, int claim, bool is_paid);
void model_call_roll_back(struct model_run *run, int claim);
void model_call_adjust(struct model_run *run, int activity, int64_t by);
void model_call_pause(struct model_run *run, int activity);
void model_call_expire(struct model_run *run);  // all that is due
void model_call_clock(struct model_run *run, int64_t ms);
// model_books.c: everything that is there, or of activities that have changed.
void model_compare(struct model_run *run);
