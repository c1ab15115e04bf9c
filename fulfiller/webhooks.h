// SPDX-License-Identifier: Apache-2.0
// All webhook endpoints of the configuration: made known to the database, worked on, counted, purged.
// Owner: app; loop thread.
#pragma once

#include "common/db.h"
#include "fulfiller/config.h"

struct webhooks;
// conf lives as long as this. A fault (a secret that cannot be read) is one line.
MUST_CHECK enum result webhooks_new(struct runtime *rt, struct db_pool *db, const struct fulfiller_conf *conf,
                                    struct webhooks **out_webhooks, struct conf_fault *out_fault);
void webhooks_reload(struct webhooks *s,
                     const struct fulfiller_conf *conf);  // secrets, retention, how often is counted
void webhooks_drain(struct webhooks *s);
bool webhooks_are_idle(const struct webhooks *s);
void webhooks_stop(struct webhooks *s);  // before the database goes; NULL is allowed, as below
void webhooks_free(struct webhooks *s);  // after it
