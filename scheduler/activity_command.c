// SPDX-License-Identifier: Apache-2.0
// `scheduler activity …` and `scheduler stock adjust`, through the same SQL functions as the API.
// Owner: the command; blocking.
#include "scheduler/activity_command.h"

#include <stdio.h>
#include <string.h>

#include "common/daemon.h"
#include "common/jsonx.h"
#include "common/limits.h"
#include "common/text.h"
#include "scheduler/cli_list.h"
#include "sql_scheduler.inc"

static json_t *parse(const char *doc)
{
  json_t *json = NULL;
  return jsonx_parse(doc, strlen(doc), &json, NULL) == RESULT_OK ? json : json_object();
}

// --- list -------------------------------------------------------------------------------------------------------------

static const size_t list_widths[] = {32, 9, 27, 27, 12, 12};

static void print_activity(struct cli_list *l, const char *doc)
{
  char total[24], remaining[24], start[24], end[24], code[24], status[24], name[24];
  json_t *a = parse(doc);
  const json_t *availability = json_object_get(a, "availability");
  const char *const cells[] = {cli_list_cell(a, "code", code), cli_list_cell(a, "status", status), cli_list_cell(a, "startAt", start),
                               cli_list_cell(a, "endAt", end), cli_list_cell(availability, "total", total),
                               cli_list_cell(availability, "remaining", remaining), cli_list_cell(a, "name", name), NULL};
  cli_list_row(l, list_widths, cells);
  json_decref(a);
}

static bool print_page(struct cli_list *l, char io_after[CODE_BYTES_MAX + 1], size_t *out_count, int *out_exit)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, io_after);
  db_args_text(&args, l->cli->status);
  db_args_i64(&args, CLI_LIST_PAGE);
  bool is_ok = cli_query(l->cli, &SQL_ACTIVITY_LIST, &args, &rows, out_exit);
  *out_count = is_ok ? db_rows_count(rows) : 0;
  for (size_t i = 0; i < *out_count; i++) {
    if (l->cli->is_json) cli_list_item(l, db_rows_text(rows, i, 1));
    else print_activity(l, db_rows_text(rows, i, 1));
    (void)snprintf(io_after, CODE_BYTES_MAX + 1, "%s", db_rows_text(rows, i, 0));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

int activity_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct cli_list list;
  int exit_code = EXIT_OK;
  char after[CODE_BYTES_MAX + 1] = "";
  size_t count = CLI_LIST_PAGE;
  if (!cli_parse(&c, "activity list", "[--status STATUS] [--format text|json]", CLI_STATUS | CLI_FORMAT, 0, 0, argc, argv, &exit_code)) return exit_code;
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  static const char *const heading[] = {"CODE", "STATUS", "START", "END", "TOTAL", "REMAINING", "NAME", NULL};
  cli_list_begin(&list, &c);
  if (!c.is_json) cli_list_row(&list, list_widths, heading);
  while (count == CLI_LIST_PAGE && print_page(&list, after, &count, &exit_code)) {}
  cli_list_end(&list);
  cli_close(&c);
  return exit_code;
}

// --- show -------------------------------------------------------------------------------------------------------------

static void print_lines(const json_t *object, const char *prefix)
{
  const char *name;
  json_t *member;
  json_object_foreach((json_t *)(uintptr_t)object, name, member) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s%s", prefix, name);
    if (json_is_object(member) && json_object_size(member) > 0 && prefix[0] == '\0') {
      char deeper[128];
      (void)snprintf(deeper, sizeof deeper, "%.100s.", name);
      print_lines(member, deeper);
      continue;
    }
    char *text = json_is_string(member) ? NULL : json_dumps(member, JSON_ENCODE_ANY | JSON_COMPACT);
    (void)printf("%-22s  ", path);
    cli_put_text(text != NULL ? text : json_is_string(member) ? json_string_value(member) : "");
    (void)putchar('\n');
    free(text);
  }
}

int activity_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  if (!cli_parse(&c, "activity show", "CODE [--format text|json]", CLI_FORMAT, 1, 1, argc, argv, &exit_code)) return exit_code;
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  if (cli_query(&c, &SQL_ACTIVITY_GET, &args, &rows, &exit_code)) {
    if (db_rows_count(rows) == 0) {
      exit_code = cli_refused(&c, "ACTIVITY_NOT_FOUND", c.words[0]);
    } else if (c.is_json) {
      (void)printf("%s\n", db_rows_text(rows, 0, 0));
    } else {
      json_t *doc = parse(db_rows_text(rows, 0, 0));
      print_lines(doc, "");
      (void)printf("%-22s  %lld\n", "version", (long long)db_rows_i64(rows, 0, 1));
      json_decref(doc);
    }
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return exit_code;
}

// --- history ----------------------------------------------------------------------------------------------------------

static const size_t history_widths[] = {27, 10, 10, 20};

static void print_move(struct cli_list *l, const char *doc)
{
  char at[24], from[24], to[24], actor[24], reason[24];
  json_t *m = parse(doc);
  const char *const cells[] = {cli_list_cell(m, "at", at), cli_list_cell(m, "from", from), cli_list_cell(m, "to", to), cli_list_cell(m, "actor", actor),
                               cli_list_cell(m, "reason", reason), NULL};
  cli_list_row(l, history_widths, cells);
  json_decref(m);
}

