// SPDX-License-Identifier: Apache-2.0
// `fulfiller webhooks …`: what operators see and change of the endpoints. Main thread; blocking.
#include "fulfiller/webhook_command.h"

#include <poll.h>
#include <stdio.h>

#include "common/cmdline.h"
#include "common/doc_list.h"
#include "common/text.h"
#include "fulfiller/config.h"
#include "sql_fulfiller.inc"

#define REPLAY_ROWS   1000
#define TEST_PATIENCE span_s(40)  // a call may take its whole time-out
#define TEST_POLL_MS  100

struct call {
  struct cli cli;
  const char *format, *reason, *since, *id, *state, *limit, *after;  // NULL: not given
  bool is_all;
  char **words;
  size_t word_count;
  int is_json;
  char actor[CMDLINE_ACTOR_BYTES];
};

static const char *check_reason(const struct call *c)
{
  if (c->reason == NULL || c->reason[0] == '\0') return "--reason is needed: it is kept in the history";
  size_t len = strlen(c->reason);
  if (!text_is_utf8(c->reason, len) || text_utf8_length(c->reason, len) > REASON_CHARS_MAX)
    return "--reason must be UTF-8 of at most 500 characters";
  return NULL;
}

static bool parse(struct call *c, const char *name, const char *usage, size_t words, bool needs_reason, int argc,
                  char **argv)
{
  *c = (struct call){
      .cli = {.program = "fulfiller", .name = name, .usage = usage, .tries = 3}, .format = "text", .words = argv};
  const struct cmdline_option options[] = {
      {"--format", &c->format, NULL}, {"--reason", &c->reason, NULL}, {"--since", &c->since, NULL},
      {"--id", &c->id, NULL},         {"--state", &c->state, NULL},   {"--limit", &c->limit, NULL},
      {"--all", NULL, &c->is_all},    {"--after", &c->after, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  const char *fault =
      cmdline_parse(options, ARRAY_LEN(options), argc, argv, &c->word_count, why) == RESULT_OK ? NULL : why;
  if (fault == NULL && !cmdline_choice(c->format, "text|json", &c->is_json)) fault = "--format must be text or json";
  if (fault == NULL && c->word_count != words)
    fault = words == 0 ? "takes no arguments but its options" : "needs one NAME";
  if (fault == NULL && needs_reason) fault = check_reason(c);
  cmdline_actor(c->actor);
  if (fault == NULL) return true;
  c->cli.exit_code = cli_misused(&c->cli, fault);
  return false;
}

static bool open_session(struct call *c, const void *config)
{
  const struct fulfiller_conf *conf = config;
  return cli_open(&c->cli, &conf->daemon.database, "largesse_fulfiller");
}

static bool ask(struct call *c, const struct db_statement *statement, struct db_args *args, struct db_rows **out_rows)
{
  bool is_ok = cli_query(&c->cli, statement, args, out_rows);
  db_args_release(args);
  return is_ok;
}

static void refuse_unknown(struct call *c)
{
  c->cli.exit_code = cli_failed(&c->cli, "there is no such endpoint", EXIT_DATA);
}

// --- list, deliveries

static const struct doc_column endpoint_columns[] = {
    {"NAME", "name", 20},     {"STATUS", "status", 9},
    {"BY", "disabledBy", 9},  {"WAITING", "waiting", 8},
    {"DEAD", "dead", 6},      {"FAILING SINCE", "failingSince", 27},
    {"ORIGIN", "origin", 32}, {"LAST FAILURE", "lastFailure", 0},
    {NULL, NULL, 0},
};
static const struct doc_column delivery_columns[] = {
    {"ID", "id", 10},         {"EVENT", "eventId", 36},     {"TYPE", "type", 18},          {"STATE", "state", 8},
    {"TRIES", "attempts", 5}, {"CREATED", "createdAt", 27}, {"NEXT", "nextAttemptAt", 27}, {"LAST", "lastDetail", 0},
    {NULL, NULL, 0},
};

int webhook_command_list(const void *config, struct log *log, int argc, char **argv)
{
  struct call c;
  struct doc_list list;
  (void)log;
  if (!parse(&c, "webhooks list", WEBHOOK_LIST_USAGE, 0, false, argc, argv) || !open_session(&c, config))
    return c.cli.exit_code;
  if (doc_list_begin(&list, &c.cli, endpoint_columns, c.is_json == 1, NULL)) {
    struct db_args args;
    struct db_rows *rows = NULL;
    db_args_init(&args);
    db_args_null(&args);
    db_args_i64(&args, DOC_LIST_PAGE);  // more endpoints than a configuration can hold
    if (ask(&c, &SQL_WEBHOOK_LIST, &args, &rows)) (void)doc_list_rows(&list, rows, 0, true);
    db_rows_free(rows);
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

static bool deliveries_page(struct call *c, struct doc_list *list, int64_t *io_before)
{
  struct db_args args;
  db_args_init(&args);
  db_args_text(&args, c->words[0]);
  db_args_text(&args, c->state);
  db_args_i64(&args, *io_before);
  db_args_i64(&args, doc_list_page_rows(list));
  return doc_list_page(list, &SQL_WEBHOOK_DELIVERIES, &args, io_before);
}

// Is nothing there because there is no such endpoint?
static void check_endpoint(struct call *c)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_there = false;
  db_args_init(&args);
  db_args_null(&args);
  db_args_i64(&args, DOC_LIST_PAGE);
  if (ask(c, &SQL_WEBHOOK_LIST, &args, &rows)) {
    for (size_t i = 0; i < db_rows_count(rows); i++)
      is_there = is_there || strcmp(db_rows_text(rows, i, 0), c->words[0]) == 0;
    if (!is_there) refuse_unknown(c);
  }
  db_rows_free(rows);
}

int webhook_command_deliveries(const void *config, struct log *log, int argc, char **argv)
{
  struct call c;
  struct doc_list list;
  int64_t before = INT64_MAX;
  int state = 0;
  (void)log;
  if (!parse(&c, "webhooks deliveries", WEBHOOK_DELIVERIES_USAGE, 1, false, argc, argv)) return c.cli.exit_code;
  if (c.state != NULL && !cmdline_choice(c.state, "waiting|done|dead", &state))
    return cli_misused(&c.cli, "--state must be waiting, done or dead");
  if (c.after != NULL && (text_to_i64(c.after, strlen(c.after), &before) != RESULT_OK || before <= 0))
    return cli_misused(&c.cli, "--after must be the ID of a delivery");
  if (!open_session(&c, config)) return c.cli.exit_code;
  check_endpoint(&c);
  if (c.cli.exit_code == EXIT_OK &&
      doc_list_begin(&list, &c.cli, delivery_columns, c.is_json == 1, c.limit == NULL ? "100" : c.limit)) {
    while (deliveries_page(&c, &list, &before)) {}
    (void)doc_list_end(&list);
  }
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- enable, disable

static int run_switch(const void *config, const char *name, bool enables, int argc, char **argv)
{
  struct call c;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!parse(&c, name, WEBHOOK_SWITCH_USAGE, 1, true, argc, argv) || !open_session(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_bool(&args, enables);
  db_args_text(&args, c.actor);
  db_args_text(&args, c.reason);
  if (ask(&c, &SQL_WEBHOOK_SWITCH, &args, &rows)) {
    if (db_rows_is_null(rows, 0, 0))
      refuse_unknown(&c);
    else
      printf("%s is %s%s\n", c.words[0], enables ? "enabled" : "disabled",
             strcmp(db_rows_text(rows, 0, 0), "changed") == 0 ? "" : " already");
  }
  db_rows_free(rows);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

int webhook_command_enable(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  return run_switch(config, "webhooks enable", true, argc, argv);
}

int webhook_command_disable(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  return run_switch(config, "webhooks disable", false, argc, argv);
}

// --- replay

static const char *check_replay(const struct call *c, int64_t *out_id, struct wall_time *out_since)
{
  if ((c->id == NULL) == (c->since == NULL)) return "either --since or --id is needed";
  if (c->id != NULL)
    return text_to_i64(c->id, strlen(c->id), out_id) == RESULT_OK ? NULL : "--id must be the number of a delivery";
  struct span ago;
  size_t len = strlen(c->since);
  if (text_to_time(c->since, len, out_since) == RESULT_OK) return NULL;
  if (text_to_span(c->since, len, &ago) != RESULT_OK)
    return "--since must be an instant such as 2026-10-01T11:00:00+08:00, or a time ago such as 1h";
  *out_since = wall_after(clk_wall(), span_us(-ago.us));
  return NULL;
}

// The next portion; false after the last one, or a failure that has been told.
static bool replay_some(struct call *c, int64_t id, struct wall_time since, int64_t *io_after, int64_t *io_total)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_more = false;
  db_args_init(&args);
  db_args_text(&args, c->words[0]);
  if (c->id != NULL)
    db_args_i64(&args, id);
  else
    db_args_null(&args);
  if (c->id != NULL)
    db_args_null(&args);
  else
    db_args_time(&args, since);
  db_args_bool(&args, c->is_all);
  db_args_i64(&args, *io_after);
  db_args_i64(&args, REPLAY_ROWS);
  db_args_text(&args, c->actor);
  db_args_text(&args, *io_after == 0 ? c->reason : NULL);
  if (ask(c, &SQL_WEBHOOK_REPLAY, &args, &rows)) {
    int64_t count = db_rows_count(rows) > 0 ? db_rows_i64(rows, 0, 0) : 0;
    if (db_rows_count(rows) == 0) refuse_unknown(c);
    if (count > 0) *io_after = db_rows_i64(rows, 0, 1);
    *io_total += count;
    is_more = count == REPLAY_ROWS;
  }
  db_rows_free(rows);
  return is_more;
}

int webhook_command_replay(const void *config, struct log *log, int argc, char **argv)
{
  struct call c;
  struct wall_time since = {0};
  int64_t id = 0, after = 0, total = 0;
  (void)log;
  if (!parse(&c, "webhooks replay", WEBHOOK_REPLAY_USAGE, 1, true, argc, argv)) return c.cli.exit_code;
  const char *fault = check_replay(&c, &id, &since);
  if (fault != NULL) return cli_misused(&c.cli, fault);
  if (!open_session(&c, config)) return c.cli.exit_code;
  while (replay_some(&c, id, since, &after, &total)) {}
  if (c.cli.exit_code == EXIT_OK) printf("%lld deliveries are made once more\n", (long long)total);
  cli_close(&c.cli);
  return c.cli.exit_code;
}

// --- test

// True once the running fulfiller has tried.
static bool is_tried(struct call *c, int64_t id)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool is_over = true;
  db_args_init(&args);
  db_args_i64(&args, id);
  if (ask(c, &SQL_WEBHOOK_DELIVERY, &args, &rows)) {
    is_over = db_rows_count(rows) == 0 || !db_rows_is_null(rows, 0, 1);
    bool is_done = is_over && db_rows_count(rows) > 0 && strcmp(db_rows_text(rows, 0, 0), "done") == 0;
    if (is_over)
      printf("%s: %s\n", is_done ? "delivered" : "failed",
             is_over && db_rows_count(rows) > 0 ? db_rows_text(rows, 0, 1) : "it is gone");
    if (is_over && !is_done) c->cli.exit_code = EXIT_DATA;
  }
  db_rows_free(rows);
  return is_over;
}

int webhook_command_test(const void *config, struct log *log, int argc, char **argv)
{
  struct call c;
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t id = 0;
  (void)log;
  if (!parse(&c, "webhooks test", "NAME", 1, false, argc, argv) || !open_session(&c, config)) return c.cli.exit_code;
  db_args_init(&args);
  db_args_text(&args, c.words[0]);
  db_args_text(&args, c.actor);
  db_args_text(&args, "webhooks test");
  if (ask(&c, &SQL_WEBHOOK_PING, &args, &rows)) {
    if (db_rows_is_null(rows, 0, 0))
      refuse_unknown(&c);
    else
      id = db_rows_i64(rows, 0, 0);
  }
  db_rows_free(rows);
  struct mono_time end = mono_after(clk_mono(), TEST_PATIENCE);
  bool is_over = id == 0;
  while (!(is_over = is_over || is_tried(&c, id)) && mono_before(clk_mono(), end)) (void)poll(NULL, 0, TEST_POLL_MS);
  if (!is_over)
    c.cli.exit_code =
        cli_failed(&c.cli, "no fulfiller has sent it yet; is one running, and the endpoint enabled?", EXIT_UNAVAILABLE);
  cli_close(&c.cli);
  return c.cli.exit_code;
}
