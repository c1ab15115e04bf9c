// SPDX-License-Identifier: Apache-2.0
// `scheduler apply FILE…`: reads all files before anything is touched, then applies each in one transaction. A plan
// does the same and rolls back, so it cannot promise what the real thing would refuse. Owner: the command; blocking.
#include "scheduler/apply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "scheduler/activity_doc.h"
#include "scheduler/apply_run.h"
#include "sql_scheduler.inc"

#define FILES_MAX 100
#define TRIES     4

void apply_refuse(struct apply_run *run, const struct event_session *s, const char *fault)
{
  struct conf_fault shown;
  event_session_fault(run->event, s, fault, &shown);
  (void)fprintf(stderr, "%s (%s)\n", shown.text, s->code[0] != '\0' ? s->code : s->pattern);
  run->refusals++;
}

json_t *apply_note(struct apply_run *run, const char *type, const char *code, const char *outcome)
{
  json_t *item = json_pack("{s:s, s:s, s:s}", "type", type, "code", code, "outcome", outcome);
  (void)json_array_append_new(run->items, item);
  return item;
}

static bool script(struct apply_run *run, const char *sql)
{
  const struct db_statement statement = {sql, sql};
  return cli_query(run->cli, &statement, NULL, NULL);
}

void apply_refuse_at(struct apply_run *run, int line, const char *path, const char *reason)
{
  (void)fprintf(stderr, "%s:%d: %s: %s\n", run->event->name, line, path, reason);
  run->refusals++;
}

// --- the event

// Also reads the database's clock. An unknown zone would fail every session, so it is looked at once and first.
static bool put_event(struct apply_run *run)
{
  struct db_args args;
  struct db_rows *now = NULL, *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, run->event->time_zone);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_NOW, &args, &now);
  if (is_ok && !db_rows_bool(now, 0, 1)) {
    apply_refuse_at(run, conf_tree_get(run->event->root, "timeZone")->line, "timeZone", "not an IANA time zone");
    run->cli->exit_code = EXIT_DATA;
    is_ok = false;
  }
  if (is_ok) {
    run->now = db_rows_time(now, 0, 0);
    db_args_clear(&args);
    db_args_text(&args, run->event->code);
    db_args_text(&args, run->event->title);
    db_args_text(&args, run->event->time_zone);
    db_args_text(&args, run->command->actor);
    db_args_text(&args, APPLY_REASON);
    is_ok = cli_query(run->cli, &SQL_EVENT_PUT, &args, &rows);
  }
  if (is_ok) (void)apply_note(run, "event", run->event->code, db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_rows_free(now);
  db_args_release(&args);
  return is_ok;
}

