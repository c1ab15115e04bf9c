// SPDX-License-Identifier: Apache-2.0
// The reconciler: proves the totals from the rows, and lets people see and finish what machines could not.
// Owner: the process.
#include "reconciler/app.h"

#include "common/daemon_tables.h"
#include "reconciler/commands.h"
#include "reconciler/messages.h"
#include "reconciler/routes.h"

int main(int argc, char **argv)
{
  const struct daemon_spec spec = {
      .name = "reconciler",
      .conf_table = reconciler_conf_table(),
      DAEMON_TABLES,
      .messages = reconciler_messages(),
      .commands = reconciler_commands(),
      .routes = reconciler_routes(),
      .start = app_start,
      .reload = app_reload,
      .drain = app_drain,
      .is_idle = app_is_idle,
      .is_ready = app_is_ready,
      .check = reconciler_conf_check,
      .stop = app_stop,
  };
  return daemon_main(&spec, argc, argv);
}
