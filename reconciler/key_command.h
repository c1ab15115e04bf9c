// SPDX-License-Identifier: Apache-2.0
// `reconciler keys add|list|revoke`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define KEY_ADD_USAGE \
  "NAME --scope read[,claims,activities,review,admin] [--expires DATE|TIME] [--reason TEXT] [--format text|json]"
#define KEY_LIST_USAGE   "[--all] [--limit N] [--format text|json]"
#define KEY_REVOKE_USAGE "NAME --reason TEXT"

int key_command_add(const void *config, struct log *log, int argc, char **argv);
int key_command_list(const void *config, struct log *log, int argc, char **argv);
int key_command_revoke(const void *config, struct log *log, int argc, char **argv);
