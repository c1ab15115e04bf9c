// SPDX-License-Identifier: Apache-2.0
// Rate limits: token buckets of each user and activity, of each activity, and of all claims together. What they hold
// back is never judged, but a bizId that is known stays a replay whatever the rate. Owner: app; loop thread.
#pragma once

#include "common/buf.h"
#include "scheduler/claim_request.h"
#include "scheduler/peers.h"

struct admission;
struct admission *admission_new(const struct scheduler_conf *conf, const struct peers *peers);
void admission_free(struct admission *a);

// Takes the tokens that a request needs before it is judged; all of them or none. False: r->mark says which limit has
// none, and for how long.
bool admission_admit(struct admission *a, struct claim_request *r);
// The answer is known: gives tokens back that were not needed (a replay, a bizId that is used, nothing judged), and
// tells the caller about the limits of the activity (RateLimit, RateLimit-Policy).
void admission_answered(struct admission *a, const struct claim_request *r, const struct claim_answer *answer);
// Members that explain RATE_LIMITED, without braces; and the name of the rule.
void admission_explain(struct admission *a, const struct claim_request *r, struct buf *out);
const char *admission_rule(const struct claim_request *r);
