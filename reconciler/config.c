// SPDX-License-Identifier: Apache-2.0
// The table of keys behind struct reconciler_conf. Sections of the other daemons are known, not read.
// Owner: nobody; constant.
#include "reconciler/config.h"

#define AT(member) offsetof(struct reconciler_conf, member)
#define SECOND     INT64_C(1000000)

// clang-format off
static const struct conf_key keys[] = {
  DAEMON_CONF_KEYS(struct reconciler_conf),
  WEB_CONF_KEYS(struct reconciler_conf, web, "reconciler", "127.0.0.1:7403"),
  {"reconciler.audit.statement_timeout", CONF_SPAN, AT(audit.statement_timeout), "5m", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "one audit of one activity is given up after this, and the run says so"},
  {"reconciler.audit.findings_max", CONF_INT, AT(audit.findings_max), "10000", 1, 1000000, CONF_RELOADABLE, NULL, NULL, "findings of one audit in one activity that are recorded; further ones are only mentioned"},
  {"reconciler.dead_letters.batch_rows", CONF_INT, AT(operations.batch_rows), "500", 1, 5000, CONF_RELOADABLE, NULL, NULL, "dead letters that one statement of an operation handles at most"},
  {"reconciler.operations.rate", CONF_INT, AT(operations.rate), "200", 1, 10000, CONF_RELOADABLE, NULL, NULL, "dead letters or claims a second that an operation handles, unless it says otherwise; up to a second's worth at once"},
  {"reconciler.operations.every", CONF_SPAN, AT(operations.every), "500ms", 10000, 60 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often a reconciler looks for operations to go on with"},
  {"reconciler.figures_every", CONF_SPAN, AT(figures_every), "10s", 100000, 3600 * SECOND, CONF_RELOADABLE, NULL, NULL, "how often findings and dead letters are counted for the metrics"},
  {"scheduler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the scheduler"},
  {"fulfiller", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the fulfiller"},
};
// clang-format on

const struct conf_table *reconciler_conf_table(void)
{
  static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct reconciler_conf)};
  return &table;
}
