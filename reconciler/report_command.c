// SPDX-License-Identifier: Apache-2.0
// `reconciler report compare|activity|event`. Owner: the command; blocking.
#include "reconciler/report_command.h"

#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/jsonx.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/messages.h"
#include "reconciler/night_paper.h"
#include "reconciler/review.h"
#include "reconciler/review_paper.h"
#include "reconciler/store_night.h"

const char *report_options_fault(struct report_options *o)
{
  o->report_format = REPORT_TEXT;
  if (o->format != NULL && report_format_parse(o->format, &o->report_format) != RESULT_OK)
    return "--format must be text, json, csv or html";
  int language = 0;
  if (o->language != NULL && !cmdline_choice(o->language, "en|zh", &language)) return "--language must be en or zh";
  o->is_chinese = language == 1;
  return NULL;
}

int report_print(struct cli *c, const char *doc, size_t len, const json_t *json, report_api_paper_fn *paper_fn,
                 const struct report_options *o)
{
  struct buf text;
  struct paper *p = paper_fn(json);
  if (o->is_chinese && report_format_is_told(o->report_format)) paper_tell_chinese(p, reconciler_messages());
  buf_init(&text, REPORT_BYTES_MAX);
  paper_put(p, o->report_format, doc, len, &text);
  int exit_code = cli_write(c, &text, o->output);
  if (exit_code == EXIT_OK && o->output != NULL && strcmp(o->output, "-") != 0)
    (void)printf("%s\nreport: %s\n", paper_verdict(p), o->output);
  paper_free(p);
  buf_release(&text);
  return exit_code;
}

static int print_rows(struct cli *c, const struct db_rows *rows, size_t column, report_api_paper_fn *paper_fn,
                      const struct report_options *o)
{
  const char *doc = db_rows_text(rows, 0, column);
  size_t len = db_rows_text_len(rows, 0, column);
  json_t *json = NULL;
  if (jsonx_parse(doc, len, &json, NULL) != RESULT_OK) return cli_failed(c, "the report is no JSON", EXIT_SOFTWARE);
  int exit_code = report_print(c, doc, len, json, paper_fn, o);
  json_decref(json);
  return exit_code;
}

// The words of the command; false: misused, c->exit_code tells.
static bool read_words(struct cli *c, int argc, char **argv, size_t words_max, size_t *out_words,
                       struct report_options *o)
{
  const struct cmdline_option options[] = {
      {"--format", &o->format, NULL}, {"--language", &o->language, NULL}, {"--output", &o->output, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  const char *fault = NULL;
  *o = (struct report_options){.report_format = REPORT_TEXT};
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK)
    fault = why;
  else if (words == 0 || words > words_max)
    fault = words == 0 ? "what of is missing" : "takes no further words";
  else
    fault = report_options_fault(o);
  *out_words = words;
  if (fault != NULL) c->exit_code = cli_misused(c, fault);
  return fault == NULL;
}

// --- two nights

static int compare(struct cli *c, const char *date, const char *with, const struct report_options *o)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(c, store_night_compare(&args, date, with), &args, &rows)) {
    exit_code = c->exit_code;
  } else if (strcmp(db_rows_text(rows, 0, 0), "compared") != 0) {
    bool is_other = strcmp(db_rows_text(rows, 0, 0), "no_other") == 0;
    exit_code =
        cli_failed(c, is_other ? "there is no report to compare with" : "there is no report of this date", EXIT_DATA);
  } else {
    exit_code = print_rows(c, rows, 1, night_paper_new_comparison, o);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

int report_command_compare(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("report compare", REPORT_COMPARE_USAGE);
  struct report_options o;
  size_t words;
  if (!read_words(&c, argc, argv, 2, &words, &o)) return c.exit_code;
  for (size_t i = 0; i < words; i++) {
    if (!night_is_date(argv[i])) return cli_misused(&c, "DATE must be a day such as 2026-11-29");
  }
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  c.exit_code = compare(&c, argv[0], words == 2 ? argv[1] : NULL, &o);
  cli_close(&c);
  return c.exit_code;
}

// --- reviews

static int review(struct cli *c, enum review_what what, const char *code, const struct report_options *o)
{
  struct review r;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  review_init(&r, what, code);
  db_args_init(&args);
  for (const struct db_statement *next; (next = review_next(&r, &args)) != NULL; db_args_clear(&args)) {
    db_rows_free(rows);
    rows = NULL;
    if (!cli_query(c, next, &args, &rows)) break;
    review_take(&r, rows);
  }
  if (r.step == REVIEW_UNKNOWN)
    exit_code = cli_failed(c, what == REVIEW_EVENT ? "there is no such event" : "there is no such activity", EXIT_DATA);
  else
    exit_code = r.step == REVIEW_DONE ? print_rows(c, rows, 0, review_paper_new, o) : c->exit_code;
  db_rows_free(rows);
  db_args_release(&args);
  review_release(&r);
  return exit_code;
}

static int review_command(struct cli *c, enum review_what what, const void *config, int argc, char **argv)
{
  struct report_options o;
  size_t words;
  if (!read_words(c, argc, argv, 1, &words, &o)) return c->exit_code;
  if (!text_is_code(argv[0], strlen(argv[0]))) return cli_misused(c, "CODE must be the code of an activity or event");
  if (!reconciler_cli_open(c, config)) return c->exit_code;
  c->exit_code = review(c, what, argv[0], &o);
  cli_close(c);
  return c->exit_code;
}

int report_command_activity(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("report activity", REPORT_ACTIVITY_USAGE);
  return review_command(&c, REVIEW_ACTIVITY, config, argc, argv);
}

int report_command_event(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("report event", REPORT_EVENT_USAGE);
  return review_command(&c, REVIEW_EVENT, config, argc, argv);
}
