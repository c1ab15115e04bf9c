// SPDX-License-Identifier: Apache-2.0
// The arguments of one command: options from a table, the remaining words, who is acting, and text that a terminal may
// be shown. Owner: the command; blocking.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/result.h"

struct cmdline_option {
  const char *name;    // "--reason"
  const char **value;  // takes a value, at most once; untouched when absent
  bool *flag;          // or none; value is NULL then
};

#define CMDLINE_WHY_BYTES 160
// Both `--name value` and `--name=value`; what follows `--` is words only. The words are moved to the front of argv.
// RESULT_INVALID with one line in out_why for what is unknown, given twice, or has no value.
MUST_CHECK enum result cmdline_parse(const struct cmdline_option *options, size_t option_count, int argc, char **argv,
                                     size_t *out_words, char out_why[CMDLINE_WHY_BYTES]);

// A value that must be one of a|b|c; out_index counts from 0. False: not one of them.
bool cmdline_choice(const char *value, const char *choices, int *out_index);

// "cli:alice", from USER, or with the number of the user where that is not usable.
#define CMDLINE_ACTOR_BYTES 80
void cmdline_actor(char out_actor[CMDLINE_ACTOR_BYTES]);

// Text from elsewhere for a terminal: control characters become '?', so nothing in it can move the cursor.
void cmdline_put_text(struct buf *out, const char *text);
