// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of commands besides serve.
// Owner: nobody; constant.
#include "scheduler/commands.h"

#include "scheduler/migrate.h"

const struct daemon_command *scheduler_commands(void)
{
  static const struct daemon_command commands[] = {
    {"migrate", "", "bring the database to the schema built into this program", migrate_command},
    {NULL, NULL, NULL, NULL},
  };
  return commands;
}
