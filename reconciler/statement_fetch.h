// SPDX-License-Identifier: Apache-2.0
// Fetches statements from their providers, by the profiles that say where. Blocking, with a loop of its own.
// Owner: the command, or a worker's thread.
#pragma once

#include "reconciler/statement_import.h"

struct statement_fetch_job {
  const struct reconciler_conf *conf;
  struct db_session *session;
  const char *actor, *reason;    // actor NULL: it is due by itself
  bool (*may_go_on)(void *ctx);  // NULL: always
  void (*on_told)(void *ctx, const char *provider, const char *date, enum result result, const char *why);  // of each
  void *ctx;
};

// One date of one provider. RESULT_NOT_FOUND: its profile does not say where. Else as statement_import;
// RESULT_UNAVAILABLE: the provider did not give it.
MUST_CHECK enum result statement_fetch(const struct statement_fetch_job *job, const char *provider, const char *date,
                                       struct statement_imported *out_imported,
                                       char out_why[STATEMENT_IMPORT_WHY_BYTES]);
// Everything that is due, and then what is open of every provider is matched. What cannot be fetched is told and
// written down, and hinders nothing else; nor does what cannot be matched, which is told by the result and out_why (the
// first of them) and written down for the night. RESULT_OK, or as db_session_query.
MUST_CHECK enum result statement_fetch_due(const struct statement_fetch_job *job,
                                           char out_why[STATEMENT_IMPORT_WHY_BYTES]);
