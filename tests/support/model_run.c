// SPDX-License-Identifier: Apache-2.0
// The choice of steps, and telling of differences; see model_run.h.
#include "tests/support/model_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/support.h"

#define COMPARED_EVERY 300
#define MINUTE         60000
#define HOUR           (60 * MINUTE)

uint64_t model_random(struct model_run *run, uint64_t below)
{
  uint64_t z = run->random += UINT64_C(0x9e3779b97f4a7c15);  // splitmix64
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

bool model_chance(struct model_run *run, int percent) { return model_random(run, 100) < (uint64_t)percent; }

const char *model_status_name(enum model_status status)
{
  static const char *const names[] = {"waiting",   "offered", "held",   "issuing",    "succeeded",
                                      "cancelled", "expired", "failed", "rolled_back"};
  return names[status];
}

const char *model_period_name(enum model_period period)
{
  static const char *const names[] = {"total", "day", "week", "month", "event"};
  return names[period];
}

// --- telling

void model_note(struct model_run *run, const char *format, ...)
{
  char *line = run->last[run->step++ % MODEL_LAST];
  int len = snprintf(line, sizeof run->last[0], "%llu ", (unsigned long long)run->step);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(line + len, sizeof run->last[0] - (size_t)len, format, args);
  va_end(args);
}

// The first line in which two texts differ.
static void first_difference(const char *a, const char *b, int *out_a, int *out_b, size_t *out_at)
{
  size_t line = 0, i = 0;
  for (; a[i] != '\0' && a[i] == b[i]; i++)
    if (a[i] == '\n') line = i + 1;
  *out_at = line;
  *out_a = (int)strcspn(a + line, "\n");
  *out_b = (int)strcspn(b + line, "\n");
}

void model_differs(struct model_run *run, const char *what, const char *database, const char *model)
{
  int a = 0, b = 0;
  size_t at = 0;
  first_difference(database, model, &a, &b, &at);
  for (uint64_t i = run->step > MODEL_LAST ? run->step - MODEL_LAST : 0; i < run->step; i++)
    (void)fprintf(stderr, "%s\n", run->last[i % MODEL_LAST]);
  support_die("seed %llu, step %llu, %s\n  database: %.*s\n  model:    %.*s", (unsigned long long)run->seed,
              (unsigned long long)run->step, what, a, database + at, b, model + at);
}

void model_expect(struct model_run *run, const char *what, const char *database, const char *model)
{
  if (strcmp(database, model) != 0) model_differs(run, what, database, model);
}

// --- requests

static void draw_numbers(struct model_run *run, const struct model_activity *a, struct model_request *r)
{
  r->number_count = r->quantity;
  for (int n = 0; n < r->number_count; n++) {
    int number = 1 + (int)model_random(run, (uint64_t)a->number_last + 1), at = n;
    for (int i = 0; i < n; i++)
      if (r->numbers[i] == number) at = -1;
    if (at < 0) {
      n--;
      continue;
    }
    for (; at > 0 && r->numbers[at - 1] > number; at--) r->numbers[at] = r->numbers[at - 1];
    r->numbers[at] = number;
  }
}

static struct model_request draw_request(struct model_run *run, const struct model_activity *a)
{
  uint64_t lot = model_random(run, 10);
  struct model_request r = {.biz = run->next_biz++, .user = 1 + (int)model_random(run, MODEL_USERS), .channel = -1};
  r.quantity = lot < 7 ? 1 : lot < 9 ? 2 : 3;
  if (model_chance(run, 80)) r.channel = model_chance(run, 70) ? 0 : 1 + (int)model_random(run, 2);
  if (a->kind == MODEL_NUMBER) draw_numbers(run, a, &r);
  if (a->claim_count == 0 || !model_chance(run, 15)) return r;
  struct model_request old = run->m.claims[a->claims[model_random(run, a->claim_count)]].request;
  if (model_chance(run, 70)) return old;
  r.biz = old.biz;
  return r;
}

static void submit(struct model_run *run, int activity)
{
  struct model_request r[MODEL_BATCH];
  int count = model_chance(run, 15) ? 2 + (int)model_random(run, MODEL_BATCH - 1) : 1;
  for (int i = 0; i < count; i++) {
    r[i] = draw_request(run, &run->m.activities[activity]);
    if (i > 0 && model_chance(run, 10)) r[i] = r[model_random(run, (uint64_t)i)];
  }
  if (model_chance(run, 20)) model_call_dry_run(run, activity, &r[0]);
  model_call_submit(run, activity, r, count);
}

// --- claims that have something to do

static int draw_claim(struct model_run *run, int activity, bool (*suits)(const struct model *m, int claim))
{
  const struct model_activity *a = &run->m.activities[activity];
  size_t from = a->claim_count == 0 ? 0 : model_random(run, a->claim_count);
  for (size_t i = 0; i < a->claim_count; i++) {
    int claim = a->claims[(from + i) % a->claim_count];
    if (suits(&run->m, claim)) return claim;
  }
  return -1;
}

static bool is_in_flight(const struct model *m, int claim) { return m->claims[claim].in_flight; }

static bool is_live(const struct model *m, int claim) { return model_is_live(m->claims[claim].status); }

static bool is_offered(const struct model *m, int claim) { return m->claims[claim].status == MODEL_OFFERED; }

static bool has_charge(const struct model *m, int claim)
{
  const struct model_claim *c = &m->claims[claim];
  return c->money != MODEL_NO_MONEY && c->money != MODEL_VOID && (c->attempt > 0 || c->in_flight);
}

static bool is_delivered(const struct model *m, int claim)
{
  const struct model_claim *c = &m->claims[claim];
  return c->status == MODEL_SUCCEEDED && !c->in_flight && c->reversal == MODEL_NO_DEBT;
}

static enum model_outcome draw_outcome(struct model_run *run, const struct model_claim *c)
{
  uint64_t lot = model_random(run, 100);
  enum model_outcome o = lot < 55   ? MODEL_DONE
                         : lot < 70 ? MODEL_REFUSED
                         : lot < 80 ? MODEL_RETRY
                         : lot < 92 ? MODEL_PENDING
                                    : MODEL_UNKNOWN;
  bool is_debt = c->doing >= MODEL_PAY_BACK;
  return is_debt && o == MODEL_REFUSED ? MODEL_DONE : o;
}

// An order that nobody paid is often closed behind the inquiry; that is never answered "pending".
static void settle_claim(struct model_run *run, int claim)
{
  enum model_outcome outcome = draw_outcome(run, &run->m.claims[claim]);
  if (outcome != MODEL_PENDING && model_can_close(&run->m, claim) && model_chance(run, 60))
    model_call_close(run, claim, outcome);
  else
    model_call_settle(run, claim, outcome);
}

static void settle(struct model_run *run, int activity)
{
  int claim = draw_claim(run, activity, is_in_flight);
  if (claim >= 0) settle_claim(run, claim);
}

static void work(struct model_run *run, int activity)
{
  int claim = draw_claim(run, activity, model_can_take);
  if (claim < 0)
    settle(run, activity);
  else if (model_call_take(run, claim) && !model_chance(run, 25))
    settle_claim(run, claim);
}

static void people(struct model_run *run, int activity)
{
  uint64_t lot = model_random(run, 100);
  bool is_strange = model_chance(run, 10);
  const struct model_activity *a = &run->m.activities[activity];
  int any = a->claim_count == 0 ? -1 : a->claims[model_random(run, a->claim_count)];
  int live = draw_claim(run, activity, is_live), offered = draw_claim(run, activity, is_offered);
  int delivered = draw_claim(run, activity, is_delivered);
  if (lot < 45 && (is_strange ? any : live) >= 0)
    model_call_cancel(run, is_strange ? any : live);
  else if (lot < 70 && (is_strange ? any : offered) >= 0)
    model_call_take_place(run, is_strange ? any : offered);
  else if (delivered >= 0 && model_chance(run, 40))
    model_call_roll_back(run, delivered);
}

static void operate(struct model_run *run, int activity)
{
  const struct model_activity *a = &run->m.activities[activity];
  uint64_t lot = model_random(run, 100);
  bool runs = run->m.now < a->end;
  if (lot < 40 && runs && a->total != MODEL_UNLIMITED && a->kind != MODEL_NUMBER)
    model_call_adjust(run, activity,
                      model_chance(run, 50) ? 1 + (int64_t)model_random(run, 4) : -1 - (int64_t)model_random(run, 4));
  else if (runs && (lot < 50 || a->is_paused))
    model_call_pause(run, activity);
  else
    model_world_change(run, activity);
}

static void callback(struct model_run *run, int activity)
{
  int claim = draw_claim(run, activity, has_charge);
  if (claim >= 0) model_call_tell(run, claim, model_chance(run, 60));
}

// --- time

static void pass_time(struct model_run *run)
{
  uint64_t lot = model_random(run, 1000);
  int64_t ms = 2 + (int64_t)model_random(run, 4000);
  if (lot < 60) ms = (int64_t)model_random(run, 10 * MINUTE);
  if (lot < 12) ms = HOUR + (int64_t)model_random(run, 8 * HOUR);
  model_call_clock(run, ms);
  if (ms > MINUTE && model_chance(run, 50)) sql_exec(run->sql, "select largesse.activity_advance(100)");
  if (model_chance(run, ms > MINUTE ? 60 : 3)) model_call_expire(run);
}

// Everything that is under way comes to its end.
static void settle_down(struct model_run *run, int activity)
{
  const struct model_activity *a = &run->m.activities[activity];
  model_call_expire(run);
  for (size_t i = 0; i < a->claim_count; i++) {
    int claim = a->claims[i];
    while (run->m.claims[claim].in_flight || model_can_take(&run->m, claim)) {
      if (!run->m.claims[claim].in_flight) (void)model_call_take(run, claim);
      model_call_settle(run, claim, MODEL_DONE);
    }
  }
}

static void step(struct model_run *run)
{
  int slot = (int)model_random(run, MODEL_SLOTS), activity = run->slots[slot];
  if (activity < 0 || (run->m.now >= run->m.activities[activity].end && model_chance(run, 10))) {
    if (activity >= 0) settle_down(run, activity);
    model_world_open(run, slot);
    return;
  }
  pass_time(run);
  uint64_t lot = model_random(run, 100);
  if (lot < 45)
    submit(run, activity);
  else if (lot < 67)
    work(run, activity);
  else if (lot < 72)
    settle(run, activity);
  else if (lot < 77)
    callback(run, activity);
  else if (lot < 90)
    people(run, activity);
  else
    operate(run, activity);
}

void model_run(struct model_run *run, struct sql *sql, uint64_t seed, uint64_t steps)
{
  *run = (struct model_run){.sql = sql, .seed = seed, .random = seed, .next_biz = 1, .next_key = 1};
  for (int i = 0; i < MODEL_SLOTS; i++) run->slots[i] = -1;
  run->m.now = INT64_C(1790812800000);  // 2026-10-01
  model_call_clock(run, 0);
  uint64_t compared = 0;
  while (run->step < steps) {
    step(run);
    if (run->step - compared < COMPARED_EVERY) continue;
    model_compare(run);
    compared = run->step;
  }
  for (size_t i = 0; i < run->m.activity_count; i++) settle_down(run, (int)i);
  for (size_t i = 0; i < run->m.activity_count; i++) run->m.activities[i].is_dirty = true;
  model_compare(run);
  char *found = sql_text(sql, "select coalesce(probe.audit(), '')");
  model_expect(run, "the audits", found, "");
  mem_free(found);
}

void model_run_release(struct model_run *run) { model_release(&run->m); }
