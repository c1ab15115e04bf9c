// SPDX-License-Identifier: Apache-2.0
// `scheduler numbers …` and `scheduler qualifications …`, through the same SQL functions as the API.
// Owner: the command; blocking.
#include "scheduler/import_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/limits.h"
#include "common/text.h"
#include "scheduler/command.h"
#include "scheduler/import_target.h"
#include "sql_shared.inc"

#define SLICE_BYTES 65536
#define RANDOM_MAX  1000

// --- files

static bool read_sheet(const struct cli *c, struct sheet *s, const char *file)
{
  char bytes[SLICE_BYTES], why[512];
  size_t n = 0, total = 0;
  FILE *f = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
  int error = f == NULL ? errno : 0;
  while (f != NULL && total <= SHEET_BYTES_MAX && (n = fread(bytes, 1, sizeof bytes, f)) > 0) {
    sheet_feed(s, bytes, n);
    total += n;
  }
  if (f != NULL && ferror(f)) error = errno;
  if (f != NULL && f != stdin) (void)fclose(f);
  sheet_end(s);
  if (error == 0 && total <= SHEET_BYTES_MAX) return true;
  (void)snprintf(why, sizeof why, "%s: %s", file, error != 0 ? strerror(error) : "larger than 64 MiB");
  (void)cli_failed(c, why, EXIT_DATA);
  return false;
}

// [{"line", "reason"}, …] as lines on stderr.
static void tell_rejected(struct command *c, const char *file, const char *text, int64_t count)
{
  json_t *list = NULL, *item = NULL;
  size_t i = 0;
  struct buf b;
  c->cli.exit_code = EXIT_DATA;
  buf_init(&b, 1 << 20);
  if (jsonx_parse(text, strlen(text), &list, NULL) == RESULT_OK) {
    json_array_foreach(list, i, item)
    {
      buf_printf(&b, "%s:%lld: ", file, (long long)json_integer_value(json_object_get(item, "line")));
      cmdline_put_text(&b, json_string_value(json_object_get(item, "reason")));
      buf_putc(&b, '\n');
    }
  }
  (void)fprintf(stderr, "%s%s: %s: %lld rows are rejected; nothing was inserted\n", buf_text(&b), c->cli.program,
                c->cli.name, (long long)count);
  json_decref(list);
  buf_release(&b);
}

static void print_inserted(const struct command *c, const struct db_rows *rows)
{
  long long inserted = db_rows_i64(rows, 0, 2), duplicates = db_rows_i64(rows, 0, 3);
  if (c->is_json)
    (void)printf("{\"rows\":%lld,\"inserted\":%lld,\"duplicates\":%lld}\n", inserted + duplicates, inserted,
                 duplicates);
  else
    (void)printf("%lld rows: %lld inserted, %lld duplicates\n", inserted + duplicates, inserted, duplicates);
}

static void tell_outcome(struct command *c, const struct db_rows *rows, const char *file)
{
  const char *outcome = db_rows_text(rows, 0, 0);
  if (db_rows_i64(rows, 0, 4) > 0)
    tell_rejected(c, file, db_rows_text(rows, 0, 5), db_rows_i64(rows, 0, 4));
  else if (strcmp(outcome, "ok") == 0)
    print_inserted(c, rows);
  else
    command_refused(&c->cli, outcome, db_rows_text(rows, 0, 1));
}

static void send_sheet(struct command *c, enum import_what what, const struct sheet *s, const char *code,
                       const char *file)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  import_target_of(what)->put_args(s, code, &(struct web_import_by){c->actor, c->reason}, &args);
  if (cli_query(&c->cli, import_target_of(what)->statement, &args, &rows)) tell_outcome(c, rows, file);
  db_rows_free(rows);
  db_args_release(&args);
}

void import_command_file(struct command *c, enum import_what what, const char *code, const char *file)
{
  struct sheet sheet;
  sheet_init(&sheet, &import_target_of(what)->columns);
  if (!read_sheet(&c->cli, &sheet, file))
    c->cli.exit_code = EXIT_DATA;
  else if (sheet.bad_count > 0)
    tell_rejected(c, file, buf_text(&sheet.bad), (int64_t)sheet.bad_count);
  else
    send_sheet(c, what, &sheet, code, file);
  sheet_release(&sheet);
}

// --- numbers add

// "1-1000". False: no range, so a file.
static bool read_range(const char *text, int64_t *out_from, int64_t *out_to)
{
  const char *dash = strchr(text, '-');
  return dash != NULL && text_to_i64(text, (size_t)(dash - text), out_from) == RESULT_OK &&
         text_to_i64(dash + 1, strlen(dash + 1), out_to) == RESULT_OK;
}

