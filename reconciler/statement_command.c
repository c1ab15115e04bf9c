// SPDX-License-Identifier: Apache-2.0
// `reconciler statement import|list|show|match|fetch`. The status is 0 when all is matched, 1 with findings, 65 for a
// file that is not as its profile says. Owner: the command; blocking.
#include "reconciler/statement_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/statement_fetch.h"
#include "reconciler/store_statement.h"

#define DOC_BYTES_MAX (1024 * 1024)

// --- one statement

// What a person should know before reading the figures.
static void put_notes(struct buf *text, const json_t *doc)
{
  long long findings = json_integer_value(json_object_get(doc, "findings"));
  long long recorded = json_integer_value(json_object_get(doc, "findingsRecorded"));
  if (json_is_true(json_object_get(doc, "unrelated")))
    buf_puts(text,
             "none of the lines is about anything of ours: this is probably the file of another provider, account or "
             "system, "
             "or the profile reads the request ids wrongly\n");
  else if (recorded < findings && strcmp(json_string_value(json_object_get(doc, "state")), "active") == 0)
    buf_printf(text, "%lld of %lld findings are recorded (reconciler.audit.findings_max)\n", recorded, findings);
}

// What the statement says, and 1 with findings. is_again: it was here already.
static int print(struct cli *c, const struct db_rows *rows, bool is_json, bool is_again)
{
  struct buf text;
  json_t *doc = json_loadb(db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), 0, NULL);
  if (doc == NULL) return cli_failed(c, "the statement is no JSON", EXIT_SOFTWARE);
  if (is_again) json_object_set_new(doc, "again", json_true());
  int exit_code = json_integer_value(json_object_get(doc, "findings")) > 0 ? EXIT_FINDINGS : EXIT_OK;
  buf_init(&text, DOC_BYTES_MAX);
  if (is_json) {
    jsonx_write(doc, &text);
    buf_putc(&text, '\n');
  } else {
    if (is_again) buf_puts(&text, "this file was imported already\n");
    put_notes(&text, doc);
    doc_put_text(doc, &text);
  }
  int written = cli_write(c, &text, NULL);
  buf_release(&text);
  json_decref(doc);
  return written == EXIT_OK ? exit_code : written;
}

static int show(struct cli *c, int64_t id, bool is_json, bool is_again)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  char what[24];
  int exit_code = EXIT_OK;
  db_args_init(&args);
  (void)snprintf(what, sizeof what, "%lld", (long long)id);
  if (!cli_query(c, store_statement_show(&args, id), &args, &rows))
    exit_code = c->exit_code;
  else if (db_rows_count(rows) == 0)
    exit_code = doc_show(c, rows, is_json, "statement", what);
  else
    exit_code = print(c, rows, is_json, is_again);
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

static bool read_id(const char *text, int64_t *out_id)
{
  return text_to_i64(text, strlen(text), out_id) == RESULT_OK && *out_id > 0;
}

// --- import

static enum result read_piece(void *ctx, char *into, size_t room, size_t *out_len)
{
  FILE *file = ctx;
  size_t len = fread(into, 1, room, file);
  if (len == 0 && ferror(file)) return RESULT_IO;
  *out_len = len;
  return RESULT_OK;
}

static int import_file(struct cli *c, struct statement_job *job, bool is_json)
{
  char why[STATEMENT_IMPORT_WHY_BYTES] = "", told[STATEMENT_IMPORT_WHY_BYTES + 512];
  struct statement_imported imported;
  bool is_stdin = strcmp(job->file, "-") == 0;
  FILE *file = is_stdin ? stdin : fopen(job->file, "re");
  if (file == NULL) {
    (void)snprintf(told, sizeof told, "%.400s: %s", job->file, strerror(errno));
    return cli_failed(c, told, EXIT_DATA);
  }
  job->read = read_piece;
  job->ctx = file;
  enum result result = statement_import(job, c->session, &imported, why);
  if (!is_stdin) (void)fclose(file);
  if (result == RESULT_OK) return show(c, imported.id, is_json, imported.is_again);
  (void)snprintf(told, sizeof told, "%.400s: %s", job->file, why[0] != '\0' ? why : result_text(result));
  if (result == RESULT_NOT_FOUND) return cli_failed(c, why, EXIT_CONFIG);
  return cli_failed(c, told, result == RESULT_IO ? EXIT_IO : cli_exit_code(result));
}

