// SPDX-License-Identifier: Apache-2.0
// `scheduler points …`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

int points_command_grant(const void *config, struct log *log, int argc, char **argv);
int points_command_show(const void *config, struct log *log, int argc, char **argv);
