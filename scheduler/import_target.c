// SPDX-License-Identifier: Apache-2.0
// What can be imported from CSV.
// Owner: nobody; constant.
#include "scheduler/import_target.h"

#include "sql_shared.inc"

#define SOURCE_CHARS_MAX 256

#define ID(column)                                                                                     \
  {                                                                                                    \
    .name = (column), .kind = SHEET_INT, .required = true, .min = 1, .max = INT64_MAX, .rule = ID_RULE \
  }
#define TEXT(column, chars)                              \
  {                                                      \
    .name = (column), .kind = SHEET_TEXT, .max = (chars) \
  }

static const char ID_RULE[] = "must be an id from 1 to 9223372036854775807, without leading zeros";

static void put_numbers(const struct sheet *s, const char *code, const struct web_import_by *by, struct db_args *args)
{
  db_args_text(args, code);
  sheet_put(s, 0, args);
  db_args_null(args);
  db_args_null(args);
  db_args_text(args, by->actor);
  db_args_text(args, by->reason);
}

static void put_qualifications(const struct sheet *s, const char *code, const struct web_import_by *by,
                               struct db_args *args)
{
  db_args_text(args, code);
  for (size_t column = 0; column < 4; column++) sheet_put(s, column, args);
  db_args_text(args, by->actor);
  db_args_text(args, by->reason);
}

static void put_points(const struct sheet *s, const char *code, const struct web_import_by *by, struct db_args *args)
{
  (void)code;
  sheet_put_lines(s, args);
  sheet_put(s, 0, args);
  sheet_put(s, 2, args);
  sheet_put(s, 1, args);
  sheet_put(s, 3, args);
  db_args_text(args, by->actor);
  db_args_text(args, by->reason);
}

const struct web_import *import_target_of(enum import_what what)
{
  static const struct web_import targets[] = {
      [IMPORT_NUMBERS] = {"numbers",
                          {{{.name = "number",
                             .kind = SHEET_INT,
                             .required = true,
                             .max = NUMBER_MAX,
                             .rule = "must be an integer from 0 to 999999999999, without leading zeros"}},
                           1},
                          &SQL_NUMBERS_ADD,
                          put_numbers},
      [IMPORT_QUALIFICATIONS] = {"qualifications",
                                 {{ID("userId"),
                                   TEXT("source", SOURCE_CHARS_MAX),
                                   TEXT("batch", SOURCE_CHARS_MAX),
                                   {.name = "ext", .kind = SHEET_EXTRA}},
                                  4},
                                 &SQL_QUALIFICATION_IMPORT,
                                 put_qualifications},
      [IMPORT_POINTS] = {"points",
                         {{ID("userId"),
                           {.name = "amount",
                            .kind = SHEET_INT,
                            .required = true,
                            .min = 1,
                            .max = POINTS_GRANT_MAX,
                            .rule = "must be an integer from 1 to 1000000000000"},
                           {.name = "bizId", .kind = SHEET_KEY, .required = true},
                           TEXT("reason", REASON_CHARS_MAX)},
                          4},
                         &SQL_POINTS_GRANT_MANY,
                         put_points},
  };
  return &targets[what];
}
