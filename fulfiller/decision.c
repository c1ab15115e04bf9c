// SPDX-License-Identifier: Apache-2.0
// Deciding about the next attempt. Pure; any thread.
#include "fulfiller/decision.h"

#include "common/contract.h"

// The database's due time lies this far behind the rung, so that the sweeper acts only when the queue did not.
static const struct span rung_slack = {3000000};

// Where the provider asks for more patience than the rung has, a longer one is taken; beyond the longest the claim
// waits without a queue.
static struct decision on_rung(const struct provider *p, const struct attempt_facts *f, enum outcome outcome,
                               struct span rung)
{
  if (f->retry_after.us > rung.us) rung = provider_rung_at_least(p, f->retry_after);
  if (f->retry_after.us > rung.us) return (struct decision){.outcome = outcome, .due = f->retry_after};
  return (struct decision){.outcome = outcome, .rung = rung, .due = {rung.us + rung_slack.us}};
}

static struct decision to_review(enum outcome outcome, const char *cause)
{
  return (struct decision){.outcome = outcome, .review = cause};
}

// Why a person must look, by action.
struct causes {
  const char *unknown, *used_up, *pending, *refused, *not_possible;  // refused NULL: that is an end, nobody need look
};

static struct causes causes_of(enum provider_action action)
{
  static const struct causes rows[] = {
      [ACTION_DELIVER] = {"outcome_unknown", "attempts_used_up", "pending_too_long", NULL, "delivery_not_possible"},
      [ACTION_CHARGE] = {"charge_unknown", "charge_attempts_used_up", "charge_pending_too_long", NULL,
                         "charge_not_possible"},
      [ACTION_REFUND] = {"refund_unknown", "refund_attempts_used_up", "refund_pending_too_long", "refund_refused",
                         "refund_not_possible"},
      [ACTION_REVERSE] = {"reversal_unknown", "reversal_attempts_used_up", "reversal_pending_too_long",
                          "reversal_refused", "reversal_not_possible"},
  };
  REQUIRE((size_t)action < ARRAY_LEN(rows));
  return rows[action];
}

const char *decision_not_possible(enum provider_action action) { return causes_of(action).not_possible; }

bool decision_has_call_ended(int status) { return status == 500 || status == 501; }

// Nobody can tell whether it took effect: ask again, repeat where that is harmless, or leave it to a person.
static struct decision decide_unknown(const struct provider *p, const struct attempt_facts *f)
{
  const struct provider_action_profile *profile = &p->actions[f->action];
  bool can_go_on = profile->inquire.exists || profile->repeat_is_safe || f->is_closable;
  if (!can_go_on || f->tries >= p->conf->attempts) return to_review(OUTCOME_UNKNOWN, causes_of(f->action).unknown);
  struct span rung = provider_rung(p, f->tries);
  if (f->outcome == OUTCOME_NOT_FOUND) rung = provider_rung_at_least(p, f->trust_left);
  return on_rung(p, f, OUTCOME_UNKNOWN, rung);
}

static struct decision decide_pending(const struct provider *p, const struct attempt_facts *f)
{
  if (f->age.us > p->conf->pending_timeout.us) return to_review(OUTCOME_PENDING, causes_of(f->action).pending);
  const struct provider_action_profile *profile = &p->actions[f->action];
  bool can_ask = profile->inquire.exists || profile->repeat_is_safe;
  return (struct decision){.outcome = OUTCOME_PENDING,
                           .due = can_ask ? p->conf->pending_poll : p->conf->pending_timeout};
}

static struct decision decide_retry(const struct provider *p, const struct attempt_facts *f)
{
  if (f->tries >= p->conf->attempts) return to_review(OUTCOME_RETRY, causes_of(f->action).used_up);
  return on_rung(p, f, OUTCOME_RETRY, provider_rung(p, f->tries));
}

// An order that could not be closed is as open as before, whatever the answer was: the next turn asks, and tries again.
// Patience ends as with every payment that stays open.
static struct decision decide_open(const struct provider *p, const struct attempt_facts *f)
{
  if (f->age.us > p->conf->pending_timeout.us) return to_review(f->outcome, causes_of(f->action).pending);
  return on_rung(p, f, f->outcome, provider_rung(p, f->tries));
}

// An answer to a repeat speaks of the repeat. That it was turned away for now, or that one like it is under way or was
// made, says nothing against the call before it, which may have taken effect: not even where an inquiry had not found
// it.
static bool leaves_it_open(const struct attempt_facts *f)
{
  if (f->kind == CALL_ACT && f->is_again && f->outcome == OUTCOME_REFUSED && f->status == 409) return true;
  return f->is_repeat && f->outcome == OUTCOME_RETRY;
}

static bool found_nothing_to_take_back(const struct attempt_facts *f)
{
  return f->outcome == OUTCOME_NOT_FOUND && f->kind == CALL_ACT && answer_may_be_not_found(f->action, CALL_ACT);
}

static bool was_never_made(const struct attempt_facts *f)
{
  return f->is_unwanted && f->kind == CALL_INQUIRE && f->outcome == OUTCOME_NOT_FOUND && f->trust_left.us <= 0;
}

struct decision decision_make(const struct provider *p, const struct attempt_facts *f)
{
  if (f->review != NULL) return to_review(f->outcome == OUTCOME_NOT_FOUND ? OUTCOME_UNKNOWN : f->outcome, f->review);
  if (f->kind == CALL_CLOSE && f->outcome != OUTCOME_DONE) return decide_open(p, f);
  if (leaves_it_open(f)) return decide_unknown(p, f);
  if (found_nothing_to_take_back(f) || was_never_made(f)) return (struct decision){.outcome = OUTCOME_NOT_FOUND};
  switch (f->outcome) {
    case OUTCOME_DONE: return (struct decision){.outcome = OUTCOME_DONE};
    case OUTCOME_REFUSED: return to_review(OUTCOME_REFUSED, causes_of(f->action).refused);
    case OUTCOME_PENDING: return decide_pending(p, f);
    case OUTCOME_RETRY: return decide_retry(p, f);
    case OUTCOME_UNKNOWN:
    case OUTCOME_NOT_FOUND:
    case OUTCOME_COUNT: break;
  }
  return decide_unknown(p, f);
}
