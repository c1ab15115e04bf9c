// SPDX-License-Identifier: Apache-2.0
// `reconciler audits list`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define AUDITS_LIST_USAGE "[--source audit|statement] [--after NAME] [--limit N] [--format text|json]"

int audits_command_list(const void *config, struct log *log, int argc, char **argv);
