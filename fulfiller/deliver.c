// SPDX-License-Identifier: Apache-2.0
// Calls at the provider and what follows from their answers. Loop thread.
#include "fulfiller/deliver.h"

#include <stdio.h>

#include "fulfiller/app.h"
#include "fulfiller/guard.h"
#include "fulfiller/lane.h"
#include "fulfiller/settle.h"
#include "fulfiller/transcript.h"

static void call(struct job *job, enum call_kind kind);

static const struct provider_action_profile *profile_of(const struct job *job)
{
  return &job->lane->provider.actions[job->action];
}

// Nothing is kept for the payment any more, and the provider can end the order. Like the action itself it is not tried
// beyond the attempts of the ladder; the next answer that says "pending" begins them anew.
static bool may_close(const struct job *job)
{
  return job->may_close && profile_of(job)->close.exists && job->tries <= job->lane->provider.conf->attempts;
}

static struct metric_series *series_of(const struct job *job)
{
  struct lane *lane = job->lane;
  enum outcome outcome = job->decision.outcome;
  return job->call.kind == CALL_CLOSE ? lane->closes[outcome] : lane->outcomes[job->action][outcome];
}

static void finish(struct job *job)
{
  struct lane *lane = job->lane;
  const struct verdict *verdict = &job->call.verdict;
  struct attempt_facts facts = {.action = job->action,
                                .kind = job->call.kind,
                                .outcome = verdict->outcome,
                                .tries = job->tries,
                                .review = job->review,
                                .is_again = job->must_inquire,
                                .is_unwanted = !job->is_wanted,
                                .is_closable = may_close(job),
                                .is_repeat = job->must_inquire && !profile_of(job)->inquire.exists,
                                .status = verdict->status,
                                .age = wall_since(clk_wall(), job->pending_since),
                                .trust_left = mono_since(job->trust_at, clk_mono()),
                                .retry_after = verdict->retry_after};
  job->decision = decision_make(&lane->provider, &facts);
  metric_series_add(series_of(job), 1);
  job_enter(job, JOB_SETTLING);
  settler_add(lane->means.settler, job);
  if (job->is_probe) lane_guard_probe_ended(lane->guard);
  lane_slot_free(lane);
}

// No call was made: the outcome is what it was before.
static void finish_without_call(struct job *job, const char *code, const char *detail)
{
  job_begin_call(job, job->must_inquire ? CALL_INQUIRE : CALL_ACT);
  struct verdict *verdict = &job->call.verdict;
  verdict->outcome = job->must_inquire ? OUTCOME_UNKNOWN : OUTCOME_RETRY;
  snprintf(verdict->code, sizeof verdict->code, "%s", code);
  snprintf(verdict->detail, sizeof verdict->detail, "%s", detail);
  finish(job);
}

// Attempts count when they are taken, so those that nobody was heard of again count too: a claim that takes its process
// down with every call would go round for ever (B59). Beyond the attempts of the ladder the action is not made any
// more. A few inquiries may still find out what became of the last one; then a person must look.
#define INQUIRIES_BEYOND 3

static bool may_act(const struct job *job)
{
  return job->is_wanted && job->tries <= job->lane->provider.conf->attempts;
}
static bool may_ask(const struct job *job)
{
  return job->tries <= job->lane->provider.conf->attempts + INQUIRIES_BEYOND;
}

static bool has_lease_for(const struct job *job, struct span needed)
{
  return mono_before(mono_after(clk_mono(), needed), job->lease_until);
}

// The provider does not know the request id, and that is the truth by now: the action can be made under the same lease.
static bool may_act_after(const struct job *job)
{
  return job->call.verdict.outcome == OUTCOME_NOT_FOUND && !mono_before(clk_mono(), job->trust_at) && may_act(job) &&
         has_lease_for(job, job->lane->provider.second_call) && !job->lane->is_stopping;
}

// The provider knows of an order that is not paid: it can be closed under the same lease.
static bool may_close_after(const struct job *job)
{
  return job->call.verdict.outcome == OUTCOME_PENDING && may_close(job) &&
         has_lease_for(job, job->lane->provider.second_call) && !job->lane->is_stopping;
}

// Where nobody can be asked the order is closed all the same, once the charge can no longer be under way.
static bool may_close_unasked(const struct job *job)
{
  return !profile_of(job)->inquire.exists && may_close(job) && !mono_before(clk_mono(), job->trust_at);
}

// The request refers to traceparent, which is written here.
static enum result render(struct job *job, enum call_kind kind, uint64_t span, const struct render_moment *moment,
                          char traceparent[TRACE_PARENT_BYTES])
{
  trace_parent_of(job->trace, span, traceparent);
  return provider_render_at(&job->lane->provider, job->action, kind, &job->facts, traceparent, moment,
                            &job->lane->call);
}

