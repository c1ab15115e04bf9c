// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters list|show|retry`.
// Owner: the command; blocking.
#include "reconciler/dead_letter_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/dead_letter.h"

static const struct doc_column columns[] = {
    {"ID", "id", 8},         {"CLAIM", "claimId", 20}, {"ACTIVITY", "activityCode", 28}, {"PROVIDER", "provider", 12},
    {"CAUSE", "cause", 18},  {"STATE", "state", 6},    {"ATTEMPTS", "attempts", 8},      {"OPENED", "openedAt", 27},
    {"DETAIL", "detail", 0}, {NULL, NULL, 0},
};

struct letter_options {
  const char *state, *provider, *cause, *activity, *after, *limit, *format, *reason;
  bool is_dry_run, all, is_json;
};

// Which of the options a command has.
enum { FOR_LIST = 1, FOR_SHOW = 2, FOR_RETRY = 4 };

static bool parse(struct cli *c, struct letter_options *o, int what, int argc, char **argv, size_t *out_words)
{
  const struct {
    int what;
    struct cmdline_option option;
  } all[] = {
      {FOR_LIST | FOR_SHOW | FOR_RETRY, {"--format", &o->format, NULL}},
      {FOR_LIST | FOR_RETRY, {"--provider", &o->provider, NULL}},
      {FOR_LIST | FOR_RETRY, {"--cause", &o->cause, NULL}},
      {FOR_LIST | FOR_RETRY, {"--activity", &o->activity, NULL}},
      {FOR_LIST, {"--state", &o->state, NULL}},
      {FOR_LIST, {"--after", &o->after, NULL}},
      {FOR_LIST, {"--limit", &o->limit, NULL}},
      {FOR_RETRY, {"--reason", &o->reason, NULL}},
      {FOR_RETRY, {"--dry-run", NULL, &o->is_dry_run}},
      {FOR_RETRY, {"--all", NULL, &o->all}},
  };
  struct cmdline_option options[ARRAY_LEN(all)];
  size_t count = 0;
  char why[CMDLINE_WHY_BYTES] = "";
  int format = 0;
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    if ((all[i].what & what) != 0) options[count++] = all[i].option;
  }
  const char *fault = cmdline_parse(options, count, argc, argv, out_words, why) == RESULT_OK ? NULL : why;
  if (fault == NULL && o->format != NULL && !cmdline_choice(o->format, "text|json", &format))
    fault = "--format must be text or json";
  o->is_json = format == 1;
  if (fault == NULL) return true;
  c->exit_code = cli_misused(c, fault);
  return false;
}

// --- list

