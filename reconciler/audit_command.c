// SPDX-License-Identifier: Apache-2.0
// `reconciler audit`: without options, the activities whose window or claims touch the last 24 hours, and those with
// open findings; with --date, a business date of the reports' zone; with --all or --activity alone, everything. The
// status is 0 when all is clean, 1 with findings, 75 when nothing was found but not everything could be looked at.
// Owner: the command; blocking.
#include "reconciler/audit_command.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "reconciler/audit.h"
#include "reconciler/cli.h"
#include "reconciler/night_paper.h"
#include "reconciler/report.h"
#include "reconciler/store_archive.h"

struct audit_options {
  const char *date, *activity, *format, *output;
  bool all, resume;
  enum report_format report_format;
};

// NULL: all is well.
static const char *fault_of(struct audit_options *o, size_t words)
{
  if (words > 0) return "takes no arguments but its options";
  if (o->date != NULL && o->all) return "--date and --all exclude each other";
  if (o->date != NULL && !night_is_date(o->date)) return "--date must be a day such as 2026-11-29";
  if (o->activity != NULL && !text_is_code(o->activity, strlen(o->activity)))
    return "--activity must be the code of an activity";
  if (o->format != NULL && report_format_parse(o->format, &o->report_format) != RESULT_OK)
    return "--format must be text, json, csv or html";
  return NULL;
}

static int audit_and_report(struct cli *c, const struct reconciler_conf *conf, const struct audit_options *o)
{
  struct audit_request request = {.mode = o->date != NULL                 ? "date"
                                          : o->all || o->activity != NULL ? "all"
                                                                          : "recent",
                                  .date = o->date,
                                  .time_zone = conf->night.time_zone,
                                  .activity_code = o->activity,
                                  .resume = o->resume};
  struct audit_report report;
  char why[DB_WHY_BYTES] = "";
  enum result result = audit_run(c->session, &conf->audit, &request, &report, why);
  if (result != RESULT_OK) return cli_failed(c, why[0] != '\0' ? why : result_text(result), cli_exit_code(result));

  struct buf text, verdict;
  buf_init(&text, REPORT_BYTES_MAX);
  buf_init(&verdict, 1024);
  report_put(&report, o->report_format, &text);
  struct finding_counts counts = finding_set_count(&report.findings);
  int exit_code = finding_exit_status(&counts, report.failed);
  int written = cli_write(c, &text, o->output);
  if (written != EXIT_OK) {
    exit_code = written;
  } else if (o->output != NULL) {
    report_put_verdict(&report, &verdict);
    (void)printf("%s\nreport: %s\n", buf_text(&verdict), o->output);
  }
  if (report.has_unfinished && !report.is_resumed)
    (void)fprintf(stderr,
                  "%s: %s: an earlier run of this scope had not finished; --resume would have gone on with it\n",
                  c->program, c->name);
  buf_release(&text);
  buf_release(&verdict);
  audit_report_release(&report);
  return exit_code;
}

// What "everything" does not have: nobody can change it, and nobody can audit it until it is brought back.
static void tell_left_out(struct cli *c)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  if (cli_query(c, store_archive_months_away(&args), &args, &rows) && !db_rows_is_null(rows, 0, 0))
    (void)fprintf(stderr,
                  "%s: %s: left out, since they are archived and detached: %s; `archive attach` brings a month back\n",
                  c->program, c->name, db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(&args);
}

int audit_command(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("audit", AUDIT_USAGE);
  const struct reconciler_conf *conf = config;
  struct audit_options o = {.report_format = REPORT_TEXT};
  const struct cmdline_option options[] = {
      {"--date", &o.date, NULL},     {"--activity", &o.activity, NULL}, {"--format", &o.format, NULL},
      {"--output", &o.output, NULL}, {"--all", NULL, &o.all},           {"--resume", NULL, &o.resume},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  const char *fault = fault_of(&o, words);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  int exit_code = audit_and_report(&c, conf, &o);
  if (o.all && o.activity == NULL) tell_left_out(&c);
  cli_close(&c);
  return exit_code;
}
