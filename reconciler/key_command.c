// SPDX-License-Identifier: Apache-2.0
// `reconciler keys add|list|revoke`. A key is printed once, by the command that makes it, and kept nowhere.
// Owner: the command; blocking.
#include "reconciler/key_command.h"

#include <stdio.h>
#include <string.h>

#include "common/access.h"
#include "common/doc_list.h"
#include "common/mem.h"
#include "common/signature.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/operation.h"
#include "sql_reconciler.inc"

#define PREFIX_CHARS 11  // "lg_" and eight more: enough to know a key again, and 8 of 43 characters

static const struct doc_column columns[] = {
    {"NAME", "name", 20},
    {"STATE", "state", 8},
    {"SCOPES", "scopes", 24},
    {"KEY", "prefix", 12},
    {"EXPIRES", "expiresAt", 27},
    {"USED", "usedAt", 27},
    {"CREATED", "createdAt", 27},
    {"BY", "createdBy", 16},
    {"ENDED", "revokedAt", 27},
    {"REASON", "revokeReason", 0},
    {NULL, NULL, 0},
};

static bool is_reason(const char *text)
{
  size_t len = strlen(text);
  return len > 0 && text_is_utf8(text, len) && text_utf8_length(text, len) <= REASON_CHARS_MAX;
}

// --- add

struct add_options {
  const char *scope, *expires, *reason, *format;
  bool has_end;
  struct wall_time end;
};

// A date ends at its beginning in UTC, like an instant.
static bool read_end(struct add_options *o)
{
  char instant[32];
  o->has_end = o->expires != NULL;
  if (o->expires == NULL) return true;
  (void)snprintf(instant, sizeof instant, "%.20sT00:00:00Z", o->expires);
  return text_to_time(o->expires, strlen(o->expires), &o->end) == RESULT_OK ||
         text_to_time(instant, strlen(instant), &o->end) == RESULT_OK;
}

static const char *add_fault(struct add_options *o, size_t words)
{
  int index = 0;
  if (words != 1) return "one name is needed";
  if (o->scope == NULL) return "--scope is needed";
  if (!read_end(o)) return "--expires must be a date such as 2027-12-31, or a time such as 2027-12-31T18:00:00+08:00";
  if (o->reason != NULL && !is_reason(o->reason)) return "--reason must be text of at most 500 characters";
  return cmdline_choice(o->format, "text|json", &index) ? NULL : "--format must be text or json";
}

static void put_scopes(struct db_args *args, const char *scopes)
{
  db_args_array(args, DB_ARRAY_TEXT);
  while (*scopes != '\0') {
    size_t len = strcspn(scopes, ",");
    db_args_array_text(args, scopes, len);
    scopes += len + (scopes[len] == ',');
  }
  db_args_array_end(args);
}

static void put_args(struct db_args *args, const struct add_options *o, const char *name, const char *key)
{
  char prefix[PREFIX_CHARS + 1], actor[CMDLINE_ACTOR_BYTES];
  uint8_t hash[KEY_HASH_BYTES];
  struct signature *signature = signature_new();
  signature_sha256(signature, key, KEY_CHARS, hash);
  signature_free(signature);
  (void)snprintf(prefix, sizeof prefix, "%s", key);
  cmdline_actor(actor);
  db_args_init(args);
  db_args_text(args, name);
  db_args_text(args, prefix);
  db_args_binary(args, hash, sizeof hash);
  put_scopes(args, o->scope);
  if (o->has_end)
    db_args_time(args, o->end);
  else
    db_args_null(args);
  db_args_text(args, actor);
  db_args_text(args, o->reason);
}

