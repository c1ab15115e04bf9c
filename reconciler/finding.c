// SPDX-License-Identifier: Apache-2.0
// Findings of an audit: their stable keys, their order, what they add up to and what the program's status says about
// them. Pure; any thread.
#include "reconciler/finding.h"

#include <stdlib.h>
#include <string.h>

#include "common/daemon.h"
#include "common/mem.h"

static const char *const state_names[FINDING_STATE_COUNT] = {"opened", "open", "gone"};
static const char *const severity_names[SEVERITY_COUNT] = {"critical", "high", "medium"};

const char *finding_state_name(enum finding_state state) { return state_names[state]; }
const char *finding_severity_name(enum finding_severity severity) { return severity_names[severity]; }

enum result finding_state_parse(const char *name, enum finding_state *out_state)
{
  for (size_t i = 0; i < FINDING_STATE_COUNT; i++) {
    if (strcmp(name, state_names[i]) != 0) continue;
    *out_state = (enum finding_state)i;
    return RESULT_OK;
  }
  return RESULT_INVALID;
}

enum result finding_severity_parse(const char *name, enum finding_severity *out_severity)
{
  for (size_t i = 0; i < SEVERITY_COUNT; i++) {
    if (strcmp(name, severity_names[i]) != 0) continue;
    *out_severity = (enum finding_severity)i;
    return RESULT_OK;
  }
  return RESULT_INVALID;
}

void finding_key(const char *kind, int64_t activity_id, const char *subject, struct buf *out)
{
  buf_puts(out, kind);
  buf_putc(out, ':');
  buf_put_i64(out, activity_id);
  buf_putc(out, ':');
  buf_puts(out, subject);
}

void finding_set_init(struct finding_set *set) { *set = (struct finding_set){NULL, 0, 0}; }

void finding_set_release(struct finding_set *set)
{
  for (size_t i = 0; i < set->count; i++) {
    struct finding *f = &set->items[i];
    mem_free(f->key);
    mem_free(f->kind);
    mem_free(f->activity_code);
    mem_free(f->expected);
    mem_free(f->actual);
    mem_free(f->cause);
    mem_free(f->next_step);
  }
  mem_free(set->items);
  finding_set_init(set);
}

void finding_set_add(struct finding_set *set, const struct finding *f)
{
  if (set->count == set->cap) {
    set->cap = set->cap == 0 ? 16 : set->cap * 2;
    set->items = mem_resize(set->items, set->cap, sizeof *set->items);
  }
  struct finding *own = &set->items[set->count++];
  *own = *f;
  own->key = mem_strdup(f->key);
  own->kind = mem_strdup(f->kind);
  own->activity_code = mem_strdup(f->activity_code);
  own->expected = mem_strdup(f->expected);
  own->actual = mem_strdup(f->actual);
  own->cause = mem_strdup(f->cause);
  own->next_step = mem_strdup(f->next_step);
}

static int compare(const void *left, const void *right)
{
  const struct finding *a = left, *b = right;
  bool a_gone = a->state == FINDING_GONE, b_gone = b->state == FINDING_GONE;
  if (a_gone != b_gone) return a_gone ? 1 : -1;
  if (a->severity != b->severity) return a->severity < b->severity ? -1 : 1;
  if (a->activity_id != b->activity_id) return a->activity_id < b->activity_id ? -1 : 1;
  return strcmp(a->key, b->key);
}

void finding_set_sort(struct finding_set *set)
{
  if (set->count > 1) qsort(set->items, set->count, sizeof *set->items, compare);
}

struct finding_counts finding_set_count(const struct finding_set *set)
{
  struct finding_counts counts = {0};
  for (size_t i = 0; i < set->count; i++) {
    const struct finding *f = &set->items[i];
    counts.by_state[f->state]++;
    if (f->state == FINDING_GONE) continue;
    counts.live++;
    counts.by_severity[f->severity]++;
  }
  return counts;
}

int finding_exit_status(const struct finding_counts *counts, int64_t failed_audits)
{
  if (counts->live > 0) return EXIT_FINDINGS;
  return failed_audits > 0 ? EXIT_TEMPORARY : EXIT_OK;
}
