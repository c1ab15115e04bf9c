// SPDX-License-Identifier: Apache-2.0
// `fulfiller providers list|pause|resume|set|history`. Owner: the command; blocking.
#include "fulfiller/provider_command.h"

#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/doc_list.h"
#include "common/jsonx.h"
#include "common/text.h"
#include "fulfiller/guard_store.h"
#include "fulfiller/provider_listing.h"

#define LISTING_BYTES_MAX (1024 * 1024)
#define TRIES_MAX         5  // each statement is a transaction of its own
#define ROLE              "largesse_fulfiller"

static const struct doc_column list_columns[] = {
    {"NAME", "name", 20},
    {"STATE", "state", 17},
    {"PAUSED UNTIL", "pausedUntil", 27},
    {"HELD", "breaker.held", 4},
    {"CONCURRENCY", "concurrency.inForce", 11},
    {"RATE", "rate.inForce", 8},
    {"FULFILLERS", "instances", 10},
    {"CHANGED", "lastChange.at", 27},
    {"BY", "lastChange.by", 16},
    {"REASON", "lastChange.reason", 0},
    {NULL, NULL, 0},
};
static const struct doc_column history_columns[] = {
    {"ID", "id", 8},  {"AT", "at", 27}, {"WHAT", "what", 12},    {"FROM", "from", 27},
    {"TO", "to", 27}, {"BY", "by", 24}, {"REASON", "reason", 0}, {NULL, NULL, 0},
};

struct provider_options {
  const char *until, *concurrency, *rate, *breaker, *reason, *after, *limit, *format;
  bool is_configured, is_json;
  const char *name;
  char actor[CMDLINE_ACTOR_BYTES];
};

// Which of the options a command has.
enum { FOR_LIST = 1, FOR_PAUSE = 2, FOR_RESUME = 4, FOR_SET = 8, FOR_HISTORY = 16 };
#define FOR_CHANGE (FOR_PAUSE | FOR_RESUME | FOR_SET)
#define FOR_ALL    (FOR_LIST | FOR_HISTORY | FOR_CHANGE)

static const char *check(struct provider_options *o, int what, size_t words, char **argv)
{
  int format = 0;
  if (words != (what == FOR_LIST ? 0 : 1))
    return what == FOR_LIST ? "takes no arguments but its options" : "one name is needed";
  if (o->format != NULL && !cmdline_choice(o->format, "text|json", &format)) return "--format must be text or json";
  o->is_json = format == 1;
  o->name = what == FOR_LIST ? NULL : argv[0];
  if ((what & FOR_CHANGE) != 0 && (o->reason == NULL || o->reason[0] == '\0'))
    return "--reason is needed: it is kept in the history";
  return NULL;
}

static bool parse(struct cli *c, struct provider_options *o, int what, int argc, char **argv)
{
  const struct {
    int what;
    struct cmdline_option option;
  } all[] = {
      {FOR_ALL, {"--format", &o->format, NULL}},    {FOR_LIST, {"--configured", NULL, &o->is_configured}},
      {FOR_PAUSE, {"--until", &o->until, NULL}},    {FOR_SET, {"--concurrency", &o->concurrency, NULL}},
      {FOR_SET, {"--rate", &o->rate, NULL}},        {FOR_SET, {"--breaker", &o->breaker, NULL}},
      {FOR_CHANGE, {"--reason", &o->reason, NULL}}, {FOR_HISTORY, {"--after", &o->after, NULL}},
      {FOR_HISTORY, {"--limit", &o->limit, NULL}},
  };
  struct cmdline_option options[ARRAY_LEN(all)];
  size_t count = 0, words = 0;
  char why[CMDLINE_WHY_BYTES] = "";
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    if ((all[i].what & what) != 0) options[count++] = all[i].option;
  }
  cmdline_actor(o->actor);
  const char *fault = cmdline_parse(options, count, argc, argv, &words, why) == RESULT_OK ? NULL : why;
  if (fault == NULL) fault = check(o, what, words, argv);
  if (fault == NULL) return true;
  c->exit_code = cli_misused(c, fault);
  return false;
}

