// SPDX-License-Identifier: Apache-2.0
// `scheduler claims list|show`.
// Owner: the command; blocking.
#include "scheduler/claim_command.h"

#include <stdio.h>
#include <string.h>

#include "common/daemon.h"
#include "common/jsonx.h"
#include "common/text.h"
#include "scheduler/claim_id.h"
#include "scheduler/cli_list.h"
#include "sql_scheduler.inc"

static const size_t widths[] = {22, 32, 20, 28, 12, 8, 27};

static void print_claim(struct cli_list *l, const char *doc)
{
  char id[24], activity[24], user[24], biz[24], status[24], quantity[24], at[24];
  json_t *c = NULL;
  if (jsonx_parse(doc, strlen(doc), &c, NULL) != RESULT_OK) return;
  const char *const cells[] = {cli_list_cell(c, "claimId", id), cli_list_cell(c, "activityCode", activity), cli_list_cell(c, "userId", user),
                               cli_list_cell(c, "bizId", biz), cli_list_cell(c, "status", status), cli_list_cell(c, "quantity", quantity),
                               cli_list_cell(c, "createdAt", at), NULL};
  cli_list_row(l, widths, cells);
  json_decref(c);
}

static bool print_rows(struct cli_list *l, const struct db_rows *rows, size_t id_column, int64_t *io_after)
{
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    if (db_rows_is_null(rows, i, id_column)) continue;
    if (l->cli->is_json) cli_list_item(l, db_rows_text(rows, i, id_column + 1));
    else print_claim(l, db_rows_text(rows, i, id_column + 1));
    *io_after = db_rows_i64(rows, i, id_column);
  }
  return db_rows_count(rows) == CLI_LIST_PAGE;
}

// True if there may be more.
static bool print_page(struct cli_list *l, int64_t user_id, int64_t *io_after, int *out_exit)
{
  const struct cli *c = l->cli;
  bool by_activity = c->activity != NULL, is_more = false;
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  if (by_activity) db_args_text(&args, c->activity);
  else db_args_i64(&args, user_id);
  if (by_activity) db_args_text(&args, c->status);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, CLI_LIST_PAGE);
  if (cli_query(l->cli, by_activity ? &SQL_CLAIM_LIST_BY_ACTIVITY : &SQL_CLAIM_LIST_BY_USER, &args, &rows, out_exit)) {
    if (by_activity && !db_rows_bool(rows, 0, 0)) *out_exit = cli_refused(c, "ACTIVITY_NOT_FOUND", c->activity);
    else is_more = print_rows(l, rows, by_activity ? 1 : 0, io_after);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

int claim_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct cli_list list;
  int exit_code = EXIT_OK;
  int64_t after = 0, user_id = 0;
  if (!cli_parse(&c, "claims list", "--activity CODE [--status STATUS] | --user ID  [--format text|json]",
                 CLI_ACTIVITY | CLI_STATUS | CLI_USER | CLI_FORMAT, 0, 0, argc, argv, &exit_code)) return exit_code;
  if ((c.activity == NULL) == (c.user == NULL)) return cli_misused(&c, "either --activity or --user is needed");
  if (c.user != NULL && c.status != NULL) return cli_misused(&c, "--status goes with --activity");
  if (c.user != NULL && (text_to_i64(c.user, strlen(c.user), &user_id) != RESULT_OK || user_id < 1)) {
    return cli_misused(&c, "--user must be an id from 1 to 9223372036854775807");
  }
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  static const char *const heading[] = {"CLAIM", "ACTIVITY", "USER", "BIZ ID", "STATUS", "QUANTITY", "CREATED", NULL};
  cli_list_begin(&list, &c);
  if (!c.is_json) cli_list_row(&list, widths, heading);
  while (print_page(&list, user_id, &after, &exit_code)) {}
  cli_list_end(&list);
  cli_close(&c);
  return exit_code;
}

// Takes a claim id, or an activity's code and a bizId.
int claim_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  struct claim_id id = {0, 0};
  if (!cli_parse(&c, "claims show", "CLAIMID | ACTIVITY BIZID", CLI_FORMAT, 1, 2, argc, argv, &exit_code)) return exit_code;
  if (c.word_count == 1 && claim_id_parse(c.words[0], &id) != RESULT_OK) return cli_misused(&c, "a claim id looks like 683000001-17");
  if (!cli_open(&c, config, &exit_code)) return exit_code;
  db_args_init(&args);
  if (c.word_count == 1) {
    db_args_i64(&args, id.activity_id);
    db_args_i64(&args, id.number);
  } else {
    db_args_text(&args, c.words[0]);
    db_args_text(&args, c.words[1]);
  }
  if (cli_query(&c, c.word_count == 1 ? &SQL_CLAIM_GET : &SQL_CLAIM_GET_BY_BIZ, &args, &rows, &exit_code)) {
    if (db_rows_count(rows) == 0 || db_rows_is_null(rows, 0, 0)) exit_code = cli_refused(&c, "CLAIM_NOT_FOUND", c.words[0]);
    else (void)printf("%s\n", db_rows_text(rows, 0, 0));
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return exit_code;
}
