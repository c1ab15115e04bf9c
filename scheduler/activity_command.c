// SPDX-License-Identifier: Apache-2.0
// `scheduler activity …` and `scheduler stock adjust`, through the same SQL functions as the API.
// Owner: the command; blocking.
#include "scheduler/activity_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/jsonx.h"
#include "common/limits.h"
#include "common/text.h"
#include "scheduler/command.h"
#include "sql_shared.inc"

// --- list

static const struct doc_column list_columns[] = {
    {"CODE", "code", 32},
    {"STATUS", "status", 9},
    {"KIND", "kind", 12},
    {"START", "startAt", 27},
    {"END", "endAt", 27},
    {"TOTAL", "availability.total", 12},
    {"REMAINING", "availability.remaining", 12},
    {"NAME", "name", 0},
    {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const char *status, char io_after[CODE_BYTES_MAX + 1])
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  db_args_init(&args);
  db_args_text(&args, io_after);
  db_args_text(&args, status);
  db_args_i64(&args, doc_list_page_rows(l));
  if (cli_query(l->cli, &SQL_ACTIVITY_LIST, &args, &rows)) {
    is_more = doc_list_rows(l, rows, 0, true);
    if (is_more) (void)snprintf(io_after, CODE_BYTES_MAX + 1, "%s", l->last);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

int activity_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  char after[CODE_BYTES_MAX + 1] = "";
  if (!command_parse(&c, "activity list", "[--status STATUS] [--format text|json]", OPTION_STATUS | OPTION_FORMAT, 0, 0,
                     argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, list_columns, c.is_json, NULL)) {
    while (list_page(&list, c.status, after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- show

int activity_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!command_parse(&c, "activity show", "CODE [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  if (cli_query(&c.cli, &SQL_ACTIVITY_GET, &args, &rows)) {
    if (db_rows_count(rows) == 0)
      command_refused(&c.cli, "ACTIVITY_NOT_FOUND", c.words[0]);
    else
      c.cli.exit_code = doc_show(&c.cli, rows, c.is_json, "activity", c.words[0]);
    if (db_rows_count(rows) > 0 && !c.is_json) (void)printf("version: %lld\n", (long long)db_rows_i64(rows, 0, 1));
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- history

static const struct doc_column history_columns[] = {
    {"AT", "at", 27},       {"FROM", "from", 10},    {"TO", "to", 10},
    {"ACTOR", "actor", 20}, {"REASON", "reason", 0}, {NULL, NULL, 0},
};

static bool history_page(struct doc_list *l, const char *code, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, code);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  return command_list_page(l, &SQL_ACTIVITY_HISTORY_LIST, &args, code, io_after);
}

int activity_command_history(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t after = 0;
  if (!command_parse(&c, "activity history", "CODE [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, history_columns, c.is_json, NULL)) {
    while (history_page(&list, c.words[0], &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- warm-up: the database's part; each scheduler's own comes with the API, and by itself before the start

static void print_warnings(const json_t *report)
{
  size_t i;
  json_t *warning;
  json_array_foreach(json_object_get(report, "warnings"), i, warning)(void)
      printf("warning: %s: %s\n", json_string_value(json_object_get(warning, "code")),
             json_string_value(json_object_get(warning, "detail")));
}

static void print_report(const struct command *c, const char *text, size_t len)
{
  json_t *report = NULL;
  char why[JSONX_WHY_BYTES];
  if (c->is_json || jsonx_parse(text, len, &report, why) != RESULT_OK) {
    (void)printf("%s\n", text);
    return;
  }
  static const char *const members[] = {"status", "startAt", "capacity", "loaded"};
  for (size_t i = 0; i < ARRAY_LEN(members); i++) {
    char *value = json_dumps(json_object_get(report, members[i]), JSON_COMPACT | JSON_ENCODE_ANY);
    (void)printf("%s: %s\n", members[i], value != NULL ? value : "");
    free(value);
  }
  print_warnings(report);
  json_decref(report);
}

int activity_command_warm_up(const void *config, struct log *log, int argc, char **argv)
{
  enum { OUTCOME, PROVIDER, PAYMENT_PROVIDER, REPORT };
  (void)log;
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!command_parse(&c, "activity warm-up", "CODE [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  if (cli_query(&c.cli, &SQL_ACTIVITY_WARM_UP, &args, &rows)) {
    if (strcmp(db_rows_text(rows, 0, OUTCOME), "ok") == 0)
      print_report(&c, db_rows_text(rows, 0, REPORT), db_rows_text_len(rows, 0, REPORT));
    else
      command_refused(&c.cli, "ACTIVITY_NOT_FOUND", c.words[0]);
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- moves and stock

static int act(const void *config, const char *name, const char *action, int argc, char **argv)
{
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!command_parse(&c, name, "CODE --reason TEXT [--format text|json]", OPTION_REASON | OPTION_FORMAT, 1, 1, argc,
                     argv))
    return c.cli.exit_code;
  if (c.reason == NULL || c.reason[0] == '\0')
    return cli_failed(&c.cli, "--reason is needed: it is kept in the history", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_text(&args, action);
  db_args_text(&args, c.actor);
  db_args_text(&args, c.reason);
  db_args_null(&args);
  if (cli_query(&c.cli, &SQL_ACTIVITY_ACTION, &args, &rows)) {
    const char *status = db_rows_text(rows, 0, 2);
    if (strcmp(db_rows_text(rows, 0, 0), "ok") != 0)
      command_refused(&c.cli, db_rows_text(rows, 0, 0), db_rows_text(rows, 0, 1));
    else if (c.is_json)
      (void)printf("{\"code\":\"%s\",\"status\":\"%s\"}\n", c.words[0], status);
    else
      (void)printf("%s is %s\n", c.words[0], status);
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

#define ACTION_COMMAND(action)                                                              \
  int activity_command_##action(const void *config, struct log *log, int argc, char **argv) \
  {                                                                                         \
    (void)log;                                                                              \
    return act(config, "activity " #action, #action, argc, argv);                           \
  }
ACTION_COMMAND(publish)
ACTION_COMMAND(pause)
ACTION_COMMAND(resume)
ACTION_COMMAND(finish)
ACTION_COMMAND(archive)

static const char *check_adjustment(const struct command *c, int64_t *out_by)
{
  if (c->by == NULL || text_to_i64(c->by, strlen(c->by), out_by) != RESULT_OK)
    return "--by must be an integer such as 100 or -20";
  if (*out_by == 0 || *out_by > STOCK_UNITS_MAX || *out_by < -STOCK_UNITS_MAX) return "--by is out of range";
  if (c->key == NULL || !text_is_biz_id(c->key, strlen(c->key)))
    return "--key must be 1 to 64 characters of A-Z a-z 0-9 . _ : -; it makes repeating safe";
  return c->reason != NULL && c->reason[0] != '\0' ? NULL : "--reason is needed: it is kept with the adjustment";
}

static void print_adjustment(const struct command *c, const struct db_rows *rows)
{
  long long total = db_rows_i64(rows, 0, 2), remaining = db_rows_i64(rows, 0, 3);
  bool is_replay = strcmp(db_rows_text(rows, 0, 0), "replayed") == 0;
  if (c->is_json)
    (void)printf("{\"total\":%lld,\"remaining\":%lld,\"replayed\":%s}\n", total, remaining,
                 is_replay ? "true" : "false");
  else
    (void)printf("total %lld, remaining %lld%s\n", total, remaining,
                 is_replay ? " (this key was adjusted before; nothing changed)" : "");
}

int stock_command_adjust(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t by = 0;
  const unsigned options = OPTION_BY | OPTION_KEY | OPTION_REASON | OPTION_FORMAT;
  if (!command_parse(&c, "stock adjust", "CODE --by N --key K --reason TEXT [--format text|json]", options, 1, 1, argc,
                     argv))
    return c.cli.exit_code;
  const char *fault = check_adjustment(&c, &by);
  if (fault != NULL) return cli_failed(&c.cli, fault, EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_text(&args, c.key);
  db_args_i64(&args, by);
  db_args_text(&args, c.reason);
  db_args_text(&args, c.actor);
  if (cli_query(&c.cli, &SQL_STOCK_ADJUST, &args, &rows)) {
    const char *outcome = db_rows_text(rows, 0, 0);
    if (strcmp(outcome, "ok") == 0 || strcmp(outcome, "replayed") == 0)
      print_adjustment(&c, rows);
    else
      command_refused(&c.cli, outcome, db_rows_text(rows, 0, 1));
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}