static bool print_moves(struct cli_list *l, int64_t *io_after, size_t *out_count, int *out_exit)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, l->cli->words[0]);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, CLI_LIST_PAGE);
  bool is_ok = cli_query(l->cli, &SQL_ACTIVITY_HISTORY_LIST, &args, &rows, out_exit);
  *out_count = is_ok ? db_rows_count(rows) : 0;
  if (is_ok && !db_rows_bool(rows, 0, 0)) {
    *out_exit = cli_refused(l->cli, "ACTIVITY_NOT_FOUND", l->cli->words[0]);
    is_ok = false;
  }
  for (size_t i = 0; is_ok && i < *out_count; i++) {
    if (db_rows_is_null(rows, i, 1)) continue;
    if (l->cli->is_json) cli_list_item(l, db_rows_text(rows, i, 2));
    else print_move(l, db_rows_text(rows, i, 2));
    *io_after = db_rows_i64(rows, i, 1);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

int activity_command_history(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct cli_list list;
  int exit_code = EXIT_OK;
  int64_t after = 0;
  size_t count = CLI_LIST_PAGE;
  if (!cli_parse(&c, "activity history", "CODE [--format text|json]", CLI_FORMAT, 1, 1, argc, argv, &exit_code)) return exit_code;
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  static const char *const heading[] = {"AT", "FROM", "TO", "ACTOR", "REASON", NULL};
  cli_list_begin(&list, &c);
  if (!c.is_json) cli_list_row(&list, history_widths, heading);
  while (count == CLI_LIST_PAGE && print_moves(&list, &after, &count, &exit_code)) {}
  cli_list_end(&list);
  cli_close(&c);
  return exit_code;
}

// --- moves and stock --------------------------------------------------------------------------------------------------

static int act(const void *config, const char *name, const char *action, int argc, char **argv)
{
  struct cli c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  if (!cli_parse(&c, name, "CODE --reason TEXT [--format text|json]", CLI_REASON | CLI_FORMAT, 1, 1, argc, argv, &exit_code)) return exit_code;
  if (c.reason == NULL || c.reason[0] == '\0') return cli_misused(&c, "--reason is needed: it is kept in the history");
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_text(&args, action);
  db_args_text(&args, c.actor);
  db_args_text(&args, c.reason);
  db_args_null(&args);
  if (cli_query(&c, &SQL_ACTIVITY_ACTION, &args, &rows, &exit_code)) {
    const char *status = db_rows_text(rows, 0, 2);
    if (strcmp(db_rows_text(rows, 0, 0), "ok") != 0) exit_code = cli_refused(&c, db_rows_text(rows, 0, 0), db_rows_text(rows, 0, 1));
    else if (c.is_json) (void)printf("{\"code\":\"%s\",\"status\":\"%s\"}\n", c.words[0], status);
    else (void)printf("%s is %s\n", c.words[0], status);
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return exit_code;
}

#define ACTION_COMMAND(action)                                                                              \
  int activity_command_##action(const void *config, struct log *log, int argc, char **argv)                 \
  {                                                                                                         \
    (void)log;                                                                                              \
    return act(config, "activity " #action, #action, argc, argv);                                           \
  }
ACTION_COMMAND(publish)
ACTION_COMMAND(pause)
ACTION_COMMAND(resume)
ACTION_COMMAND(finish)
ACTION_COMMAND(archive)

static const char *check_adjustment(const struct cli *c, int64_t *out_by)
{
  if (c->by == NULL || text_to_i64(c->by, strlen(c->by), out_by) != RESULT_OK) return "--by must be an integer such as 100 or -20";
  if (*out_by == 0 || *out_by > STOCK_UNITS_MAX || *out_by < -STOCK_UNITS_MAX) return "--by is out of range";
  if (c->key == NULL || !text_is_biz_id(c->key, strlen(c->key))) return "--key must be 1 to 64 characters of A-Z a-z 0-9 . _ : -; it makes repeating safe";
  return c->reason != NULL && c->reason[0] != '\0' ? NULL : "--reason is needed: it is kept with the adjustment";
}

static void print_adjustment(const struct cli *c, const struct db_rows *rows)
{
  long long total = db_rows_i64(rows, 0, 2), remaining = db_rows_i64(rows, 0, 3);
  bool is_replay = strcmp(db_rows_text(rows, 0, 0), "replayed") == 0;
  if (c->is_json) (void)printf("{\"total\":%lld,\"remaining\":%lld,\"replayed\":%s}\n", total, remaining, is_replay ? "true" : "false");
  else (void)printf("total %lld, remaining %lld%s\n", total, remaining, is_replay ? " (this key was adjusted before; nothing changed)" : "");
}

int stock_command_adjust(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  int64_t by = 0;
  if (!cli_parse(&c, "stock adjust", "CODE --by N --key K --reason TEXT [--format text|json]", CLI_BY | CLI_KEY | CLI_REASON | CLI_FORMAT, 1, 1, argc, argv, &exit_code)) {
    return exit_code;
  }
  const char *fault = check_adjustment(&c, &by);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_text(&args, c.key);
  db_args_i64(&args, by);
  db_args_text(&args, c.reason);
  db_args_text(&args, c.actor);
  if (cli_query(&c, &SQL_STOCK_ADJUST, &args, &rows, &exit_code)) {
    const char *outcome = db_rows_text(rows, 0, 0);
    if (strcmp(outcome, "ok") == 0 || strcmp(outcome, "replayed") == 0) print_adjustment(&c, rows);
    else exit_code = cli_refused(&c, outcome, db_rows_text(rows, 0, 1));
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return exit_code;
}