static int print_key(const struct cli *c, const struct add_options *o, const char *name, const char *key)
{
  struct buf b;
  buf_init(&b, 1024);
  if (strcmp(o->format, "json") == 0)
    buf_printf(&b, "{\"name\":\"%s\",\"scopes\":\"%s\",\"key\":\"%s\"}\n", name, o->scope, key);
  else
    buf_printf(&b, "%s\n", key);
  int exit_code = cli_write(c, &b, NULL);
  buf_wipe(&b);
  if (exit_code == EXIT_OK && strcmp(o->format, "text") == 0)
    (void)fprintf(stderr, "This is the key of %s. It is not kept anywhere: it cannot be shown again.\n", name);
  return exit_code;
}

static void add(struct cli *c, const struct add_options *o, const char *name)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  char key[KEY_CHARS + 1] = "lg_";
  access_secret_new(key + 3);
  put_args(&args, o, name, key);
  if (cli_query(c, &SQL_KEY_ADD, &args, &rows)) {
    if (strcmp(db_rows_text(rows, 0, 0), "ok") == 0)
      c->exit_code = print_key(c, o, name, key);
    else
      c->exit_code = cli_failed(c, db_rows_text(rows, 0, 1), EXIT_DATA);
  }
  explicit_bzero(key, sizeof key);
  db_rows_free(rows);
  db_args_release(&args);
}

int key_command_add(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("keys add", KEY_ADD_USAGE);
  struct add_options o = {.format = "text"};
  const struct cmdline_option options[] = {
      {"--scope", &o.scope, NULL},   {"--scopes", &o.scope, NULL},  {"--expires", &o.expires, NULL},
      {"--reason", &o.reason, NULL}, {"--format", &o.format, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  const char *fault = add_fault(&o, words);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  add(&c, &o, argv[0]);
  cli_close(&c);
  return c.exit_code;
}

// --- list

static bool list_page(struct doc_list *l, bool is_all, char **io_after)
{
  struct db_args args;
  db_args_init(&args);
  db_args_bool(&args, is_all);
  db_args_text(&args, *io_after != NULL ? *io_after : "");
  db_args_i64(&args, doc_list_page_rows(l));
  return doc_list_page_text(l, &SQL_KEY_LIST, &args, io_after);
}

int key_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("keys list", KEY_LIST_USAGE);
  const char *limit = NULL, *format = "text";
  bool is_all = false;
  const struct cmdline_option options[] = {
      {"--all", NULL, &is_all}, {"--limit", &limit, NULL}, {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "", *after = NULL;
  size_t words = 0;
  int index = 0;
  struct doc_list l;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (!cmdline_choice(format, "text|json", &index)) return cli_misused(&c, "--format must be text or json");
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, strcmp(format, "json") == 0, limit)) {
    while (list_page(&l, is_all, &after)) {}
    (void)doc_list_end(&l);
  }
  mem_free(after);
  cli_close(&c);
  return c.exit_code;
}

// --- revoke

static void revoke(struct cli *c, const char *name, const char *reason)
{
  char actor[CMDLINE_ACTOR_BYTES];
  struct db_args args;
  struct db_rows *rows = NULL;
  cmdline_actor(actor);
  db_args_init(&args);
  db_args_text(&args, name);
  db_args_text(&args, actor);
  db_args_text(&args, reason);
  if (cli_query(c, &SQL_KEY_REVOKE, &args, &rows)) {
    if (db_rows_bool(rows, 0, 0))
      (void)printf("%s is revoked; sessions that were begun with it have ended\n", name);
    else
      c->exit_code = cli_failed(c, "there is no such key in force", EXIT_DATA);
  }
  db_rows_free(rows);
  db_args_release(&args);
}

int key_command_revoke(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("keys revoke", KEY_REVOKE_USAGE);
  const char *reason = NULL;
  const struct cmdline_option options[] = {{"--reason", &reason, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1 || !text_is_code(argv[0], strlen(argv[0]))) return cli_misused(&c, "one name is needed");
  if (reason == NULL) return cli_misused(&c, "--reason is needed");
  if (!is_reason(reason)) return cli_misused(&c, "--reason must be text of at most 500 characters");
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  revoke(&c, argv[0], reason);
  cli_close(&c);
  return c.exit_code;
}
