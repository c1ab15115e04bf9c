// SPDX-License-Identifier: Apache-2.0
// Natural batching: claims of one activity gather while its last batch is under way, and then leave together.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "scheduler/activity_cache.h"
#include "scheduler/claim_request.h"

struct claim_batcher;
struct claim_batcher *claim_batcher_new(struct runtime *rt, struct db_pool *db, struct activity_cache *cache,
                                        const struct scheduler_conf *conf, const struct claim_hooks *hooks);
// Answers what waits with UNAVAILABLE and sends nothing more; before the pool is freed.
void claim_batcher_close(struct claim_batcher *b);
void claim_batcher_free(struct claim_batcher *b);  // after the pool: nothing is under way

// A zeroed request to fill in; give it to claim_batcher_add or back with claim_batcher_drop.
struct claim_request *claim_batcher_request(struct claim_batcher *b);
void claim_batcher_drop(struct claim_batcher *b, struct claim_request *r);
// Takes the request; hooks.on_answer follows, perhaps from inside.
void claim_batcher_add(struct claim_batcher *b, struct claim_request *r);
size_t claim_batcher_open(const struct claim_batcher *b);  // requests without an answer
