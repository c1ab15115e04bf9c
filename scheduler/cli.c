// SPDX-License-Identifier: Apache-2.0
// What the commands of the scheduler share: their arguments, a session, who is acting, and how a refusal ends.
// Owner: the command; blocking.
#include "scheduler/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "scheduler/config.h"

#define REASON_CHARS_MAX 500
#define USER_BYTES_MAX 64

int cli_misused(const struct cli *c, const char *detail)
{
  (void)fprintf(stderr, "scheduler: %s: %s\n", c->name, detail);
  return EXIT_USAGE;
}

int cli_refused(const struct cli *c, const char *code, const char *detail)
{
  (void)fprintf(stderr, "scheduler: %s: %s: %s\n", c->name, code, detail);
  return EXIT_DATA;
}

// USER is what a person would recognise; a service without one has at least a number.
static void name_actor(struct cli *c)
{
  const char *user = getenv("USER");
  size_t len = user != NULL ? strlen(user) : 0;
  bool is_usable = len > 0 && len <= USER_BYTES_MAX && text_is_utf8(user, len);
  for (size_t i = 0; is_usable && i < len; i++) is_usable = (unsigned char)user[i] >= 0x20 && user[i] != 0x7F;
  if (is_usable) (void)snprintf(c->actor, sizeof c->actor, "cli:%s", user);
  else (void)snprintf(c->actor, sizeof c->actor, "cli:%ld", (long)getuid());
}

static bool set_format(struct cli *c, const char *value)
{
  c->is_json = strcmp(value, "json") == 0;
  return c->is_json || strcmp(value, "text") == 0;
}

struct option_place { const char *word; enum cli_option option; const char **place; };

// Reads one option at argv[*io_at] and its value. NULL: all is well; else what is wrong.
static const char *take_option(struct cli *c, unsigned options, unsigned *io_seen, int argc, char **argv, int *io_at)
{
  const char *format = NULL;
  const struct option_place places[] = {
    {"--reason", CLI_REASON, &c->reason}, {"--format", CLI_FORMAT, &format},       {"--plan", CLI_PLAN, NULL},
    {"--by", CLI_BY, &c->by},             {"--key", CLI_KEY, &c->key},             {"--status", CLI_STATUS, &c->status},
    {"--activity", CLI_ACTIVITY, &c->activity}, {"--user", CLI_USER, &c->user},
  };
  const char *word = argv[*io_at], *equals = strchr(word, '=');
  size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
  for (size_t i = 0; i < ARRAY_LEN(places); i++) {
    const struct option_place *p = &places[i];
    if (strlen(p->word) != len || memcmp(p->word, word, len) != 0 || (options & p->option) == 0) continue;
    if ((*io_seen & p->option) != 0) return "an option is given twice";
    *io_seen |= p->option;
    if (p->option == CLI_PLAN) {
      c->is_plan = true;
      return equals == NULL ? NULL : "--plan takes no value";
    }
    if (equals == NULL && *io_at + 1 >= argc) return "an option needs a value";
    *p->place = equals != NULL ? equals + 1 : argv[++*io_at];
    return format == NULL || set_format(c, format) ? NULL : "--format must be text or json";
  }
  return "unknown option";
}

static const char *check_reason(const struct cli *c)
{
  if (c->reason == NULL) return NULL;
  size_t len = strlen(c->reason);
  if (!text_is_utf8(c->reason, len)) return "--reason must be UTF-8";
  return text_utf8_length(c->reason, len) <= REASON_CHARS_MAX ? NULL : "--reason must have at most 500 characters";
}

bool cli_parse(struct cli *c, const char *name, const char *usage, unsigned options, size_t words_min, size_t words_max, int argc, char **argv,
               int *out_exit)
{
  *c = (struct cli){.name = name, .words = argv};
  const char *fault = NULL;
  unsigned seen = 0;
  bool only_words = false;
  for (int at = 0; at < argc && fault == NULL; at++) {
    if (!only_words && strcmp(argv[at], "--") == 0) only_words = true;
    else if (!only_words && argv[at][0] == '-' && argv[at][1] != '\0') fault = take_option(c, options, &seen, argc, argv, &at);
    else c->words[c->word_count++] = argv[at];  // never ahead of `at`
  }
  if (fault == NULL) fault = check_reason(c);
  if (fault == NULL && c->word_count < words_min) fault = "something is missing";
  if (fault == NULL && c->word_count > words_max) fault = "too many arguments";
  name_actor(c);
  if (fault == NULL) return true;
  (void)fprintf(stderr, "scheduler: %s: %s\nusage: scheduler %s %s\n", name, fault, name, usage);
  *out_exit = EXIT_USAGE;
  return false;
}

bool cli_open(struct cli *c, const void *config, int *out_exit)
{
  char why[DB_WHY_BYTES];
  const struct scheduler_conf *conf = config;
  if (db_session_open(&conf->daemon.database, "scheduler-command", NULL, &c->session, why) == RESULT_OK) return true;
  (void)fprintf(stderr, "scheduler: %s: %s\n", c->name, why);
  *out_exit = EXIT_UNAVAILABLE;
  return false;
}

void cli_close(struct cli *c)
{
  db_session_close(c->session);
  c->session = NULL;
}

static int exit_code_of(enum result result)
{
  switch (result) {
  case RESULT_UNAVAILABLE: return EXIT_UNAVAILABLE;
  case RESULT_CONFLICT: return EXIT_TEMPORARY;
  case RESULT_DENIED: return EXIT_PERMISSION;
  default: return EXIT_DATA;
  }
}

bool cli_query(struct cli *c, const struct db_statement *statement, const struct db_args *args, struct db_rows **out_rows, int *out_exit)
{
  enum result result = db_session_query(c->session, statement->sql, args, out_rows);
  if (result == RESULT_OK) return true;
  *out_exit = exit_code_of(result);
  if (result == RESULT_CONFLICT && c->is_patient) return false;
  const struct db_error *e = db_session_error(c->session);
  bool is_missing = strcmp(e->sqlstate, "42P01") == 0 || strcmp(e->sqlstate, "42883") == 0 || strcmp(e->sqlstate, "3F000") == 0;
  (void)fprintf(stderr, "scheduler: %s: %s: %s (%s)%s\n", c->name, statement->name, e->message, e->sqlstate,
                is_missing ? "; was `scheduler migrate` run?" : "");
  return false;
}

void cli_put_text(const char *text)
{
  for (; *text != '\0'; text++) (void)putchar((unsigned char)*text < 0x20 || *text == 0x7F ? '?' : *text);
}
