// SPDX-License-Identifier: Apache-2.0
// Statements of the guard. Loop thread.
#include "fulfiller/guard_store.h"

#include "sql_fulfiller.inc"

static void put_names(struct db_args *a, const struct provider *const *providers, size_t count)
{
  db_args_array(a, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) db_args_array_text(a, providers[i]->name, strlen(providers[i]->name));
  db_args_array_end(a);
}

#define PUT_ABILITY(args, expression)                  \
  do {                                                 \
    db_args_array((args), DB_ARRAY_BOOL);              \
    for (size_t i_ = 0; i_ < count; i_++) {            \
      const struct provider *p = providers[i_];        \
      db_args_array_i64((args), (expression) ? 1 : 0); \
    }                                                  \
    db_args_array_end((args));                         \
  } while (0)

const struct db_statement *guard_store_register(struct db_args *args, const char *instance,
                                                const struct provider *const *providers, size_t count)
{
  db_args_text(args, instance);
  put_names(args, providers, count);
  db_args_array(args, DB_ARRAY_INT4);
  for (size_t i = 0; i < count; i++) db_args_array_i64(args, providers[i]->conf->concurrency);
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++)
    db_args_array_text(args, providers[i]->conf->rate, strlen(providers[i]->conf->rate));
  db_args_array_end(args);
  PUT_ABILITY(args, p->actions[ACTION_REVERSE].call.exists);
  PUT_ABILITY(args, p->actions[ACTION_DELIVER].inquire.exists);
  PUT_ABILITY(args, p->actions[ACTION_DELIVER].repeat_is_safe);
  return &SQL_PROVIDER_REGISTER;
}

const struct db_statement *guard_store_poll(struct db_args *args, const char *instance,
                                            const struct provider *const *providers, size_t count)
{
  db_args_text(args, instance);
  put_names(args, providers, count);
  return &SQL_PROVIDER_POLL;
}

const struct db_statement *guard_store_leave(struct db_args *args, const char *instance)
{
  db_args_clear(args);
  db_args_text(args, instance);
  return &SQL_PROVIDER_LEAVE;
}

static struct guard_row row_at(const struct db_rows *rows, size_t row, size_t first)
{
  enum { VERSION, PROVIDER, IS_PAUSED, BREAKER, LEFT_MS, IS_FORCED, IS_PROBE_MINE, CONCURRENCY, RATE, LIVE, PLACE };
  return (struct guard_row){
      .version = db_rows_i64(rows, row, first + VERSION),
      .provider = db_rows_text(rows, row, first + PROVIDER),
      .is_paused = db_rows_bool(rows, row, first + IS_PAUSED),
      .breaker = db_rows_text(rows, row, first + BREAKER),
      .moves_by_itself = !db_rows_is_null(rows, row, first + LEFT_MS),
      .left = span_ms(db_rows_i64(rows, row, first + LEFT_MS)),
      .is_forced = db_rows_bool(rows, row, first + IS_FORCED),
      .is_probe_mine = db_rows_bool(rows, row, first + IS_PROBE_MINE),
      .concurrency = db_rows_i64(rows, row, first + CONCURRENCY),
      .rate_micro = db_rows_is_null(rows, row, first + RATE) ? -1 : db_rows_i64(rows, row, first + RATE),
      .live = db_rows_i64(rows, row, first + LIVE),
      .place = db_rows_i64(rows, row, first + PLACE),
  };
}

struct guard_row guard_store_row(const struct db_rows *rows, size_t row) { return row_at(rows, row, 0); }

const struct db_statement *guard_store_breaker(struct db_args *args, const char *provider, const char *instance,
                                               const char *to, struct span time, struct span time_max,
                                               const char *reason)
{
  db_args_clear(args);
  db_args_text(args, provider);
  db_args_text(args, instance);
  db_args_text(args, to);
  db_args_i64(args, time.us);
  db_args_i64(args, time_max.us);
  db_args_text(args, reason);
  return &SQL_PROVIDER_BREAKER;
}

struct guard_row guard_store_breaker_row(const struct db_rows *rows, bool *out_moved)
{
  *out_moved = db_rows_bool(rows, 0, 0);
  return row_at(rows, 0, 1);
}

// --- for people

const struct db_statement *guard_store_list(struct db_args *args, const char *provider)
{
  db_args_text(args, provider);
  return &SQL_PROVIDER_LIST;
}

const struct db_statement *guard_store_history(struct db_args *args, const char *provider, int64_t before,
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

const struct db_statement *guard_store_pause(struct db_args *args, const char *provider,
                                             const struct provider_pause *pause, const char *actor, const char *reason)
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

const struct db_statement *guard_store_resume(struct db_args *args, const char *provider, const char *actor,
                                              const char *reason)
{
  db_args_text(args, provider);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_PROVIDER_RESUME;
}

const struct db_statement *guard_store_set(struct db_args *args, const char *provider,
                                           const struct provider_limits *limits, const char *actor, const char *reason)
{
  db_args_text(args, provider);
  db_args_text(args, limits->concurrency);
  db_args_text(args, limits->rate);
  db_args_text(args, limits->breaker);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_PROVIDER_SET;
}
