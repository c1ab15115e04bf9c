// SPDX-License-Identifier: Apache-2.0
// The table of the fulfiller's commands. Main thread.
#include "fulfiller/commands.h"

#include "fulfiller/provider_command.h"

const struct daemon_command *fulfiller_commands(void)
{
  static const struct daemon_command commands[] = {
      {"providers list", PROVIDER_LIST_USAGE, "what protects the providers now, or the profiles as configured",
       provider_command_list},
      {"providers pause", PROVIDER_PAUSE_USAGE, "takes nothing more for a provider, until then or until resumed",
       provider_command_pause},
      {"providers resume", PROVIDER_RESUME_USAGE, "ends a pause", provider_command_resume},
      {"providers set", PROVIDER_SET_USAGE, "limits over all fulfillers; holds the breaker or lets it go",
       provider_command_set},
      {"providers history", PROVIDER_HISTORY_USAGE, "every change, newest first", provider_command_history},
      {NULL, NULL, NULL, NULL},
  };
  return commands;
}
