// SPDX-License-Identifier: Apache-2.0
// POST /v1/callbacks/{provider}: verified over the raw bytes, kept and applied in one transaction, and only then
// answered 2xx, each provider in its own way. Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/web.h"
#include "fulfiller/config.h"
#include "fulfiller/letters.h"

struct callbacks;
// conf must outlive it. RESULT_INVALID: a profile or a secret has a fault, which out_fault names.
MUST_CHECK enum result callbacks_new(struct runtime *rt, struct db_pool *db, struct letters *letters,
                                     const struct fulfiller_conf *conf, struct callbacks **out_callbacks,
                                     struct conf_fault *out_fault);
// SIGHUP: reads the secret files that the new configuration names. A fault keeps the old secrets, all of them.
void callbacks_reload(struct callbacks *c, const struct fulfiller_conf *conf);
void callbacks_free(struct callbacks *c);  // after the database pool, which ends the requests that are open

// The handler's work. c NULL: not started yet, so 503.
void callback_handle(struct callbacks *c, struct web_request *req);
