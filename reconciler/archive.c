// SPDX-License-Identifier: Apache-2.0
// Exporting an activity that is over, and verifying a file: see archive.h.
// Owner: the command; blocking.
#include "reconciler/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "reconciler/store_archive.h"

#define DIRECTORY_MODE     0750
#define MANIFEST_BYTES_MAX (64u * 1024u)
#define STATE_BYTES        64

// One snapshot of everything; the same rows are the same bytes wherever they are read.
static const char begin_reading[] =
    "begin isolation level repeatable read read only; set local jit = off; set local timezone = 'UTC'; "
    "set local datestyle = 'ISO'; set local extra_float_digits = 1";

static int told(char out_why[ARCHIVE_WHY_BYTES], int exit_code)
{
  out_why[0] = '\0';
  return exit_code;
}

static int because(char out_why[ARCHIVE_WHY_BYTES], const char *why, int exit_code)
{
  (void)snprintf(out_why, ARCHIVE_WHY_BYTES, "%s", why);
  return exit_code;
}

static bool script(struct cli *c, const char *sql)
{
  enum result result = db_session_script(c->session, sql);
  if (result == RESULT_OK) return true;
  c->exit_code = cli_failed(c, db_session_error(c->session)->message, cli_exit_code(result));
  return false;
}

// A statement without rows that matter.
static bool run(struct cli *c, const struct db_statement *statement, struct db_args *args)
{
  bool is_run = cli_query(c, statement, args, NULL);
  db_args_release(args);
  return is_run;
}

// --- rows

// Where the rows of tables go: they are always counted, and written if there is a writer.
struct sink {
  struct cli *cli;
  int64_t activity_id;
  struct archive_sums *sums;
  struct archive_writer *writer;  // or NULL
};

static bool take_row(struct sink *s, const char *table, const char *row, size_t len)
{
  if (memchr(row, '\n', len) != NULL || len > ARCHIVE_ROW_BYTES_MAX - 1024) {
    s->cli->exit_code = cli_failed(s->cli, "a row cannot be written as one line", EXIT_SOFTWARE);
    return false;
  }
  archive_sums_row(s->sums, row, len);
  if (s->writer != NULL) archive_writer_row(s->writer, table, row, len);
  return true;
}

// False: the end, or a failure, which is told.
static bool take_page(struct sink *s, const char *table, bool *out_failed)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_fine = cli_query(s->cli, store_archive_fetch(&args), &args, &rows);
  size_t count = is_fine ? db_rows_count(rows) : 0;
  for (size_t i = 0; i < count && is_fine; i++)
    is_fine = take_row(s, table, db_rows_text(rows, i, 0), db_rows_text_len(rows, i, 0));
  db_rows_free(rows);
  db_args_release(&args);
  *out_failed = !is_fine;
  return is_fine && count > 0;
}

static bool take_table(struct sink *s, const char *table)
{
  struct db_args args;
  bool has_failed = false;
  if (archive_sums_table(s->sums, table, strlen(table)) != RESULT_OK) {
    s->cli->exit_code = cli_failed(s->cli, "too many tables", EXIT_SOFTWARE);
    return false;
  }
  db_args_init(&args);
  if (!run(s->cli, store_archive_open(&args, s->activity_id, table), &args)) return false;
  while (take_page(s, table, &has_failed)) {}
  db_args_init(&args);
  return !has_failed && run(s->cli, store_archive_close(&args), &args);
}

// All tables, or those in which nothing may change any more.
static bool take_tables(struct sink *s, bool fixed_only)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_fine = cli_query(s->cli, store_archive_tables(&args), &args, &rows);
  for (size_t i = 0; is_fine && i < db_rows_count(rows); i++)
    if (!fixed_only || db_rows_bool(rows, i, 1)) is_fine = take_table(s, db_rows_text(rows, i, 0));
  db_rows_free(rows);
  db_args_release(&args);
  archive_sums_end(s->sums);
  return is_fine;
}

// --- where files lie

static bool make_directory(const char *path) { return mkdir(path, DIRECTORY_MODE) == 0 || errno == EEXIST; }

