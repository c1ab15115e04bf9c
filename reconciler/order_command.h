// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters retry|refund|resolve`, `findings repair|resolve` and `claims roll-back`: a command begins an
// operation and drives it to its end; if it is ended before, a serving reconciler goes on. Owner: the command;
// blocking.
#pragma once

#include "common/log.h"

#define ORDER_TARGETS_USAGE \
  "[ID | CLAIMID]... | --provider P --cause C --activity A --fingerprint F | --all  [--dry-run] --reason TEXT "
#define ORDER_OPTIONS_USAGE      "[--rate N] [--key K] [--format text|json]"
#define DEAD_LETTER_RETRY_USAGE  ORDER_TARGETS_USAGE ORDER_OPTIONS_USAGE
#define DEAD_LETTER_REFUND_USAGE ORDER_TARGETS_USAGE ORDER_OPTIONS_USAGE
#define DEAD_LETTER_RESOLVE_USAGE \
  ORDER_TARGETS_USAGE "[--proof TEXT] [--as delivered|not-delivered] " ORDER_OPTIONS_USAGE
#define FINDING_ORDER_USAGE                                                                          \
  "KEY... | --kind K --severity critical|high|medium --state opened|open --activity A --provider P " \
  "--source audit|statement | --all  [--dry-run] --reason TEXT " ORDER_OPTIONS_USAGE
#define CLAIM_ROLL_BACK_USAGE "CLAIMID... [--dry-run] --reason TEXT " ORDER_OPTIONS_USAGE

int order_command_retry(const void *config, struct log *log, int argc, char **argv);
int order_command_refund(const void *config, struct log *log, int argc, char **argv);
int order_command_resolve(const void *config, struct log *log, int argc, char **argv);
int order_command_repair(const void *config, struct log *log, int argc, char **argv);
int order_command_explain(const void *config, struct log *log, int argc, char **argv);
int order_command_roll_back(const void *config, struct log *log, int argc, char **argv);
