// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of commands besides serve.
// Owner: nobody; constant.
#include "scheduler/commands.h"

#include "scheduler/activity_command.h"
#include "scheduler/apply.h"
#include "scheduler/claim_command.h"
#include "scheduler/discount_command.h"
#include "scheduler/event_command.h"
#include "scheduler/import_command.h"
#include "scheduler/migrate.h"
#include "scheduler/points_command.h"
#include "scheduler/refusal_command.h"

#define ACTION_USAGE "CODE --reason TEXT [--format text|json]"

const struct daemon_command *scheduler_commands(void)
{
  static const struct daemon_command commands[] = {
      {"migrate", "", "bring the database to the schema built into this program", migrate_command},
      {"apply", "FILE… [--plan] [--format text|json]",
       "event files become sessions; --plan only says what would happen", apply_command},
      {"activity list", "[--status STATUS] [--format text|json]", "all activities with their stock",
       activity_command_list},
      {"activity show", "CODE [--format text|json]", "one activity", activity_command_show},
      {"activity history", "CODE [--format text|json]", "its moves: when, by whom, why", activity_command_history},
      {"activity publish", ACTION_USAGE, "a draft will open at its start", activity_command_publish},
      {"activity pause", ACTION_USAGE, "no claim is accepted until it is resumed", activity_command_pause},
      {"activity resume", ACTION_USAGE, "ends a pause", activity_command_resume},
      {"activity finish", ACTION_USAGE, "ends it for good, ahead of its end", activity_command_finish},
      {"activity archive", ACTION_USAGE, "puts a finished one away", activity_command_archive},
      {"activity refusals", "CODE [--format text|json]", "how many claims were refused, by minute and code",
       refusal_command_list},
      {"activity warm-up", "CODE [--format text|json]",
       "reads what its first second needs, and says what there is and what is missing", activity_command_warm_up},
      {"stock adjust", "CODE --by N --key K --reason TEXT [--format text|json]",
       "adds to the stock or takes free units away, once per key", stock_command_adjust},
      {"numbers add", "CODE FROM-TO|FILE.csv [--format text|json]", "adds numbers to an activity's set",
       numbers_command_add},
      {"numbers list", "CODE [--status STATUS] [--random N] [--format text|json]",
       "its numbers, or free ones at random", numbers_command_list},
      {"qualifications import", "--activity CODE FILE.csv [--format text|json]",
       "adds users to an activity's list, all or nothing", qualifications_command_import},
      {"qualifications list", "--activity CODE [--user ID] [--status used|unused] [--format text|json]",
       "who may claim, and who has", qualifications_command_list},
      {"points grant", "USER --amount N --key K --reason TEXT | --file FILE.csv  [--format text|json]",
       "gives points, once per key; a file all or nothing", points_command_grant},
      {"points show", "USER [--format text|json]", "a user's balance and ledger", points_command_show},
      {"claims list", "--activity CODE [--status STATUS] | --user ID  [--format text|json]",
       "claims of an activity or of a user", claim_command_list},
      {"claims show", "CLAIMID | ACTIVITY BIZID", "one claim", claim_command_show},
      {"discounts list", "[--format text|json]", "the rules of discounts on orders", discount_command_list},
      {"discounts show", "ID [--format text|json]", "one rule", discount_command_show},
      {"discounts quote", "FILE [--format text|json]",
       "what an order would cost, line by line; FILE holds the JSON that the API takes", discount_command_quote},
      {"events parked", "[--format text|json]", "events that could not be sent", event_command_parked},
      {"events retry", "ID…|all", "sends parked events once more", event_command_retry},
      {"events discard", "ID…|all", "throws parked events away", event_command_discard},
      {NULL, NULL, NULL, NULL},
  };
  return commands;
}
