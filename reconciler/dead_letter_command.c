// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters list|groups|show`.
// Owner: the command; blocking.
#include "reconciler/dead_letter_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/operation.h"

static const struct doc_column columns[] = {
    {"ID", "id", 8},         {"CLAIM", "claimId", 20}, {"ACTIVITY", "activityCode", 28}, {"PROVIDER", "provider", 12},
    {"CAUSE", "cause", 18},  {"STATE", "state", 6},    {"ATTEMPTS", "attempts", 8},      {"OPENED", "openedAt", 27},
    {"DETAIL", "detail", 0}, {NULL, NULL, 0},
};

static const struct doc_column group_columns[] = {
    {"COUNT", "count", 8},        {"PROVIDER", "provider", 12},      {"OLDEST", "oldest", 27}, {"NEWEST", "newest", 27},
    {"EXAMPLE", "example.id", 8}, {"FINGERPRINT", "fingerprint", 0}, {NULL, NULL, 0},
};

struct letter_options {
  const char *state, *after, *limit, *format;
  struct dead_letter_filter filter;
};

static bool parse(struct cli *c, struct letter_options *o, int argc, char **argv)
{
  const struct cmdline_option options[] = {
      {"--state", &o->state, NULL},
      {"--provider", &o->filter.provider, NULL},
      {"--cause", &o->filter.cause, NULL},
      {"--activity", &o->filter.activity_code, NULL},
      {"--fingerprint", &o->filter.fingerprint, NULL},
      {"--after", &o->after, NULL},
      {"--limit", &o->limit, NULL},
      {"--format", &o->format, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  const char *fault = NULL;
  size_t words = 0;
  int index = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK)
    fault = why;
  else if (words > 0)
    fault = "takes no arguments but its options";
  else if (!cmdline_choice(o->format, "text|json", &index))
    fault = "--format must be text or json";
  else if (!cmdline_choice(o->state, "open|closed|all", &index))
    fault = "--state must be open, closed or all";
  if (fault != NULL) c->exit_code = cli_misused(c, fault);
  return fault == NULL;
}

// --- lists

typedef const struct db_statement *page_fn(struct db_args *args, const char *state, const struct dead_letter_filter *f,
                                           int64_t after, int64_t limit);

static bool list_page(struct doc_list *l, page_fn *page, const struct letter_options *o, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, page(&args, o->state, &o->filter, *io_after, doc_list_page_rows(l)), &args, io_after);
}

static int list(struct cli *c, page_fn *page, const struct doc_column *titles, const void *config, int argc,
                char **argv)
{
  struct letter_options o = {.state = "open", .format = "text"};
  int64_t after = 0;
  struct doc_list l;
  if (!parse(c, &o, argc, argv)) return c->exit_code;
  if (o.after != NULL && (text_to_i64(o.after, strlen(o.after), &after) != RESULT_OK || after < 0))
    return cli_misused(c, "--after must be a number as the list shows it");
  if (!reconciler_cli_open(c, config)) return c->exit_code;
  if (doc_list_begin(&l, c, titles, strcmp(o.format, "json") == 0, o.limit)) {
    while (list_page(&l, page, &o, &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(c);
  return c->exit_code;
}

int dead_letter_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters list", DEAD_LETTER_LIST_USAGE);
  return list(&c, store_dead_letter_list, columns, config, argc, argv);
}

int dead_letter_command_groups(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters groups", DEAD_LETTER_GROUPS_USAGE);
  return list(&c, store_dead_letter_groups, group_columns, config, argc, argv);
}

// --- show

// A claim stands for its newest letter.
static bool letter_of_claim(struct cli *c, struct claim_ref claim, int64_t *out_letter)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_answered = cli_query(c, store_dead_letter_of_claim(&args, claim), &args, &rows);
  if (is_answered) *out_letter = store_letter_of_claim(rows);
  db_rows_free(rows);
  db_args_release(&args);
  return is_answered;
}

static bool find_letter(struct cli *c, const char *word, int64_t *out_letter)
{
  int64_t letter = 0;
  struct claim_ref claim;
  if (operation_target_parse(word, &letter, &claim) != RESULT_OK) {
    c->exit_code = cli_misused(c, "an id is the number of a letter or of a claim such as 683000001-5");
    return false;
  }
  if (letter == 0 && !letter_of_claim(c, claim, &letter)) return false;
  if (letter == 0) {
    (void)fprintf(stderr, "%s: %s: there is no dead letter of claim %s\n", c->program, c->name, word);
    c->exit_code = EXIT_DATA;
    return false;
  }
  *out_letter = letter;
  return true;
}

int dead_letter_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters show", DEAD_LETTER_SHOW_USAGE);
  const char *format = "text";
  const struct cmdline_option options[] = {{"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int is_json = 0;
  int64_t letter = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1) return cli_misused(&c, "one id is needed");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  db_args_init(&args);
  if (find_letter(&c, argv[0], &letter) && cli_query(&c, store_dead_letter_show(&args, letter), &args, &rows))
    c.exit_code = doc_show(&c, rows, is_json == 1, "dead letter", argv[0]);
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return c.exit_code;
}
