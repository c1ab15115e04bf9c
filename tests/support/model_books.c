// SPDX-License-Identifier: Apache-2.0
// All that is there, in the database and by the model, as text; see model_run.h.
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/model_run.h"

#define BOOKS_MAX ((size_t)64 * 1024 * 1024)

static const char *money_name(enum model_money money)
{
  static const char *const names[] = {"-", "open", "refused", "done", "void", "closed"};
  return names[money];
}

static const char *debt_name(enum model_debt debt)
{
  static const char *const names[] = {"-", "owed", "settled"};
  return names[debt];
}

static void put_amount(struct buf *b, int64_t amount)
{
  if (amount == MODEL_UNLIMITED)
    buf_puts(b, "-");
  else
    buf_put_i64(b, amount);
}

static void put_claims(struct buf *b, const struct model *m, const struct model_activity *a)
{
  struct model_figures f = model_figures(m, (int)(a - m->activities));
  buf_puts(b, "figures ");
  put_amount(b, f.total);
  buf_printf(b, " %lld %lld ", (long long)f.issued, (long long)f.held);
  put_amount(b, f.remaining);
  buf_printf(b, " %lld", (long long)f.waiting);
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    buf_printf(b, "\nclaim %lld b%d %d %d %s %s refund %s reversal %s %s %lld", (long long)c->id, c->request.biz,
               c->request.user, c->request.quantity, model_status_name(c->status), money_name(c->money),
               debt_name(c->refund), debt_name(c->reversal), c->is_under_review ? "review" : "-", (long long)c->points);
  }
}