static bool list_page(struct doc_list *l, const struct letter_options *o, const char *state, int64_t *io_after)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  const struct dead_letter_filter filter = {o->provider, o->cause, o->activity};
  db_args_init(&args);
  if (cli_query(l->cli, store_dead_letter_list(&args, state, &filter, *io_after, doc_list_page_rows(l)), &args,
                &rows)) {
    size_t count = db_rows_count(rows);
    is_more = doc_list_rows(l, rows, 0, false);
    if (count > 0) *io_after = db_rows_i64(rows, count - 1, 0);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

int dead_letter_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters list", DEAD_LETTER_LIST_USAGE);
  struct letter_options o = {0};
  size_t words = 0;
  int state = 0;
  int64_t after = 0;
  if (!parse(&c, &o, FOR_LIST, argc, argv, &words)) return c.exit_code;
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (o.state != NULL && !cmdline_choice(o.state, "open|closed|all", &state))
    return cli_misused(&c, "--state must be open, closed or all");
  if (o.after != NULL && (text_to_i64(o.after, strlen(o.after), &after) != RESULT_OK || after < 0))
    return cli_misused(&c, "--after must be the id of a letter");
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, o.is_json, o.limit)) {
    while (list_page(&l, &o, o.state != NULL ? o.state : "open", &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}

// --- ids

// A claim stands for its newest letter.
static bool letter_of_claim(struct cli *c, struct claim_ref claim, int64_t *out_letter)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_answered = cli_query(c, store_dead_letters_of_claims(&args, &claim, 1), &args, &rows);
  if (is_answered) *out_letter = store_letter_of_claim(rows, 0);
  db_rows_free(rows);
  db_args_release(&args);
  return is_answered;
}

static bool find_letter(struct cli *c, const char *word, int64_t *out_letter)
{
  int64_t letter = 0;
  struct claim_ref claim;
  if (dead_letter_parse(word, &letter, &claim) != RESULT_OK) {
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

// --- show

int dead_letter_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters show", DEAD_LETTER_SHOW_USAGE);
  struct letter_options o = {0};
  size_t words = 0;
  int64_t letter = 0;
  if (!parse(&c, &o, FOR_SHOW, argc, argv, &words)) return c.exit_code;
  if (words != 1) return cli_misused(&c, "one id is needed");
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  db_args_init(&args);
  if (find_letter(&c, argv[0], &letter) && cli_query(&c, store_dead_letter_show(&args, letter), &args, &rows))
    c.exit_code = doc_show(&c, rows, o.is_json, "dead letter", argv[0]);
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return c.exit_code;
}

// --- retry

static const char *retry_fault(const struct letter_options *o, size_t words)
{
  bool has_filter = o->provider != NULL || o->cause != NULL || o->activity != NULL;
  if (words > 0 && (has_filter || o->all)) return "name letters or give a filter, not both";
  if (words == 0 && !has_filter && !o->all) return "name letters, give a filter, or say --all";
  if (o->reason == NULL && !o->is_dry_run) return "--reason is needed";
  if (o->reason == NULL) return NULL;
  size_t len = strlen(o->reason);
  if (len == 0 || !text_is_utf8(o->reason, len)) return "--reason must be text";
  return text_utf8_length(o->reason, len) <= REASON_CHARS_MAX ? NULL : "--reason must have at most 500 characters";
}

// One statement; *io_after moves on. Returns whether there may be more.
static bool retry_page(struct cli *c, struct retry_page *page, struct retry_result *result, bool is_json)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  db_args_init(&args);
  if (cli_query(c, store_dead_letter_retry(&args, page), &args, &rows)) {
    size_t count = db_rows_count(rows);
    for (size_t i = 0; i < count; i++) {
      struct retry_row row = store_retry_row(rows, i);
      if (retry_result_add(result, &row) != RESULT_OK) c->exit_code = cli_failed(c, "unknown outcome", EXIT_SOFTWARE);
      if (!is_json)
        (void)printf("%-8lld  %-20s  %s\n", (long long)row.letter_id, row.claim_ref[0] != '\0' ? row.claim_ref : "-",
                     row.outcome);
      page->after = row.letter_id;
    }
    is_more = (int64_t)count == page->limit;
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_more;
}

static void retry(struct cli *c, struct retry_page *page, bool is_json)
{
  struct retry_result result;
  struct buf text;
  retry_result_init(&result, page->is_dry_run);
  buf_init(&text, 16u * 1024u * 1024u);
  while (retry_page(c, page, &result, is_json)) {}
  if (is_json)
    retry_result_put_json(&result, &text);
  else
    retry_result_put_text(&result, &text);
  buf_putc(&text, '\n');
  int written = cli_write(c, &text, NULL);
  if (c->exit_code == EXIT_OK)
    c->exit_code = written != EXIT_OK ? written : result.counts[RETRY_NOT_FOUND] > 0 ? EXIT_DATA : EXIT_OK;
  buf_release(&text);
  retry_result_release(&result);
}

int dead_letter_command_retry(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters retry", DEAD_LETTER_RETRY_USAGE);
  struct letter_options o = {0};
  size_t words = 0;
  char actor[CMDLINE_ACTOR_BYTES];
  const struct reconciler_conf *conf = config;
  if (!parse(&c, &o, FOR_RETRY, argc, argv, &words)) return c.exit_code;
  const char *fault = retry_fault(&o, words);
  if (fault != NULL) return cli_misused(&c, fault);
  cmdline_actor(actor);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  int64_t *ids = words > 0 ? MEM_ARRAY(int64_t, words) : NULL;
  bool are_known = true;
  for (size_t i = 0; i < words && are_known; i++) are_known = find_letter(&c, argv[i], &ids[i]);
  struct retry_page page = {.ids = ids,
                            .id_count = words,
                            .filter = {o.provider, o.cause, o.activity},
                            .limit = conf->retry_batch_rows,
                            .actor = actor,
                            .reason = o.reason,
                            .is_dry_run = o.is_dry_run};
  if (are_known) retry(&c, &page, o.is_json);
  mem_free(ids);
  cli_close(&c);
  return c.exit_code;
}
