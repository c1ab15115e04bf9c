// SPDX-License-Identifier: Apache-2.0
// `reconciler archive export|verify|list|detach|attach`. Owner: the command; blocking.
#pragma once

#include "common/log.h"

#define ARCHIVE_EXPORT_USAGE "CODE... | --finished-before DATE  [--output DIR] [--reason TEXT] [--format text|json]"
#define ARCHIVE_VERIFY_USAGE "FILE... [--file-only] [--format text|json]"
#define ARCHIVE_LIST_USAGE   "[--month MONTH] [--limit N] [--after ACTIVITYID] [--format text|json]"
#define ARCHIVE_DETACH_USAGE "MONTH [--apply --reason TEXT] [--format text|json]"
#define ARCHIVE_ATTACH_USAGE "MONTH --reason TEXT"

int archive_command_export(const void *config, struct log *log, int argc, char **argv);
int archive_command_verify(const void *config, struct log *log, int argc, char **argv);
int archive_command_list(const void *config, struct log *log, int argc, char **argv);
int archive_command_detach(const void *config, struct log *log, int argc, char **argv);
int archive_command_attach(const void *config, struct log *log, int argc, char **argv);
