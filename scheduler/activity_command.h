// SPDX-License-Identifier: Apache-2.0
// `scheduler activity …` and `scheduler stock adjust`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

int activity_command_list(const void *config, struct log *log, int argc, char **argv);
int activity_command_show(const void *config, struct log *log, int argc, char **argv);
int activity_command_warm_up(const void *config, struct log *log, int argc, char **argv);
int activity_command_history(const void *config, struct log *log, int argc, char **argv);
int activity_command_publish(const void *config, struct log *log, int argc, char **argv);
int activity_command_pause(const void *config, struct log *log, int argc, char **argv);
int activity_command_resume(const void *config, struct log *log, int argc, char **argv);
int activity_command_finish(const void *config, struct log *log, int argc, char **argv);
int activity_command_archive(const void *config, struct log *log, int argc, char **argv);
int stock_command_adjust(const void *config, struct log *log, int argc, char **argv);
