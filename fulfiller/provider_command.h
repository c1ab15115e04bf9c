// SPDX-License-Identifier: Apache-2.0
// `fulfiller providers list|pause|resume|set|history`: what protects the providers, as all fulfillers have it.
// Owner: the command; blocking.
#pragma once

#include "common/daemon.h"

#define PROVIDER_LIST_USAGE   "[--configured] [--format text|json]"
#define PROVIDER_PAUSE_USAGE  "NAME [--until TIME|DURATION] --reason TEXT [--format text|json]"
#define PROVIDER_RESUME_USAGE "NAME --reason TEXT [--format text|json]"
#define PROVIDER_SET_USAGE \
  "NAME [--concurrency N|default] [--rate R|default] [--breaker open|closed|auto] --reason TEXT [--format text|json]"
#define PROVIDER_HISTORY_USAGE "NAME [--limit N] [--after ID] [--format text|json]"

int provider_command_list(const void *config, struct log *log, int argc, char **argv);
int provider_command_pause(const void *config, struct log *log, int argc, char **argv);
int provider_command_resume(const void *config, struct log *log, int argc, char **argv);
int provider_command_set(const void *config, struct log *log, int argc, char **argv);
int provider_command_history(const void *config, struct log *log, int argc, char **argv);
