// SPDX-License-Identifier: Apache-2.0
// Writes what attempts brought, many in one statement, and then lets the follow-up messages and acknowledgements go:
// never before the commit. Owner: the loop thread.
#pragma once

#include <stdbool.h>

#include "common/db.h"
#include "common/mq.h"
#include "fulfiller/job.h"

struct settler;
struct letters;

// on_room is called when there is room again after there was none.
struct settler *settler_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *publisher,
                            struct letters *letters, void (*on_room)(void *ctx), void *ctx);
void settler_add(struct settler *s, struct job *job);  // JOB_SETTLING
bool settler_has_room(struct settler *s);      // false: the database does not keep up, nothing more should be taken
size_t settler_open(const struct settler *s);  // jobs not finished yet
void settler_stop(struct settler *s);          // nothing is submitted any more
void settler_free(
    struct settler *s);  // after the database and the publisher; open jobs are forgotten, their leases run out
