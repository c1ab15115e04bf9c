// SPDX-License-Identifier: Apache-2.0
// `scheduler claims list|show`.
// Owner: the command; blocking.
#include "scheduler/claim_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/text.h"
#include "scheduler/claim_id.h"
#include "scheduler/command.h"
#include "sql_shared.inc"

static const struct doc_column columns[] = {
    {"CLAIM", "claimId", 22}, {"ACTIVITY", "activityCode", 32}, {"USER", "userId", 20},       {"BIZ ID", "bizId", 28},
    {"STATUS", "status", 12}, {"QUANTITY", "quantity", 8},      {"CREATED", "createdAt", 27}, {NULL, NULL, 0},
};

// True if there may be more.
static bool list_page(struct doc_list *l, const struct command *c, int64_t user_id, int64_t *io_after)
{
  bool by_activity = c->activity != NULL;
  struct db_args args;
  db_args_init(&args);
  if (by_activity)
    db_args_text(&args, c->activity);
  else
    db_args_i64(&args, user_id);
  if (by_activity) db_args_text(&args, c->status);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  return by_activity ? command_list_page(l, &SQL_CLAIM_LIST_BY_ACTIVITY, &args, c->activity, io_after)
                     : doc_list_page(l, &SQL_CLAIM_LIST_BY_USER, &args, io_after);
}

int claim_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t after = 0, user_id = 0;
  if (!command_parse(&c, "claims list", "--activity CODE [--status STATUS] | --user ID  [--format text|json]",
                     OPTION_ACTIVITY | OPTION_STATUS | OPTION_USER | OPTION_FORMAT, 0, 0, argc, argv))
    return c.cli.exit_code;
  if ((c.activity == NULL) == (c.user == NULL))
    return cli_failed(&c.cli, "either --activity or --user is needed", EXIT_USAGE);
  if (c.user != NULL && c.status != NULL) return cli_failed(&c.cli, "--status goes with --activity", EXIT_USAGE);
  if (c.user != NULL && (text_to_i64(c.user, strlen(c.user), &user_id) != RESULT_OK || user_id < 1)) {
    return cli_failed(&c.cli, "--user must be an id from 1 to 9223372036854775807", EXIT_USAGE);
  }
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, columns, c.is_json, NULL)) {
    while (list_page(&list, &c, user_id, &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// A request of queued intake: still in the queue, or refused there.
static void print_queued(const struct db_rows *rows, size_t verdict, size_t request)
{
  const char *text = db_rows_text(rows, 0, request), *code = db_rows_text(rows, 0, verdict);
  int len = (int)db_rows_text_len(rows, 0, request);
  if (code[0] == '\0')
    (void)printf("%s\n", text);
  else
    (void)printf("%.*s,\"refusal\":{\"code\":\"%s\"}}\n", len - 1, text, code);
}

// Takes a claim id, or an activity's code and a bizId.
int claim_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct db_args args;
  struct db_rows *rows = NULL;
  struct claim_id id = {0, 0};
  if (!command_parse(&c, "claims show", "CLAIMID | ACTIVITY BIZID", OPTION_FORMAT, 1, 2, argc, argv))
    return c.cli.exit_code;
  if (c.word_count == 1 && claim_id_parse(c.words[0], &id) != RESULT_OK)
    return cli_failed(&c.cli, "a claim id looks like 683000001-17", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  if (c.word_count == 1) {
    db_args_i64(&args, id.activity_id);
    db_args_i64(&args, id.number);
  } else {
    db_args_text(&args, c.words[0]);
    db_args_text(&args, c.words[1]);
  }
  if (cli_query(&c.cli, c.word_count == 1 ? &SQL_CLAIM_GET : &SQL_CLAIM_GET_BY_BIZ, &args, &rows)) {
    enum { CLAIM, VERDICT, REQUEST = 3 };  // the last three by bizId only
    bool is_claim = db_rows_count(rows) > 0 && !db_rows_is_null(rows, 0, CLAIM);
    if (!is_claim && c.word_count == 2 && !db_rows_is_null(rows, 0, REQUEST))
      print_queued(rows, VERDICT, REQUEST);
    else if (!is_claim)
      command_refused(&c.cli, "CLAIM_NOT_FOUND", c.words[0]);
    else
      (void)printf("%s\n", db_rows_text(rows, 0, 0));
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c.cli);
  return c.cli.exit_code;
}
