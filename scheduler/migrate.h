// SPDX-License-Identifier: Apache-2.0
// `scheduler migrate`: brings the database to the schema that is built into this binary.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

int migrate_command(const void *config, struct log *log, int argc, char **argv);
