// SPDX-License-Identifier: Apache-2.0
// Deciding about the next attempt. Pure; any thread.
#include "fulfiller/decision.h"

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

// Nobody can tell whether it took effect: ask again, repeat where that is harmless, or leave it to a person.
static struct decision decide_unknown(const struct provider *p, const struct attempt_facts *f)
{
  const struct provider_action_profile *profile = &p->actions[f->action];
  if (!profile->inquire.exists && !profile->repeat_is_safe) return to_review(OUTCOME_UNKNOWN, "outcome_unknown");
  if (f->tries >= p->conf->attempts) return to_review(OUTCOME_UNKNOWN, "outcome_unknown");
  struct span rung = provider_rung(p, f->tries);
  if (f->outcome == OUTCOME_NOT_FOUND) rung = provider_rung_at_least(p, f->trust_left);
  return on_rung(p, f, OUTCOME_UNKNOWN, rung);
}

static struct decision decide_pending(const struct provider *p, const struct attempt_facts *f)
{
  if (f->age.us > p->conf->pending_timeout.us) return to_review(OUTCOME_PENDING, "pending_too_long");
  const struct provider_action_profile *profile = &p->actions[f->action];
  bool can_ask = profile->inquire.exists || profile->repeat_is_safe;
  return (struct decision){.outcome = OUTCOME_PENDING,
                           .due = can_ask ? p->conf->pending_poll : p->conf->pending_timeout};
}

// An answer to a repeat speaks of the repeat. That it was turned away for now, or that one like it is under way, says
// nothing of the call before it, which may still take effect.
static bool leaves_it_open(const struct attempt_facts *f)
{
  return f->is_repeat && (f->outcome == OUTCOME_RETRY || (f->outcome == OUTCOME_REFUSED && f->status == 409));
}

struct decision decision_make(const struct provider *p, const struct attempt_facts *f)
{
  if (f->review != NULL) return to_review(f->outcome == OUTCOME_NOT_FOUND ? OUTCOME_UNKNOWN : f->outcome, f->review);
  if (leaves_it_open(f)) return decide_unknown(p, f);
  switch (f->outcome) {
    case OUTCOME_DONE:
    case OUTCOME_REFUSED: return (struct decision){.outcome = f->outcome};
    case OUTCOME_PENDING: return decide_pending(p, f);
    case OUTCOME_RETRY:
      if (f->tries >= p->conf->attempts) return to_review(OUTCOME_RETRY, "attempts_used_up");
      return on_rung(p, f, OUTCOME_RETRY, provider_rung(p, f->tries));
    case OUTCOME_UNKNOWN:
    case OUTCOME_NOT_FOUND:
    case OUTCOME_COUNT: break;
  }
  return decide_unknown(p, f);
}
