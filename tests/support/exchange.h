// SPDX-License-Identifier: Apache-2.0
// What daemons answered to the tests, written down for tests/support/openapi.py, which holds it against openapi.yaml.
// Nothing is written unless LARGESSE_TEST_EXCHANGES names a folder. No state of its own: any thread, any process.
#pragma once

#include "tests/support/http.h"

// From here on what comes from this port is the answer of a daemon: "scheduler".
void exchange_daemon(int port, const char *name);
// One call and its whole answer. Of calls that are alike (program, daemon, method, status, place in the API) only as
// many are kept as fit into a small file; bodies that are large are left out, and so is what is not UTF-8.
void exchange_keep(int port, const struct http_request *r, const struct http_answer *a);
