// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of commands besides serve.
// Owner: nobody; constant.
#pragma once

#include "common/daemon.h"

const struct daemon_command *reconciler_commands(void);  // ended by {NULL}
