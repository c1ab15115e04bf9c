// SPDX-License-Identifier: Apache-2.0
// What is so: figures, allowances, and the verdict about a request; see model.h.
#include "tests/support/model.h"

#include <string.h>

#include "common/mem.h"

#define DAY_MS 86400000

void model_release(struct model *m)
{
  for (size_t i = 0; i < m->activity_count; i++) mem_free(m->activities[i].claims);
  mem_free(m->activities);
  mem_free(m->claims);
}

int model_add_activity(struct model *m, const struct model_activity *a)
{
  if (m->activity_count == m->activity_room) {
    m->activity_room = m->activity_room == 0 ? 64 : m->activity_room * 2;
    m->activities = mem_resize(m->activities, m->activity_room, sizeof *m->activities);
  }
  m->activities[m->activity_count] = *a;
  return (int)m->activity_count++;
}

bool model_holds(enum model_status status)
{
  return status == MODEL_OFFERED || status == MODEL_HELD || status == MODEL_ISSUING || status == MODEL_SUCCEEDED;
}

bool model_is_live(enum model_status status) { return status == MODEL_WAITING || model_holds(status); }

struct model_figures model_figures(const struct model *m, int activity)
{
  const struct model_activity *a = &m->activities[activity];
  struct model_figures f = {.total = a->total, .remaining = a->total};
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->status == MODEL_WAITING) f.waiting += c->request.quantity;
    if (c->status == MODEL_OFFERED || c->status == MODEL_HELD) f.held += c->request.quantity;
    if (c->status == MODEL_ISSUING || c->status == MODEL_SUCCEEDED) f.issued += c->request.quantity;
  }
  if (a->total != MODEL_UNLIMITED) f.remaining = a->total - f.held - f.issued;
  return f;
}

// --- periods, in the activity's own zone

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// The first day of the month that has this day; the civil calendar by 400 years of 146097 days, beginning in March.
static int64_t month_start(int64_t day)
{
  int64_t z = day + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * of_year + 2) / 153;
  return day - (of_year - (153 * month + 2) / 5);
}

int64_t model_period_start(const struct model_activity *a, enum model_period period, int64_t at)
{
  int64_t day = floor_div(at + (int64_t)a->zone_minutes * 60000, DAY_MS);
  if (period == MODEL_DAY) return day;
  if (period == MODEL_WEEK) return floor_div(day + 3, 7) * 7 - 3;  // the first day of 1970 was a Thursday
  if (period == MODEL_MONTH) return month_start(day);
  return 0;
}

static int64_t used_here(const struct model *m, const struct model_activity *a, int user, enum model_period period,
                         int64_t at)
{
  int64_t used = 0, start = model_period_start(a, period, at);
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->request.user == user && model_holds(c->status) && model_period_start(a, period, c->created) == start)
      used += c->request.quantity;
  }
  return used;
}

int64_t model_used(const struct model *m, int activity, int user, enum model_period period, int64_t at)
{
  const struct model_activity *a = &m->activities[activity];
  if (period != MODEL_EVENT) return used_here(m, a, user, period, at);
  int64_t used = 0;
  for (size_t i = 0; i < m->activity_count; i++) {
    const struct model_activity *other = &m->activities[i];
    if (other->event == a->event && other->limits[MODEL_EVENT] > 0) used += used_here(m, other, user, MODEL_TOTAL, at);
  }
  return used;
}

// The first limit that a quantity does not fit; MODEL_PERIODS: it fits all.
static enum model_period over_limit(const struct model *m, int activity, int user, int quantity, int64_t at)
{
  const struct model_activity *a = &m->activities[activity];
  enum model_period p = MODEL_TOTAL;
  for (; p < MODEL_PERIODS; p++)
    if (a->limits[p] > 0 && model_used(m, activity, user, p, at) + quantity > a->limits[p]) break;
  return p;
}

bool model_fits_limits(const struct model *m, int activity, const struct model_claim *c)
{
  return over_limit(m, activity, c->request.user, c->request.quantity, c->created) == MODEL_PERIODS;
}

// --- who has what

int model_owner(const struct model *m, int activity, int number)
{
  const struct model_activity *a = &m->activities[activity];
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    for (int n = 0; n < c->request.number_count && model_holds(c->status); n++)
      if (c->request.numbers[n] == number) return a->claims[i];
  }
  return -1;
}

int model_first_waiting(const struct model *m, int activity)
{
  const struct model_activity *a = &m->activities[activity];
  int first = -1;
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->status == MODEL_WAITING && (first < 0 || c->place < m->claims[first].place)) first = a->claims[i];
  }
  return first;
}

static int live_claim(const struct model *m, const struct model_activity *a, int user)
{
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->request.user == user && model_is_live(c->status)) return a->claims[i];
  }
  return -1;
}

bool model_excluded(const struct model *m, int activity, int user)
{
  const struct model_activity *a = &m->activities[activity];
  for (size_t i = 0; i < m->activity_count && a->group > 0; i++) {
    const struct model_activity *other = &m->activities[i];
    if (other != a && other->group == a->group && live_claim(m, other, user) >= 0) return true;
  }
  return false;
}

