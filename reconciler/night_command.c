// SPDX-License-Identifier: Apache-2.0
// `reconciler report night|list`. A night that has no report is audited and reported here and now; one that has is
// printed as it is. The status is 0 when all is clean, 1 with findings, 75 when nothing was found but not everything
// could be looked at, or when another is making it. Owner: the command; blocking.
#include "reconciler/night_command.h"

#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/mem.h"
#include "reconciler/cli.h"
#include "reconciler/night.h"
#include "reconciler/night_paper.h"
#include "reconciler/report_command.h"

// --- one night

struct night_options {
  struct report_options report;
  bool again;
};

// The date as a text of its own; NULL after one line on stderr.
static char *latest_date(struct cli *c, const struct night_conf *conf)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  char *date = NULL;
  db_args_init(&args);
  if (cli_query(c, store_night_latest(&args, conf), &args, &rows)) date = mem_strdup(db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(&args);
  return date;
}

static int status_of(const json_t *doc)
{
  struct finding_counts counts = {.live = (size_t)json_integer_value(json_object_get(doc, "findings"))};
  const json_t *unchanged = json_object_get(json_object_get(doc, "moment"), "figuresUnchanged");
  if (json_is_false(unchanged)) counts.live++;
  return finding_exit_status(&counts, json_integer_value(json_object_get(doc, "failed")));
}

static int print(struct cli *c, const char *doc, size_t len, const struct night_options *o)
{
  json_t *json = json_loadb(doc, len, JSON_DECODE_ANY, NULL);
  if (json == NULL) return cli_failed(c, "the report is no JSON", EXIT_SOFTWARE);
  int exit_code = status_of(json), written = report_print(c, doc, len, json, night_paper_new, &o->report);
  json_decref(json);
  return written == EXIT_OK ? exit_code : written;
}

static int print_stored(struct cli *c, const char *date, const struct night_options *o)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(c, store_night_show(&args, date), &args, &rows))
    exit_code = c->exit_code;
  else if (db_rows_count(rows) == 0)
    exit_code = cli_failed(c, "the report has gone", EXIT_DATA);
  else
    exit_code = print(c, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), o);
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

static int make_and_print(struct cli *c, const struct reconciler_conf *conf, const char *date,
                          const struct night_options *o)
{
  char holder[NIGHT_HOLDER_BYTES], why[DB_WHY_BYTES] = "", detail[96];
  struct night_made made;
  night_holder(holder);
  struct night_job job = {.conf = conf, .holder = holder, .date = date, .again = o->again};
  enum result result = night_make(&job, &made, why);
  if (result != RESULT_OK) return cli_failed(c, why[0] != '\0' ? why : result_text(result), cli_exit_code(result));
  int exit_code = EXIT_SOFTWARE;
  switch (made.outcome) {
    case NIGHT_TAKEN: exit_code = print(c, made.doc.data, made.doc.len, o); break;
    case NIGHT_DONE: exit_code = print_stored(c, date, o); break;
    case NIGHT_BUSY:
      exit_code = cli_failed(c, "another reconciler is making the report of this night", EXIT_TEMPORARY);
      break;
    case NIGHT_ZONE_UNKNOWN:
      exit_code = cli_failed(c, "the database knows no zone of the name in reconciler.night.time_zone", EXIT_CONFIG);
      break;
    case NIGHT_NOT_OVER:
    case NIGHT_NONE:
      (void)snprintf(detail, sizeof detail, "%s is not over, or since less than 5 minutes", date);
      exit_code = cli_failed(c, detail, EXIT_DATA);
      break;
  }
  night_made_release(&made);
  return exit_code;
}

int night_command_night(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("report night", REPORT_NIGHT_USAGE);
  const struct reconciler_conf *conf = config;
  struct night_options o = {.again = false};
  const struct cmdline_option options[] = {{"--format", &o.report.format, NULL},
                                           {"--language", &o.report.language, NULL},
                                           {"--output", &o.report.output, NULL},
                                           {"--again", NULL, &o.again}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 1) return cli_misused(&c, "takes one date");
  if (words == 1 && !night_is_date(argv[0])) return cli_misused(&c, "DATE must be a day such as 2026-11-29");
  const char *fault = report_options_fault(&o.report);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  char *date = words == 1 ? mem_strdup(argv[0]) : latest_date(&c, &conf->night);
  if (date != NULL) c.exit_code = make_and_print(&c, conf, date, &o);
  mem_free(date);
  cli_close(&c);
  return c.exit_code;
}

// --- all of them

static const struct doc_column columns[] = {
    {"DATE", "date", 10},           {"ZONE", "timeZone", 20}, {"STATE", "state", 7},    {"CLEAN", "clean", 5},
    {"FINDINGS", "findings", 8},    {"FAILED", "failed", 6},  {"CLAIMS", "claims", 10}, {"UNITS", "quantity", 10},
    {"FINISHED", "finishedAt", 27}, {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, char **io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page_text(l, store_night_list(&args, *io_after, doc_list_page_rows(l)), &args, io_after);
}

int night_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("report list", REPORT_LIST_USAGE);
  const char *begin = NULL, *limit = NULL, *format = "text";
  const struct cmdline_option options[] = {
      {"--after", &begin, NULL}, {"--limit", &limit, NULL}, {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (begin != NULL && !night_is_date(begin)) return cli_misused(&c, "--after must be a day such as 2026-11-29");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  char *after = begin != NULL ? mem_strdup(begin) : NULL;
  if (doc_list_begin(&l, &c, columns, is_json == 1, limit)) {
    while (list_page(&l, &after)) {}
    (void)doc_list_end(&l);
  }
  mem_free(after);
  cli_close(&c);
  return c.exit_code;
}
