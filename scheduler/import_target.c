// SPDX-License-Identifier: Apache-2.0
// What can be imported from CSV.
// Owner: nobody; constant.
#include "scheduler/import_target.h"

#include "sql_scheduler.inc"

#define SOURCE_CHARS_MAX 256

const struct import_target *import_target_of(enum import_what what)
{
  static const struct import_target targets[] = {
      [IMPORT_NUMBERS] = {"numbers", {{{"number", IMPORT_NUMBER, true, 0}}, 1}, &SQL_NUMBERS_ADD},
      [IMPORT_QUALIFICATIONS] = {"qualifications",
                                 {{{"userId", IMPORT_ID, true, 0},
                                   {"source", IMPORT_TEXT, false, SOURCE_CHARS_MAX},
                                   {"batch", IMPORT_TEXT, false, SOURCE_CHARS_MAX},
                                   {"ext", IMPORT_EXTRA, false, 0}},
                                  4},
                                 &SQL_QUALIFICATION_IMPORT},
      [IMPORT_POINTS] = {"points",
                         {{{"userId", IMPORT_ID, true, 0},
                           {"amount", IMPORT_AMOUNT, true, 0},
                           {"bizId", IMPORT_KEY, true, 0},
                           {"reason", IMPORT_TEXT, false, REASON_CHARS_MAX}},
                          4},
                         &SQL_POINTS_GRANT_MANY},
  };
  return &targets[what];
}

void import_target_put_args(enum import_what what, const struct import_sheet *s, const char *code,
                            const struct import_by *by, struct db_args *args)
{
  switch (what) {
    case IMPORT_NUMBERS:
      db_args_text(args, code);
      import_sheet_put(s, 0, args);
      db_args_null(args);
      db_args_null(args);
      break;
    case IMPORT_QUALIFICATIONS:
      db_args_text(args, code);
      for (size_t column = 0; column < 4; column++) import_sheet_put(s, column, args);
      break;
    case IMPORT_POINTS:
      import_sheet_put_lines(s, args);
      import_sheet_put(s, 0, args);
      import_sheet_put(s, 2, args);
      import_sheet_put(s, 1, args);
      import_sheet_put(s, 3, args);
      break;
  }
  db_args_text(args, by->actor);
  db_args_text(args, by->reason);
}
