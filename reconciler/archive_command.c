// SPDX-License-Identifier: Apache-2.0
// `reconciler archive export|verify|list`: activities that are over, as files.
// Owner: the command; blocking.
#include "reconciler/archive_command.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/mem.h"
#include "reconciler/archive.h"
#include "reconciler/night_paper.h"
#include "reconciler/store_archive.h"

#define PAGE             200
#define RESULT_BYTES_MAX (256u * 1024u * 1024u)

// What became of each, told as it happens or, in JSON, at the end.
struct results {
  struct cli *cli;
  json_t *items, *left;  // NULL: text
  int exit_code;         // of the last that could not be done
};

static void results_begin(struct results *r, struct cli *c, bool is_json)
{
  *r = (struct results){.cli = c, .items = is_json ? json_array() : NULL, .left = is_json ? json_array() : NULL};
}

static int results_end(struct results *r, const char *items, const char *left)
{
  if (r->items == NULL) return r->exit_code;
  struct buf text;
  buf_init(&text, RESULT_BYTES_MAX);
  json_t *doc = json_pack("{s:o, s:o}", items, r->items, left, r->left);
  char *printed = json_dumps(doc, JSON_COMPACT);
  buf_puts(&text, printed != NULL ? printed : "{}");
  buf_putc(&text, '\n');
  free(printed);
  json_decref(doc);
  int written = cli_write(r->cli, &text, NULL);
  buf_release(&text);
  return written != EXIT_OK ? written : r->exit_code;
}

static void not_done(struct results *r, const char *name, const char *why, int exit_code)
{
  char line[ARCHIVE_PATH_BYTES + ARCHIVE_WHY_BYTES];
  r->exit_code = exit_code;
  (void)snprintf(line, sizeof line, "%s: %s", name, why);
  if (why[0] != '\0') (void)cli_failed(r->cli, line, exit_code);
  if (r->left != NULL) json_array_append_new(r->left, json_pack("{s:s, s:s}", "name", name, "reason", why));
}

static void done(struct results *r, const struct archive_contents *contents, const char *path, const char *what)
{
  if (r->items == NULL) {
    (void)printf("%s: %s, %" PRId64 " rows in %s\n", contents->code, what, contents->rows, path);
    return;
  }
  json_t *tables = json_array();
  for (size_t i = 0; i < contents->table_count; i++)
    json_array_append_new(tables,
                          json_pack("{s:s, s:I, s:s}", "table", contents->tables[i].name, "rows",
                                    (json_int_t)contents->tables[i].rows, "sha256", contents->tables[i].sha256));
  json_array_append_new(r->items, json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:o}", "activityCode", contents->code,
                                            "month", contents->month, "exportedAt", contents->exported_at, "rows",
                                            (json_int_t)contents->rows, "bytes", (json_int_t)contents->bytes, "sha256",
                                            contents->sha256, "path", path, "tables", tables));
}

// --- export

struct export_options {
  const char *before, *output, *reason, *format;
};

static void export_one(struct results *r, const struct archive_job *job, const char *code)
{
  char why[ARCHIVE_WHY_BYTES] = "";
  struct archive_made *made = MEM_NEW(struct archive_made);
  int exit_code = archive_export(job, code, made, why);
  if (exit_code == EXIT_OK)
    done(r, &made->contents, made->path, "exported and verified");
  else
    not_done(r, code, why, exit_code);
  mem_free(made);
}

// A page of those that ended before the date; *io_after moves on. False: the end, or a failure.
static bool export_page(struct results *r, const struct archive_job *job, const char *before, const char *zone,
                        int64_t *io_after)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_fine = cli_query(r->cli, store_archive_candidates(&args, before, zone, *io_after, PAGE), &args, &rows);
  if (!is_fine) r->exit_code = r->cli->exit_code;
  size_t count = is_fine ? db_rows_count(rows) : 0;
  for (size_t i = 0; i < count && r->exit_code != EXIT_UNAVAILABLE; i++) {
    *io_after = db_rows_i64(rows, i, 0);
    export_one(r, job, db_rows_text(rows, i, 1));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return count == PAGE && r->exit_code != EXIT_UNAVAILABLE;
}

