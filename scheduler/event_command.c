// SPDX-License-Identifier: Apache-2.0
// `scheduler events parked|retry|discard`: what the relay could not send.
// Owner: the command; blocking.
#include "scheduler/event_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/text.h"
#include "scheduler/command.h"
#include "sql_scheduler.inc"

#define IDS_MAX 1000

static const struct doc_column parked_columns[] = {
    {"ID", "id", 10}, {"TYPE", "type", 24},          {"EVENTS", "events", 6}, {"TRIES", "tries", 5},
    {"AT", "at", 27}, {"FIRST", "firstEventId", 32}, {"FAULT", "fault", 0},   {NULL, NULL, 0},
};

static bool parked_page(struct doc_list *l, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  return doc_list_page(l, &SQL_EVENT_OUT_PARKED, &args, io_after);
}

int event_command_parked(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t after = 0;
  if (!command_parse(&c, "events parked", "[--format text|json]", OPTION_FORMAT, 0, 0, argc, argv))
    return c.cli.exit_code;
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, parked_columns, c.is_json, NULL)) {
    while (parked_page(&list, &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// Ids as arguments, or the word "all".
static bool put_ids(const struct command *c, struct db_args *args)
{
  if (c->word_count == 1 && strcmp(c->words[0], "all") == 0) {
    db_args_null(args);
    return true;
  }
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < c->word_count; i++) {
    int64_t id = 0;
    if (text_to_i64(c->words[i], strlen(c->words[i]), &id) != RESULT_OK) return false;
    db_args_array_i64(args, id);
  }
  db_args_array_end(args);
  return true;
}

static int act(const void *config, const char *name, const struct db_statement *statement, const char *what, int argc,
               char **argv)
{
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!command_parse(&c, name, "ID…|all", 0, 1, IDS_MAX, argc, argv)) return c.cli.exit_code;
  db_args_init(&args);
  if (!put_ids(&c, &args)) {
    c.cli.exit_code = cli_misused(&c.cli, "an ID is a number of `events parked`");
  } else if (command_open(&c, config)) {
    db_args_text(&args, c.actor);
    if (cli_query(&c.cli, statement, &args, &rows)) (void)printf("%lld %s\n", (long long)db_rows_i64(rows, 0, 0), what);
    db_rows_free(rows);
    cli_close(&c.cli);
  }
  db_args_release(&args);
  return c.cli.exit_code;
}

int event_command_retry(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  return act(config, "events retry", &SQL_EVENT_OUT_RETRY, "events are sent again", argc, argv);
}

int event_command_discard(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  return act(config, "events discard", &SQL_EVENT_OUT_DISCARD, "events are thrown away", argc, argv);
}
