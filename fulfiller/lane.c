// SPDX-License-Identifier: Apache-2.0
// Lanes and the messages they hold. Loop thread.
#include "fulfiller/lane.h"

#include <stdio.h>

#include "common/contract.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/guard.h"
#include "fulfiller/intake.h"
#include "fulfiller/topology.h"

// RabbitMQ closes the channel of whoever holds a message for half an hour. What a slow or sick provider makes wait
// longer than this returns to the queue and comes again.
static const struct span hold_max = {600000000};

// --- messages

struct parcel *parcel_new(struct lane *lane, const struct mq_delivery *d, const struct claim_key *keys, size_t count)
{
  struct parcel *parcel = mem_zalloc(1, sizeof *parcel + count * sizeof parcel->refs[0]);
  parcel->lane = lane;
  parcel->tag = d->tag;
  parcel->since = clk_mono();
  parcel->count = parcel->open = count;
  for (size_t i = 0; i < count; i++) {
    parcel->refs[i] = (struct claim_ref){.key = keys[i], .parcel = parcel};
    list_init(&parcel->refs[i].node);
    list_add_last(&lane->waiting, &parcel->refs[i].node);
  }
  list_init(&parcel->node);
  list_add_last(&lane->parcels, &parcel->node);
  lane->waiting_count += count;
  lane->parcel_count++;
  return parcel;
}

static void parcel_free(struct parcel *parcel)
{
  list_remove(&parcel->node);
  parcel->lane->parcel_count--;
  mem_free(parcel);
}

void parcel_claim_done(struct parcel *parcel)
{
  REQUIRE(parcel->open > 0);
  if (--parcel->open > 0) return;
  struct mq_consumer *consumer = parcel->lane->means.consumer;
  if (parcel->goes_back)
    mq_requeue(consumer, parcel->tag);
  else
    mq_ack(consumer, parcel->tag);
  parcel_free(parcel);
}

// --- life

static void make_series(struct lane *lane)
{
  struct metric_set *set = lane->means.rt->metrics;
  const char *name = lane->provider.name;
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    const char *outcome = outcome_name((enum outcome)i);
    lane->outcomes[ACTION_DELIVER][i] = METRIC_SERIES(set, M_DELIVERIES, name, outcome);
    for (int action = ACTION_DELIVER + 1; action < ACTION_COUNT; action++) {
      const char *what = action_request_name((enum provider_action)action, CALL_ACT);
      lane->outcomes[action][i] = METRIC_SERIES(set, M_ACTIONS, name, what, outcome);
    }
    lane->closes[i] = METRIC_SERIES(set, M_ACTIONS, name, action_request_name(ACTION_CHARGE, CALL_CLOSE), outcome);
  }
  lane->call_seconds = METRIC_SERIES(set, M_DELIVERY_SECONDS, name);
  lane->held = METRIC_SERIES(set, M_CLAIMS_HELD, name);
  lane->in_progress = METRIC_SERIES(set, M_IN_PROGRESS, name);
  lane->taken = METRIC_SERIES(set, M_CLAIMS_TAKEN, name, "taken");
  lane->skipped = METRIC_SERIES(set, M_CLAIMS_TAKEN, name, "skipped");
}

struct lane *lane_new(const struct lane_means *means, struct provider *provider)
{
  struct lane *lane = MEM_NEW(struct lane);
  lane->means = *means;
  lane->provider = *provider;
  *provider = (struct provider){0};
  // How many calls are open is the guard's business: people may raise it while we run.
  lane->http = http_client_new(means->rt, LIMIT_CONCURRENCY_MAX, LIMIT_CONCURRENCY_MAX);
  lane->guard = guard_add(means->guard, &lane->provider, lane_look, lane);
  provider_call_init(&lane->call);
  trace_source_init(&lane->spans);
  list_init(&lane->parcels);
  list_init(&lane->waiting);
  make_series(lane);
  intake_init(lane);
  return lane;
}

static void subscribe(struct lane *lane)
{
  char queue[TOPOLOGY_NAME_BYTES];
  topology_lane_name(lane->provider.name, queue);
  lane->subscription =
      mq_subscribe(lane->means.consumer, queue, (uint16_t)lane->provider.conf->prefetch, intake_on_delivery, lane);
  LOG(lane->means.rt->log, EV_LANE_OPENED, F_STR("provider", lane->provider.name), F_STR("queue", queue),
      F_INT("concurrency", lane->provider.conf->concurrency), F_SPAN("lease_seconds", lane->provider.lease));
}

static void unsubscribe(struct lane *lane)
{
  if (lane->subscription != NULL) mq_unsubscribe(lane->subscription);
  lane->subscription = NULL;
  intake_give_back(lane);
}

static bool holds_too_long(const struct lane *lane)
{
  if (list_is_empty(&lane->waiting)) return false;
  // Not the oldest message: if that one only waits to be settled, what comes back would be returned at once again.
  const struct claim_ref *oldest = CONTAINER_OF(lane->waiting.next, struct claim_ref, node);
  return mono_since(clk_mono(), oldest->parcel->since).us > hold_max.us;
}

void lane_look(void *ctx)
{
  struct lane *lane = ctx;
  if (lane->is_draining) return;
  bool is_wanted = lane_guard_wants_messages(lane->guard);
  if (is_wanted && lane->subscription == NULL) {
    subscribe(lane);
  } else if (!is_wanted && lane->subscription != NULL) {
    LOG(lane->means.rt->log, EV_LANE_CLOSED, F_STR("provider", lane->provider.name),
        F_UINT("claims", lane->waiting_count));
    unsubscribe(lane);
  }
  if (holds_too_long(lane)) intake_give_back(lane);
  intake_poke(lane);
}

void lane_drain(struct lane *lane)
{
  lane->is_draining = true;
  unsubscribe(lane);
}

bool lane_is_idle(const struct lane *lane) { return lane->parcel_count == 0 && lane->busy == 0; }

void lane_slot_free(struct lane *lane)
{
  REQUIRE(lane->busy > 0);
  lane->busy--;
  metric_series_put(lane->in_progress, (double)lane->busy);
  intake_poke(lane);
}

void lane_stop(struct lane *lane)
{
  lane->is_stopping = lane->is_draining = true;
  http_client_free(lane->http);
  lane->http = NULL;
}

void lane_free(struct lane *lane)
{
  if (lane == NULL) return;
  intake_release(lane);
  http_client_free(lane->http);
  while (!list_is_empty(&lane->parcels)) parcel_free(CONTAINER_OF(lane->parcels.next, struct parcel, node));
  provider_call_release(&lane->call);
  provider_release(&lane->provider);
  mem_free(lane);
}
