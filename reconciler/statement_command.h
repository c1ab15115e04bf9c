// SPDX-License-Identifier: Apache-2.0
// `reconciler statement import|list|show|match|fetch`.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define STATEMENT_IMPORT_USAGE "--provider NAME FILE [--date DATE] [--reason TEXT] [--format text|json]"
#define STATEMENT_LIST_USAGE   "[--provider NAME] [--after ID] [--limit N] [--format text|json]"
#define STATEMENT_SHOW_USAGE   "ID [--lines [--outcome OUTCOME] [--after PLACE] [--limit N]] [--format text|json]"
#define STATEMENT_MATCH_USAGE  "[ID | --provider NAME] [--format text|json]"

#define STATEMENT_FETCH_USAGE "--provider NAME --date DATE [--reason TEXT] [--format text|json]"

int statement_command_fetch(const void *config, struct log *log, int argc, char **argv);
int statement_command_import(const void *config, struct log *log, int argc, char **argv);
int statement_command_list(const void *config, struct log *log, int argc, char **argv);
int statement_command_show(const void *config, struct log *log, int argc, char **argv);
int statement_command_match(const void *config, struct log *log, int argc, char **argv);