static struct cli new_cli(const char *name, const char *usage)
{
  return (struct cli){.program = "fulfiller",
                      .name = name,
                      .usage = usage,
                      .if_missing = "; was `scheduler migrate` run?",
                      .tries = TRIES_MAX};
}

static bool open_session(struct cli *c, const void *config)
{
  const struct fulfiller_conf *conf = config;
  return cli_open(c, &conf->daemon.database, ROLE);
}

// --- list and history

static int list_configured(const struct cli *c, const struct fulfiller_conf *conf, bool is_json)
{
  struct conf_fault fault = {.text = "too many providers"};
  struct buf out;
  int exit_code = EXIT_CONFIG;
  buf_init(&out, LISTING_BYTES_MAX);
  if (provider_listing(conf, is_json, &out, &fault) == RESULT_OK)
    exit_code = cli_write(c, &out, NULL);
  else
    (void)fprintf(stderr, "%s\n", fault.text);
  buf_release(&out);
  return exit_code;
}

int provider_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = new_cli("providers list", PROVIDER_LIST_USAGE);
  struct provider_options o = {0};
  struct doc_list l;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!parse(&c, &o, FOR_LIST, argc, argv)) return c.exit_code;
  if (o.is_configured) return list_configured(&c, config, o.is_json);
  if (!open_session(&c, config)) return c.exit_code;
  db_args_init(&args);
  if (doc_list_begin(&l, &c, list_columns, o.is_json, NULL)) {
    if (cli_query(&c, guard_store_list(&args, NULL), &args, &rows)) (void)doc_list_rows(&l, rows, 0, true);
    (void)doc_list_end(&l);
  }
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return c.exit_code;
}

static bool is_known(struct cli *c, const char *name)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_answered = cli_query(c, guard_store_list(&args, name), &args, &rows);
  bool is_there = is_answered && db_rows_count(rows) > 0;
  if (is_answered && !is_there) c->exit_code = cli_failed(c, "no fulfiller has served such a provider", EXIT_DATA);
  db_rows_free(rows);
  db_args_release(&args);
  return is_there;
}

static bool history_page(struct doc_list *l, const char *name, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, guard_store_history(&args, name, *io_after, doc_list_page_rows(l)), &args, io_after);
}

