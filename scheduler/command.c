// SPDX-License-Identifier: Apache-2.0
// What the commands of the scheduler share: their arguments, who is acting, and how a refusal ends.
// Owner: the command; blocking.
#include "scheduler/command.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/config.h"

void command_refused(struct cli *c, const char *code, const char *detail)
{
  (void)fprintf(stderr, "%s: %s: %s: %s\n", c->program, c->name, code, detail);
  c->exit_code = EXIT_DATA;
}

static enum result parse_options(struct command *c, unsigned options, const char **out_format, int argc, char **argv,
                                 char out_why[CMDLINE_WHY_BYTES])
{
  const struct {
    enum command_option option;
    struct cmdline_option place;
  } all[] = {
      {OPTION_REASON, {"--reason", &c->reason, NULL}},
      {OPTION_FORMAT, {"--format", out_format, NULL}},
      {OPTION_PLAN, {"--plan", NULL, &c->is_plan}},
      {OPTION_BY, {"--by", &c->by, NULL}},
      {OPTION_KEY, {"--key", &c->key, NULL}},
      {OPTION_STATUS, {"--status", &c->status, NULL}},
      {OPTION_ACTIVITY, {"--activity", &c->activity, NULL}},
      {OPTION_USER, {"--user", &c->user, NULL}},
      {OPTION_AMOUNT, {"--amount", &c->amount, NULL}},
      {OPTION_FILE, {"--file", &c->file, NULL}},
      {OPTION_RANDOM, {"--random", &c->random, NULL}},
  };
  struct cmdline_option taken[ARRAY_LEN(all)];
  size_t count = 0;
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    if ((options & all[i].option) != 0) taken[count++] = all[i].place;
  }
  return cmdline_parse(taken, count, argc, argv, &c->word_count, out_why);
}

static const char *check_reason(const struct command *c)
{
  if (c->reason == NULL) return NULL;
  size_t len = strlen(c->reason);
  if (!text_is_utf8(c->reason, len)) return "--reason must be UTF-8";
  return text_utf8_length(c->reason, len) <= REASON_CHARS_MAX ? NULL : "--reason must have at most 500 characters";
}

bool command_parse(struct command *c, const char *name, const char *usage, unsigned options, size_t words_min,
                   size_t words_max, int argc, char **argv)
{
  *c = (struct command){
      .cli = {.program = "scheduler", .name = name, .usage = usage, .if_missing = "; was `scheduler migrate` run?"},
      .words = argv};
  const char *format = "text";
  char why[CMDLINE_WHY_BYTES] = "";
  int is_json = 0;
  const char *fault = parse_options(c, options, &format, argc, argv, why) == RESULT_OK ? NULL : why;
  if (fault == NULL && !cmdline_choice(format, "text|json", &is_json)) fault = "--format must be text or json";
  if (fault == NULL) fault = check_reason(c);
  if (fault == NULL && c->word_count < words_min) fault = "something is missing";
  if (fault == NULL && c->word_count > words_max) fault = "too many arguments";
  c->is_json = is_json == 1;
  cmdline_actor(c->actor);
  if (fault == NULL) return true;
  c->cli.exit_code = cli_misused(&c->cli, fault);
  return false;
}

bool command_open(struct command *c, const void *config)
{
  const struct scheduler_conf *conf = config;
  return cli_open(&c->cli, &conf->daemon.database, NULL);
}

bool command_list_page(struct doc_list *l, const struct db_statement *statement, struct db_args *args, const char *code,
                       int64_t *io_after)
{
  struct db_rows *rows = NULL;
  bool is_more = false;
  if (cli_query(l->cli, statement, args, &rows)) {
    if (!db_rows_bool(rows, 0, 0))
      command_refused(l->cli, "ACTIVITY_NOT_FOUND", code);
    else
      is_more = doc_list_rows(l, rows, 1, false);
    if (is_more) *io_after = db_rows_i64(rows, db_rows_count(rows) - 1, 1);
  }
  db_rows_free(rows);
  db_args_release(args);
  return is_more;
}
