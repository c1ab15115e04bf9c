// SPDX-License-Identifier: Apache-2.0
// Imports the statements that come over HTTP and fetches those that are due, one at a time, in a thread of its own that
// blocks on its own session. Owner: app; loop thread.
#pragma once

#include "common/web.h"
#include "reconciler/config.h"

struct statement_worker;
struct statement_worker *statement_worker_new(struct runtime *rt, const struct reconciler_conf *conf);
void statement_worker_start(struct statement_worker *w);
void statement_worker_reload(struct statement_worker *w, const struct reconciler_conf *conf);
void statement_worker_stop(struct statement_worker *w);  // nothing further is fetched; what came is imported
bool statement_worker_is_idle(const struct statement_worker *w);
void statement_worker_free(struct statement_worker *w);  // what is being imported is given up; NULL is allowed

// The body of the request is the file; its texts are valid until the answer, which the worker gives: 201 with the
// statement, 200 for a file that was here already, 400 for one that is not as its profile says. RESULT_FULL: too many
// wait; RESULT_NOT_FOUND: no such profile. The request is then the caller's.
MUST_CHECK enum result statement_worker_import(struct statement_worker *w, struct web_request *web,
                                               const char *provider, const char *date, const char *file,
                                               const char *reason);
