// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters list|groups|show`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define LETTER_FILTER_USAGE "[--provider P] [--cause C] [--activity A] [--fingerprint F]"
#define DEAD_LETTER_LIST_USAGE \
  "[--state open|closed|all] " LETTER_FILTER_USAGE " [--after ID] [--limit N] [--format text|json]"
#define DEAD_LETTER_GROUPS_USAGE \
  "[--state open|closed|all] " LETTER_FILTER_USAGE " [--after N] [--limit N] [--format text|json]"
#define DEAD_LETTER_SHOW_USAGE "ID | CLAIMID [--format text|json]"

int dead_letter_command_list(const void *config, struct log *log, int argc, char **argv);
int dead_letter_command_groups(const void *config, struct log *log, int argc, char **argv);
int dead_letter_command_show(const void *config, struct log *log, int argc, char **argv);
