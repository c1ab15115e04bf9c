// SPDX-License-Identifier: Apache-2.0
// `reconciler audit`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define AUDIT_USAGE \
  "[--date YYYY-MM-DD | --all] [--activity CODE] [--resume] [--format text|json|csv|html] [--output FILE]"

int audit_command(const void *config, struct log *log, int argc, char **argv);
