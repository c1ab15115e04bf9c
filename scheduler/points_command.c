// SPDX-License-Identifier: Apache-2.0
// `scheduler points …`, through the same SQL functions as the API.
// Owner: the command; blocking.
#include "scheduler/points_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/limits.h"
#include "common/text.h"
#include "scheduler/command.h"
#include "scheduler/import_command.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

#define GRANT_USAGE "USER --amount N --key K --reason TEXT | --file FILE.csv  [--format text|json]"

static bool read_user(const struct command *c, int64_t *out_user_id)
{
  return text_to_i64(c->words[0], strlen(c->words[0]), out_user_id) == RESULT_OK && *out_user_id >= 1;
}

// --- grant

static const char *check_grant(const struct command *c, int64_t *out_user_id, int64_t *out_amount)
{
  if (!read_user(c, out_user_id)) return "USER must be an id from 1 to 9223372036854775807";
  if (c->amount == NULL || text_to_i64(c->amount, strlen(c->amount), out_amount) != RESULT_OK || *out_amount < 1 ||
      *out_amount > POINTS_GRANT_MAX)
    return "--amount must be an integer from 1 to 1000000000000";
  if (c->key == NULL || !text_is_biz_id(c->key, strlen(c->key)))
    return "--key must be 1 to 64 characters of A-Z a-z 0-9 . _ : -; it makes repeating safe";
  return c->reason != NULL && c->reason[0] != '\0' ? NULL : "--reason is needed: it stands in the ledger";
}

static void print_grant(const struct command *c, const struct db_rows *rows)
{
  long long balance = db_rows_i64(rows, 0, 2);
  bool is_replay = strcmp(db_rows_text(rows, 0, 0), "replayed") == 0;
  if (c->is_json)
    (void)printf("{\"balance\":%lld,\"entries\":[%s],\"replayed\":%s}\n", balance, db_rows_text(rows, 0, 3),
                 is_replay ? "true" : "false");
  else
    (void)printf("balance %lld%s\n", balance,
                 is_replay ? " (after this grant, which was made before; nothing changed)" : "");
}

static void grant(struct command *c, int64_t user_id, int64_t amount)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_i64(&args, user_id);
  db_args_text(&args, c->key);
  db_args_i64(&args, amount);
  db_args_text(&args, c->reason);
  db_args_text(&args, c->actor);
  db_args_bool(&args, true);
  if (cli_query(&c->cli, &SQL_POINTS_GRANT, &args, &rows)) {
    const char *outcome = db_rows_text(rows, 0, 0);
    if (strcmp(outcome, "ok") == 0 || strcmp(outcome, "replayed") == 0)
      print_grant(c, rows);
    else
      command_refused(&c->cli, outcome, db_rows_text(rows, 0, 1));
  }
  db_rows_free(rows);
  db_args_release(&args);
}

int points_command_grant(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  int64_t user_id = 0, amount = 0;
  const unsigned options = OPTION_AMOUNT | OPTION_KEY | OPTION_REASON | OPTION_FILE | OPTION_FORMAT;
  if (!command_parse(&c, "points grant", GRANT_USAGE, options, 0, 1, argc, argv)) return c.cli.exit_code;
  if ((c.file == NULL) == (c.word_count == 0)) return cli_failed(&c.cli, "either USER or --file is needed", EXIT_USAGE);
  if (c.file != NULL && (c.amount != NULL || c.key != NULL || c.reason != NULL))
    return cli_failed(&c.cli, "with --file, amounts, keys and reasons stand in the file", EXIT_USAGE);
  const char *fault = c.file == NULL ? check_grant(&c, &user_id, &amount) : NULL;
  if (fault != NULL) return cli_failed(&c.cli, fault, EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (c.file != NULL)
    import_command_file(&c, IMPORT_POINTS, NULL, c.file);
  else
    grant(&c, user_id, amount);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- show

static const struct doc_column entry_columns[] = {
    {"AT", "at", 27},           {"KIND", "kind", 6},     {"AMOUNT", "amount", 12},
    {"BALANCE", "balance", 12}, {"BIZ ID", "bizId", 28}, {"CLAIM", "claimId", 22},
    {"ACTOR", "actor", 20},     {"REASON", "reason", 0}, {NULL, NULL, 0},
};

static bool show_page(struct doc_list *l, int64_t user_id, int64_t *io_after, int64_t *out_balance)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  db_args_init(&args);
  db_args_i64(&args, user_id);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  if (cli_query(l->cli, &SQL_POINTS_SHOW, &args, &rows)) {
    *out_balance = db_rows_i64(rows, 0, 0);
    is_more = doc_list_rows(l, rows, 1, false);
    if (is_more) *io_after = db_rows_i64(rows, db_rows_count(rows) - 1, 1);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

// Returns how many rows the page had.
static int64_t print_page(struct cli *cli, int64_t user_id, int64_t *io_after, int64_t *io_printed)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t count = 0;
  db_args_init(&args);
  db_args_i64(&args, user_id);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, DOC_LIST_PAGE);
  if (cli_query(cli, &SQL_POINTS_SHOW, &args, &rows)) {
    count = (int64_t)db_rows_count(rows);
    if (*io_after == 0) (void)printf("{\"balance\":%lld,\"entries\":[", (long long)db_rows_i64(rows, 0, 0));
    for (size_t i = 0; i < (size_t)count && !db_rows_is_null(rows, i, 1); i++) {
      (void)printf("%s%s", (*io_printed)++ > 0 ? ",\n" : "\n", db_rows_text(rows, i, 2));
      *io_after = db_rows_i64(rows, i, 1);
    }
  }
  db_rows_free(rows);
  db_args_release(&args);
  return count;
}

// {"balance": …, "entries": […]}: all there are.
static void show_json(struct cli *cli, int64_t user_id)
{
  int64_t after = 0, printed = 0;
  while (print_page(cli, user_id, &after, &printed) == DOC_LIST_PAGE) {}
  if (cli->exit_code == EXIT_OK) (void)printf("]}\n");
}

static void show_text(struct cli *cli, int64_t user_id)
{
  struct doc_list list;
  int64_t after = 0, balance = 0;
  if (!doc_list_begin(&list, cli, entry_columns, false, NULL)) return;
  while (show_page(&list, user_id, &after, &balance)) {}
  if (doc_list_end(&list) == EXIT_OK) (void)printf("balance: %lld\n", (long long)balance);
}

int points_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  int64_t user_id = 0;
  if (!command_parse(&c, "points show", "USER [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!read_user(&c, &user_id))
    return cli_failed(&c.cli, "USER must be an id from 1 to 9223372036854775807", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (c.is_json)
    show_json(&c.cli, user_id);
  else
    show_text(&c.cli, user_id);
  cli_close(&c.cli);
  return c.cli.exit_code;
}
