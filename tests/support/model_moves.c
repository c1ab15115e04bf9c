// SPDX-License-Identifier: Apache-2.0
// What happens to claims by decision of users, operators and the clock; see model.h.
#include "common/mem.h"
#include "tests/support/model.h"

#define PROMOTED_AT_ONCE 100

static void append(struct model_activity *a, int claim)
{
  if (a->claim_count == a->claim_room) {
    a->claim_room = a->claim_room == 0 ? 64 : a->claim_room * 2;
    a->claims = mem_resize(a->claims, a->claim_room, sizeof *a->claims);
  }
  a->claims[a->claim_count++] = claim;
}

int model_accept_claim(struct model *m, int activity, const struct model_request *r, enum model_status status)
{
  struct model_activity *a = &m->activities[activity];
  if (m->claim_count == m->claim_room) {
    m->claim_room = m->claim_room == 0 ? 1024 : m->claim_room * 2;
    m->claims = mem_resize(m->claims, m->claim_room, sizeof *m->claims);
  }
  struct model_claim *c = &m->claims[m->claim_count];
  *c = (struct model_claim){.activity = activity, .request = *r, .status = status, .created = m->now};
  if (status == MODEL_WAITING) c->place = ++m->places;
  if (status == MODEL_ISSUING) c->step = MODEL_DELIVER;
  if (status == MODEL_HELD) {
    c->step = MODEL_CHARGE;
    c->money = MODEL_OPEN;
    c->deadline = m->now + a->hold;
  }
  c->points = a->points_cost * r->quantity;
  m->users[r->user].balance -= c->points;
  a->is_dirty = true;
  append(a, (int)m->claim_count);
  return (int)m->claim_count++;
}

// Money of a claim that has ended: what was paid is owed, what was never asked for is void, about all else the
// provider is asked.
static void settle_money(struct model_claim *c)
{
  if (c->money == MODEL_PAID && c->refund == MODEL_NO_DEBT) {
    c->refund = MODEL_OWED;
    if (c->reversal != MODEL_OWED) c->step = MODEL_PAY_BACK;
  } else if (c->money == MODEL_OPEN && c->step == MODEL_CHARGE && !c->in_flight) {
    c->money = MODEL_VOID;
    c->step = MODEL_NOTHING;
  } else if (c->money == MODEL_OPEN) {
    c->step = MODEL_INQUIRE_CHARGE;
  }
}

static void move_alone(struct model *m, int claim, enum model_status to)
{
  struct model_claim *c = &m->claims[claim];
  struct model_activity *a = &m->activities[c->activity];
  bool was_succeeded = c->status == MODEL_SUCCEEDED;
  if (model_is_live(c->status) && !model_is_live(to)) m->users[c->request.user].balance += c->points;
  if (!model_is_live(c->status) && model_is_live(to)) m->users[c->request.user].balance -= c->points;
  c->status = to;
  c->deadline = 0;
  c->is_under_review = false;
  c->step = to == MODEL_ISSUING ? MODEL_DELIVER : c->money == MODEL_OPEN ? c->step : MODEL_NOTHING;
  if (to == MODEL_CANCELLED && was_succeeded && a->has_reward) {
    c->reversal = MODEL_OWED;
    c->step = MODEL_REVERSE;
  }
  if (!model_is_live(to)) settle_money(c);
  a->is_dirty = true;
}

void model_move(struct model *m, int claim, enum model_status to)
{
  bool gives = !model_is_live(to);
  move_alone(m, claim, to);
  if (gives) (void)model_promote(m, m->claims[claim].activity);
}

// --- the waiting list

int model_promote(struct model *m, int activity)
{
  const struct model_activity *a = &m->activities[activity];
  if (!model_is_open(m, a) || model_figures(m, activity).remaining == 0) return 0;
  int moved = 0, claim = 0;
  for (; moved < PROMOTED_AT_ONCE && (claim = model_first_waiting(m, activity)) >= 0; moved++) {
    struct model_claim *c = &m->claims[claim];
    if (!model_fits_limits(m, activity, c)) {
      move_alone(m, claim, MODEL_EXPIRED);
    } else if (c->request.quantity > model_figures(m, activity).remaining) {
      break;
    } else if (a->accept > 0) {
      move_alone(m, claim, MODEL_OFFERED);
      c->deadline = m->now + a->accept;
    } else {
      move_alone(m, claim, a->has_reward ? MODEL_ISSUING : MODEL_SUCCEEDED);
    }
  }
  return moved;
}

