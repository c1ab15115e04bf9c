// SPDX-License-Identifier: Apache-2.0
// `reconciler archive detach|attach`: a month's claims are taken out of the table, and brought back. Detaching is done
// in steps that can each be interrupted; the same command goes on with what was begun.
// Owner: the command; blocking.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "reconciler/archive.h"
#include "reconciler/archive_command.h"
#include "reconciler/store_archive.h"

#define RESULT_BYTES_MAX (64u * 1024u * 1024u)

struct month_job {
  struct cli *cli;
  struct archive_month_order order;
  bool is_json;
};

// The text in the only row and column of a statement, into a buffer that holds it. False after a line on stderr.
static bool ask(struct cli *c, const struct db_statement *statement, struct db_args *args, char *out, size_t size)
{
  struct db_rows *rows = NULL;
  bool is_answered = cli_query(c, statement, args, &rows) && db_rows_count(rows) > 0;
  if (is_answered) (void)snprintf(out, size, "%s", db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(args);
  return is_answered;
}

static bool ask_whether(struct cli *c, const struct db_statement *statement, struct db_args *args, bool *out)
{
  struct db_rows *rows = NULL;
  bool is_answered = cli_query(c, statement, args, &rows) && db_rows_count(rows) > 0;
  if (is_answered) *out = db_rows_bool(rows, 0, 0);
  db_rows_free(rows);
  db_args_release(args);
  return is_answered;
}

static bool read_state(struct month_job *j, char out_state[16])
{
  struct db_args args;
  db_args_init(&args);
  return ask(j->cli, store_archive_month_state(&args, j->order.month), &args, out_state, 16);
}

// --- what stands against it

static void put_blocker(const struct month_job *j, const struct db_rows *rows, size_t i, struct buf *out)
{
  const char *code = db_rows_text(rows, i, 0), *why = db_rows_text(rows, i, 1);
  if (!j->is_json) {
    buf_printf(out, "%s%s%s\n", code, code[0] != '\0' ? ": " : "", why);
    return;
  }
  if (i > 0) buf_putc(out, ',');
  buf_putc(out, '{');
  if (code[0] != '\0') buf_printf(out, "\"activityCode\":\"%s\",", code);
  buf_puts(out, "\"reason\":");
  buf_put_json(out, why, strlen(why));
  buf_putc(out, '}');
}

static void put_answer(const struct month_job *j, const char *state, const struct db_rows *rows, struct buf *out)
{
  size_t count = db_rows_count(rows);
  if (j->is_json) buf_printf(out, "{\"month\":\"%s\",\"state\":\"%s\",\"blockers\":[", j->order.month, state);
  for (size_t i = 0; i < count; i++) put_blocker(j, rows, i, out);
  if (j->is_json)
    buf_puts(out, "]}\n");
  else if (count > 0)
    buf_printf(out, "%s: %zu %s against it\n", j->order.month, count, count == 1 ? "thing stands" : "things stand");
  else
    buf_printf(out, "%s: nothing stands against it; --apply detaches it\n", j->order.month);
}

// Prints the reasons; EXIT_DATA where there are any. is_quiet: nothing is printed where there are none.
static int look(struct month_job *j, const char *state, bool is_quiet)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  struct buf text;
  db_args_init(&args);
  buf_init(&text, RESULT_BYTES_MAX);
  int exit_code = j->cli->exit_code;
  if (cli_query(j->cli, store_archive_blockers(&args, j->order.month, j->order.age), &args, &rows)) {
    bool is_blocked = db_rows_count(rows) > 0;
    put_answer(j, state, rows, &text);
    exit_code = is_blocked || !is_quiet ? cli_write(j->cli, &text, NULL) : EXIT_OK;
    if (exit_code == EXIT_OK && is_blocked) exit_code = EXIT_DATA;
  } else {
    exit_code = j->cli->exit_code;
  }
  buf_release(&text);
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

// --- its steps

// Every file of the month once more, from its beginning to its end, against the rows.
static int verify_files(struct month_job *j)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  struct archive_contents *contents = MEM_NEW(struct archive_contents);
  int exit_code = EXIT_OK;
  db_args_init(&args);
  bool is_fine = cli_query(j->cli, store_archive_files(&args, j->order.month), &args, &rows);
  if (!is_fine) exit_code = j->cli->exit_code;
  for (size_t i = 0; is_fine && exit_code == EXIT_OK && i < db_rows_count(rows); i++) {
    char why[ARCHIVE_WHY_BYTES] = "", line[ARCHIVE_PATH_BYTES + ARCHIVE_WHY_BYTES];
    const char *path = db_rows_text(rows, i, 1);
    exit_code = archive_verify(j->cli, path, false, contents, why);
    (void)snprintf(line, sizeof line, "%s: %s: %s", db_rows_text(rows, i, 0), path, why);
    if (why[0] != '\0') (void)cli_failed(j->cli, line, exit_code);
  }
  db_rows_free(rows);
  db_args_release(&args);
  mem_free(contents);
  return exit_code;
}

