// SPDX-License-Identifier: Apache-2.0
// What can be imported from CSV: its columns, and the statement that takes them all in one transaction.
// Owner: nobody; constant.
#pragma once

#include "common/db.h"
#include "scheduler/import_sheet.h"

enum import_what { IMPORT_NUMBERS, IMPORT_QUALIFICATIONS, IMPORT_POINTS };

struct import_target {
  const char *name;  // for people and the log
  struct import_columns columns;
  // Answers one row: outcome, detail, inserted, duplicates, number of rejected rows, those told as a JSON list.
  const struct db_statement *statement;
};
const struct import_target *import_target_of(enum import_what what);
struct import_by {
  const char *actor, *reason;  // reason NULL: none was given
};
// code: of the activity, if there is one.
void import_target_put_args(enum import_what what, const struct import_sheet *s, const char *code,
                            const struct import_by *by, struct db_args *args);
