// SPDX-License-Identifier: Apache-2.0
// Imports a statement: reads it by its profile, stores and matches it in one transaction, so that of a bad file nothing
// is left. Owner: the command, or a worker's thread; blocking.
#pragma once

#include "common/db.h"
#include "reconciler/config.h"
#include "reconciler/statement_profile.h"

struct statement_job {
  const struct reconciler_conf *conf;
  const char *provider;
  const char *date;  // NULL: by its lines
  const char *file;  // its name, for people
  const char *actor, *reason;
  // Puts the next bytes into into; *out_len 0: the end.
  enum result (*read)(void *ctx, char *into, size_t room, size_t *out_len);
  void *ctx;
};
struct statement_imported {
  int64_t id;
  bool is_again;  // this file was here already
};

#define STATEMENT_IMPORT_WHY_BYTES 640
// RESULT_NOT_FOUND: no profile of this name. RESULT_INVALID: the file is not as the profile says (line and column in
// out_why), or it is not known which date it is of. RESULT_TOO_BIG; else as db_session_query. out_why: one line.
MUST_CHECK enum result statement_import(const struct statement_job *job, struct db_session *session,
                                        struct statement_imported *out_imported,
                                        char out_why[STATEMENT_IMPORT_WHY_BYTES]);
