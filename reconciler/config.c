// SPDX-License-Identifier: Apache-2.0
// The table of keys behind struct reconciler_conf. Sections of the other daemons are known, not read.
// Owner: nobody; constant.
#include "reconciler/config.h"

#include <stdio.h>
#include <string.h>

#include "reconciler/statement_keys.h"
#include "reconciler/statement_profile.h"

#define AT(member) offsetof(struct reconciler_conf, member)
#define SECOND     INT64_C(1000000)
#define DAY        (86400 * SECOND)

static const struct conf_key statement_keys[] = {STATEMENT_CONF_KEYS};
static const struct conf_table statement_table = {statement_keys, ARRAY_LEN(statement_keys),
                                                  sizeof(struct statement_conf)};

// clang-format off
static const struct conf_key keys[] = {
  DAEMON_CONF_KEYS(struct reconciler_conf),
  WEB_CONF_KEYS(struct reconciler_conf, web, "reconciler", "127.0.0.1:7403"),
  {"reconciler.audit.statement_timeout", CONF_SPAN, AT(audit.statement_timeout), "5m", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "one audit of one activity is given up after this, and the run says so"},
  {"reconciler.audit.findings_max", CONF_INT, AT(audit.findings_max), "10000", 1, 1000000, CONF_RELOADABLE, NULL, NULL, "findings of one audit in one activity, or of one statement, that are recorded; further ones are only mentioned"},
  {"reconciler.night.enabled", CONF_BOOL, AT(night.enabled), "true", 0, 0, CONF_RELOADABLE, NULL, NULL, "whether this reconciler audits and reports each business date by itself"},
  {"reconciler.night.time_zone", CONF_TEXT, AT(night.time_zone), "UTC", 0, 64, 0, NULL, NULL, "IANA zone of business dates, for reports and for audit --date"},
  {"reconciler.night.at", CONF_TEXT, AT(night.at), "02:00", 0, 5, 0, NULL, NULL, "local time of the next day at which a date is reported; never within 5 minutes after its end"},
  {"reconciler.night.catch_up", CONF_INT, AT(night.catch_up), "7", 1, 366, CONF_RELOADABLE, NULL, NULL, "nights that are looked back for when some were missed, the latest one included"},
  {"reconciler.night.every", CONF_SPAN, AT(night.every), "10s", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often to look whether a night is due"},
  {"reconciler.night.lease", CONF_SPAN, AT(night.lease), "30s", SECOND, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "a reconciler that is silent for this and an audit's statement_timeout has left its night to others"},
  {"reconciler.dead_letters.batch_rows", CONF_INT, AT(operations.batch_rows), "500", 1, 5000, CONF_RELOADABLE, NULL, NULL, "dead letters that one statement of an operation handles at most"},
  {"reconciler.operations.rate", CONF_INT, AT(operations.rate), "200", 1, 10000, CONF_RELOADABLE, NULL, NULL, "dead letters or claims a second that an operation handles, unless it says otherwise; up to a second's worth at once"},
  {"reconciler.operations.every", CONF_SPAN, AT(operations.every), "500ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often a reconciler looks for operations to go on with"},
  {"reconciler.statement_bytes_max", CONF_SIZE, AT(statement_bytes_max), "256MiB", 1024, INT64_C(4) << 30, CONF_RELOADABLE, NULL, NULL, "largest statement of a provider that is imported or fetched; over HTTP 256MiB at most"},
  {"reconciler.archive.directory", CONF_TEXT, AT(archive.directory), "", 0, 1024, 0, NULL, NULL, "folder of the files of archived activities; empty: `archive export` needs --output"},
  {"reconciler.archive.detach_after", CONF_SPAN, AT(archive.detach_after), "90d", 0, 3650 * DAY, 0, NULL, NULL, "how long a month must be over before `archive detach` takes its claims out"},
  {"reconciler.retention.operations", CONF_SPAN, AT(retention.operations), "400d", 3600 * SECOND, 36500 * DAY, CONF_RELOADABLE, NULL, NULL, "how long the items of operations that ended are kept; the operations themselves stay"},
  {"reconciler.retention.callbacks", CONF_SPAN, AT(retention.callbacks), "400d", 3600 * SECOND, 36500 * DAY, CONF_RELOADABLE, NULL, NULL, "how long callbacks of claims that ended are kept; a provider's event that comes again later is taken for a new one"},
  {"reconciler.retention.every", CONF_SPAN, AT(retention.every), "10m", 100000, 86400 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often to look for what was kept for long enough"},
  {"reconciler.retention.batch_rows", CONF_INT, AT(retention.batch_rows), "1000", 1, 10000, CONF_RELOADABLE, NULL, NULL, "rows of each kind that one statement throws away at most"},
  {"reconciler.figures_every", CONF_SPAN, AT(figures_every), "10s", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often findings and dead letters are counted for the metrics"},
  {"reconciler.statements", CONF_MAP, AT(statements), NULL, 0, 0, 0, NULL, &statement_table, "how the statements of each provider are written, a block each"},
  {"fulfiller.providers", CONF_NAMES, AT(providers), NULL, 0, 0, CONF_RELOADABLE, NULL, NULL, "the providers; only their names matter here, and which can charge"},
  {"fulfiller.providers", CONF_NAMES, AT(charging_providers), NULL, 0, 0, CONF_RELOADABLE, "charge", NULL, ""},
  {"scheduler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the scheduler"},
  {"fulfiller", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the fulfiller"},
};
// clang-format on

static bool is_time_of_day(const char *text)
{
  static const char digits[] = "0123456789";
  if (strlen(text) != 5 || strspn(text, digits) != 2 || text[2] != ':' || strspn(text + 3, digits) != 2) return false;
  return (text[0] < '2' || (text[0] == '2' && text[1] < '4')) && text[3] < '6';
}

enum result reconciler_conf_check(const void *config, const char *file, bool reads_files, struct conf_fault *out_fault)
{
  const struct reconciler_conf *conf = config;
  (void)reads_files;
  const char *fault = NULL;
  if (!is_time_of_day(conf->night.at)) fault = "at: must be a time of day such as 02:00";
  if (conf->night.time_zone[0] == '\0') fault = "time_zone: must be a zone such as Europe/Berlin";
  if (fault == NULL) return statement_profile_check_all(&conf->statements, file, out_fault);
  (void)snprintf(out_fault->text, sizeof out_fault->text, "%s%sreconciler.night.%s", file != NULL ? file : "",
                 file != NULL ? ": " : "", fault);
  return RESULT_INVALID;
}

const struct conf_table *reconciler_conf_table(void)
{
  static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct reconciler_conf)};
  return &table;
}

const struct conf_table *statement_conf_table(void) { return &statement_table; }
