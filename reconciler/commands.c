// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of commands besides serve.
// Owner: nobody; constant.
#include "reconciler/commands.h"

#include "reconciler/archive_command.h"
#include "reconciler/audit_command.h"
#include "reconciler/audits_command.h"
#include "reconciler/dead_letter_command.h"
#include "reconciler/finding_command.h"
#include "reconciler/key_command.h"
#include "reconciler/log_command.h"
#include "reconciler/night_command.h"
#include "reconciler/operation_command.h"
#include "reconciler/order_command.h"
#include "reconciler/report_command.h"
#include "reconciler/statement_command.h"

const struct daemon_command *reconciler_commands(void)
{
  static const struct daemon_command commands[] = {
      {"audit", AUDIT_USAGE,
       "prove the totals from the rows: the last 24 hours, a business date, or everything; status 1 with findings",
       audit_command},
      {"audits list", AUDITS_LIST_USAGE, "the equations that audits prove, with how far back each looks",
       audits_command_list},
      {"findings list", FINDING_LIST_USAGE, "what audits found and is not gone", finding_command_list},
      {"findings show", FINDING_SHOW_USAGE, "one finding with its cause and the next step", finding_command_show},
      {"findings repair", FINDING_ORDER_USAGE,
       "do the repairs that are offered: each is looked at again under its locks; --dry-run shows what they would "
       "change",
       order_command_repair},
      {"findings resolve", FINDING_ORDER_USAGE,
       "say why findings are none: they are gone until they say something else", order_command_explain},
      {"dead-letters list", DEAD_LETTER_LIST_USAGE, "what machines could not finish", dead_letter_command_list},
      {"dead-letters groups", DEAD_LETTER_GROUPS_USAGE, "the same by cause, the largest group first",
       dead_letter_command_groups},
      {"dead-letters show", DEAD_LETTER_SHOW_USAGE, "one dead letter with every attempt at the provider",
       dead_letter_command_show},
      {"dead-letters retry", DEAD_LETTER_RETRY_USAGE, "send claims round again, under the same request id",
       order_command_retry},
      {"dead-letters refund", DEAD_LETTER_REFUND_USAGE,
       "give up and return everything; what may have been delivered is first reversed at its provider",
       order_command_refund},
      {"dead-letters resolve", DEAD_LETTER_RESOLVE_USAGE,
       "close them by what a person knows: delivered by other means, with a proof, or certainly not delivered",
       order_command_resolve},
      {"claims roll-back", CLAIM_ROLL_BACK_USAGE,
       "take delivered claims back: reversed at the provider, then everything is returned", order_command_roll_back},
      {"operations list", OPERATION_LIST_USAGE, "what people did about dead letters and claims, newest first",
       operation_command_list},
      {"operations show", OPERATION_SHOW_USAGE, "one operation with its progress and, if asked, its items",
       operation_command_show},
      {"operations cancel", OPERATION_CANCEL_USAGE, "end an operation; what it has done stays done",
       operation_command_cancel},
      {"report night", REPORT_NIGHT_USAGE,
       "the report of a business date, made now if it has none; without DATE the latest one that is over",
       night_command_night},
      {"report activity", REPORT_ACTIVITY_USAGE,
       "what became of an activity: claims, refusals and stock over time, times to delivery, providers, causes",
       report_command_activity},
      {"report compare", REPORT_COMPARE_USAGE,
       "a night's figures and findings against those of another; without a second DATE the report before it",
       report_command_compare},
      {"report event", REPORT_EVENT_USAGE, "the same of all activities of an event", report_command_event},
      {"report list", REPORT_LIST_USAGE, "the nights' reports, newest first", night_command_list},
      {"statement import", STATEMENT_IMPORT_USAGE,
       "store a provider's statement by its profile and match it with what we hold; status 1 with findings",
       statement_command_import},
      {"statement fetch", STATEMENT_FETCH_USAGE, "fetch a date's statement from its provider and import it",
       statement_command_fetch},
      {"statement list", STATEMENT_LIST_USAGE, "statements that were imported, newest first", statement_command_list},
      {"statement show", STATEMENT_SHOW_USAGE, "one statement with its figures, or its lines", statement_command_show},
      {"statement match", STATEMENT_MATCH_USAGE,
       "match one once more, or what is open of a provider or of all; status 1 with findings", statement_command_match},
      {"archive export", ARCHIVE_EXPORT_USAGE,
       "write everything of activities that are over into a file each, verify it, and flag them as archived",
       archive_command_export},
      {"archive verify", ARCHIVE_VERIFY_USAGE,
       "count and sum files again, against their manifests, the record, and the rows that are there",
       archive_command_verify},
      {"archive list", ARCHIVE_LIST_USAGE,
       "the newest export of each activity, and whether it is still what the rows say", archive_command_list},
      {"archive detach", ARCHIVE_DETACH_USAGE,
       "say what stands against taking a month's claims out of the table; with --apply, take them out",
       archive_command_detach},
      {"archive attach", ARCHIVE_ATTACH_USAGE, "bring a month's claims back", archive_command_attach},
      {"keys add", KEY_ADD_USAGE, "makes an API key for a service or a person, and prints it, once", key_command_add},
      {"keys list", KEY_LIST_USAGE, "the keys in force, with --all also those that were revoked", key_command_list},
      {"keys revoke", KEY_REVOKE_USAGE, "ends a key and the sessions that were begun with it", key_command_revoke},
      {"log list", LOG_LIST_USAGE, "what operators did, newest first", log_command_list},
      {"log verify", LOG_VERIFY_USAGE,
       "proves that the operator log is whole; status 1 with the first row that is not what it was",
       log_command_verify},
      {NULL, NULL, NULL, NULL},
  };
  return commands;
}
