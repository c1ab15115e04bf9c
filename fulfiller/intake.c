// SPDX-License-Identifier: Apache-2.0
// Reading messages and taking claims in batches. Loop thread.
#include "fulfiller/intake.h"

#include "common/contract.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/deliver.h"
#include "fulfiller/guard.h"
#include "fulfiller/letters.h"
#include "fulfiller/settle.h"
#include "fulfiller/store.h"

static const struct span rest_after_failure = {300000};

static void on_taken(struct db_request *req, const struct db_rows *rows);
static void on_take_error(struct db_request *req, const struct db_error *error);
static void on_take_timeout(struct db_request *req);

// --- waiting claims

static void ref_drop(struct claim_ref *ref)
{
  list_remove(&ref->node);
  ref->parcel->lane->waiting_count--;
}

void intake_give_back(struct lane *lane)
{
  LIST_EACH (node, following, &lane->waiting) {
    struct claim_ref *ref = CONTAINER_OF(node, struct claim_ref, node);
    ref_drop(ref);  // `following` stays valid: a message is freed with its last open claim
    ref->parcel->goes_back = true;
    parcel_claim_done(ref->parcel);
  }
}

// A new connection brings again what the old one had unacknowledged; keeping both would double what is held with every
// break.
static void forget_older(struct lane *lane, uint32_t generation)
{
  LIST_EACH (node, following, &lane->waiting) {
    struct claim_ref *ref = CONTAINER_OF(node, struct claim_ref, node);
    if (ref->parcel->tag.generation == generation) continue;
    ref_drop(ref);
    ref->parcel->goes_back = true;  // where the lane was closed and opened again, the old channel is still there
    parcel_claim_done(ref->parcel);
  }
}

void intake_on_delivery(void *ctx, const struct mq_delivery *d)
{
  struct lane *lane = ctx;
  struct claim_key keys[MESSAGE_CLAIMS_MAX];
  char why[INTAKE_WHY_BYTES] = "";
  size_t count = 0;
  if (lane->subscription == NULL) {
    mq_requeue(lane->means.consumer, d->tag);
    return;
  }
  if (d->tag.generation != lane->generation) {
    lane->generation = d->tag.generation;
    forget_older(lane, lane->generation);
  }
  if (intake_decode(d->body, d->body_len, keys, &count, why) != RESULT_OK) {
    LOG(lane->means.rt->log, EV_MESSAGE_UNREADABLE, F_STR("provider", lane->provider.name),
        F_STR("message_id", d->message_id), F_STR("detail", why));
    letters_add(lane->means.letters, lane->provider.name, d, why);
    return;
  }
  // One claim, and a writer that says its trace only in the header.
  if (count == 1 && keys[0].trace[0] == '\0' && trace_parent_is_valid(d->traceparent))
    memcpy(keys[0].trace, d->traceparent + TRACE_PARENT_ID_AT, TRACE_ID_DIGITS);
  parcel_new(lane, d, keys, count);
  intake_poke(lane);
}

// --- taking

