// SPDX-License-Identifier: Apache-2.0
// `reconciler log list|verify`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define LOG_LIST_USAGE                                                                                          \
  "[--actor NAME] [--action A] [--target T] [--since TIME] [--until TIME] [--after SEQ] [--limit N] [--format " \
  "text|json]"
#define LOG_VERIFY_USAGE "[--from SEQ] [--anchor SEQ:HASH] [--format text|json]"

int log_command_list(const void *config, struct log *log, int argc, char **argv);
int log_command_verify(const void *config, struct log *log, int argc, char **argv);
