// SPDX-License-Identifier: Apache-2.0
// What the commands of the reconciler have of their own: its name in messages, its role, and a second try after a
// deadlock. Owner: the command; blocking.
#pragma once

#include "common/cli.h"
#include "common/cmdline.h"
#include "reconciler/config.h"

#define RECONCILER_ROLE "largesse_reconciler"

struct cli reconciler_cli(const char *name, const char *usage);
// False after one line on stderr; c->exit_code tells.
bool reconciler_cli_open(struct cli *c, const void *config);