static int seal(struct month_job *j)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(j->cli, store_archive_seal(&args, &j->order), &args, &rows))
    exit_code = j->cli->exit_code;
  else if (strcmp(db_rows_text(rows, 0, 0), "blocked") == 0)
    exit_code = cli_failed(j->cli, db_rows_text(rows, 0, 1), EXIT_DATA);
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

// A statement of its own: it waits for whoever still looks at the table, and claims go on.
static int detach_partition(struct month_job *j, const char *parent, const char *name, const char *state)
{
  char sql[256];
  bool is_pending = strcmp(state, "pending") == 0;
  if (!is_pending && strcmp(state, "attached") != 0) return EXIT_OK;
  (void)snprintf(sql, sizeof sql, "alter table largesse.%s detach partition %s %s", parent, name,
                 is_pending ? "finalize" : "concurrently");
  enum result result = db_session_script(j->cli->session, sql);
  if (result == RESULT_OK) return EXIT_OK;
  return cli_failed(j->cli, db_session_error(j->cli->session)->message, cli_exit_code(result));
}

static int detach_partitions(struct month_job *j)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(j->cli, store_archive_partitions(&args, j->order.month), &args, &rows)) exit_code = j->cli->exit_code;
  for (size_t i = 0; rows != NULL && exit_code == EXIT_OK && i < db_rows_count(rows); i++)
    exit_code = detach_partition(j, db_rows_text(rows, i, 0), db_rows_text(rows, i, 1), db_rows_text(rows, i, 2));
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

static int finish(struct month_job *j)
{
  struct db_args args;
  char outcome[16] = "";
  db_args_init(&args);
  if (!ask(j->cli, store_archive_detached(&args, &j->order), &args, outcome, sizeof outcome)) return j->cli->exit_code;
  if (strcmp(outcome, "detached") != 0)
    return cli_failed(j->cli, "somebody else has attached it again", EXIT_TEMPORARY);
  if (j->is_json)
    (void)printf("{\"month\":\"%s\",\"state\":\"detached\",\"blockers\":[]}\n", j->order.month);
  else
    (void)printf("%s: detached\n", j->order.month);
  return EXIT_OK;
}

// One process at a time; the tables are the login's.
static int may_begin(struct month_job *j)
{
  struct db_args args;
  bool is_owner = false, is_alone = false;
  db_args_init(&args);
  if (!ask_whether(j->cli, store_archive_owner(&args), &args, &is_owner)) return j->cli->exit_code;
  if (!is_owner) return cli_failed(j->cli, "needs the login that ran `scheduler migrate`", EXIT_PERMISSION);
  db_args_init(&args);
  if (!ask_whether(j->cli, store_archive_lock(&args, j->order.month), &args, &is_alone)) return j->cli->exit_code;
  return is_alone ? EXIT_OK : cli_failed(j->cli, "somebody else is detaching it", EXIT_TEMPORARY);
}

