// SPDX-License-Identifier: Apache-2.0
// Statements about the protection of providers. Owner: the caller.
#include "reconciler/provider_store.h"

#include "sql_reconciler.inc"

const struct db_statement *provider_store_list(struct db_args *args, const char *provider)
{
  db_args_text(args, provider);
  return &SQL_PROVIDER_LIST;
}

const struct db_statement *provider_store_history(struct db_args *args, const char *provider, int64_t before,
                                                  int64_t limit)
{
  db_args_text(args, provider);
  if (before > 0)
    db_args_i64(args, before);
  else
    db_args_null(args);
  db_args_i64(args, limit);
  return &SQL_PROVIDER_HISTORY;
}

const struct db_statement *provider_store_pause(struct db_args *args, const char *provider,
                                                const struct provider_pause *pause, const char *actor,
                                                const char *reason)
{
  db_args_text(args, provider);
  if (pause->has_until)
    db_args_time(args, pause->until);
  else
    db_args_null(args);
  if (pause->has_span)
    db_args_i64(args, pause->span.us);
  else
    db_args_null(args);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_PROVIDER_PAUSE;
}

const struct db_statement *provider_store_resume(struct db_args *args, const char *provider, const char *actor,
                                                 const char *reason)
{
  db_args_text(args, provider);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_PROVIDER_RESUME;
}

const struct db_statement *provider_store_set(struct db_args *args, const char *provider,
                                              const struct provider_limits *limits, const char *actor,
                                              const char *reason)
{
  db_args_text(args, provider);
  db_args_text(args, limits->concurrency);
  db_args_text(args, limits->rate);
  db_args_text(args, limits->breaker);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_PROVIDER_SET;
}