int statement_command_import(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("statement import", STATEMENT_IMPORT_USAGE);
  char actor[CMDLINE_ACTOR_BYTES], why[CMDLINE_WHY_BYTES] = "";
  struct statement_job job = {.conf = config};
  const char *format = "text";
  const struct cmdline_option options[] = {{"--provider", &job.provider, NULL},
                                           {"--date", &job.date, NULL},
                                           {"--reason", &job.reason, NULL},
                                           {"--format", &format, NULL}};
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (job.provider == NULL) return cli_misused(&c, "--provider is needed");
  if (words != 1) return cli_misused(&c, "one FILE is needed; - is standard input");
  if (job.date != NULL && !statement_is_date(job.date))
    return cli_misused(&c, "--date must be a day such as 2026-11-29");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  cmdline_actor(actor);
  job.actor = actor;
  job.file = argv[0];
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  c.exit_code = import_file(&c, &job, is_json == 1);
  cli_close(&c);
  return c.exit_code;
}

// --- fetch

static int fetch(struct cli *c, const struct statement_fetch_job *job, const char *provider, const char *date,
                 bool is_json)
{
  char why[STATEMENT_IMPORT_WHY_BYTES] = "";
  struct statement_imported imported;
  enum result result = statement_fetch(job, provider, date, &imported, why);
  if (result == RESULT_OK) return show(c, imported.id, is_json, imported.is_again);
  return cli_failed(c, why[0] != '\0' ? why : result_text(result),
                    result == RESULT_NOT_FOUND ? EXIT_CONFIG : cli_exit_code(result));
}

int statement_command_fetch(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("statement fetch", STATEMENT_FETCH_USAGE);
  char actor[CMDLINE_ACTOR_BYTES], why[CMDLINE_WHY_BYTES] = "";
  struct statement_fetch_job job = {.conf = config};
  const char *format = "text", *provider = NULL, *date = NULL;
  const struct cmdline_option options[] = {{"--provider", &provider, NULL},
                                           {"--date", &date, NULL},
                                           {"--reason", &job.reason, NULL},
                                           {"--format", &format, NULL}};
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (provider == NULL || date == NULL) return cli_misused(&c, "--provider and --date are needed");
  if (!statement_is_date(date)) return cli_misused(&c, "--date must be a day such as 2026-11-29");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  cmdline_actor(actor);
  job.actor = actor;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  job.session = c.session;
  c.exit_code = fetch(&c, &job, provider, date, is_json == 1);
  cli_close(&c);
  return c.exit_code;
}

// --- match

static int match_open(struct cli *c, const struct reconciler_conf *conf, const char *provider, int64_t *io_findings)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_done = cli_query(c, store_statement_match_open(&args, provider, conf->audit.findings_max), &args, &rows);
  if (is_done) *io_findings += db_rows_i64(rows, 0, 0);
  db_rows_free(rows);
  db_args_release(&args);
  return is_done ? EXIT_OK : c->exit_code;
}

static int match_providers(struct cli *c, const struct reconciler_conf *conf, const char *only, bool is_json)
{
  int64_t findings = 0;
  int exit_code = EXIT_OK;
  if (only != NULL) exit_code = match_open(c, conf, only, &findings);
  for (size_t i = 0; only == NULL && exit_code == EXIT_OK && i < conf->statements.count; i++)
    exit_code = match_open(c, conf, conf->statements.items[i].name, &findings);
  if (exit_code != EXIT_OK) return exit_code;
  struct buf text;
  buf_init(&text, 256);
  buf_printf(&text, is_json ? "{\"findings\":%lld}\n" : "findings: %lld\n", (long long)findings);
  exit_code = cli_write(c, &text, NULL);
  buf_release(&text);
  return exit_code == EXIT_OK && findings > 0 ? EXIT_FINDINGS : exit_code;
}

