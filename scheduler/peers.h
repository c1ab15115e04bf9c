// SPDX-License-Identifier: Apache-2.0
// How many schedulers live: each writes a row about once a second. Limits for all of them together are divided by it.
// Owner: app; loop thread.
#pragma once

#include <stdbool.h>

#include "common/db.h"

struct peers;
struct peers *peers_new(struct runtime *rt, struct db_pool *db);
void peers_free(struct peers *p);
void peers_start(struct peers *p);
void peers_leave(struct peers *p);           // the others have this one's share at once
bool peers_has_left(const struct peers *p);  // or could not say so
int64_t peers_live(const struct peers *p);
