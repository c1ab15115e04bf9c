// SPDX-License-Identifier: Apache-2.0
// The fulfiller's commands besides serve. Blocking; main thread.
#pragma once

#include "common/daemon.h"

const struct daemon_command *fulfiller_commands(void);  // ended by {NULL}