static int compare_keys(const struct claim_key *a, const struct claim_key *b)
{
  if (a->activity_id != b->activity_id) return a->activity_id < b->activity_id ? -1 : 1;
  if (a->claim_id != b->claim_id) return a->claim_id < b->claim_id ? -1 : 1;
  return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static int compare_refs(const void *a, const void *b)
{
  return compare_keys(&(*(struct claim_ref *const *)a)->key, &(*(struct claim_ref *const *)b)->key);
}

static void rest(struct lane *lane, const char *reason, const char *detail)
{
  LOG(lane->means.rt->log, EV_TAKE_POSTPONED, F_STR("provider", lane->provider.name),
      F_UINT("claims", lane->waiting_count), F_STR("reason", reason), F_STR("detail", detail));
  loop_timer_set(lane->resume, rest_after_failure);
}

// The claims of a take that failed wait again; whether it took effect shows at the next one.
static void put_back(struct lane *lane)
{
  struct take *take = &lane->take;
  struct list again;
  list_init(&again);
  for (size_t i = 0; i < take->count; i++) list_add_last(&again, &take->refs[i]->node);
  list_splice(&again, &lane->waiting);
  list_splice(&lane->waiting, &again);
  lane->waiting_count += take->count;
  lane->busy -= take->count;
  size_t asked = take->count;
  take->count = 0;
  lane_guard_taken(lane->guard, asked, 0);
  if (lane->subscription == NULL && !lane->is_stopping) intake_give_back(lane);
}

static void take_some(struct lane *lane, size_t wanted)
{
  struct take *take = &lane->take;
  take->count = 0;
  while (take->count < wanted) {
    struct list *node = list_take_first(&lane->waiting);
    take->refs[take->count++] = CONTAINER_OF(node, struct claim_ref, node);
  }
  qsort(take->refs, take->count, sizeof take->refs[0], compare_refs);
  for (size_t i = 0; i < take->count; i++) take->keys[i] = &take->refs[i]->key;
  lane->waiting_count -= take->count;
  lane->busy += take->count;
  take->asked_at = clk_mono();
  lane_guard_taking(lane->guard, take->count);
  store_take(&take->req, take->keys, take->count, &lane->provider);
  metric_observe(lane->means.rt->metrics, M_TAKE_BATCH_ROWS, (double)take->count);
  enum result result = db_pool_submit(lane->means.db, &take->req);
  if (result == RESULT_OK) return;
  put_back(lane);
  rest(lane, "not_submitted", result_text(result));
}

// Natural batching: one request at a time, and not for a handful while many calls are open, since more places become
// free meanwhile.
static void pump(void *ctx)
{
  struct lane *lane = ctx;
  metric_series_put(lane->held, (double)lane->waiting_count);
  if (lane->is_draining || lane->take.count > 0 || lane->waiting_count == 0 || loop_timer_is_set(lane->resume)) return;
  if (!settler_has_room(lane->means.settler)) return;
  size_t limit = lane_guard_concurrency(lane->guard);
  size_t room = limit > lane->busy ? limit - lane->busy : 0;
  if (room < lane->waiting_count && lane->busy > 0 && room < limit / 4) return;
  size_t allowed = lane_guard_allows(lane->guard, lane->waiting_count, lane->busy);
  if (allowed > 0) take_some(lane, allowed < TAKE_ROWS_MAX ? allowed : TAKE_ROWS_MAX);
}

void intake_poke(struct lane *lane) { loop_defer(lane->means.rt->loop, &lane->pump, pump, lane); }

// --- answers

// The first of the refs that this row answers; NULL if none is left.
static struct claim_ref *find_ref(struct take *take, const struct claim_key *key)
{
  struct claim_key asked = {.activity_id = key->activity_id, .claim_id = key->claim_id, .attempt = key->attempt - 1};
  size_t from = 0, to = take->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (compare_keys(take->keys[middle], &asked) < 0)
      from = middle + 1;
    else
      to = middle;
  }
  if (from == take->count || compare_keys(take->keys[from], &asked) != 0) return NULL;
  struct claim_ref *ref = take->refs[from];
  take->refs[from] = NULL;
  return ref;
}

static void start_job(struct lane *lane, struct parcel *parcel, const struct db_rows *rows, size_t row)
{
  struct job *job = store_taken_job(rows, row, lane->provider.has_params);
  job->lane = lane;
  job->parcel = parcel;
  job->is_probe = lane_guard_starts(lane->guard);
  job->taken_at = lane->take.asked_at;
  job->lease_until = mono_after(job->taken_at, lane->provider.lease);
  job->trust_at = mono_after(clk_mono(), store_taken_trust(rows, row));
  deliver_start(job);
}

static void on_taken(struct db_request *req, const struct db_rows *rows)
{
  struct lane *lane = CONTAINER_OF(CONTAINER_OF(req, struct take, req), struct lane, take);
  struct take *take = &lane->take;
  size_t asked = take->count, taken = 0;
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    struct claim_key key = store_taken_key(rows, i);
    struct claim_ref *ref = find_ref(take, &key);
    if (ref == NULL) continue;
    taken++;
    start_job(lane, ref->parcel, rows, i);
  }
  lane_guard_taken(lane->guard, asked, taken);
  // Finished, leased, under review or stale: there is nothing to do for this message.
  for (size_t i = 0; i < asked; i++) {
    if (take->refs[i] != NULL) parcel_claim_done(take->refs[i]->parcel);
  }
  take->count = 0;
  lane->busy -= asked - taken;
  metric_series_add(lane->taken, (double)taken);
  metric_series_add(lane->skipped, (double)(asked - taken));
  metric_series_put(lane->in_progress, (double)lane->busy);
  intake_poke(lane);
}

static void on_take_error(struct db_request *req, const struct db_error *error)
{
  struct lane *lane = CONTAINER_OF(CONTAINER_OF(req, struct take, req), struct lane, take);
  put_back(lane);
  if (!lane->is_stopping)
    rest(lane, error->failure == DB_FAILED_STATEMENT ? error->sqlstate : "connection", error->message);
}

static void on_take_timeout(struct db_request *req)
{
  struct lane *lane = CONTAINER_OF(CONTAINER_OF(req, struct take, req), struct lane, take);
  put_back(lane);
  rest(lane, "timeout", NULL);
}

// --- life

static void on_resume(void *ctx) { intake_poke(ctx); }

void intake_init(struct lane *lane)
{
  lane->resume = loop_timer_new(lane->means.rt->loop, on_resume, lane);
  lane->take.req = (struct db_request){.on_rows = on_taken, .on_error = on_take_error, .on_timeout = on_take_timeout};
  db_args_init(&lane->take.req.args);
}

void intake_release(struct lane *lane)
{
  loop_defer_cancel(lane->means.rt->loop, &lane->pump);
  loop_timer_free(lane->resume);
  db_args_release(&lane->take.req.args);
}
