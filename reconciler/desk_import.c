// SPDX-License-Identifier: Apache-2.0
// Numbers, qualifications and points in CSV, numbers by range, as the scheduler takes them.
// Owner: each request belongs to its import until the reply; loop thread.
#include "reconciler/desk_import.h"

#include "common/limits.h"
#include "common/web_import.h"
#include "common/web_read.h"
#include "reconciler/app.h"
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

static const struct web_import numbers = {
    "numbers",
    {{{.name = "number",
       .kind = SHEET_INT,
       .required = true,
       .max = NUMBER_MAX,
       .rule = "must be an integer from 0 to 999999999999, without leading zeros"}},
     1},
    &SQL_NUMBERS_ADD,
    put_numbers};
static const struct web_import qualifications = {"qualifications",
                                                 {{ID("userId"),
                                                   TEXT("source", SOURCE_CHARS_MAX),
                                                   TEXT("batch", SOURCE_CHARS_MAX),
                                                   {.name = "ext", .kind = SHEET_EXTRA}},
                                                  4},
                                                 &SQL_QUALIFICATION_IMPORT,
                                                 put_qualifications};
static const struct web_import points = {"points",
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
                                         put_points};

static void on_done(struct web_call *call, int64_t inserted, int64_t duplicates)
{
  const char *code = web_param(call->req, "code");
  LOG(app_of(call)->rt->log, EV_IMPORT_FINISHED, F_STR("what", call->action), F_STR("activity_code", code ? code : ""),
      F_INT("inserted", inserted), F_INT("duplicates", duplicates), F_STR("actor", web_actor(call->req)));
}

void desk_import_numbers(struct web_request *req)
{
  const char *code = NULL;
  if (web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) web_import_range(req, &numbers, on_done);
}

void desk_import_qualifications(struct web_request *req)
{
  const char *code = NULL;
  if (web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) web_import_run(req, &qualifications, on_done);
}

void desk_import_points(struct web_request *req) { web_import_run(req, &points, on_done); }