// The folder itself and the month's in it. False: errno tells.
static bool make_directories(const char *directory, const char *month, char out_path[ARCHIVE_PATH_BYTES])
{
  char path[ARCHIVE_PATH_BYTES], real[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", directory) >= (int)sizeof path) return errno = ENAMETOOLONG, false;
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    if (!make_directory(path)) return false;
    *at = '/';
  }
  if (!make_directory(path) || realpath(path, real) == NULL) return false;
  if (snprintf(out_path, ARCHIVE_PATH_BYTES, "%s/%s", real, month) >= ARCHIVE_PATH_BYTES)
    return errno = ENAMETOOLONG, false;
  return make_directory(out_path);
}

#define STAMP  "20261129T120000.123456Z"
#define SUFFIX ".jsonl.gz"
#define PART   ".part"

// What an export of this activity has left that was killed. Nobody else exports it now; the length tells codes apart
// that begin alike.
static void remove_leftovers(const char *folder, const char *code)
{
  char path[ARCHIVE_PATH_BYTES];
  size_t len = strlen(code), whole = len + 1 + strlen(STAMP SUFFIX PART);
  DIR *dir = opendir(folder);
  if (dir == NULL) return;
  for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    const char *name = entry->d_name;
    if (strlen(name) != whole || strncmp(name, code, len) != 0 || strcmp(name + whole - strlen(PART), PART) != 0)
      continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path) (void)unlink(path);
  }
  (void)closedir(dir);
}

// CODE-20261129T120000.123456Z.jsonl.gz: each export has a file of its own.
static bool name_file(const struct archive_job *job, struct archive_made *made)
{
  const struct archive_contents *contents = &made->contents;
  char folder[ARCHIVE_PATH_BYTES], stamp[TEXT_TIME_BYTES];
  size_t n = 0;
  for (const char *at = contents->exported_at; *at != '\0'; at++)
    if (*at != '-' && *at != ':') stamp[n++] = *at;
  stamp[n] = '\0';
  if (!make_directories(job->directory, contents->month, folder)) return false;
  remove_leftovers(folder, contents->code);
  if (snprintf(made->path, sizeof made->path, "%s/%s-%s" SUFFIX, folder, contents->code, stamp) <
      (int)sizeof made->path)
    return true;
  errno = ENAMETOOLONG;
  return false;
}

// What was written beside gets its name, for good.
static bool publish(const char *part, const char *path)
{
  char folder[ARCHIVE_PATH_BYTES];
  if (rename(part, path) != 0) return false;
  (void)snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  bool is_kept = fsync(fd) == 0;
  (void)close(fd);
  return is_kept;
}

// --- export

struct export
{
  const struct archive_job *job;
  struct archive_made *made;
  char state[STATE_BYTES];
  char *why;  // ARCHIVE_WHY_BYTES
};

static int refusal_exit(const char *outcome) { return strcmp(outcome, "busy") == 0 ? EXIT_TEMPORARY : EXIT_DATA; }