static int by_number(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// A user's use of a limit, by periods that have any.
static void put_usage(struct buf *b, const struct model *m, const struct model_activity *a, int user,
                      enum model_period p)
{
  int64_t *at = MEM_ARRAY(int64_t, a->claim_count + 1);
  size_t count = 0;
  for (size_t i = 0; i < a->claim_count; i++) {
    const struct model_claim *c = &m->claims[a->claims[i]];
    if (c->request.user == user && model_holds(c->status)) at[count++] = c->created;
  }
  if (count > 0) qsort(at, count, sizeof *at, by_number);
  for (size_t i = 0; i < count; i++) {
    int64_t start = model_period_start(a, p, at[i]);
    if (i > 0 && model_period_start(a, p, at[i - 1]) == start) continue;
    buf_printf(b, "\nusage %d %s %lld %lld", user, model_period_name(p), (long long)start,
               (long long)model_used(m, (int)(a - m->activities), user, p, at[i]));
  }
  mem_free(at);
}

static void put_numbers(struct buf *b, const struct model *m, const struct model_activity *a)
{
  for (int n = 1; n <= a->number_last; n++) {
    int owner = model_owner(m, (int)(a - m->activities), n);
    if (owner < 0)
      buf_printf(b, "\nnumber %d available -", n);
    else
      buf_printf(b, "\nnumber %d %s %lld", n, m->claims[owner].status == MODEL_HELD ? "held" : "sold",
                 (long long)m->claims[owner].id);
  }
}

static int by_place(const void *a, const void *b)
{
  const struct model_claim *x = *(const struct model_claim *const *)a, *y = *(const struct model_claim *const *)b;
  return (x->place > y->place) - (x->place < y->place);
}

static void put_waiting(struct buf *b, const struct model *m, const struct model_activity *a)
{
  const struct model_claim *waiting[64];
  size_t count = 0;
  for (size_t i = 0; i < a->claim_count && count < 64; i++)
    if (m->claims[a->claims[i]].status == MODEL_WAITING) waiting[count++] = &m->claims[a->claims[i]];
  if (count > 0) qsort(waiting, count, sizeof(const struct model_claim *), by_place);
  for (size_t i = 0; i < count; i++)
    buf_printf(b, "\nwaits %d %d %lld", waiting[i]->request.user, waiting[i]->request.quantity,
               (long long)waiting[i]->id);
}

static void put_qualified(struct buf *b, const struct model *m, const struct model_activity *a)
{
  for (int user = 1; user <= MODEL_USERS; user++) {
    int64_t used_by = 0;
    for (size_t i = 0; i < a->claim_count; i++) {
      const struct model_claim *c = &m->claims[a->claims[i]];
      if (c->request.user == user && model_is_live(c->status)) used_by = c->id;
    }
    if (!a->is_qualified[user]) continue;
    if (used_by == 0)
      buf_printf(b, "\nqualified %d -", user);
    else
      buf_printf(b, "\nqualified %d %lld", user, (long long)used_by);
  }
}

static void compare_activity(struct model_run *run, struct model_activity *a)
{
  struct buf b;
  buf_init(&b, BOOKS_MAX);
  put_claims(&b, &run->m, a);
  for (int user = 1; user <= MODEL_USERS; user++)
    for (int p = 0; p < MODEL_EVENT; p++)
      if (a->limits[p] > 0) put_usage(&b, &run->m, a, user, (enum model_period)p);
  put_numbers(&b, &run->m, a);
  put_waiting(&b, &run->m, a);
  put_qualified(&b, &run->m, a);
  char *books = sql_text(run->sql, "select probe.books(%lld)", (long long)a->id);
  model_expect(run, a->code, books, buf_text(&b));
  mem_free(books);
  buf_release(&b);
  a->is_dirty = false;
}

// --- across activities

static void put_event_use(struct buf *b, const struct model *m, const struct model_activity *a)
{
  for (int user = 1; user <= MODEL_USERS; user++) {
    int64_t used = model_used(m, (int)(a - m->activities), user, MODEL_EVENT, m->now);
    if (used > 0) buf_printf(b, "\nevent e%d %d %lld", a->event, user, (long long)used);
  }
}

static void put_group(struct buf *b, const struct model *m, int group)
{
  for (int user = 1; user <= MODEL_USERS; user++)
    for (size_t i = 0; i < m->activity_count; i++) {
      const struct model_activity *a = &m->activities[i];
      int live = 0;
      for (size_t n = 0; n < a->claim_count && a->group == group; n++) {
        const struct model_claim *c = &m->claims[a->claims[n]];
        live += c->request.user == user && model_is_live(c->status);
      }
      if (live > 0) buf_printf(b, "\ngroup g%d %d %lld %d", group, user, (long long)a->id, live);
    }
}

// Each group or event once, in the order of numbers: those of activities are made in that order but for the last digit.
static void put_shared(struct buf *b, const struct model *m, bool is_events)
{
  int64_t *seen = MEM_ARRAY(int64_t, m->activity_count + 1);
  size_t count = 0;
  for (size_t i = 0; i < m->activity_count; i++)
    seen[count++] = (is_events ? m->activities[i].event : m->activities[i].group) * INT64_C(1000000) + (int64_t)i;
  qsort(seen, count, sizeof *seen, by_number);
  for (size_t i = 0; i < count; i++) {
    int shared = (int)(seen[i] / 1000000);
    if (shared == 0 || (i > 0 && seen[i - 1] / 1000000 == shared)) continue;
    if (is_events)
      put_event_use(b, m, &m->activities[seen[i] % 1000000]);
    else
      put_group(b, m, shared);
  }
  mem_free(seen);
}

static void compare_users(struct model_run *run)
{
  struct buf b;
  buf_init(&b, BOOKS_MAX);
  for (int user = 1; user <= MODEL_USERS; user++)
    if (run->m.users[user].balance > 0) buf_printf(&b, "\npoints %d %lld", user, (long long)run->m.users[user].balance);
  put_shared(&b, &run->m, true);
  put_shared(&b, &run->m, false);
  char *books = sql_text(run->sql, "select e'\\n' || probe.user_books()");
  model_expect(run, "what users have", books, buf_text(&b));
  mem_free(books);
  buf_release(&b);
}

void model_compare(struct model_run *run)
{
  for (size_t i = 0; i < run->m.activity_count; i++)
    if (run->m.activities[i].is_dirty) compare_activity(run, &run->m.activities[i]);
  compare_users(run);
}
