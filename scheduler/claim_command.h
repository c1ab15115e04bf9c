// SPDX-License-Identifier: Apache-2.0
// `scheduler claims list|show`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

int claim_command_list(const void *config, struct log *log, int argc, char **argv);
int claim_command_show(const void *config, struct log *log, int argc, char **argv);
