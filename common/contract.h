// SPDX-License-Identifier: Apache-2.0
// REQUIRE and ENSURE: assertions about our own code. They stay on in every build and abort with a message.
// Never for data from outside (network, SQL, files, configuration): that is what enum result is for.
#pragma once

#include "common/compiler.h"

#define REQUIRE(condition) ((condition) ? (void)0 : contract_failed("REQUIRE", #condition, __FILE__, __LINE__))
#define ENSURE(condition)  ((condition) ? (void)0 : contract_failed("ENSURE", #condition, __FILE__, __LINE__))

// Writes one line to stderr and aborts. Any thread. Unit tests may replace it at link time.
NO_RETURN void contract_failed(const char *kind, const char *condition, const char *file, int line);
