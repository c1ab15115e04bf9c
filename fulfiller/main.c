// SPDX-License-Identifier: Apache-2.0
// The fulfiller: takes accepted claims from the lanes, calls their providers, and records what came of it.
// Owner: the process.
#include "fulfiller/app.h"

#include "common/daemon_tables.h"
#include "common/message_tables.h"
#include "fulfiller/commands.h"
#include "fulfiller/routes.h"

int main(int argc, char **argv)
{
  const struct daemon_spec spec = {
      .name = "fulfiller",
      .conf_table = fulfiller_conf_table(),
      DAEMON_TABLES,
      .messages = &message_catalogue,
      .commands = fulfiller_commands(),
      .routes = fulfiller_routes(),
      .start = app_start,
      .reload = app_reload,
      .drain = app_drain,
      .is_idle = app_is_idle,
      .is_ready = app_is_ready,
      .stop = app_stop,
      .check = app_check,
  };
  return daemon_main(&spec, argc, argv);
}
