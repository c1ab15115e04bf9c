// SPDX-License-Identifier: Apache-2.0
// One activity's waiting lines, and the choice of what its next batch takes. Pure order: no database, no loop.
// Owner: the batcher; loop thread.
#include "scheduler/claim_lane.h"

#include "common/contract.h"
#include "common/mem.h"

#define SCAN_FACTOR       2   // how many batches' worth of the line is looked at for one batch
#define IN_ORDER_ROWS_MAX 64  // the database judges repeats one by one: keep such batches short

static struct claim_request *request_of(struct list *node) { return CONTAINER_OF(node, struct claim_request, node); }
static struct lane_batch *batch_of(struct list *node) { return CONTAINER_OF(node, struct lane_batch, node); }

void lane_batch_init(struct lane_batch *b, size_t max_rows)
{
  *b = (struct lane_batch){.rows = MEM_ARRAY(struct claim_request *, max_rows), .max_rows = max_rows};
  list_init(&b->node);
  key_set_init(&b->keys, 2 * max_rows + CLAIM_NUMBERS_MAX);
  key_set_init(&b->passed_over, 2 * SCAN_FACTOR * max_rows + CLAIM_NUMBERS_MAX);
}

void lane_batch_release(struct lane_batch *b)
{
  mem_free(b->rows);
  b->rows = NULL;
  key_set_release(&b->keys);
  key_set_release(&b->passed_over);
}

void claim_lane_init(struct claim_lane *lane, struct activity *a, size_t row_cap)
{
  *lane = (struct claim_lane){.activity = a, .row_cap = row_cap};
  list_init(&lane->submits);
  list_init(&lane->lookups);
  list_init(&lane->submitting);
  list_init(&lane->ready);
  list_init(&lane->all);
}

void claim_lane_add(struct claim_lane *lane, struct claim_request *r, bool ask)
{
  list_add_last(ask ? &lane->submits : &lane->lookups, &r->node);
  if (ask)
    lane->submit_count++;
  else
    lane->lookup_count++;
}

void claim_lane_put_back(struct claim_lane *lane, struct claim_request *r)
{
  list_add_last(lane->submits.next, &r->node);  // before the first
  lane->submit_count++;
}

bool claim_lane_is_idle(const struct claim_lane *lane)
{
  return lane->submit_count == 0 && lane->lookup_count == 0 && lane->submitting_count == 0 && !lane->is_looking_up;
}

// What must not be twice in what runs at once.
struct keys {
  const struct claim_request *request;
  uint64_t user, biz_id;
};

static struct keys keys_of(const struct claim_request *r)
{
  return (struct keys){r, key_of_user(r->user_id), key_of_biz_id(r->biz_id, r->biz_id_len)};
}

static bool has_any(const struct key_set *s, const struct keys *k)
{
  if (key_set_has(s, k->user) || key_set_has(s, k->biz_id)) return true;
  for (size_t i = 0; i < k->request->number_count; i++)
    if (key_set_has(s, key_of_number(k->request->numbers[i]))) return true;
  return false;
}

static void add_all(struct key_set *s, const struct keys *k)
{
  (void)key_set_add(s, k->user);
  (void)key_set_add(s, k->biz_id);
  for (size_t i = 0; i < k->request->number_count; i++) (void)key_set_add(s, key_of_number(k->request->numbers[i]));
}

static bool has_room(const struct key_set *s, const struct keys *k)
{
  return key_set_has_room(s, 2 + (size_t)k->request->number_count);
}

static bool is_under_way(const struct claim_lane *lane, const struct keys *k)
{
  for (struct list *node = lane->submitting.next; node != &lane->submitting; node = node->next) {
    const struct lane_batch *b = batch_of(node);
    if (has_any(&b->keys, k)) return true;
  }
  return false;
}

static void take(struct claim_lane *lane, struct lane_batch *b, struct claim_request *r)
{
  list_remove(&r->node);
  lane->submit_count--;
  if (b->count == 0) b->first_seq = r->seq;
  b->rows[b->count++] = r;
}

