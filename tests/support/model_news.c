// SPDX-License-Identifier: Apache-2.0
// What providers say of deliveries, payments, refunds and reversals; see model.h.
#include "tests/support/model.h"

static bool is_in_time(const struct model *m, const struct model_claim *c)
{
  return c->status == MODEL_HELD && c->deadline > m->now;
}

bool model_can_take(const struct model *m, int claim)
{
  const struct model_claim *c = &m->claims[claim];
  if (c->step == MODEL_NOTHING || c->in_flight || c->is_under_review) return false;
  return c->step != MODEL_CHARGE || is_in_time(m, c);
}

void model_take(struct model *m, int claim, int64_t attempt)
{
  struct model_claim *c = &m->claims[claim];
  c->in_flight = true;
  c->attempt = attempt;
  c->doing = c->step;
  if (c->step == MODEL_DELIVER || c->step == MODEL_CHARGE || c->step == MODEL_PAY_BACK || c->step == MODEL_REVERSE)
    c->step++;  // if nothing is ever heard, the provider is asked
  m->activities[c->activity].is_dirty = true;
}

// --- payments

// Everything that it had asked for must be free again, and no rule against it.
static bool can_have_again(const struct model *m, const struct model_claim *c)
{
  const struct model_activity *a = &m->activities[c->activity];
  if (!model_is_open(m, a) || model_excluded(m, c->activity, c->request.user)) return false;
  for (int n = 0; n < c->request.number_count; n++)
    if (model_owner(m, c->activity, c->request.numbers[n]) >= 0) return false;
  return model_fits_limits(m, c->activity, c) && model_figures(m, c->activity).remaining >= c->request.quantity;
}

static void go_on(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  model_move(m, claim, m->activities[c->activity].has_reward ? MODEL_ISSUING : MODEL_SUCCEEDED);
}

static void paid_late(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  const struct model_activity *a = &m->activities[c->activity];
  c->step = MODEL_NOTHING;
  if (a->late == MODEL_REVIEW) {
    c->is_under_review = true;
  } else if (a->late == MODEL_REALLOCATE && c->status == MODEL_EXPIRED && can_have_again(m, c)) {
    go_on(m, claim);
  } else {
    c->refund = MODEL_OWED;
    c->step = MODEL_PAY_BACK;
  }
}

void model_told_paid(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  m->activities[c->activity].is_dirty = true;
  if (c->money == MODEL_PAID) return;
  model_touch(m, claim);
  c->money = MODEL_PAID;
  c->in_flight = false;
  if (c->status == MODEL_HELD)
    go_on(m, claim);
  else
    paid_late(m, claim);
}

static void not_paid(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  c->money = MODEL_NOT_PAID;
  c->in_flight = false;
  c->step = MODEL_NOTHING;
  if (c->status == MODEL_HELD) model_move(m, claim, MODEL_EXPIRED);
}

void model_told_not_paid(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  if (c->money != MODEL_OPEN || c->in_flight || !c->heard_pending) return;  // no proof: somebody asks
  m->activities[c->activity].is_dirty = true;
  not_paid(m, claim);
}

static void settle_payment(struct model *m, int claim, enum model_outcome outcome)
{
  struct model_claim *c = &m->claims[claim];
  if (outcome == MODEL_DONE) {
    model_told_paid(m, claim);
  } else if (outcome == MODEL_REFUSED) {
    not_paid(m, claim);
  } else if (outcome == MODEL_RETRY) {  // it certainly had no effect
    bool has_ended = c->status != MODEL_HELD;
    c->step = has_ended ? MODEL_NOTHING : MODEL_CHARGE;
    if (has_ended) c->money = MODEL_VOID;
  } else {
    c->step = MODEL_INQUIRE_CHARGE;
  }
}

bool model_can_close(const struct model *m, int claim)
{
  const struct model_claim *c = &m->claims[claim];
  return c->in_flight && c->doing == MODEL_INQUIRE_CHARGE && c->money == MODEL_OPEN && c->status != MODEL_HELD;
}

void model_close(struct model *m, int claim, enum model_outcome outcome)
{
  struct model_claim *c = &m->claims[claim];
  m->activities[c->activity].is_dirty = true;
  c->in_flight = false;
  if (outcome != MODEL_DONE) return;  // it is asked about again
  c->money = MODEL_CLOSED;
  c->step = MODEL_NOTHING;
}

// --- deliveries, refunds, reversals

static void settle_delivery(struct model *m, int claim, enum model_outcome outcome)
{
  struct model_claim *c = &m->claims[claim];
  if (outcome == MODEL_DONE) {
    model_move(m, claim, MODEL_SUCCEEDED);
  } else if (outcome == MODEL_REFUSED && m->activities[c->activity].refused_is_review) {
    c->is_under_review = true;
  } else if (outcome == MODEL_REFUSED) {
    model_move(m, claim, MODEL_FAILED);
  } else {
    c->step = outcome == MODEL_RETRY ? MODEL_DELIVER : MODEL_INQUIRE;
  }
}

static void settle_debt(struct model_claim *c, enum model_outcome outcome, enum model_debt *debt,
                        enum model_step action)
{
  if (outcome == MODEL_DONE) {
    *debt = MODEL_SETTLED;
    c->step = MODEL_NOTHING;
  } else {
    c->step = outcome == MODEL_RETRY ? action : action + 1;  // which asks about it
  }
}

static void settle_reversal(struct model *m, int claim, enum model_outcome outcome)
{
  struct model_claim *c = &m->claims[claim];
  settle_debt(c, outcome, &c->reversal, MODEL_REVERSE);
  if (outcome == MODEL_DONE && model_holds(c->status)) model_move(m, claim, MODEL_ROLLED_BACK);
}

void model_settle(struct model *m, int claim, enum model_outcome outcome)
{
  struct model_claim *c = &m->claims[claim];
  m->activities[c->activity].is_dirty = true;
  c->in_flight = false;
  c->heard_pending = outcome == MODEL_PENDING;
  switch (c->doing) {
    case MODEL_CHARGE:
    case MODEL_INQUIRE_CHARGE: settle_payment(m, claim, outcome); break;
    case MODEL_PAY_BACK:
    case MODEL_INQUIRE_PAY_BACK: settle_debt(c, outcome, &c->refund, MODEL_PAY_BACK); break;
    case MODEL_REVERSE:
    case MODEL_INQUIRE_REVERSE: settle_reversal(m, claim, outcome); break;
    case MODEL_DELIVER:
    case MODEL_INQUIRE: settle_delivery(m, claim, outcome); break;
    case MODEL_NOTHING: break;
  }
}
