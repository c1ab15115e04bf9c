// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters list|show|retry`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define DEAD_LETTER_LIST_USAGE \
  "[--state open|closed|all] [--provider P] [--cause C] [--activity A] [--after ID] [--limit N] [--format text|json]"
#define DEAD_LETTER_SHOW_USAGE "ID | CLAIMID [--format text|json]"
#define DEAD_LETTER_RETRY_USAGE \
  "[ID | CLAIMID]... | --provider P --cause C --activity A | --all  [--dry-run] --reason TEXT [--format text|json]"

int dead_letter_command_list(const void *config, struct log *log, int argc, char **argv);
int dead_letter_command_show(const void *config, struct log *log, int argc, char **argv);
int dead_letter_command_retry(const void *config, struct log *log, int argc, char **argv);
