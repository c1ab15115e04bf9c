// SPDX-License-Identifier: Apache-2.0
// What the commands of the reconciler share: a session under the reconciler's role, statements with their failures told, output to a file.
// Owner: the command; blocking.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/cmdline.h"
#include "common/db.h"
#include "reconciler/config.h"

#define RECONCILER_ROLE "largesse_reconciler"
#define CLI_PAGE 500

struct cli {
  const char *name;                 // "dead-letters list", for messages
  const struct reconciler_conf *conf;
  struct db_session *session;
  int exit_code;                    // of the first failure
};

// False after one line on stderr; c->exit_code tells.
bool cli_open(struct cli *c, const char *name, const void *config);
void cli_close(struct cli *c);
bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args, struct db_rows **out_rows);
int cli_exit_code(enum result result);
// One line "reconciler: NAME: DETAIL" and the usage; EXIT_USAGE.
int cli_misused(const char *name, const char *usage, const char *detail);
int cli_failed(const char *name, const char *detail, int exit_code);
// Writes to standard output, or to a file that appears whole or not at all. Returns an exit code; the reason is on stderr.
int cli_write(const char *name, const struct buf *text, const char *file);

// An option that must be one of a|b|c; out_index counts from 0. False: not one of them.
bool cli_choice(const char *value, const char *choices, int *out_index);
