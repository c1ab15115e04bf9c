// SPDX-License-Identifier: Apache-2.0
// `reconciler dead-letters retry|refund|resolve`, `findings repair|resolve` and `claims roll-back`.
// Owner: the command; blocking.
#include "reconciler/order_command.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/jsonx.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/operation.h"

#define RESULT_BYTES_MAX (16u * 1024u * 1024u)
#define RATE_MAX         10000
#define WAIT_MS_MAX      1000  // progress is told at least this often

struct order_options {
  const char *as, *rate, *format;
  bool all, is_json;
};

// --- the order

#define SHARED_OPTIONS 5
#define OPTIONS_MAX    12

// What each kind takes beside what all do. Returns how many.
static size_t put_options(struct cmdline_option *out, struct operation_order *order, struct order_options *o)
{
  const struct cmdline_option shared[SHARED_OPTIONS] = {
      {"--format", &o->format, NULL}, {"--reason", &order->reason, NULL},      {"--rate", &o->rate, NULL},
      {"--key", &order->key, NULL},   {"--dry-run", NULL, &order->is_dry_run},
  };
  const struct cmdline_option of_letters[] = {
      {"--provider", &order->filter.provider, NULL},
      {"--cause", &order->filter.cause, NULL},
      {"--activity", &order->filter.activity_code, NULL},
      {"--fingerprint", &order->filter.fingerprint, NULL},
      {"--all", NULL, &o->all},
      // For resolving only:
      {"--proof", &order->proof, NULL},
      {"--as", &o->as, NULL},
  };
  const struct cmdline_option of_findings[] = {
      {"--kind", &order->findings.kind, NULL},
      {"--severity", &order->findings.severity, NULL},
      {"--state", &order->findings.state, NULL},
      {"--activity", &order->findings.activity_code, NULL},
      {"--provider", &order->findings.provider, NULL},
      {"--source", &order->findings.source, NULL},
      {"--all", NULL, &o->all},
  };
  _Static_assert(SHARED_OPTIONS + ARRAY_LEN(of_letters) <= OPTIONS_MAX, "room for all");
  _Static_assert(SHARED_OPTIONS + ARRAY_LEN(of_findings) <= OPTIONS_MAX, "room for all");
  memcpy(out, shared, sizeof shared);
  if (order->kind == OPERATION_ROLL_BACK) return SHARED_OPTIONS;
  bool is_of_findings = operation_is_about_findings(order->kind);
  size_t count = is_of_findings                     ? ARRAY_LEN(of_findings)
                 : order->kind == OPERATION_RESOLVE ? ARRAY_LEN(of_letters)
                                                    : ARRAY_LEN(of_letters) - 2;
  memcpy(out + SHARED_OPTIONS, is_of_findings ? of_findings : of_letters, count * sizeof *out);
  return SHARED_OPTIONS + count;
}

static bool parse(struct cli *c, struct operation_order *order, struct order_options *o, int argc, char **argv,
                  size_t *out_words)
{
  struct cmdline_option options[OPTIONS_MAX];
  size_t count = put_options(options, order, o);
  char why[CMDLINE_WHY_BYTES] = "";
  int format = 0;
  const char *fault = cmdline_parse(options, count, argc, argv, out_words, why) == RESULT_OK ? NULL : why;
  if (fault == NULL && o->format != NULL && !cmdline_choice(o->format, "text|json", &format))
    fault = "--format must be text or json";
  o->is_json = format == 1;
  if (fault != NULL) c->exit_code = cli_misused(c, fault);
  return fault == NULL;
}

static const char *findings_fault(const struct finding_filter *f, const struct order_options *o, size_t words)
{
  bool has_filter = f->state != NULL || f->kind != NULL || f->severity != NULL || f->activity_code != NULL ||
                    f->provider != NULL || f->source != NULL;
  if (words > 0 && (has_filter || o->all)) return "name findings or give a filter, not both";
  if (words == 0 && !has_filter && !o->all) return "name findings, give a filter, or say --all";
  if (words > OPERATION_IDS_MAX) return "at most 10000 findings can be named";
  return finding_order_fault(f);
}

