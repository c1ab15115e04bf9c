// SPDX-License-Identifier: Apache-2.0
// `scheduler activity refusals`: how many claims were refused, by minute and code.
// Owner: the command; blocking.
#include "scheduler/refusal_command.h"

#include "scheduler/command.h"
#include "sql_shared.inc"

static const struct doc_column columns[] = {
    {"MINUTE", "minute", 27},
    {"TOTAL", "total", 10},
    {"CODES", "summary", 0},
    {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const char *code, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, code);
  db_args_null(&args);
  db_args_null(&args);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  return command_list_page(l, &SQL_REFUSAL_LIST, &args, code, io_after);
}

int refusal_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t after = 0;
  if (!command_parse(&c, "activity refusals", "CODE [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, columns, c.is_json, NULL)) {
    while (list_page(&list, c.words[0], &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}