static int match_one(struct cli *c, const struct reconciler_conf *conf, int64_t id, bool is_json)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_done = cli_query(c, store_statement_rematch(&args, id, conf->audit.findings_max), &args, &rows);
  db_rows_free(rows);
  db_args_release(&args);
  return is_done ? show(c, id, is_json, false) : c->exit_code;
}

int statement_command_match(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("statement match", STATEMENT_MATCH_USAGE);
  const char *format = "text", *provider = NULL;
  const struct cmdline_option options[] = {{"--format", &format, NULL}, {"--provider", &provider, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t id = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 1 || (words == 1 && provider != NULL)) return cli_misused(&c, "takes one statement, or one provider");
  if (words == 1 && !read_id(argv[0], &id)) return cli_misused(&c, "ID must be a number");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  c.exit_code =
      words == 1 ? match_one(&c, config, id, is_json == 1) : match_providers(&c, config, provider, is_json == 1);
  cli_close(&c);
  return c.exit_code;
}

// --- lists

static const struct doc_column columns[] = {
    {"ID", "statementId", 8},       {"PROVIDER", "provider", 16}, {"DATE", "date", 10},
    {"STATE", "state", 10},         {"LINES", "lines", 10},       {"FINDINGS", "findings", 8},
    {"IMPORTED", "importedAt", 27}, {"FILE", "file", 0},          {NULL, NULL, 0},
};
static const struct doc_column line_columns[] = {
    {"LINE", "line", 10},     {"OUTCOME", "outcome", 19},   {"KIND", "kind", 8},     {"REQUEST", "requestId", 24},
    {"CLAIM", "claimId", 20}, {"AMOUNT", "amount", 12},     {"CUR", "currency", 4},  {"AT", "at", 27},
    {"REF", "ref", 20},       {"EXPECTED", "expected", 30}, {"ACTUAL", "actual", 0}, {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const char *provider, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, store_statement_list(&args, provider, *io_after, doc_list_page_rows(l)), &args, io_after);
}

int statement_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("statement list", STATEMENT_LIST_USAGE);
  const char *begin = NULL, *limit = NULL, *format = "text", *provider = NULL;
  const struct cmdline_option options[] = {{"--after", &begin, NULL},
                                           {"--limit", &limit, NULL},
                                           {"--format", &format, NULL},
                                           {"--provider", &provider, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t after = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (begin != NULL && !read_id(begin, &after)) return cli_misused(&c, "--after must be a number");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, is_json == 1, limit)) {
    while (list_page(&l, provider, &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}

struct line_options {
  const char *outcome, *begin, *limit;
};

static bool line_page(struct doc_list *l, int64_t id, const char *outcome, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, store_statement_lines(&args, id, outcome, *io_after, doc_list_page_rows(l)), &args, io_after);
}

static int list_lines(struct cli *c, int64_t id, const struct line_options *o, bool is_json)
{
  struct doc_list l;
  int64_t after = 0;
  if (o->begin != NULL && !read_id(o->begin, &after)) return cli_misused(c, "--after must be a number");
  if (!doc_list_begin(&l, c, line_columns, is_json, o->limit)) return c->exit_code;
  while (line_page(&l, id, o->outcome, &after)) {}
  (void)doc_list_end(&l);
  return c->exit_code;
}

int statement_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("statement show", STATEMENT_SHOW_USAGE);
  struct line_options o = {NULL, NULL, NULL};
  const char *format = "text";
  bool has_lines = false;
  const struct cmdline_option options[] = {{"--lines", NULL, &has_lines},
                                           {"--outcome", &o.outcome, NULL},
                                           {"--after", &o.begin, NULL},
                                           {"--limit", &o.limit, NULL},
                                           {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t id = 0;
  int is_json = 0, outcome = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1 || !read_id(argv[0], &id)) return cli_misused(&c, "one ID is needed, a number");
  if (o.outcome != NULL && !cmdline_choice(o.outcome, STATEMENT_OUTCOMES, &outcome))
    return cli_misused(&c, "--outcome must be one of " STATEMENT_OUTCOMES);
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  c.exit_code =
      has_lines || o.outcome != NULL ? list_lines(&c, id, &o, is_json == 1) : show(&c, id, is_json == 1, false);
  cli_close(&c);
  return c.exit_code;
}