static bool is_overdue(const struct model *m, const struct model_claim *c)
{
  return (c->status == MODEL_OFFERED || c->status == MODEL_HELD) && c->deadline <= m->now;
}

// Its waiting list is over with it.
static bool is_closing(const struct model *m, const struct model_activity *a, const struct model_claim *c)
{
  return c->status == MODEL_WAITING && m->now >= a->end;
}

enum due { DUE_NOTHING, DUE_DEADLINES, DUE_CLOSING, DUE_PLACES };

static enum due what_is_due(const struct model *m, int activity)
{
  const struct model_activity *a = &m->activities[activity];
  enum due due = DUE_NOTHING;
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (is_overdue(m, c)) return DUE_DEADLINES;
    if (is_closing(m, a, c)) due = DUE_CLOSING;
  }
  int first = model_is_open(m, a) ? model_first_waiting(m, activity) : -1;
  bool fits = first >= 0 && m->claims[first].request.quantity <= model_figures(m, activity).remaining;
  return fits ? DUE_PLACES : due;
}

bool model_is_due(const struct model *m, int activity) { return what_is_due(m, activity) != DUE_NOTHING; }

void model_expire_due(struct model *m, int activity)
{
  const struct model_activity *a = &m->activities[activity];
  enum due due = what_is_due(m, activity);
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (due == DUE_DEADLINES ? is_overdue(m, c) : due == DUE_CLOSING && is_closing(m, a, c))
      move_alone(m, a->claims[i], MODEL_EXPIRED);
  }
  (void)model_promote(m, activity);
}

void model_touch(struct model *m, int claim)
{
  if (is_overdue(m, &m->claims[claim])) model_move(m, claim, MODEL_EXPIRED);
}

// --- what people do

bool model_cancel(struct model *m, int claim)
{
  model_touch(m, claim);
  const struct model_claim *c = &m->claims[claim];
  const struct model_activity *a = &m->activities[c->activity];
  if (c->status == MODEL_CANCELLED) return true;
  bool may = c->status == MODEL_WAITING || c->status == MODEL_OFFERED || c->status == MODEL_HELD ||
             (c->status == MODEL_SUCCEEDED && a->kind == MODEL_REGISTRATION && c->reversal == MODEL_NO_DEBT);
  if (may) model_move(m, claim, MODEL_CANCELLED);
  return may;
}

bool model_take_place(struct model *m, int claim)
{
  model_touch(m, claim);
  const struct model_claim *c = &m->claims[claim];
  bool has = m->activities[c->activity].has_reward;
  if (c->status == MODEL_OFFERED) move_alone(m, claim, has ? MODEL_ISSUING : MODEL_SUCCEEDED);
  if (m->activities[c->activity].kind != MODEL_REGISTRATION) return false;
  return c->status == MODEL_ISSUING || c->status == MODEL_SUCCEEDED;
}

// What was delivered is taken back first; what was not is rolled back at once.
bool model_reverse(struct model *m, int claim)
{
  struct model_claim *c = &m->claims[claim];
  if (c->status != MODEL_SUCCEEDED || c->reversal != MODEL_NO_DEBT) return false;
  if (m->activities[c->activity].has_reward) {
    c->reversal = MODEL_OWED;
    c->step = MODEL_REVERSE;
  } else {
    model_move(m, claim, MODEL_ROLLED_BACK);
  }
  m->activities[c->activity].is_dirty = true;
  return true;
}

bool model_adjust(struct model *m, int activity, int64_t by)
{
  struct model_activity *a = &m->activities[activity];
  if (model_figures(m, activity).remaining + by < 0) return false;
  a->total += by;
  a->is_dirty = true;
  if (by > 0) (void)model_promote(m, activity);
  return true;
}