// NULL: all is well.
static const char *export_fault(const struct export_options *o, const char *directory, size_t words, int *out_is_json)
{
  if ((words == 0) == (o->before == NULL)) return "needs codes of activities, or --finished-before";
  if (o->before != NULL && !night_is_date(o->before)) return "--finished-before must be a day such as 2026-11-29";
  if (!cmdline_choice(o->format, "text|json", out_is_json)) return "--format must be text or json";
  return directory[0] == '\0' ? "needs --output, or reconciler.archive.directory" : NULL;
}

int archive_command_export(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  const struct reconciler_conf *conf = config;
  struct cli c = reconciler_cli("archive export", ARCHIVE_EXPORT_USAGE);
  struct export_options o = {.format = "text", .output = conf->archive.directory};
  const struct cmdline_option options[] = {{"--finished-before", &o.before, NULL},
                                           {"--output", &o.output, NULL},
                                           {"--reason", &o.reason, NULL},
                                           {"--format", &o.format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "", actor[CMDLINE_ACTOR_BYTES];
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  const char *fault = export_fault(&o, o.output, words, &is_json);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  cmdline_actor(actor);
  const struct archive_job job = {.cli = &c, .directory = o.output, .actor = actor, .reason = o.reason};
  struct results r;
  int64_t after = 0;
  results_begin(&r, &c, is_json == 1);
  for (size_t i = 0; i < words; i++) export_one(&r, &job, argv[i]);
  while (o.before != NULL && export_page(&r, &job, o.before, conf->night.time_zone, &after)) {}
  cli_close(&c);
  return results_end(&r, "exported", "left");
}

// --- verify

int archive_command_verify(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("archive verify", ARCHIVE_VERIFY_USAGE);
  const char *format = "text";
  bool is_alone = false;
  const struct cmdline_option options[] = {{"--file-only", NULL, &is_alone}, {"--format", &format, NULL}};
  char why[ARCHIVE_WHY_BYTES] = "";
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words == 0) return cli_misused(&c, "needs files");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  if (!is_alone && !reconciler_cli_open(&c, config)) return c.exit_code;
  struct results r;
  struct archive_contents *contents = MEM_NEW(struct archive_contents);
  results_begin(&r, &c, is_json == 1);
  for (size_t i = 0; i < words; i++) {
    why[0] = '\0';
    int exit_code = archive_verify(&c, argv[i], is_alone, contents, why);
    if (exit_code == EXIT_OK)
      done(&r, contents, argv[i], is_alone ? "the file is whole" : "verified");
    else
      not_done(&r, argv[i], why, exit_code);
  }
  mem_free(contents);
  cli_close(&c);
  return results_end(&r, "verified", "left");
}

// --- list

static const struct doc_column columns[] = {
    {"ACTIVITY", "activityCode", 28}, {"MONTH", "month", 7},          {"STATE", "state", 8}, {"ROWS", "rows", 10},
    {"EXPORTED", "exportedAt", 27},   {"VERIFIED", "verifiedAt", 27}, {"PATH", "path", 40},  {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const char *month, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, store_archive_list(&args, month, *io_after, doc_list_page_rows(l)), &args, io_after);
}

int archive_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("archive list", ARCHIVE_LIST_USAGE);
  const char *month = NULL, *begin = "0", *limit = NULL, *format = "text";
  const struct cmdline_option options[] = {
      {"--month", &month, NULL}, {"--after", &begin, NULL}, {"--limit", &limit, NULL}, {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int is_json = 0;
  int64_t after = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (month != NULL && !archive_is_month(month)) return cli_misused(&c, "--month must be a month such as 2026-11");
  if (text_to_i64(begin, strlen(begin), &after) != RESULT_OK) return cli_misused(&c, "--after must be a number");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, is_json == 1, limit)) {
    while (list_page(&l, month, &after)) {}
    c.exit_code = doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}