// What is plain needs no record: a delivery that was done at the first try.
static bool is_plain(const struct job *job)
{
  return job->action == ACTION_DELIVER && job->call.kind == CALL_ACT && job->tries == 1 && job->earlier == NULL &&
         job->call.verdict.outcome == OUTCOME_DONE;
}

// The request is rendered once more, the same to the byte, so that those that need no record cost nothing.
static void record(struct job *job, const struct http_answer *answer)
{
  const struct redact *redact = &job->lane->provider.redact;
  char traceparent[TRACE_PARENT_BYTES];
  job->call.answer = transcript_answer(redact, answer);
  if (render(job, job->call.kind, job->call.span, &job->call.moment, traceparent) == RESULT_OK)
    job->call.request = transcript_request(redact, &job->lane->call.request);
}

static void on_answer(struct job *job, const struct provider_request *request, const struct http_answer *answer)
{
  outcome_classify(&request->rules, answer, clk_wall(), &job->call.verdict);
  outcome_check_request(&request->rules, answer, job->request_id, &job->call.verdict);
  transcript_mask(&job->lane->provider.redact, job->call.verdict.detail, sizeof job->call.verdict.detail);
  job->call.duration = answer->duration;
  metric_series_observe(job->lane->call_seconds, span_to_seconds(answer->duration));
  if (!job->lane->is_stopping) lane_guard_heard(job->lane->guard, job->is_probe, answer->stage, answer->status);
  if (!is_plain(job)) record(job, answer);
}

static void on_acted(void *ctx, const struct http_answer *answer)
{
  struct job *job = ctx;
  on_answer(job, &profile_of(job)->call, answer);
  job->has_acted = answer->stage != HTTP_NEVER_SENT;
  finish(job);
}

static void on_inquired(void *ctx, const struct http_answer *answer)
{
  struct job *job = ctx;
  on_answer(job, &profile_of(job)->inquire, answer);
  if (may_act_after(job))
    call(job, CALL_ACT);
  else if (may_close_after(job))
    call(job, CALL_CLOSE);
  else
    finish(job);
}

static void on_closed(void *ctx, const struct http_answer *answer)
{
  struct job *job = ctx;
  on_answer(job, &profile_of(job)->close, answer);
  finish(job);
}

static http_answer_fn *heard_by(enum call_kind kind)
{
  switch (kind) {
    case CALL_INQUIRE: return on_inquired;
    case CALL_CLOSE: return on_closed;
    case CALL_ACT: break;
  }
  return on_acted;
}

// An order that cannot be closed: what the inquiry before it said stands, where there was one.
static void finish_uncalled(struct job *job, enum call_kind kind, const char *code, const char *detail)
{
  if (kind == CALL_CLOSE && job->call_number > 0)
    finish(job);
  else
    finish_without_call(job, code, detail);
}

static void call(struct job *job, enum call_kind kind)
{
  struct lane *lane = job->lane;
  const struct render_moment moment = render_moment_now();
  char traceparent[TRACE_PARENT_BYTES];
  uint64_t span = trace_next(&lane->spans);
  enum result result = render(job, kind, span, &moment, traceparent);
  if (result != RESULT_OK) {
    static const char why[] = "a value of the claim cannot stand in its place in the provider's templates";
    if (kind != CALL_CLOSE) job->review = "request_not_possible";
    finish_uncalled(job, kind, "REQUEST_NOT_POSSIBLE", why);
    return;
  }
  result = http_client_send(lane->http, &lane->call.request, heard_by(kind), job, NULL);
  if (result != RESULT_OK) {
    finish_uncalled(job, kind, "NOT_SENT", result_text(result));
    return;
  }
  job_begin_call(job, kind);
  job->call.moment = moment;
  job->call.span = span;
  job_enter(job, kind == CALL_INQUIRE ? JOB_INQUIRING : JOB_ACTING);
}

// The claim owes something that this provider cannot do: a person must settle it otherwise.
static void leave_to_a_person(struct job *job)
{
  job->review = decision_not_possible(job->action);
  finish_without_call(job, "NOT_POSSIBLE", "the provider's profile has no such request");
}

void deliver_start(struct job *job)
{
  const struct provider *p = &job->lane->provider;
  const struct provider_action_profile *profile = profile_of(job);
  if (!profile->call.exists)
    leave_to_a_person(job);
  else if (!has_lease_for(job, p->second_call))
    finish_without_call(job, "LEASE_TOO_SHORT", "the database answered too late for a call under this lease");
  else if (job->must_inquire && profile->inquire.exists && may_ask(job))
    call(job, CALL_INQUIRE);
  else if (may_close_unasked(job))
    call(job, CALL_CLOSE);
  else if (!may_act(job))
    finish_without_call(job, "NOT_HEARD_OF", "the attempts are used up, and nothing was heard of the last ones");
  else if (!job->must_inquire || (!profile->inquire.exists && profile->repeat_is_safe))
    call(job, CALL_ACT);
  else
    finish_without_call(job, "OUTCOME_UNKNOWN", "nobody can be asked, and repeating is not known to be safe");
}