int provider_command_history(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = new_cli("providers history", PROVIDER_HISTORY_USAGE);
  struct provider_options o = {0};
  struct doc_list l;
  int64_t after = 0;
  if (!parse(&c, &o, FOR_HISTORY, argc, argv)) return c.exit_code;
  if (o.after != NULL && (text_to_i64(o.after, strlen(o.after), &after) != RESULT_OK || after < 1))
    return cli_misused(&c, "--after must be the id of a change");
  if (!open_session(&c, config)) return c.exit_code;
  if (is_known(&c, o.name) && doc_list_begin(&l, &c, history_columns, o.is_json, o.limit)) {
    while (history_page(&l, o.name, &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}

// --- changes

// A provider can be paused before the first fulfiller that serves it starts.
static bool make_known(struct cli *c, const struct fulfiller_conf *conf, const char *name)
{
  struct provider p = {0};
  const struct provider *const one = &p;
  struct conf_fault fault;
  struct db_args args;
  bool is_done = true;
  for (size_t i = 0; i < conf->providers.count; i++) {
    const struct conf_entry *entry = &conf->providers.items[i];
    if (strcmp(entry->name, name) != 0 || provider_compile(entry->name, entry->block, &p, &fault) != RESULT_OK)
      continue;
    db_args_init(&args);
    is_done = cli_query(c, guard_store_register(&args, NULL, &one, 1), &args, NULL);
    db_args_release(&args);
    provider_release(&p);
  }
  return is_done;
}

// done: what became of each limit; NULL: nothing is to be said of limits.
static void tell_state(const char *name, const json_t *provider, const char *done, bool is_changed)
{
  const char *state = json_string_value(json_object_get(provider, "state"));
  const char *until = json_string_value(json_object_get(provider, "pausedUntil"));
  if (state == NULL) state = "?";
  if (done != NULL)
    (void)printf("%s: %s; the provider is %s", name, done, state);
  else
    (void)printf("%s is %s", name, state);
  (void)printf("%s%s%s\n", until == NULL ? "" : " until ", until == NULL ? "" : until,
               is_changed || done != NULL ? "" : "; nothing changed");
}

static void tell(struct cli *c, const struct provider_options *o, const struct db_rows *rows)
{
  const char *outcome = db_rows_text(rows, 0, 0), *doc = db_rows_text(rows, 0, 3);
  json_t *json = NULL;
  if (strcmp(outcome, "ok") != 0) {
    c->exit_code = cli_failed(c, db_rows_text(rows, 0, 1), strcmp(outcome, "INVALID") == 0 ? EXIT_USAGE : EXIT_DATA);
    return;
  }
  if (o->is_json) {
    (void)printf("%s\n", doc);
    return;
  }
  if (jsonx_parse(doc, strlen(doc), &json, NULL) != RESULT_OK) return;
  tell_state(o->name, json, db_rows_is_null(rows, 0, 1) ? NULL : db_rows_text(rows, 0, 1), db_rows_bool(rows, 0, 2));
  json_decref(json);
}

static int change(struct cli *c, const void *config, const struct provider_options *o,
                  const struct db_statement *statement, struct db_args *args)
{
  struct db_rows *rows = NULL;
  if (open_session(c, config)) {
    if (make_known(c, config, o->name) && cli_query(c, statement, args, &rows)) tell(c, o, rows);
    db_rows_free(rows);
    cli_close(c);
  }
  db_args_release(args);
  return c->exit_code;
}

int provider_command_pause(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = new_cli("providers pause", PROVIDER_PAUSE_USAGE);
  struct provider_options o = {0};
  struct provider_pause pause = {0};
  struct db_args args;
  if (!parse(&c, &o, FOR_PAUSE, argc, argv)) return c.exit_code;
  size_t len = o.until == NULL ? 0 : strlen(o.until);
  pause.has_until = o.until != NULL && text_to_time(o.until, len, &pause.until) == RESULT_OK;
  pause.has_span = o.until != NULL && !pause.has_until && text_to_span(o.until, len, &pause.span) == RESULT_OK;
  if (o.until != NULL && !pause.has_until && !pause.has_span)
    return cli_misused(&c, "--until must be an instant such as 2027-01-31T08:00:00Z, or a time from now such as 30m");
  db_args_init(&args);
  return change(&c, config, &o, guard_store_pause(&args, o.name, &pause, o.actor, o.reason), &args);
}

int provider_command_resume(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = new_cli("providers resume", PROVIDER_RESUME_USAGE);
  struct provider_options o = {0};
  struct db_args args;
  if (!parse(&c, &o, FOR_RESUME, argc, argv)) return c.exit_code;
  db_args_init(&args);
  return change(&c, config, &o, guard_store_resume(&args, o.name, o.actor, o.reason), &args);
}

int provider_command_set(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = new_cli("providers set", PROVIDER_SET_USAGE);
  struct provider_options o = {0};
  struct db_args args;
  if (!parse(&c, &o, FOR_SET, argc, argv)) return c.exit_code;
  if (o.concurrency == NULL && o.rate == NULL && o.breaker == NULL)
    return cli_misused(&c, "one of --concurrency, --rate and --breaker is needed");
  const struct provider_limits limits = {o.concurrency, o.rate, o.breaker};
  db_args_init(&args);
  return change(&c, config, &o, guard_store_set(&args, o.name, &limits, o.actor, o.reason), &args);
}