bool model_is_open(const struct model *m, const struct model_activity *a)
{
  return !a->is_paused && m->now >= a->start && m->now < a->end;
}

// --- the verdict: the checks in their order, the first refusal counts

static bool is_same(const struct model_request *a, const struct model_request *b)
{
  return a->user == b->user && a->quantity == b->quantity && a->channel == b->channel &&
         a->number_count == b->number_count &&
         memcmp(a->numbers, b->numbers, sizeof(int) * (size_t)a->number_count) == 0;
}

static struct model_verdict refusal(const char *code)
{
  return (struct model_verdict){.code = code, .claim = -1, .period = MODEL_PERIODS};
}

static struct model_verdict known(const struct model *m, const struct model_activity *a, const struct model_request *r)
{
  struct model_verdict v = refusal(NULL);
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->request.biz != r->biz) continue;
    v.code = is_same(&c->request, r) ? "REPLAYED" : "BIZ_ID_REUSED";
    v.claim = a->claims[i];
    v.status = c->status;
  }
  return v;
}

static const char *closed(const struct model *m, const struct model_activity *a)
{
  if (m->now >= a->end) return "ENDED";
  if (a->is_paused) return "PAUSED";
  return m->now < a->start ? "NOT_STARTED" : NULL;
}

// Of a registration: he waits, has as much as he may, or gave up his place where that is for good.
static int registered(const struct model *m, const struct model_activity *a, int user, bool is_over)
{
  if (a->kind != MODEL_REGISTRATION) return -1;
  for (size_t i = a->claim_count; i-- > 0;) {
    enum model_status status = m->claims[a->claims[i]].status;
    if (m->claims[a->claims[i]].request.user != user) continue;
    if (status == MODEL_WAITING || (is_over && model_holds(status))) return a->claims[i];
  }
  for (size_t i = a->claim_count; a->no_second_sign_up && i-- > 0;) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->request.user == user && c->status == MODEL_CANCELLED) return a->claims[i];
  }
  return -1;
}

static const char *who(const struct model *m, int activity, const struct model_request *r)
{
  const struct model_activity *a = &m->activities[activity];
  const struct model_user *u = &m->users[r->user];
  if (a->is_blocked[r->user]) return "BLOCKED";
  if (a->channels != 0 && (r->channel < 0 || (a->channels & (1 << r->channel)) == 0)) return "CHANNEL_NOT_ALLOWED";
  if (a->needs_qualification && !a->is_qualified[r->user]) return "NOT_QUALIFIED";
  if (a->needs_qualification && live_claim(m, a, r->user) >= 0) return "QUALIFICATION_USED";
  if (a->needs_level && (u->level < 3 || r->quantity > 2)) return "NOT_ELIGIBLE";
  if (model_excluded(m, activity, r->user)) return "EXCLUSIVE_GROUP";
  return a->kind == MODEL_EXCHANGE && a->points_cost * r->quantity > u->balance ? "INSUFFICIENT_POINTS" : NULL;
}

static int waiting_count(const struct model *m, const struct model_activity *a)
{
  int count = 0;
  for (size_t i = 0; i < a->claim_count; i++) count += m->claims[a->claims[i]].status == MODEL_WAITING;
  return count;
}

static struct model_verdict stock(const struct model *m, int activity, const struct model_request *r)
{
  const struct model_activity *a = &m->activities[activity];
  for (int n = 0; n < r->number_count; n++)
    if (r->numbers[n] > a->number_last || model_owner(m, activity, r->numbers[n]) >= 0) return refusal("NUMBER_TAKEN");
  struct model_verdict v = refusal("ACCEPTED");
  v.status = a->has_price ? MODEL_HELD : a->has_reward ? MODEL_ISSUING : MODEL_SUCCEEDED;
  int waiting = waiting_count(m, a);
  if (waiting == 0 && model_figures(m, activity).remaining >= r->quantity) return v;
  v.status = MODEL_WAITING;
  // More places than there are would be waited for in vain, and hold up everybody behind.
  return waiting < a->waiting_max && r->quantity <= a->total ? v : refusal("SOLD_OUT");
}

struct model_verdict model_judge(const struct model *m, int activity, const struct model_request *r)
{
  const struct model_activity *a = &m->activities[activity];
  struct model_verdict v = known(m, a, r);
  if (v.code != NULL) return v;
  const char *code = closed(m, a);
  if (code != NULL) return refusal(code);
  enum model_period over = over_limit(m, activity, r->user, r->quantity, m->now);
  v.claim = registered(m, a, r->user, over != MODEL_PERIODS);
  if (v.claim >= 0)
    v.code = "ALREADY_REGISTERED";
  else if (over != MODEL_PERIODS)
    v.code = "LIMIT_REACHED", v.period = over;
  if (v.code != NULL) return v;
  code = who(m, activity, r);
  return code != NULL ? refusal(code) : stock(m, activity, r);
}
