// SPDX-License-Identifier: Apache-2.0
// What the commands of the scheduler share: their arguments, a session, who is acting, and how a refusal ends.
// Owner: the command; blocking.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/db.h"

// Options that a command may take; each is given at most once.
enum cli_option { CLI_REASON = 1, CLI_FORMAT = 2, CLI_PLAN = 4, CLI_BY = 8, CLI_KEY = 16, CLI_STATUS = 32, CLI_ACTIVITY = 64, CLI_USER = 128 };

struct cli {
  const char *name;     // "activity list", for messages
  char **words;         // what is no option, in order
  size_t word_count;
  const char *reason, *by, *key, *status, *activity, *user;  // NULL: not given
  bool is_json, is_plan;
  bool is_patient;      // a deadlock or serialization failure is not reported: the caller tries again
  char actor[80];       // "cli:alice"
  struct db_session *session;
};

// Usage is what follows the name. False after one line on stderr; *out_exit is EXIT_USAGE then.
bool cli_parse(struct cli *c, const char *name, const char *usage, unsigned options, size_t words_min, size_t words_max, int argc, char **argv,
               int *out_exit);
// Opens the session with the login of the configuration (no role). False after one line on stderr.
bool cli_open(struct cli *c, const void *config, int *out_exit);
void cli_close(struct cli *c);

// One statement; after a failure one line is on stderr and *out_exit tells.
bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args, struct db_rows **out_rows, int *out_exit);
// A refusal by a rule: code and detail on stderr; EXIT_DATA.
int cli_refused(const struct cli *c, const char *code, const char *detail);
// The same for a fault in the arguments; EXIT_USAGE.
int cli_misused(const struct cli *c, const char *detail);

// Text from the database for a terminal: control characters become '?'.
void cli_put_text(const char *text);
