// SPDX-License-Identifier: Apache-2.0
// `scheduler numbers …` and `scheduler qualifications …`, and the import of a file for other commands.
// Owner: the command; blocking.
#pragma once

#include "common/log.h"
#include "scheduler/command.h"
#include "scheduler/import_target.h"

// Reads the file ("-": standard input) and imports it; prints what came of it. code: of the activity, or NULL.
void import_command_file(struct command *c, enum import_what what, const char *code, const char *file);

int numbers_command_add(const void *config, struct log *log, int argc, char **argv);
int numbers_command_list(const void *config, struct log *log, int argc, char **argv);
int qualifications_command_import(const void *config, struct log *log, int argc, char **argv);
int qualifications_command_list(const void *config, struct log *log, int argc, char **argv);
