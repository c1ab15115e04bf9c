// SPDX-License-Identifier: Apache-2.0
// Statements about the operator log. Owner: the caller.
#include "reconciler/log_store.h"

#include "sql_reconciler.inc"

static void put_time(struct db_args *args, bool has, struct wall_time t)
{
  if (has)
    db_args_time(args, t);
  else
    db_args_null(args);
}

const struct db_statement *log_store_list(struct db_args *args, const struct log_filter *f, int64_t before,
                                          int64_t limit)
{
  db_args_text(args, f->actor);
  db_args_text(args, f->action);
  db_args_text(args, f->target);
  put_time(args, f->has_since, f->since);
  put_time(args, f->has_until, f->until);
  if (before > 0)
    db_args_i64(args, before);
  else
    db_args_null(args);
  db_args_i64(args, limit);
  return &SQL_LOG_LIST;
}
