// SPDX-License-Identifier: Apache-2.0
// The table of keys behind struct scheduler_conf. Sections of the other daemons are known, not read.
// Owner: nobody; constant.
#include "scheduler/config.h"

#include "scheduler/token.h"

#define AT(member) offsetof(struct scheduler_conf, member)
#define SECOND     INT64_C(1000000)

// clang-format off
static const struct conf_key keys[] = {
    DAEMON_CONF_KEYS(struct scheduler_conf),
    WEB_CONF_KEYS(struct scheduler_conf, web, "scheduler", "127.0.0.1:7401"),
    {"scheduler.claims.queue_max", CONF_INT, AT(claims.queue_max), "8192", 1, 1000000, CONF_RELOADABLE, NULL, NULL,
     "claims that may wait for a batch; further ones are answered 503 OVERLOADED"},
    {"scheduler.claims.batch_max_rows", CONF_INT, AT(claims.batch_max_rows), "256", 1, CLAIM_BATCH_ROWS_MAX,
     CONF_RELOADABLE, NULL, NULL, "claims that one statement judges at most"},
    {"scheduler.claims.batches_in_flight", CONF_INT, AT(claims.batches_in_flight), "1", 1, 8, CONF_RELOADABLE, NULL,
     NULL, "statements of one activity that may be under way at once"},
    {"scheduler.claims.gather", CONF_SPAN, AT(claims.gather), "2ms", 0, 100000, CONF_RELOADABLE, NULL, NULL, "in a rush, the least time from one statement of an activity to its next, so that fewer commits carry more; a claim alone never waits"},
  {"scheduler.claims.sweep_after", CONF_SPAN, AT(claims.sweep_after), "5s", 100000, 3600 * SECOND, CONF_RELOADABLE,
     NULL, NULL, "a new claim is published again if nobody took it within this time"},
    {"scheduler.claims.time_margin", CONF_SPAN, AT(claims.time_margin), "50ms", 0, 60 * SECOND, CONF_RELOADABLE, NULL,
     NULL, "memory may not refuse on time this close to a start or an end, besides the measured clock difference"},
    {"scheduler.claims.rate", CONF_INT, AT(admission.rate), "0", 0, TOKEN_RATE_MAX, CONF_RELOADABLE, NULL, NULL,
     "claims that all schedulers together let in per second, besides the limits of activities; more are answered 429 RATE_LIMITED; 0: no limit"},
    {"scheduler.claims.burst", CONF_INT, AT(admission.burst), "1000", 1, TOKEN_BURST_MAX, CONF_RELOADABLE, NULL, NULL,
     "claims above that rate that may come at once"},
    {"scheduler.intake.queue_max", CONF_INT, AT(intake.queue_max), "100000", 1, 100000000, CONF_RELOADABLE, NULL, NULL,
     "requests of one activity with queued intake that may wait to be judged; further ones are answered 503 OVERLOADED"},
    {"scheduler.intake.rate", CONF_INT, AT(intake.rate), "1000", 1, 1000000, CONF_RELOADABLE, NULL, NULL,
     "queued requests that all schedulers together judge per second at most"},
    {"scheduler.intake.rows", CONF_INT, AT(intake.rows), "64", 1, CLAIM_BATCH_ROWS_MAX, CONF_RELOADABLE, NULL, NULL,
     "queued requests that one statement judges at most, all of one activity; the next statement takes the next activity"},
    {"scheduler.intake.every", CONF_SPAN, AT(intake.every), "250ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "how often queued requests are looked for when none wait"},
    {"scheduler.cache.poll", CONF_SPAN, AT(cache.poll), "250ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "how often changed activities are read"},
    {"scheduler.cache.overlap", CONF_SPAN, AT(cache.overlap), "5s", 100000, 600 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "each read looks back this far, since commits become visible late"},
    {"scheduler.cache.full_read", CONF_SPAN, AT(cache.full_read), "60s", SECOND, 86400 * SECOND, CONF_RELOADABLE, NULL,
     NULL, "how often all activities are read"},
    {"scheduler.sweep.every", CONF_SPAN, AT(sweep.every), "1s", 10000, 600 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "how often overdue claims are looked for"},
    {"scheduler.sweep.base", CONF_SPAN, AT(sweep.base), "10s", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "an overdue claim that was published again is looked at again after this, doubling each time"},
    {"scheduler.sweep.full_pass", CONF_SPAN, AT(sweep.full_pass), "5m", SECOND, 86400 * SECOND, CONF_RELOADABLE, NULL,
     NULL, "how often the sweeper starts from the very oldest"},
    {"scheduler.sweep.rows", CONF_INT, AT(sweep.rows), "500", 1, 10000, CONF_RELOADABLE, NULL, NULL,
     "overdue claims taken by one statement"},
    {"scheduler.sweep.rate", CONF_INT, AT(sweep.rate), "5000", 1, 1000000, CONF_RELOADABLE, NULL, NULL,
     "overdue claims published per second at most"},
    {"scheduler.sweep.low_water", CONF_INT, AT(sweep.low_water), "200", 1, 1000000, CONF_RELOADABLE, NULL, NULL,
     "messages ready in a lane above which the sweeper leaves it alone"},
    {"scheduler.events.every", CONF_SPAN, AT(events.every), "250ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "how often events to publish are looked for"},
    {"scheduler.events.lease", CONF_SPAN, AT(events.lease), "15s", SECOND, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "an event without the broker's confirm is published again after this"},
    {"scheduler.events.rows", CONF_INT, AT(events.rows), "500", 1, 5000, CONF_RELOADABLE, NULL, NULL,
     "rows of events taken by one statement; a row holds the news of one commit"},
    {"scheduler.events.unconfirmed_max", CONF_INT, AT(events.unconfirmed_max), "2000", 1, 100000, CONF_RELOADABLE, NULL, NULL,
     "events handed to the broker and not confirmed yet; keep it well below broker.ring_max, which claims share"},
    {"scheduler.events.tries", CONF_INT, AT(events.tries), "5", 1, 1000, CONF_RELOADABLE, NULL, NULL,
     "an event that cannot be sent is parked for a person after so many tries"},
    {"scheduler.events.parked_retention", CONF_SPAN, AT(events.parked_retention), "30d", SECOND, 3650 * 86400 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "parked events are thrown away after this"},
    {"scheduler.warm_up.before", CONF_SPAN, AT(warm_up_before), "1m", 0, 86400 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "each scheduler warms an activity up this long before its start; 0s: only on demand"},
    {"scheduler.clock.rows", CONF_INT, AT(clock_rows), "2000", 1, 10000, CONF_RELOADABLE, NULL, NULL,
     "activities that one statement of the clock moves at most"},
    {"scheduler.deadlines.every", CONF_SPAN, AT(deadlines.every), "500ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL,
     "how often holds, offers and waiting lists whose time has passed are looked for, and free places that somebody waits for"},
    {"scheduler.deadlines.rows", CONF_INT, AT(deadlines.rows), "100", 1, 100, CONF_RELOADABLE, NULL, NULL,
     "claims that one statement ends, and claims that move up by it, at most"},
    {"fulfiller.providers", CONF_NAMES, AT(providers), NULL, 0, 0, CONF_RELOADABLE, NULL, NULL,
     "the providers; only their names matter here, and which can charge"},
    {"fulfiller.providers", CONF_NAMES, AT(charging_providers), NULL, 0, 0, CONF_RELOADABLE, "charge", NULL, ""},
    {"fulfiller", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the fulfiller"},
    {"reconciler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the reconciler"},
};
// clang-format on

const struct conf_table *scheduler_conf_table(void)
{
  static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct scheduler_conf)};
  return &table;
}
