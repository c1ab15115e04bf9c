// SPDX-License-Identifier: Apache-2.0
// `reconciler report night|list`. Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define REPORT_NIGHT_USAGE "[DATE] [--again] [--format text|json|csv|html] [--language en|zh] [--output FILE]"
#define REPORT_LIST_USAGE  "[--limit N] [--after DATE] [--format text|json]"

int night_command_night(const void *config, struct log *log, int argc, char **argv);
int night_command_list(const void *config, struct log *log, int argc, char **argv);