// Who waits also holds back those behind him with the same user, bizId or number: order is kept for each of them.
static void take_without_repeats(struct claim_lane *lane, struct lane_batch *b, size_t max_rows)
{
  size_t scanned = 0, scan_max = max_rows * SCAN_FACTOR;
  LIST_EACH (node, following, &lane->submits) {
    if (b->count >= max_rows || scanned++ >= scan_max) break;
    struct claim_request *r = request_of(node);
    struct keys k = keys_of(r);
    bool waits =
        has_any(&b->keys, &k) || has_any(&b->passed_over, &k) || (lane->submitting_count > 0 && is_under_way(lane, &k));
    struct key_set *keys = waits ? &b->passed_over : &b->keys;
    if (!has_room(keys, &k)) break;  // many numbers each
    add_all(keys, &k);
    if (!waits) take(lane, b, r);
  }
}

static void take_in_order(struct claim_lane *lane, struct lane_batch *b, size_t max_rows)
{
  while (b->count < max_rows && !list_is_empty(&lane->submits)) {
    struct claim_request *r = request_of(lane->submits.next);
    struct keys k = keys_of(r);
    if (!has_room(&b->keys, &k)) break;
    add_all(&b->keys, &k);
    take(lane, b, r);
  }
}

// Whether the head of the line is mostly repeats: one user or one click, many times at once.
static bool is_mostly_repeats(const struct claim_lane *lane, const struct lane_batch *b, size_t max_rows)
{
  size_t seen = b->count + lane->submit_count;
  if (seen > max_rows * SCAN_FACTOR) seen = max_rows * SCAN_FACTOR;
  return b->count < max_rows && b->count * 2 < seen;
}

bool claim_lane_take_submits(struct claim_lane *lane, struct lane_batch *b, size_t batches_max)
{
  if (lane->submit_count == 0 || lane->submitting_count >= batches_max) return false;
  size_t max_rows = b->max_rows < lane->row_cap ? b->max_rows : lane->row_cap;
  b->count = 0;
  key_set_clear(&b->keys);
  key_set_clear(&b->passed_over);
  take_without_repeats(lane, b, max_rows);
  if (lane->submitting_count == 0 && is_mostly_repeats(lane, b, max_rows)) {
    while (b->count > 0) claim_lane_put_back(lane, b->rows[--b->count]);
    // Putting back in reverse keeps the taken ones in order, yet moves them before the repeats that stood between them:
    // nobody overtakes himself by that, since a repeat always stands behind the first of its kind.
    key_set_clear(&b->keys);
    take_in_order(lane, b, max_rows < IN_ORDER_ROWS_MAX ? max_rows : IN_ORDER_ROWS_MAX);
  }
  if (b->count == 0) return false;
  list_add_last(&lane->submitting, &b->node);
  lane->submitting_count++;
  return true;
}

void claim_lane_returned(struct claim_lane *lane, struct lane_batch *b)
{
  if (!list_is_linked(&b->node)) {
    lane->is_looking_up = false;
    return;
  }
  list_remove(&b->node);
  REQUIRE(lane->submitting_count > 0);
  lane->submitting_count--;
}

static uint64_t oldest_submit(const struct claim_lane *lane)
{
  uint64_t oldest = UINT64_MAX;
  if (!list_is_empty(&lane->submits)) oldest = request_of(lane->submits.next)->seq;
  for (struct list *node = lane->submitting.next; node != &lane->submitting; node = node->next) {
    const struct lane_batch *b = batch_of(node);
    if (b->first_seq < oldest) oldest = b->first_seq;
  }
  return oldest;
}

bool claim_lane_take_lookups(struct claim_lane *lane, struct lane_batch *b)
{
  if (lane->is_looking_up || lane->lookup_count == 0) return false;
  uint64_t barrier = oldest_submit(lane);
  b->count = 0;
  while (b->count < b->max_rows && !list_is_empty(&lane->lookups)) {
    struct claim_request *r = request_of(lane->lookups.next);
    if (r->seq > barrier) break;
    list_remove(&r->node);
    lane->lookup_count--;
    b->rows[b->count++] = r;
  }
  if (b->count == 0) return false;
  lane->is_looking_up = true;
  return true;
}
