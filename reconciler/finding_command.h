// SPDX-License-Identifier: Apache-2.0
// `reconciler findings list|show`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define FINDING_LIST_USAGE                                                                                     \
  "[--state opened|open|gone|all] [--kind K] [--severity critical|high|medium] [--activity A] [--provider P] " \
  "[--source audit|statement] [--sort key|severity|openedAt|-openedAt] [--after PLACE] [--limit N] "           \
  "[--format text|json]"
#define FINDING_SHOW_USAGE "KEY [--format text|json]"

int finding_command_list(const void *config, struct log *log, int argc, char **argv);
int finding_command_show(const void *config, struct log *log, int argc, char **argv);
