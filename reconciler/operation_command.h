// SPDX-License-Identifier: Apache-2.0
// `reconciler operations list|show|cancel`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define OPERATION_LIST_USAGE                                                                                  \
  "[--state running|done|cancelled|all] [--kind retry|refund|resolve|roll_back|repair|explain] [--after ID] " \
  "[--limit N] [--format text|json]"
#define OPERATION_SHOW_USAGE   "ID [--items] [--format text|json]"
#define OPERATION_CANCEL_USAGE "ID --reason TEXT [--format text|json]"

int operation_command_list(const void *config, struct log *log, int argc, char **argv);
int operation_command_show(const void *config, struct log *log, int argc, char **argv);
int operation_command_cancel(const void *config, struct log *log, int argc, char **argv);
