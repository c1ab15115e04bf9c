// SPDX-License-Identifier: Apache-2.0
// The provider simulator from a test's side, by its port. What goes wrong ends the test program with a line that says
// why. See tests/simulator/README.md for scripts and names.
#pragma once

#include <stdint.h>

// POST /credits of 100 CNY; the status, 0 if there was no answer. timeout_ms 0: the usual one.
int simulator_credit(int port, const char *request_id, const char *user_id, int timeout_ms);
void simulator_script(int port, const char *json);
void simulator_config(int port, const char *json);
void simulator_reset(int port);
// A number of the ledger's entry ("hits", "effects", "reversals"), of the figures ("requests", "duplicates" …).
// An id that the ledger does not know has 0 of everything.
int64_t simulator_ledger(int port, const char *request_id, const char *name);
int64_t simulator_stat(int port, const char *name);
