// SPDX-License-Identifier: Apache-2.0
// The states of a job and the moves between them. Loop thread.
#include "fulfiller/job.h"

#include "common/contract.h"
#include "common/mem.h"

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

const char *job_step(const struct job *job) { return action_request_name(job->action, job->call.kind); }

void job_begin_call(struct job *job, enum call_kind kind)
{
  if (job->call_number > 0) {
    REQUIRE(job->earlier == NULL);
    job->earlier = MEM_NEW(struct job_call);
    *job->earlier = job->call;
  }
  job->call_number++;
  job->call = (struct job_call){.kind = kind, .started_at = clk_wall(), .called_at = clk_mono()};
}

static void call_release(struct job_call *call)
{
  mem_free(call->request);
  mem_free(call->answer);
}

void job_free(struct job *job)
{
  if (job == NULL) return;
  call_release(&job->call);
  if (job->earlier != NULL) call_release(job->earlier);
  mem_free(job->earlier);
  json_decref(job->params);
  mem_free(job);
}
