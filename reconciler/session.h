// SPDX-License-Identifier: Apache-2.0
// Who uses the console: people who have signed in with a key, known by a cookie. The database holds the sessions, so
// all reconcilers share them and an end holds at once; each call asks it. Also what is asked of people only: a reason
// for whatever they change. Owner: the app; loop thread.
#pragma once

#include "common/access.h"
#include "common/web.h"

struct sessions;
struct sessions *sessions_new(struct runtime *rt, struct db_pool *db, struct access *keys);
void sessions_free(struct sessions *s);  // the pool is gone by then
// The web_auth_fn of the reconciler: keys, and sessions. ctx is the struct sessions.
enum web_auth_answer sessions_auth(void *ctx, struct web_request *req, const struct web_credential *credential,
                                   struct web_caller *out_caller);
// What X-CSRF-Token must say with this cookie. It is made from the cookie, so nobody else's fits.
void sessions_token(struct sessions *s, const char *session, size_t len, char out_token[KEY_SECRET_CHARS + 1]);
// One more attempt to sign in; false: too many of this server's attempts failed lately, and when to come again.
bool sessions_may_try(struct sessions *s, int *out_retry_after_s);
void sessions_succeeded(struct sessions *s);  // it was none of the failed ones

// The web_gate_fn: true after a 400 to a person who changes something and says no reason: as a member of the body or,
// where that has no room for one, as a parameter of the query.
bool sessions_gate(struct web_request *req);