// Whether it can be exported, and what is written about it.
static int begin(struct export *e, const char *code)
{
  struct cli *c = e->job->cli;
  struct archive_contents *contents = &e->made->contents;
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(c, store_archive_begin(&args, code), &args, &rows)) {
    exit_code = told(e->why, c->exit_code);
  } else if (strcmp(db_rows_text(rows, 0, 0), "ok") != 0) {
    exit_code = because(e->why, db_rows_text(rows, 0, 1), refusal_exit(db_rows_text(rows, 0, 0)));
  } else {
    contents->activity_id = db_rows_i64(rows, 0, 2);
    (void)snprintf(contents->code, sizeof contents->code, "%s", code);
    (void)snprintf(contents->month, sizeof contents->month, "%s", db_rows_text(rows, 0, 3));
    text_from_time(db_rows_time(rows, 0, 4), contents->exported_at);
    (void)snprintf(e->state, sizeof e->state, "%s", db_rows_text(rows, 0, 5));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

static int write_file(struct export *e, const char *part)
{
  struct archive_contents *contents = &e->made->contents;
  struct archive_writer *writer = NULL;
  if (archive_writer_open(part, contents, &writer, e->why) != RESULT_OK) return EXIT_CANNOT_CREATE;
  struct sink sink = {e->job->cli, contents->activity_id, archive_sums_new(contents), writer};
  bool is_taken = take_tables(&sink, false);
  archive_sums_free(sink.sums);
  if (!is_taken) {
    archive_writer_free(writer);
    return told(e->why, e->job->cli->exit_code);
  }
  return archive_writer_end(writer, contents, e->why) == RESULT_OK ? EXIT_OK : EXIT_IO;
}

// Read again from its beginning to its end: what counts is what lies on the disk.
static int check_file(struct export *e, const char *part)
{
  struct archive_contents *read = MEM_NEW(struct archive_contents), *written = &e->made->contents;
  int exit_code = EXIT_OK;
  if (archive_file_check(part, read, e->why) != RESULT_OK) {
    exit_code = EXIT_IO;
  } else if (read->rows != written->rows) {
    exit_code = because(e->why, "the file that was written has other rows than the database", EXIT_IO);
  } else {
    written->bytes = read->bytes;
    memcpy(written->sha256, read->sha256, sizeof written->sha256);
  }
  mem_free(read);
  return exit_code;
}

static void put_manifest(const struct archive_contents *contents, struct buf *out)
{
  buf_putc(out, '[');
  for (size_t i = 0; i < contents->table_count; i++)
    buf_printf(out, "%s{\"table\":\"%s\",\"rows\":%" PRId64 ",\"sha256\":\"%s\"}", i > 0 ? "," : "",
               contents->tables[i].name, contents->tables[i].rows, contents->tables[i].sha256);
  buf_putc(out, ']');
}

static int confirm(struct export *e)
{
  struct cli *c = e->job->cli;
  struct db_args args;
  struct db_rows *rows = NULL;
  struct buf manifest;
  int exit_code = EXIT_OK;
  buf_init(&manifest, MANIFEST_BYTES_MAX);
  put_manifest(&e->made->contents, &manifest);
  const struct archive_confirmation confirmation = {&e->made->contents, e->made->path, buf_text(&manifest),
                                                    e->state,           e->job->actor, e->job->reason};
  db_args_init(&args);
  if (!cli_query(c, store_archive_confirm(&args, &confirmation), &args, &rows))
    exit_code = told(e->why, c->exit_code);
  else if (strcmp(db_rows_text(rows, 0, 0), "ok") != 0)
    exit_code = because(e->why, db_rows_text(rows, 0, 1),
                        strcmp(db_rows_text(rows, 0, 0), "changed") == 0 ? EXIT_TEMPORARY : EXIT_DATA);
  db_rows_free(rows);
  db_args_release(&args);
  buf_release(&manifest);
  return exit_code;
}

// In a transaction whose snapshot is what is exported; while it lasts nobody else exports the activity.
static int export_in_snapshot(struct export *e, const char *code, char part[ARCHIVE_PATH_BYTES + 8])
{
  int exit_code = begin(e, code);
  if (exit_code != EXIT_OK) return exit_code;
  if (!name_file(e->job, e->made)) {
    (void)snprintf(e->why, ARCHIVE_WHY_BYTES, "cannot create a file in %.300s: %s", e->job->directory, strerror(errno));
    return EXIT_CANNOT_CREATE;
  }
  (void)snprintf(part, ARCHIVE_PATH_BYTES + 8, "%s" PART, e->made->path);
  exit_code = write_file(e, part);
  return exit_code == EXIT_OK ? check_file(e, part) : exit_code;
}

int archive_export(const struct archive_job *job, const char *code, struct archive_made *out_made,
                   char out_why[ARCHIVE_WHY_BYTES])
{
  struct export e = {.job = job, .made = out_made, .why = out_why};
  char part[ARCHIVE_PATH_BYTES + 8] = "";
  *out_made = (struct archive_made){.path = ""};
  if (!script(job->cli, begin_reading)) return told(out_why, job->cli->exit_code);
  int exit_code = export_in_snapshot(&e, code, part);
  if (!script(job->cli, exit_code == EXIT_OK ? "commit" : "rollback") && exit_code == EXIT_OK)
    exit_code = told(out_why, job->cli->exit_code);
  if (exit_code == EXIT_OK && !publish(part, out_made->path)) exit_code = because(out_why, strerror(errno), EXIT_IO);
  if (exit_code == EXIT_OK) {
    exit_code = confirm(&e);
    // Where nobody knows whether it counts, it stays.
    if (exit_code != EXIT_OK && exit_code != EXIT_UNAVAILABLE) (void)unlink(out_made->path);
  }
  if (exit_code != EXIT_OK && part[0] != '\0') (void)unlink(part);
  return exit_code;
}

// --- verify

// The file on record? Its path there, and whether the rows can be compared.
static int look_up(struct cli *c, const struct archive_contents *contents, bool *out_is_there,
                   char out_why[ARCHIVE_WHY_BYTES])
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int exit_code = EXIT_OK;
  db_args_init(&args);
  if (!cli_query(c, store_archive_show(&args, contents->activity_id), &args, &rows)) {
    exit_code = told(out_why, c->exit_code);
  } else if (db_rows_count(rows) == 0 || strcmp(db_rows_text(rows, 0, 0), contents->code) != 0) {
    exit_code = because(out_why, "the file is whole, but the database has no such activity", EXIT_DATA);
  } else if (strcmp(db_rows_text(rows, 0, 2), contents->sha256) != 0) {
    (void)snprintf(out_why, ARCHIVE_WHY_BYTES, "the file is whole, but not the export on record%s%.300s",
                   db_rows_is_null(rows, 0, 1) ? ": there is none" : ", which was written to ",
                   db_rows_text(rows, 0, 1));
    exit_code = EXIT_DATA;
  } else {
    *out_is_there = db_rows_bool(rows, 0, 3);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return exit_code;
}

static int compare(const struct archive_contents *file, const struct archive_contents *rows,
                   char out_why[ARCHIVE_WHY_BYTES])
{
  for (size_t i = 0; i < rows->table_count; i++) {
    const struct archive_table *here = &rows->tables[i], *there = archive_table_of(file, here->name);
    int64_t written = there != NULL ? there->rows : 0;
    if (here->rows == written && (written == 0 || strcmp(here->sha256, there->sha256) == 0)) continue;
    (void)snprintf(out_why, ARCHIVE_WHY_BYTES,
                   "the file is whole, but the rows of table %s have changed since: %" PRId64 " here, %" PRId64
                   " in the file; export the activity again",
                   here->name, here->rows, written);
    return EXIT_DATA;
  }
  return EXIT_OK;
}

static int compare_rows(struct cli *c, const struct archive_contents *file, char out_why[ARCHIVE_WHY_BYTES])
{
  struct archive_contents *rows = MEM_NEW(struct archive_contents);
  struct sink sink = {c, file->activity_id, archive_sums_new(rows), NULL};
  int exit_code = EXIT_OK;
  bool is_begun = script(c, begin_reading);
  if (!is_begun || !take_tables(&sink, true)) exit_code = told(out_why, c->exit_code);
  if (is_begun && !script(c, "rollback") && exit_code == EXIT_OK) exit_code = told(out_why, c->exit_code);
  if (exit_code == EXIT_OK) exit_code = compare(file, rows, out_why);
  archive_sums_free(sink.sums);
  mem_free(rows);
  return exit_code;
}

int archive_verify(struct cli *c, const char *path, bool is_alone, struct archive_contents *out_contents,
                   char out_why[ARCHIVE_WHY_BYTES])
{
  bool is_there = false;
  struct db_args args;
  enum result result = archive_file_check(path, out_contents, out_why);
  if (result != RESULT_OK) return result == RESULT_UNAVAILABLE ? EXIT_IO : EXIT_DATA;
  if (is_alone) return EXIT_OK;
  int exit_code = look_up(c, out_contents, &is_there, out_why);
  if (exit_code == EXIT_OK && is_there) exit_code = compare_rows(c, out_contents, out_why);
  if (exit_code != EXIT_OK) return exit_code;
  db_args_init(&args);
  return run(c, store_archive_verified(&args, out_contents), &args) ? EXIT_OK : told(out_why, c->exit_code);
}