// Sessions of the event that the file no longer has: somebody may be claiming there, so they are only named.
static bool note_left_alone(struct apply_run *run)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, run->event->code);
  db_args_array(&args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < run->event->session_count; i++) {
    const char *code = run->event->sessions[i].code;
    db_args_array_text(&args, code, strlen(code));
  }
  db_args_array_end(&args);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_LEFT_ALONE, &args, &rows);
  for (size_t i = 0; is_ok && i < db_rows_count(rows); i++) {
    json_t *item = apply_note(run, "activity", db_rows_text(rows, i, 0), "left_alone");
    (void)json_object_set_new(item, "status", json_string(db_rows_text(rows, i, 1)));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

// --- one file

static bool apply_all(struct apply_run *run)
{
  bool is_ok = script(run, "begin") && put_event(run);
  for (size_t i = 0; is_ok && i < run->event->reward_count; i++) is_ok = apply_reward(run, &run->event->rewards[i]);
  for (size_t i = 0; is_ok && i < run->event->discount_count; i++)
    is_ok = apply_discount(run, &run->event->discounts[i]);
  for (size_t i = 0; is_ok && i < run->event->session_count; i++) is_ok = apply_session(run, &run->event->sessions[i]);
  is_ok = is_ok && note_left_alone(run);
  if (is_ok && run->refusals > 0) {
    run->cli->exit_code = EXIT_DATA;
    is_ok = false;
  }
  return is_ok && (run->command->is_plan || script(run, "commit"));
}

static void roll_back(struct apply_run *run)
{
  static const struct db_statement rollback = {"rollback", "rollback"};
  int exit_code = run->cli->exit_code;  // tells why it came to this
  (void)cli_query(run->cli, &rollback, NULL, NULL);
  run->cli->exit_code = exit_code;
}

static int apply_event(struct command *command, const struct scheduler_conf *conf, struct event_file *event,
                       json_t *reports)
{
  struct cli *cli = &command->cli;
  struct apply_run run = {.items = NULL};
  bool is_ok = false;
  for (int attempt = 1; attempt <= TRIES; attempt++) {
    cli->is_patient = attempt < TRIES;
    json_decref(run.items);
    cli->exit_code = EXIT_OK;
    run = (struct apply_run){.command = command, .cli = cli, .conf = conf, .event = event, .items = json_array()};
    is_ok = apply_all(&run);
    if ((!is_ok && cli->exit_code != EXIT_UNAVAILABLE) || command->is_plan) roll_back(&run);
    if (is_ok || cli->exit_code != EXIT_TEMPORARY) break;
  }
  if (!is_ok)
    (void)fprintf(stderr, "%s: nothing was applied\n", event->name);
  else if (command->is_json)
    (void)json_array_append_new(reports, apply_report_json(&run));
  else
    apply_report_text(&run);
  json_decref(run.items);
  return is_ok ? EXIT_OK : cli->exit_code;
}

// --- files

static int read_file(const char *name, struct buf *out)
{
  FILE *file = fopen(name, "re");
  if (file == NULL) {
    (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return EXIT_DATA;
  }
  char chunk[8192];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) buf_append(out, chunk, n);
  bool is_read = ferror(file) == 0;
  if (!is_read) (void)fprintf(stderr, "%s: %s\n", name, strerror(errno));
  (void)fclose(file);
  if (is_read && buf_result(out) != RESULT_OK) {
    (void)fprintf(stderr, "%s:1: longer than %d bytes\n", name, CONF_FILE_BYTES_MAX);
    is_read = false;
  }
  return is_read ? EXIT_OK : EXIT_DATA;
}

static int read_event(const char *name, struct event_file **out_event)
{
  struct buf content;
  struct conf_fault fault;
  buf_init(&content, CONF_FILE_BYTES_MAX);
  int exit_code = read_file(name, &content);
  if (exit_code == EXIT_OK && event_file_parse(name, buf_text(&content), content.len, out_event, &fault) != RESULT_OK) {
    (void)fprintf(stderr, "%s\n", fault.text);
    exit_code = EXIT_DATA;
  }
  buf_release(&content);
  return exit_code;
}

int apply_command(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct event_file *events[FILES_MAX] = {NULL};
  int exit_code = EXIT_OK;
  if (!command_parse(&c, "apply", "FILE… [--plan] [--format text|json]", OPTION_PLAN | OPTION_FORMAT, 1, FILES_MAX,
                     argc, argv))
    return c.cli.exit_code;
  for (size_t i = 0; i < c.word_count; i++) {
    int code = read_event(c.words[i], &events[i]);
    if (code != EXIT_OK) exit_code = code;
  }
  json_t *reports = json_array();
  if (exit_code == EXIT_OK && !command_open(&c, config)) exit_code = c.cli.exit_code;
  if (exit_code == EXIT_OK) {
    for (size_t i = 0; exit_code == EXIT_OK && i < c.word_count; i++)
      exit_code = apply_event(&c, config, events[i], reports);
    cli_close(&c.cli);
  }
  if (c.is_json) {
    json_t *report = json_pack("{s:O}", "files", reports);
    (void)json_dumpf(report, stdout, JSON_COMPACT);
    (void)putchar('\n');
    json_decref(report);
  }
  json_decref(reports);
  for (size_t i = 0; i < c.word_count; i++) event_file_free(events[i]);
  return exit_code;
}
