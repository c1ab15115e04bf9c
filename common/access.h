// SPDX-License-Identifier: Apache-2.0
// Who shows which key: the keys of the database, kept in memory and looked after every two seconds. A key that is not
// known is waited for until the database has been asked once more. While the database is away known keys go on for five
// minutes. Owner: the daemon's app; loop thread.
#pragma once

#include "common/db.h"
#include "common/key_ring.h"
#include "common/runtime.h"
#include "common/web.h"

struct access;
struct access *access_new(struct runtime *rt, struct db_pool *db);
void access_start(struct access *a);
void access_stop(struct access *a);  // no further questions; who waits is told to come again
void access_free(struct access *a);  // the pool is gone by then; before the server

// The web_auth_fn of servers that know keys only; ctx is the struct access.
enum web_auth_answer access_auth(void *ctx, struct web_request *req, const struct web_credential *credential,
                                 struct web_caller *out_caller);
void access_hash(struct access *a, const void *bytes, size_t len, uint8_t out_hash[KEY_HASH_BYTES]);
// 256 random bits as text, a secret for somebody.
void access_secret_new(char out_text[KEY_SECRET_CHARS + 1]);
