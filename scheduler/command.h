// SPDX-License-Identifier: Apache-2.0
// What the commands of the scheduler share: their arguments, who is acting, and how a refusal ends.
// Owner: the command; blocking.
#pragma once

#include "common/cli.h"
#include "common/cmdline.h"
#include "common/doc_list.h"

// Options that a command may take; each is given at most once.
enum command_option {
  OPTION_REASON = 1,
  OPTION_FORMAT = 2,
  OPTION_PLAN = 4,
  OPTION_BY = 8,
  OPTION_KEY = 16,
  OPTION_STATUS = 32,
  OPTION_ACTIVITY = 64,
  OPTION_USER = 128,
  OPTION_AMOUNT = 256,
  OPTION_FILE = 512,
  OPTION_RANDOM = 1024
};

struct command {
  struct cli cli;
  char **words;  // what is no option, in order
  size_t word_count;
  const char *reason, *by, *key, *status, *activity, *user, *amount, *file, *random;  // NULL: not given
  bool is_json, is_plan;
  char actor[CMDLINE_ACTOR_BYTES];  // "cli:alice"
};

// Usage is what follows the name. False after the fault and the usage on stderr; cli.exit_code is EXIT_USAGE then.
bool command_parse(struct command *c, const char *name, const char *usage, unsigned options, size_t words_min,
                   size_t words_max, int argc, char **argv);
// Opens the session with the login of the configuration (no role). False after one line on stderr.
bool command_open(struct command *c, const void *config);
// A refusal by a rule: code and detail on stderr; c->exit_code is EXIT_DATA.
void command_refused(struct cli *c, const char *code, const char *detail);
// A page of what belongs to the activity `code`: rows say whether it is known, then a number as place, and a document.
// io_after becomes the last place. Releases the args. Returns whether there may be more.
bool command_list_page(struct doc_list *l, const struct db_statement *statement, struct db_args *args, const char *code,
                       int64_t *io_after);