static int detach(struct month_job *j, const char *state)
{
  int exit_code = may_begin(j);
  if (exit_code == EXIT_OK && strcmp(state, "attached") == 0) exit_code = look(j, state, true);
  if (exit_code == EXIT_OK && strcmp(state, "attached") == 0) exit_code = verify_files(j);
  if (exit_code == EXIT_OK) exit_code = seal(j);
  if (exit_code == EXIT_OK) exit_code = detach_partitions(j);
  return exit_code == EXIT_OK ? finish(j) : exit_code;
}

// --- commands

static const char *reason_fault(const char *reason)
{
  if (reason == NULL) return "--reason is needed";
  return strlen(reason) > 2000 || !text_is_utf8(reason, strlen(reason)) ? "--reason must be text of at most 2000 bytes"
                                                                        : NULL;
}

int archive_command_detach(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  const struct reconciler_conf *conf = config;
  struct cli c = reconciler_cli("archive detach", ARCHIVE_DETACH_USAGE);
  const char *reason = NULL, *format = "text";
  bool apply = false;
  const struct cmdline_option options[] = {
      {"--apply", NULL, &apply}, {"--reason", &reason, NULL}, {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "", actor[CMDLINE_ACTOR_BYTES], state[16] = "";
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1 || !archive_is_month(argv[0])) return cli_misused(&c, "needs a month such as 2026-11");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  if (apply && reason_fault(reason) != NULL) return cli_misused(&c, reason_fault(reason));
  if (!cli_open(&c, &conf->daemon.database, apply ? NULL : RECONCILER_ROLE)) return c.exit_code;
  cmdline_actor(actor);
  struct month_job j = {
      .cli = &c, .is_json = is_json == 1, .order = {argv[0], actor, reason, conf->archive.detach_after}};
  int exit_code = read_state(&j, state) ? EXIT_OK : c.exit_code;
  if (exit_code == EXIT_OK && strcmp(state, "detached") == 0)
    exit_code = cli_failed(&c, "the month is detached already", EXIT_DATA);
  else if (exit_code == EXIT_OK)
    exit_code = apply ? detach(&j, state) : look(&j, state, false);
  cli_close(&c);
  return exit_code;
}

static int attached(struct cli *c, const char *month, const char *outcome)
{
  if (strcmp(outcome, "gone") == 0)
    return cli_failed(c, "its tables are no longer kept; the files of its activities are what is left", EXIT_DATA);
  if (strcmp(outcome, "pending") == 0)
    return cli_failed(c, "its detaching was interrupted; `archive detach --apply` ends it, then it can be attached",
                      EXIT_DATA);
  (void)printf("%s: %s\n", month, strcmp(outcome, "unchanged") == 0 ? "is attached already" : "attached");
  return EXIT_OK;
}

int archive_command_attach(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("archive attach", ARCHIVE_ATTACH_USAGE);
  const char *reason = NULL;
  const struct cmdline_option options[] = {{"--reason", &reason, NULL}};
  char why[CMDLINE_WHY_BYTES] = "", actor[CMDLINE_ACTOR_BYTES], outcome[16] = "";
  size_t words = 0;
  struct db_args args;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1 || !archive_is_month(argv[0])) return cli_misused(&c, "needs a month such as 2026-11");
  if (reason_fault(reason) != NULL) return cli_misused(&c, reason_fault(reason));
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  cmdline_actor(actor);
  const struct archive_month_order order = {.month = argv[0], .actor = actor, .reason = reason};
  db_args_init(&args);
  int exit_code = ask(&c, store_archive_attach(&args, &order), &args, outcome, sizeof outcome)
                      ? attached(&c, argv[0], outcome)
                      : c.exit_code;
  cli_close(&c);
  return exit_code;
}
