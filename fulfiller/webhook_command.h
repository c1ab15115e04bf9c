// SPDX-License-Identifier: Apache-2.0
// `fulfiller webhooks list|deliveries|enable|disable|replay|test`.
// Main thread; blocking.
#pragma once

struct log;
#define WEBHOOK_LIST_USAGE       "[--format text|json]"
#define WEBHOOK_DELIVERIES_USAGE "NAME [--state waiting|done|dead] [--limit N] [--after ID] [--format text|json]"
#define WEBHOOK_SWITCH_USAGE     "NAME --reason TEXT"
#define WEBHOOK_REPLAY_USAGE     "NAME --since T|AGO [--all] | --id N  --reason TEXT"
int webhook_command_list(const void *config, struct log *log, int argc, char **argv);
int webhook_command_deliveries(const void *config, struct log *log, int argc, char **argv);
int webhook_command_enable(const void *config, struct log *log, int argc, char **argv);
int webhook_command_disable(const void *config, struct log *log, int argc, char **argv);
int webhook_command_replay(const void *config, struct log *log, int argc, char **argv);
int webhook_command_test(const void *config, struct log *log, int argc, char **argv);
