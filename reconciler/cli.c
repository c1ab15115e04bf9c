// SPDX-License-Identifier: Apache-2.0
// What the commands of the reconciler share: a session under the reconciler's role, statements with their failures told, output to a file.
// Owner: the command; blocking.
#include "reconciler/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096
#define TRIES_MAX 5  // of a statement that met a deadlock; each is a transaction of its own

int cli_failed(const char *name, const char *detail, int exit_code)
{
  (void)fprintf(stderr, "reconciler: %s: %s\n", name, detail);
  return exit_code;
}

int cli_misused(const char *name, const char *usage, const char *detail)
{
  (void)fprintf(stderr, "reconciler: %s: %s\nusage: reconciler %s %s\n", name, detail, name, usage);
  return EXIT_USAGE;
}

bool cli_open(struct cli *c, const char *name, const void *config)
{
  char why[DB_WHY_BYTES] = "";
  *c = (struct cli){.name = name, .conf = config};
  if (db_session_open(&c->conf->daemon.database, "reconciler-command", RECONCILER_ROLE, &c->session, why) == RESULT_OK) return true;
  bool is_missing = strstr(why, RECONCILER_ROLE) != NULL;
  (void)fprintf(stderr, "reconciler: %s: %s%s\n", name, why, is_missing ? "; was `scheduler migrate` run?" : "");
  c->exit_code = EXIT_UNAVAILABLE;
  return false;
}

void cli_close(struct cli *c)
{
  db_session_close(c->session);
  c->session = NULL;
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

bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args, struct db_rows **out_rows)
{
  enum result result = RESULT_CONFLICT;
  for (int tries = 0; result == RESULT_CONFLICT && tries < TRIES_MAX; tries++) result = db_session_query(c->session, statement->sql, args, out_rows);
  if (result == RESULT_OK) return true;
  const struct db_error *e = db_session_error(c->session);
  bool is_missing = strcmp(e->sqlstate, "42P01") == 0 || strcmp(e->sqlstate, "42883") == 0 || strcmp(e->sqlstate, "3F000") == 0;
  (void)fprintf(stderr, "reconciler: %s: %s: %s (%s)%s\n", c->name, statement->name, e->message, e->sqlstate,
                is_missing ? "; was `scheduler migrate` run?" : "");
  c->exit_code = cli_exit_code(result);
  return false;
}

// --- output -----------------------------------------------------------------------------------------------------------

static bool write_all(FILE *f, const struct buf *text)
{
  bool is_written = fwrite(buf_text(text), 1, text->len, f) == text->len;
  if (fflush(f) != 0) is_written = false;
  return is_written;
}

static int write_file(const char *name, const struct buf *text, const char *file)
{
  char aside[PATH_BYTES_MAX], why[PATH_BYTES_MAX + 128];
  if (snprintf(aside, sizeof aside, "%s.%ld.part", file, (long)getpid()) >= (int)sizeof aside) return cli_failed(name, "--output: path too long", EXIT_USAGE);
  FILE *f = fopen(aside, "wxe");
  if (f == NULL) {
    (void)snprintf(why, sizeof why, "cannot create %s: %s", aside, strerror(errno));
    return cli_failed(name, why, EXIT_CANNOT_CREATE);
  }
  bool is_written = write_all(f, text) && fsync(fileno(f)) == 0;
  if (fclose(f) != 0) is_written = false;
  if (is_written && rename(aside, file) == 0) return EXIT_OK;
  (void)snprintf(why, sizeof why, "cannot write %s: %s", file, strerror(errno));
  (void)unlink(aside);
  return cli_failed(name, why, EXIT_IO);
}

// A pipe or a terminal cannot be replaced; it is written to as it is.
static bool is_special(const char *file) { return strcmp(file, "-") == 0 || strncmp(file, "/dev/", 5) == 0; }

int cli_write(const char *name, const struct buf *text, const char *file)
{
  if (buf_result(text) != RESULT_OK) return cli_failed(name, "the output is too big", EXIT_SOFTWARE);
  if (file != NULL && !is_special(file)) return write_file(name, text, file);
  FILE *f = file == NULL || strcmp(file, "-") == 0 ? stdout : fopen(file, "we");
  bool is_written = f != NULL && write_all(f, text);
  if (f != NULL && f != stdout && fclose(f) != 0) is_written = false;
  return is_written ? EXIT_OK : cli_failed(name, strerror(errno), EXIT_IO);
}

bool cli_choice(const char *value, const char *choices, int *out_index)
{
  size_t len = strlen(value);
  for (int i = 0; *choices != '\0'; i++) {
    size_t word = strcspn(choices, "|");
    if (word == len && memcmp(choices, value, len) == 0) {
      *out_index = i;
      return true;
    }
    choices += word;
    if (*choices == '|') choices++;
  }
  return false;
}
