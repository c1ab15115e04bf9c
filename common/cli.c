// SPDX-License-Identifier: Apache-2.0
// What one command of a program works with: how faults are told, a session, statements with their failures told, output
// to a file. Owner: the command; blocking.
#include "common/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cmdline.h"

#define PATH_BYTES_MAX   4096
#define DETAIL_BYTES_MAX (64 * 1024)

int cli_failed(const struct cli *c, const char *detail, int exit_code)
{
  struct buf safe;  // the detail may quote a file or the database
  buf_init(&safe, DETAIL_BYTES_MAX);
  cmdline_put_text(&safe, detail);
  (void)fprintf(stderr, "%s: %s: %s\n", c->program, c->name, buf_text(&safe));
  buf_release(&safe);
  return exit_code;
}

int cli_misused(const struct cli *c, const char *detail)
{
  (void)cli_failed(c, detail, EXIT_USAGE);
  (void)fprintf(stderr, "usage: %s %s %s\n", c->program, c->name, c->usage);
  return EXIT_USAGE;
}

int cli_exit_code(enum result result)
{
  switch (result) {
    case RESULT_OK: return EXIT_OK;
    case RESULT_UNAVAILABLE: return EXIT_UNAVAILABLE;
    case RESULT_CONFLICT: return EXIT_TEMPORARY;
    case RESULT_DENIED: return EXIT_PERMISSION;
    case RESULT_UNEXPECTED: return EXIT_SOFTWARE;
    default: return EXIT_DATA;
  }
}

// --- session

static const char *hint(const struct cli *c, bool is_missing)
{
  return is_missing && c->if_missing != NULL ? c->if_missing : "";
}

bool cli_open(struct cli *c, const struct db_conf *conf, const char *role)
{
  char why[DB_WHY_BYTES] = "", application[64];
  (void)snprintf(application, sizeof application, "%s-command", c->program);
  if (db_session_open(conf, application, role, &c->session, why) == RESULT_OK) return true;
  (void)fprintf(stderr, "%s: %s: %s%s\n", c->program, c->name, why, hint(c, role != NULL && strstr(why, role) != NULL));
  c->exit_code = EXIT_UNAVAILABLE;
  return false;
}

void cli_close(struct cli *c)
{
  db_session_close(c->session);
  c->session = NULL;
}

// No such table, function or schema.
static bool names_what_is_missing(const char *sqlstate)
{
  return strcmp(sqlstate, "42P01") == 0 || strcmp(sqlstate, "42883") == 0 || strcmp(sqlstate, "3F000") == 0;
}

bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args,
               struct db_rows **out_rows)
{
  enum result result;
  int tries = 0;
  do {
    result = db_session_query(c->session, statement->sql, args, out_rows);
  } while (result == RESULT_CONFLICT && ++tries < c->tries);
  if (result == RESULT_OK) return true;
  c->exit_code = cli_exit_code(result);
  if (result == RESULT_CONFLICT && c->is_patient) return false;
  const struct db_error *e = db_session_error(c->session);
  (void)fprintf(stderr, "%s: %s: %s: %s (%s)%s\n", c->program, c->name, statement->name, e->message, e->sqlstate,
                hint(c, names_what_is_missing(e->sqlstate)));
  return false;
}

// --- output

static bool write_all(FILE *f, const struct buf *text)
{
  bool is_written = fwrite(buf_text(text), 1, text->len, f) == text->len;
  if (fflush(f) != 0) is_written = false;
  return is_written;
}

static int write_file(const struct cli *c, const struct buf *text, const char *file)
{
  char aside[PATH_BYTES_MAX], why[PATH_BYTES_MAX + 128];
  if (snprintf(aside, sizeof aside, "%s.%ld.part", file, (long)getpid()) >= (int)sizeof aside)
    return cli_failed(c, "--output: path too long", EXIT_USAGE);
  FILE *f = fopen(aside, "wxe");
  if (f == NULL) {
    (void)snprintf(why, sizeof why, "cannot create %s: %s", aside, strerror(errno));
    return cli_failed(c, why, EXIT_CANNOT_CREATE);
  }
  bool is_written = write_all(f, text) && fsync(fileno(f)) == 0;
  if (fclose(f) != 0) is_written = false;
  if (is_written && rename(aside, file) == 0) return EXIT_OK;
  (void)snprintf(why, sizeof why, "cannot write %s: %s", file, strerror(errno));
  (void)unlink(aside);
  return cli_failed(c, why, EXIT_IO);
}

// A pipe or a terminal cannot be replaced; it is written to as it is.
static bool is_special(const char *file) { return strcmp(file, "-") == 0 || strncmp(file, "/dev/", 5) == 0; }

int cli_write(const struct cli *c, const struct buf *text, const char *file)
{
  if (buf_result(text) != RESULT_OK) return cli_failed(c, "the output is too big", EXIT_SOFTWARE);
  if (file != NULL && !is_special(file)) return write_file(c, text, file);
  FILE *f = file == NULL || strcmp(file, "-") == 0 ? stdout : fopen(file, "we");
  bool is_written = f != NULL && write_all(f, text);
  if (f != NULL && f != stdout && fclose(f) != 0) is_written = false;
  return is_written ? EXIT_OK : cli_failed(c, strerror(errno), EXIT_IO);
}