static void add_range(struct command *c, const char *code, int64_t from, int64_t to)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, code);
  db_args_null(&args);
  db_args_i64(&args, from);
  db_args_i64(&args, to);
  db_args_text(&args, c->actor);
  db_args_text(&args, c->reason);
  if (cli_query(&c->cli, &SQL_NUMBERS_ADD, &args, &rows)) tell_outcome(c, rows, "");
  db_rows_free(rows);
  db_args_release(&args);
}

int numbers_command_add(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  int64_t from = 0, to = 0;
  if (!command_parse(&c, "numbers add", "CODE FROM-TO|FILE.csv [--format text|json]", OPTION_FORMAT, 2, 2, argc, argv))
    return c.cli.exit_code;
  bool is_range = read_range(c.words[1], &from, &to);
  if (is_range && (from < 0 || to > NUMBER_MAX || from > to || to - from >= SHEET_ROWS_MAX))
    return cli_failed(&c.cli, "a range is of 1 to 1000000 numbers from 0 to 999999999999", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (is_range)
    add_range(&c, c.words[0], from, to);
  else
    import_command_file(&c, IMPORT_NUMBERS, c.words[0], c.words[1]);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- qualifications import

int qualifications_command_import(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  if (!command_parse(&c, "qualifications import", "--activity CODE FILE.csv [--format text|json]",
                     OPTION_ACTIVITY | OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (c.activity == NULL) return cli_failed(&c.cli, "--activity is needed", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  import_command_file(&c, IMPORT_QUALIFICATIONS, c.activity, c.words[0]);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- lists

static const struct doc_column number_columns[] = {
    {"NUMBER", "number", 12}, {"STATUS", "status", 9}, {"CLAIM", "claimId", 0}, {NULL, NULL, 0}};

static bool numbers_page(struct doc_list *l, const struct command *c, int64_t random, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, c->words[0]);
  if (random > 0) {
    db_args_i64(&args, random);
  } else {
    db_args_text(&args, c->status);
    db_args_i64(&args, *io_after);
    db_args_i64(&args, doc_list_page_rows(l));
  }
  const struct db_statement *statement = random > 0 ? &SQL_NUMBERS_RANDOM : &SQL_NUMBERS_LIST;
  return command_list_page(l, statement, &args, c->words[0], io_after) && random == 0;
}

int numbers_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t random = 0, after = -1;
  if (!command_parse(&c, "numbers list", "CODE [--status STATUS] [--random N] [--format text|json]",
                     OPTION_STATUS | OPTION_RANDOM | OPTION_FORMAT, 1, 1, argc, argv))
    return c.cli.exit_code;
  if (c.random != NULL &&
      (text_to_i64(c.random, strlen(c.random), &random) != RESULT_OK || random < 1 || random > RANDOM_MAX))
    return cli_failed(&c.cli, "--random must be an integer from 1 to 1000", EXIT_USAGE);
  int word = 0;
  if (c.status != NULL && !cmdline_choice(c.status, "available|held|sold", &word))
    return cli_failed(&c.cli, "--status must be available, held or sold", EXIT_USAGE);
  if (random > 0 && word > 0) return cli_failed(&c.cli, "--random picks among available numbers", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, number_columns, c.is_json, NULL)) {
    while (numbers_page(&list, &c, random, &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

static const struct doc_column qualification_columns[] = {
    {"USER", "userId", 20}, {"STATUS", "status", 6},      {"CLAIM", "claimId", 22}, {"SOURCE", "source", 16},
    {"BATCH", "batch", 16}, {"CREATED", "createdAt", 27}, {NULL, NULL, 0}};

static bool qualifications_page(struct doc_list *l, const struct command *c, int64_t user_id, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, c->activity);
  if (user_id > 0)
    db_args_i64(&args, user_id);
  else
    db_args_null(&args);
  db_args_text(&args, c->status);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, doc_list_page_rows(l));
  return command_list_page(l, &SQL_QUALIFICATION_LIST, &args, c->activity, io_after);
}

int qualifications_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct command c;
  struct doc_list list;
  int64_t user_id = 0, after = 0;
  int word = 0;
  if (!command_parse(&c, "qualifications list",
                     "--activity CODE [--user ID] [--status used|unused] [--format text|json]",
                     OPTION_ACTIVITY | OPTION_USER | OPTION_STATUS | OPTION_FORMAT, 0, 0, argc, argv))
    return c.cli.exit_code;
  if (c.activity == NULL) return cli_failed(&c.cli, "--activity is needed", EXIT_USAGE);
  if (c.user != NULL && (text_to_i64(c.user, strlen(c.user), &user_id) != RESULT_OK || user_id < 1))
    return cli_failed(&c.cli, "--user must be an id from 1 to 9223372036854775807", EXIT_USAGE);
  if (c.status != NULL && !cmdline_choice(c.status, "used|unused", &word))
    return cli_failed(&c.cli, "--status must be used or unused", EXIT_USAGE);
  if (!command_open(&c, config)) return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, qualification_columns, c.is_json, NULL)) {
    while (qualifications_page(&list, &c, user_id, &after)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}
