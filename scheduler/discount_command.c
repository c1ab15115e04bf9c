// SPDX-License-Identifier: Apache-2.0
// `scheduler discounts list|show|quote`.
// Owner: the command; blocking.
#include "scheduler/discount_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/limits.h"
#include "scheduler/command.h"
#include "scheduler/discount_doc.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

static const struct doc_column columns[] = {
    {"ID", "id", 32},
    {"PRIORITY", "priority", 8},
    {"THRESHOLD", "threshold", 12},
    {"AMOUNT", "discount.amount", 12},
    {"PERCENT", "discount.percent", 7},
    {"MAX", "maxPerOrder", 4},
    {"GROUP", "exclusiveGroup", 20},
    {"REWARD", "rewardCode", 20},
    {"NAME", "name", 0},
    {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, char io_after[CODE_BYTES_MAX + 1])
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  db_args_init(&args);
  db_args_text(&args, io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  if (cli_query(l->cli, &SQL_DISCOUNT_RULE_LIST, &args, &rows)) {
    is_more = doc_list_rows(l, rows, 0, true);
    if (is_more) (void)snprintf(io_after, CODE_BYTES_MAX + 1, "%s", l->last);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

int discount_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  char after[CODE_BYTES_MAX + 1] = "";
  if (!command_parse(&c, "discounts list", "[--format text|json]", OPTION_FORMAT, 0, 0, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, columns, c.is_json, NULL)) {
    while (list_page(&list, after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// Runs a statement that returns one document, or null.
static void show(struct command *c, const struct db_statement *statement, const struct db_args *args, const char *what,
                 const char *id)
{
  struct db_rows *rows = NULL;
  if (cli_query(&c->cli, statement, args, &rows)) {
    if (db_rows_is_null(rows, 0, 0))
      command_refused(&c->cli, "NOT_FOUND", id);
    else
      c->cli.exit_code = doc_show(&c->cli, rows, c->is_json, what, id);
  }
  db_rows_free(rows);
}

int discount_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct db_args args;
  if (!command_parse(&c, "discounts show", "ID [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  show(&c, &SQL_DISCOUNT_RULE_GET, &args, "discount rule", c.words[0]);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- quote

static bool read_file(const char *name, struct buf *out)
{
  FILE *file = fopen(name, "re");
  char chunk[8192];
  size_t n;
  if (file == NULL) {
    (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return false;
  }
  while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) buf_append(out, chunk, n);
  bool is_read = ferror(file) == 0;
  if (!is_read) (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
  (void)fclose(file);
  if (is_read && buf_result(out) != RESULT_OK)
    (void)fprintf(stderr, "%s:1: longer than %d bytes\n", name, CONF_FILE_BYTES_MAX);
  return is_read && buf_result(out) == RESULT_OK;
}

// The order in a file, as discount_quote takes it; NULL after one line on stderr. Free with free.
static char *read_order(const char *name)
{
  struct buf content;
  json_t *body = NULL, *doc = NULL;
  char fault[JSONX_WHY_BYTES] = "", *text = NULL;
  buf_init(&content, CONF_FILE_BYTES_MAX);
  if (read_file(name, &content)) {
    if (jsonx_parse(buf_text(&content), content.len, &body, fault) == RESULT_OK &&
        discount_order_check(body, NULL, &doc, fault) == RESULT_OK)
      text = json_dumps(doc, JSON_COMPACT);
    else
      (void)fprintf(stderr, "%s: %s\n", name, fault);
  }
  json_decref(body);
  json_decref(doc);
  buf_release(&content);
  return text;
}

int discount_command_quote(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct db_args args;
  if (!command_parse(&c, "discounts quote", "FILE [--format text|json]", OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  char *order = read_order(c.words[0]);
  if (order == NULL) return EXIT_DATA;
  if (command_open(&c, config)) {
    db_args_init(&args);
    db_args_text(&args, order);
    db_args_null(&args);
    show(&c, &SQL_DISCOUNT_QUOTE, &args, "order", c.words[0]);
    db_args_release(&args);
    cli_close(&c.cli);
  }
  free(order);
  return c.cli.exit_code;
}
