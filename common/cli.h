// SPDX-License-Identifier: Apache-2.0
// What one command of a program works with: how faults are told, a session, statements with their failures told, output
// to a file. Owner: the command; blocking.
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/daemon.h"
#include "common/db.h"

struct cli {
  const char *program, *name;  // "scheduler" and "activity list", for messages
  const char *usage;           // what follows the name
  const char *if_missing;      // added when a table, function or role is not there; NULL: nothing
  int tries;        // of a statement that met a deadlock; more than 1 only where each is a transaction of its own
  bool is_patient;  // such a failure is not told: the caller tries all of it again
  struct db_session *session;
  int exit_code;  // of the last failure
};

// One line "PROGRAM: NAME: DETAIL" on stderr; returns exit_code.
int cli_failed(const struct cli *c, const char *detail, int exit_code);
// The same with the usage; EXIT_USAGE.
int cli_misused(const struct cli *c, const char *detail);
int cli_exit_code(enum result result);

// Role NULL: that of the login. False after one line on stderr; c->exit_code tells.
bool cli_open(struct cli *c, const struct db_conf *conf, const char *role);
void cli_close(struct cli *c);
// One statement. False after one line on stderr; c->exit_code tells.
bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args,
               struct db_rows **out_rows);

// Writes to standard output (file NULL or "-"), or to a file that appears whole or not at all. Returns an exit code;
// the reason is on stderr.
int cli_write(const struct cli *c, const struct buf *text, const char *file);