static const char *targets_fault(const struct operation_order *order, const struct order_options *o, size_t words)
{
  const struct dead_letter_filter *f = &order->filter;
  bool has_filter = f->provider != NULL || f->cause != NULL || f->activity_code != NULL || f->fingerprint != NULL;
  if (order->kind == OPERATION_ROLL_BACK) return words == 0 ? "name the claims" : NULL;
  if (operation_is_about_findings(order->kind)) return findings_fault(&order->findings, o, words);
  if (words > 0 && (has_filter || o->all)) return "name letters or give a filter, not both";
  if (words == 0 && !has_filter && !o->all) return "name letters, give a filter, or say --all";
  return words > OPERATION_IDS_MAX ? "at most 10000 letters can be named" : NULL;
}

static bool is_text(const char *text, size_t max_chars)
{
  size_t len = strlen(text);
  return len > 0 && text_is_utf8(text, len) && text_utf8_length(text, len) <= max_chars;
}

static const char *words_fault(struct operation_order *order, const struct order_options *o)
{
  if (order->reason == NULL && !order->is_dry_run) return "--reason is needed";
  if (order->reason != NULL && !is_text(order->reason, REASON_CHARS_MAX))
    return "--reason must be text of at most 500 characters";
  if (order->proof != NULL && !is_text(order->proof, PROOF_CHARS_MAX))
    return "--proof must be text of at most 200 characters";
  if (order->key != NULL && !is_text(order->key, KEY_CHARS_MAX)) return "--key must be text of at most 128 characters";
  if (o->as != NULL && operation_order_put_as(order, o->as) != RESULT_OK)
    return "--as must be delivered or not-delivered";
  if (o->as != NULL && !order->is_not_delivered && order->proof == NULL)
    return "--proof is needed: how is it known that it was delivered?";
  if (o->rate != NULL &&
      (text_to_i64(o->rate, strlen(o->rate), &order->rate) != RESULT_OK || order->rate < 1 || order->rate > RATE_MAX))
    return "--rate must be a number from 1 to 10000";
  return NULL;
}

static const char *name_targets(struct operation_order *order, char **argv, size_t words)
{
  order->by_filter = words == 0;
  operation_order_make_room(order, words);
  for (size_t i = 0; i < words; i++) {
    if (operation_order_add(order, argv[i]) == RESULT_OK) continue;
    if (operation_is_about_findings(order->kind)) return "a finding is named by its key, as the list shows it";
    return order->kind == OPERATION_ROLL_BACK ? "a claim's id is such as 683000001-5"
                                              : "an id is the number of a letter or of a claim such as 683000001-5";
  }
  return NULL;
}

// --- its operation

static bool begin(struct cli *c, const struct operation_order *order, int64_t *out_id)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  bool has_begun = false;
  db_args_init(&args);
  if (cli_query(c, store_operation_begin(&args, order), &args, &rows)) {
    struct operation_begun begun = store_operation_begun(rows);
    has_begun = !begun.is_key_reused;
    if (!has_begun) c->exit_code = cli_failed(c, "this key was used for another operation", EXIT_DATA);
    *out_id = begun.id;
  }
  db_rows_free(rows);
  db_args_release(&args);
  return has_begun;
}

// What the database answered last; texts are dropped.
static bool step(struct cli *c, int64_t id, int64_t limit, struct operation_step_row *out_row, bool *out_is_running)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  bool is_done = cli_query(c, store_operation_step(&args, id, limit), &args, &rows) && db_rows_count(rows) > 0;
  if (is_done) {
    *out_row = store_operation_step_row(rows, 0);
    *out_is_running = strcmp(out_row->state, "running") == 0;
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_done;
}

static void wait_ms(int64_t ms)
{
  if (ms > WAIT_MS_MAX) ms = WAIT_MS_MAX;
  struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
  (void)nanosleep(&pause, NULL);
}

// To its end, at its pace, which other processes may share.
static bool drive(struct cli *c, int64_t id, int64_t limit)
{
  struct operation_step_row row;
  bool is_running = true, was_told = false;
  time_t told = time(NULL);
  while (step(c, id, limit, &row, &is_running)) {
    if (!is_running) return true;
    if (row.wait_ms > 0 && !was_told) {
      (void)fprintf(stderr,
                    "operation %lld of %lld items: if this command is ended, a serving reconciler goes on; "
                    "`operations cancel %lld` ends it\n",
                    (long long)id, (long long)row.total, (long long)id);
      was_told = true;
    }
    if (time(NULL) != told) (void)fprintf(stderr, "%lld of %lld\n", (long long)row.done, (long long)row.total);
    told = time(NULL);
    wait_ms(row.wait_ms);
  }
  return false;
}

// --- its result

static const char *text_of(const json_t *item, const char *member)
{
  const char *text = json_string_value(json_object_get(item, member));
  return text != NULL ? text : "-";
}

