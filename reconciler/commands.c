// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of commands besides serve.
// Owner: nobody; constant.
#include "reconciler/commands.h"

#include "reconciler/audit_command.h"
#include "reconciler/dead_letter_command.h"
#include "reconciler/finding_command.h"

const struct daemon_command *reconciler_commands(void)
{
  static const struct daemon_command commands[] = {
      {"audit", AUDIT_USAGE,
       "prove the totals from the rows: the last 24 hours, a day of UTC, or everything; status 1 with findings",
       audit_command},
      {"findings list", FINDING_LIST_USAGE, "what audits found and is not gone", finding_command_list},
      {"findings show", FINDING_SHOW_USAGE, "one finding with its cause and the next step", finding_command_show},
      {"dead-letters list", DEAD_LETTER_LIST_USAGE, "what machines could not finish", dead_letter_command_list},
      {"dead-letters show", DEAD_LETTER_SHOW_USAGE, "one dead letter with every attempt at the provider",
       dead_letter_command_show},
      {"dead-letters retry", DEAD_LETTER_RETRY_USAGE, "send claims round again, under the same request id",
       dead_letter_command_retry},
      {NULL, NULL, NULL, NULL},
  };
  return commands;
}
