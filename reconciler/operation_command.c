// SPDX-License-Identifier: Apache-2.0
// `reconciler operations list|show|cancel`.
// Owner: the command; blocking.
#include "reconciler/operation_command.h"

#include <string.h>

#include "common/doc_list.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/operation.h"

static const struct doc_column columns[] = {
    {"ID", "operationId", 6},     {"KIND", "kind", 9},     {"STATE", "state", 9},
    {"DONE", "done", 8},          {"TOTAL", "total", 8},   {"ACTOR", "actor", 16},
    {"CREATED", "createdAt", 27}, {"REASON", "reason", 0}, {NULL, NULL, 0},
};

// --- list

struct list_options {
  const char *state, *kind, *after, *limit, *format;
};

static const char *list_fault(const struct list_options *o, int64_t *out_after)
{
  int index = 0;
  if (!cmdline_choice(o->state, "running|done|cancelled|all", &index))
    return "--state must be running, done, cancelled or all";
  if (o->kind != NULL && !cmdline_choice(o->kind, OPERATION_KINDS, &index))
    return "--kind must be retry, refund, resolve, roll_back, repair or explain";
  if (!cmdline_choice(o->format, "text|json", &index)) return "--format must be text or json";
  if (o->after != NULL && (text_to_i64(o->after, strlen(o->after), out_after) != RESULT_OK || *out_after < 1))
    return "--after must be the id of an operation";
  return NULL;
}

static bool list_page(struct doc_list *l, const struct list_options *o, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, store_operation_list(&args, o->state, o->kind, *io_after, doc_list_page_rows(l)), &args,
                       io_after);
}

int operation_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("operations list", OPERATION_LIST_USAGE);
  struct list_options o = {.state = "all", .format = "text"};
  const struct cmdline_option options[] = {
      {"--state", &o.state, NULL}, {"--kind", &o.kind, NULL},     {"--after", &o.after, NULL},
      {"--limit", &o.limit, NULL}, {"--format", &o.format, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t after = 0;
  struct doc_list l;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  const char *fault = words > 0 ? "takes no arguments but its options" : list_fault(&o, &after);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, strcmp(o.format, "json") == 0, o.limit)) {
    while (list_page(&l, &o, &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}

// --- one

struct one_options {
  const char *format, *reason;
  bool has_items, is_cancel;
};

static const char *one_fault(const struct one_options *o, char **argv, size_t words, int64_t *out_id)
{
  int index = 0;
  if (words != 1) return "one id is needed";
  if (text_to_i64(argv[0], strlen(argv[0]), out_id) != RESULT_OK || *out_id < 1) return "an operation's id is a number";
  if (!cmdline_choice(o->format, "text|json", &index)) return "--format must be text or json";
  if (!o->is_cancel) return NULL;
  if (o->reason == NULL) return "--reason is needed";
  size_t len = strlen(o->reason);
  if (len == 0 || !text_is_utf8(o->reason, len) || text_utf8_length(o->reason, len) > REASON_CHARS_MAX)
    return "--reason must be text of at most 500 characters";
  return NULL;
}

static int one(struct cli *c, struct one_options *o, const void *config, int argc, char **argv)
{
  const struct cmdline_option options[] = {
      {"--format", &o->format, NULL},
      o->is_cancel ? (struct cmdline_option){"--reason", &o->reason, NULL}
                   : (struct cmdline_option){"--items", NULL, &o->has_items},
  };
  char why[CMDLINE_WHY_BYTES] = "", actor[CMDLINE_ACTOR_BYTES];
  size_t words = 0;
  int64_t id = 0;
  struct db_args args;
  struct db_rows *rows = NULL;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(c, why);
  const char *fault = one_fault(o, argv, words, &id);
  if (fault != NULL) return cli_misused(c, fault);
  if (!reconciler_cli_open(c, config)) return c->exit_code;
  cmdline_actor(actor);
  db_args_init(&args);
  const struct db_statement *statement = o->is_cancel ? store_operation_cancel(&args, id, actor, o->reason)
                                                      : store_operation_show(&args, id, o->has_items);
  if (cli_query(c, statement, &args, &rows))
    c->exit_code = doc_show(c, rows, strcmp(o->format, "json") == 0, "operation", argv[0]);
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(c);
  return c->exit_code;
}

int operation_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("operations show", OPERATION_SHOW_USAGE);
  return one(&c, &(struct one_options){.format = "text"}, config, argc, argv);
}

int operation_command_cancel(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("operations cancel", OPERATION_CANCEL_USAGE);
  return one(&c, &(struct one_options){.format = "text", .is_cancel = true}, config, argc, argv);
}