// Keys of findings about statements have texts of files in them.
static void put_finding(const json_t *item, struct buf *out)
{
  static const char *const members[] = {"key", "outcome", "before", "after"}, *const behind[] = {"\n  ", ": ", " -> ",
                                                                                                 "\n"};
  for (size_t i = 0; i < ARRAY_LEN(members); i++) {
    cmdline_put_text(out, text_of(item, members[i]));
    buf_puts(out, behind[i]);
  }
}

static void put_lines(const json_t *result, struct buf *out)
{
  const json_t *items = json_object_get(result, "items");
  for (size_t i = 0; i < json_array_size(items); i++) {
    const json_t *item = json_array_get(items, i);
    if (json_object_get(item, "key") != NULL) {
      put_finding(item, out);
      continue;
    }
    buf_printf(out, "%-8s  %-20s  %s\n", text_of(item, "id"), text_of(item, "claimId"), text_of(item, "outcome"));
  }
  operation_put_summary(result, out);
  if (strcmp(text_of(result, "state"), "cancelled") == 0) buf_puts(out, "; cancelled, the rest was left alone");
}

static void tell(struct cli *c, const struct db_rows *rows, bool is_json)
{
  json_t *result = NULL;
  struct buf text;
  if (db_rows_count(rows) == 0 ||
      jsonx_parse(db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &result, NULL) != RESULT_OK) {
    c->exit_code = cli_failed(c, "the result cannot be read", EXIT_SOFTWARE);
    return;
  }
  buf_init(&text, RESULT_BYTES_MAX);
  if (is_json)
    buf_append(&text, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  else
    put_lines(result, &text);
  buf_putc(&text, '\n');
  c->exit_code = cli_write(c, &text, NULL);
  if (c->exit_code == EXIT_OK && operation_failures(result) > 0) c->exit_code = EXIT_DATA;
  buf_release(&text);
  json_decref(result);
}

static void run(struct cli *c, const struct operation_order *order, bool is_json, int64_t limit)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t id = 0;
  if (!order->is_dry_run && (!begin(c, order, &id) || !drive(c, id, limit))) return;
  db_args_init(&args);
  const struct db_statement *statement =
      order->is_dry_run ? store_operation_preview(&args, order) : store_operation_show(&args, id, true);
  if (cli_query(c, statement, &args, &rows)) tell(c, rows, is_json);
  db_rows_free(rows);
  db_args_release(&args);
}

static int command(enum operation_kind kind, struct cli *c, const void *config, int argc, char **argv)
{
  const struct reconciler_conf *conf = config;
  struct operation_order order;
  struct order_options o = {0};
  size_t words = 0;
  char actor[CMDLINE_ACTOR_BYTES];
  operation_order_init(&order, kind);
  order.rate = conf->operations.rate;
  if (!parse(c, &order, &o, argc, argv, &words)) return c->exit_code;
  const char *fault = targets_fault(&order, &o, words);
  if (fault == NULL) fault = words_fault(&order, &o);
  if (fault == NULL) fault = name_targets(&order, argv, words);
  cmdline_actor(actor);
  order.actor = actor;
  if (fault != NULL) {
    c->exit_code = cli_misused(c, fault);
  } else if (reconciler_cli_open(c, config)) {
    run(c, &order, o.is_json, conf->operations.batch_rows);
    cli_close(c);
  }
  operation_order_release(&order);
  return c->exit_code;
}

int order_command_retry(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters retry", DEAD_LETTER_RETRY_USAGE);
  return command(OPERATION_RETRY, &c, config, argc, argv);
}

int order_command_refund(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters refund", DEAD_LETTER_REFUND_USAGE);
  return command(OPERATION_REFUND, &c, config, argc, argv);
}

int order_command_resolve(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("dead-letters resolve", DEAD_LETTER_RESOLVE_USAGE);
  return command(OPERATION_RESOLVE, &c, config, argc, argv);
}

int order_command_repair(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("findings repair", FINDING_ORDER_USAGE);
  return command(OPERATION_REPAIR, &c, config, argc, argv);
}

int order_command_explain(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("findings resolve", FINDING_ORDER_USAGE);
  return command(OPERATION_EXPLAIN, &c, config, argc, argv);
}

int order_command_roll_back(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("claims roll-back", CLAIM_ROLL_BACK_USAGE);
  return command(OPERATION_ROLL_BACK, &c, config, argc, argv);
}
