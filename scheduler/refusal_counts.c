// SPDX-License-Identifier: Apache-2.0
// Refusals leave only numbers per activity, minute and code: added up here, written about once a second.
// Owner: app; loop thread.
#include "scheduler/refusal_counts.h"

#include "common/contract.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "scheduler/worker_store.h"

enum { ROWS_MAX = 512 };  // counters written by one statement

struct refusal_counts {
  struct periodic write;
  struct list dirty;                  // activities with numbers to write; each is pinned
  struct refusal_row rows[ROWS_MAX];  // being written
  struct {
    struct activity *activity;
    enum verdict verdict;
  } keys[ROWS_MAX];
  size_t count;
};

void refusal_counts_add(struct refusal_counts *c, struct activity *a, enum verdict v)
{
  REQUIRE(v < VERDICT_COUNT);
  a->refusals[v]++;
  if (list_is_linked(&a->refused)) return;
  list_add_last(&c->dirty, &a->refused);
  a->pins++;
}

static bool has_room(const struct refusal_counts *c) { return c->count + VERDICT_COUNT <= ROWS_MAX; }

static void take_counts(struct refusal_counts *c, struct activity *a)
{
  for (int v = 0; v < VERDICT_COUNT; v++) {
    if (a->refusals[v] == 0) continue;
    c->rows[c->count] = (struct refusal_row){a->id, verdict_info((enum verdict)v)->code, a->refusals[v]};
    c->keys[c->count].activity = a;
    c->keys[c->count].verdict = (enum verdict)v;
    a->refusals[v] = 0;
    a->pins++;
    c->count++;
  }
}

static const struct db_statement *prepare_write(void *ctx, struct db_args *args)
{
  struct refusal_counts *c = ctx;
  struct list *node;
  c->count = 0;
  while (has_room(c) && (node = list_take_first(&c->dirty)) != NULL) {
    struct activity *a = CONTAINER_OF(node, struct activity, refused);
    take_counts(c, a);
    a->pins--;
  }
  return c->count > 0 ? store_refusals_add(args, c->rows, c->count) : NULL;
}

static void unpin(struct refusal_counts *c)
{
  for (size_t i = 0; i < c->count; i++) c->keys[i].activity->pins--;
  c->count = 0;
}

static struct span on_written(void *ctx, const struct db_rows *rows)
{
  struct refusal_counts *c = ctx;
  (void)rows;
  unpin(c);
  return list_is_empty(&c->dirty) ? c->write.every : span_ms(50);
}

// What may have been written is not written again: these are statistics, and better a little low than doubled.
static void on_failed(void *ctx, bool may_have_worked)
{
  struct refusal_counts *c = ctx;
  for (size_t i = 0; i < c->count && !may_have_worked; i++) {
    struct activity *a = c->keys[i].activity;
    a->refusals[c->keys[i].verdict] += (uint32_t)c->rows[i].count;
    if (!list_is_linked(&a->refused)) {
      list_add_last(&c->dirty, &a->refused);
      a->pins++;
    }
  }
  unpin(c);
}

struct refusal_counts *refusal_counts_new(struct runtime *rt, struct db_pool *db)
{
  static const struct periodic_spec spec = {"refusal_counts", prepare_write, on_written, on_failed};
  struct refusal_counts *c = MEM_NEW(struct refusal_counts);
  list_init(&c->dirty);
  periodic_init(&c->write, &spec, c, rt, db, span_s(1));
  periodic_soon(&c->write);
  return c;
}

void refusal_counts_free(struct refusal_counts *c)
{
  if (!c) return;
  periodic_release(&c->write);
  mem_free(c);
}

void refusal_counts_flush(struct refusal_counts *c) { periodic_soon(&c->write); }
bool refusal_counts_is_empty(const struct refusal_counts *c) { return list_is_empty(&c->dirty) && c->count == 0; }
