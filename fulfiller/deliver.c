// SPDX-License-Identifier: Apache-2.0
// Calls at the provider and what follows from their answers. Loop thread.
#include "fulfiller/deliver.h"

#include <stdio.h>

#include "fulfiller/app.h"
#include "fulfiller/lane.h"
#include "fulfiller/settle.h"

static void call(struct job *job, enum call_kind kind);

static void finish(struct job *job)
{
  struct lane *lane = job->lane;
  struct mono_time now = clk_mono();
  struct attempt_facts facts = {
      .action = ACTION_DELIVER,
      .outcome = job->verdict.outcome,
      .tries = job->tries,
      .review = job->review,
      .is_repeat = job->must_inquire && !lane->provider.actions[ACTION_DELIVER].inquire.exists,
      .status = job->verdict.status,
      .age = wall_since(clk_wall(), job->created_at),
      .trust_left = mono_since(job->trust_at, now),
      .retry_after = job->verdict.retry_after};
  job->decision = decision_make(&lane->provider, &facts);
  if (!job->has_called) job->started_at = clk_wall();
  metric_series_add(lane->outcomes[job->decision.outcome], 1);
  job_enter(job, JOB_SETTLING);
  settler_add(lane->means.settler, job);
  lane_slot_free(lane);
}

// No call was made: the outcome is what it was before.
static void finish_without_call(struct job *job, const char *code, const char *detail)
{
  job->verdict = (struct verdict){.outcome = job->must_inquire ? OUTCOME_UNKNOWN : OUTCOME_RETRY};
  snprintf(job->verdict.code, sizeof job->verdict.code, "%s", code);
  snprintf(job->verdict.detail, sizeof job->verdict.detail, "%s", detail);
  finish(job);
}

static bool has_lease_for(const struct job *job, struct span needed)
{
  return mono_before(mono_after(clk_mono(), needed), job->lease_until);
}

// The provider does not know the request id, and that is the truth by now: the delivery can be made under the same
// lease.
static bool may_deliver_after(const struct job *job)
{
  return job->verdict.outcome == OUTCOME_NOT_FOUND && !mono_before(clk_mono(), job->trust_at) &&
         has_lease_for(job, job->lane->provider.second_call) && !job->lane->is_stopping;
}

static void on_answer(struct job *job, const struct provider_request *request, const struct http_answer *answer)
{
  struct lane *lane = job->lane;
  outcome_classify(&request->rules, answer, clk_wall(), &job->verdict);
  job->duration = answer->duration;
  metric_series_observe(lane->call_seconds, span_to_seconds(answer->duration));
}

static void on_delivered(void *ctx, const struct http_answer *answer)
{
  struct job *job = ctx;
  on_answer(job, &job->lane->provider.actions[ACTION_DELIVER].call, answer);
  job->has_delivered = answer->stage != HTTP_NEVER_SENT;
  finish(job);
}

static void on_inquired(void *ctx, const struct http_answer *answer)
{
  struct job *job = ctx;
  on_answer(job, &job->lane->provider.actions[ACTION_DELIVER].inquire, answer);
  if (may_deliver_after(job))
    call(job, CALL_ACT);
  else
    finish(job);
}

static void call(struct job *job, enum call_kind kind)
{
  struct lane *lane = job->lane;
  enum result result =
      provider_render(&lane->provider, ACTION_DELIVER, kind, &job->facts, job->parcel->traceparent, &lane->call);
  if (result != RESULT_OK) {
    job->review = "request_not_possible";
    finish_without_call(job, "REQUEST_NOT_POSSIBLE",
                        "a value of the claim cannot stand in its place in the provider's templates");
    return;
  }
  result = http_client_send(lane->http, &lane->call.request, kind == CALL_ACT ? on_delivered : on_inquired, job, NULL);
  if (result != RESULT_OK) {
    finish_without_call(job, "NOT_SENT", result_text(result));
    return;
  }
  job->calls++;
  job->has_called = true;
  job->started_at = clk_wall();
  job->called_at = clk_mono();
  job_enter(job, kind == CALL_ACT ? JOB_DELIVERING : JOB_INQUIRING);
}

void deliver_start(struct job *job)
{
  const struct provider *p = &job->lane->provider;
  const struct provider_action_profile *profile = &p->actions[ACTION_DELIVER];
  if (!has_lease_for(job, p->second_call))
    finish_without_call(job, "LEASE_TOO_SHORT", "the database answered too late for a call under this lease");
  else if (!job->must_inquire)
    call(job, CALL_ACT);
  else if (profile->inquire.exists)
    call(job, CALL_INQUIRE);
  else if (profile->repeat_is_safe)
    call(job, CALL_ACT);
  else
    finish_without_call(job, "OUTCOME_UNKNOWN", "nobody can be asked, and repeating is not known to be safe");
}
