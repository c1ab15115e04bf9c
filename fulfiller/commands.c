// SPDX-License-Identifier: Apache-2.0
// The table of the fulfiller's commands. Main thread.
#include "fulfiller/commands.h"

#include "fulfiller/provider_command.h"
#include "fulfiller/webhook_command.h"

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
      {"webhooks list", WEBHOOK_LIST_USAGE, "the endpoints, and how they are", webhook_command_list},
      {"webhooks deliveries", WEBHOOK_DELIVERIES_USAGE, "what an endpoint was told, newest first",
       webhook_command_deliveries},
      {"webhooks enable", WEBHOOK_SWITCH_USAGE, "tells an endpoint again, and what waited for it",
       webhook_command_enable},
      {"webhooks disable", WEBHOOK_SWITCH_USAGE, "tells an endpoint nothing more", webhook_command_disable},
      {"webhooks replay", WEBHOOK_REPLAY_USAGE,
       "makes deliveries once more: given up ones since T (--all: others too), or one", webhook_command_replay},
      {"webhooks test", "NAME", "sends webhook.ping and waits for the outcome", webhook_command_test},
      {NULL, NULL, NULL, NULL},
  };
  return commands;
}
