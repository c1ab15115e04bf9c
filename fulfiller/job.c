// SPDX-License-Identifier: Apache-2.0
// The states of a job and the moves between them. Loop thread.
#include "fulfiller/job.h"

#include "common/contract.h"

struct state_row {
  const char *name;
  unsigned allowed;
};

static const struct state_row *row_of(enum job_state state)
{
  static const struct state_row rows[] = {
#define X(id, text, moves) [id] = {text, moves},
      JOB_STATE_LIST(X)
#undef X
  };
  REQUIRE((size_t)state < ARRAY_LEN(rows));
  return &rows[state];
}

const char *job_state_name(enum job_state state) { return row_of(state)->name; }

void job_enter(struct job *job, enum job_state state)
{
  REQUIRE((row_of(job->state)->allowed & JOB_BIT(state)) != 0);
  job->state = state;
}
