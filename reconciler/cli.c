// SPDX-License-Identifier: Apache-2.0
// What the commands of the reconciler have of their own: its name in messages, its role, and a second try after a
// deadlock. Owner: the command; blocking.
#include "reconciler/cli.h"

#define TRIES_MAX 5  // each statement is a transaction of its own

struct cli reconciler_cli(const char *name, const char *usage)
{
  return (struct cli){.program = "reconciler",
                      .name = name,
                      .usage = usage,
                      .if_missing = "; was `scheduler migrate` run?",
                      .tries = TRIES_MAX};
}

bool reconciler_cli_open(struct cli *c, const void *config)
{
  const struct reconciler_conf *conf = config;
  return cli_open(c, &conf->daemon.database, RECONCILER_ROLE);
}
