// SPDX-License-Identifier: Apache-2.0
// The scheduler: moves activities through their life by the database's clock and serves the claim API.
// Owner: the process.
#include "scheduler/app.h"

#include "common/daemon_tables.h"
#include "common/message_tables.h"
#include "scheduler/commands.h"
#include "scheduler/routes.h"

int main(int argc, char **argv)
{
  const struct daemon_spec spec = {
      .name = "scheduler",
      .conf_table = scheduler_conf_table(),
      DAEMON_TABLES,
      .messages = &message_catalogue,
      .commands = scheduler_commands(),
      .routes = scheduler_routes(),
      .start = app_start,
      .reload = app_reload,
      .drain = app_drain,
      .is_idle = app_is_idle,
      .is_ready = app_is_ready,
      .stop = app_stop,
  };
  return daemon_main(&spec, argc, argv);
}
