// SPDX-License-Identifier: Apache-2.0
// The worker of one webhook endpoint: takes its deliveries with leases, posts them signed, writes down what came of it.
// It has slots, connections and statements of its own, so that an endpoint that hangs delays no other. Owner: webhooks;
// loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/webhook_profile.h"

struct signature;
struct webhook;

// The profile becomes the worker's. RESULT_INVALID with one line when a secret cannot be read.
MUST_CHECK enum result webhook_new(struct runtime *rt, struct db_pool *db, struct signature *signature,
                                   struct webhook_profile *profile, struct webhook **out_webhook,
                                   struct conf_fault *out_fault);
// Reads the secrets again, from the files of the new configuration. A fault keeps the old ones, all of them.
MUST_CHECK enum result webhook_reload(struct webhook *w, const struct webhook_conf *conf, struct conf_fault *out_fault);
void webhook_start(struct webhook *w);
void webhook_drain(struct webhook *w);  // takes nothing more; calls under way end and are settled
bool webhook_is_idle(const struct webhook *w);
const struct webhook_profile *webhook_profile_of(const struct webhook *w);
void webhook_show(struct webhook *w, int64_t waiting, int64_t lag_ms, bool is_disabled);  // as counted, for the metrics
void webhook_stop(struct webhook *w);  // before the database goes: ends the calls
void webhook_free(struct webhook *w);  // after it; NULL is allowed. What is not settled comes again with its lease
