// SPDX-License-Identifier: Apache-2.0
// `reconciler log list|verify`.
// Owner: the command; blocking.
#include "reconciler/log_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/doc_list.h"
#include "common/text.h"
#include "reconciler/cli.h"
#include "reconciler/log_chain.h"
#include "reconciler/log_store.h"
#include "sql_reconciler.inc"

#define PAGE_ROWS 500

static const struct doc_column columns[] = {
    {"SEQ", "seq", 8},        {"AT", "at", 27},        {"ACTOR", "actor", 16}, {"ACTION", "action", 22},
    {"TARGET", "target", 24}, {"REASON", "reason", 0}, {NULL, NULL, 0},
};

// --- list

struct list_options {
  struct log_filter filter;
  const char *since, *until, *after, *limit, *format;
};

static const char *list_fault(struct list_options *o, size_t words, int64_t *out_after)
{
  struct log_filter *f = &o->filter;
  int index = 0;
  if (words > 0) return "takes no arguments but its options";
  if (!cmdline_choice(o->format, "text|json", &index)) return "--format must be text or json";
  f->has_since = o->since != NULL;
  f->has_until = o->until != NULL;
  if (f->has_since && text_to_time(o->since, strlen(o->since), &f->since) != RESULT_OK)
    return "--since must be a time such as 2026-10-01T11:00:00+08:00";
  if (f->has_until && text_to_time(o->until, strlen(o->until), &f->until) != RESULT_OK)
    return "--until must be a time such as 2026-10-01T11:00:00+08:00";
  if (o->after != NULL && (text_to_i64(o->after, strlen(o->after), out_after) != RESULT_OK || *out_after < 1))
    return "--after must be the number of a row";
  return NULL;
}

static bool list_page(struct doc_list *l, const struct list_options *o, int64_t *io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page(l, log_store_list(&args, &o->filter, *io_after, doc_list_page_rows(l)), &args, io_after);
}

int log_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("log list", LOG_LIST_USAGE);
  struct list_options o = {.format = "text"};
  const struct cmdline_option options[] = {
      {"--actor", &o.filter.actor, NULL}, {"--action", &o.filter.action, NULL}, {"--target", &o.filter.target, NULL},
      {"--since", &o.since, NULL},        {"--until", &o.until, NULL},          {"--after", &o.after, NULL},
      {"--limit", &o.limit, NULL},        {"--format", &o.format, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t after = 0;
  struct doc_list l;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  const char *fault = list_fault(&o, words, &after);
  if (fault != NULL) return cli_misused(&c, fault);
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  if (doc_list_begin(&l, &c, columns, strcmp(o.format, "json") == 0, o.limit)) {
    while (list_page(&l, &o, &after)) {}
    (void)doc_list_end(&l);
  }
  cli_close(&c);
  return c.exit_code;
}

// --- verify

struct verify {
  struct cli *cli;
  struct log_chain chain;
  struct log_anchor head;  // as it was when this began; what comes later is not looked at
  int64_t from, newest, rows;
};

static void copy_hash(const struct db_rows *rows, size_t row, size_t column, uint8_t out[LOG_HASH_BYTES])
{
  memset(out, 0, LOG_HASH_BYTES);
  if (db_rows_text_len(rows, row, column) == LOG_HASH_BYTES)
    memcpy(out, db_rows_text(rows, row, column), LOG_HASH_BYTES);
}

static bool read_head(struct verify *v)
{
  struct db_rows *rows = NULL;
  if (!cli_query(v->cli, &SQL_LOG_HEAD, NULL, &rows)) return false;
  bool is_there = db_rows_count(rows) == 1;
  if (is_there) {
    v->head.seq = db_rows_i64(rows, 0, 0);
    copy_hash(rows, 0, 1, v->head.hash);
    v->newest = db_rows_i64(rows, 0, 2);
  }
  db_rows_free(rows);
  if (!is_there) v->cli->exit_code = cli_failed(v->cli, "the head of the log is missing", EXIT_FINDINGS);
  return is_there;
}

static bool put_row(struct verify *v, const struct db_rows *rows, size_t i)
{
  enum { SEQ, AT, ACTOR, ACTION, TARGET, REASON, DETAIL, BEFORE, HASH };
  struct log_row row = {.seq = db_rows_i64(rows, i, SEQ),
                        .at_us = db_rows_i64(rows, i, AT),
                        .actor = db_rows_text(rows, i, ACTOR),
                        .action = db_rows_text(rows, i, ACTION),
                        .target = db_rows_text(rows, i, TARGET),
                        .reason = db_rows_is_null(rows, i, REASON) ? NULL : db_rows_text(rows, i, REASON),
                        .detail = db_rows_text(rows, i, DETAIL)};
  if (row.seq > v->head.seq) return true;
  copy_hash(rows, i, BEFORE, row.before);
  copy_hash(rows, i, HASH, row.hash);
  v->rows++;
  return log_chain_put(&v->chain, &row);
}

// Up to one page, so that the length of the log does not matter. Returns whether there is more to look at.
static bool walk_page(struct verify *v)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  int64_t from = v->chain.next;
  db_args_init(&args);
  db_args_i64(&args, from);
  db_args_i64(&args, PAGE_ROWS);
  bool is_well = cli_query(v->cli, &SQL_LOG_ROWS, &args, &rows);
  for (size_t i = 0; is_well && i < db_rows_count(rows); i++) is_well = put_row(v, rows, i);
  db_rows_free(rows);
  db_args_release(&args);
  return is_well && v->chain.next > from && v->chain.next <= v->head.seq;
}

// Every night's report is an anchor of its own.
static void compare_nights(struct verify *v)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_i64(&args, v->from);
  if (cli_query(v->cli, &SQL_LOG_NIGHT_FAULT, &args, &rows) && db_rows_count(rows) > 0)
    log_chain_differs(&v->chain, db_rows_i64(rows, 0, 0), db_rows_text(rows, 0, 1));
  db_rows_free(rows);
  db_args_release(&args);
}

static int tell(const struct verify *v, bool is_json)
{
  const struct log_chain *c = &v->chain;
  bool is_whole = c->fault[0] == '\0';
  struct buf hash;
  buf_init(&hash, 2 * LOG_HASH_BYTES);
  text_hex(v->head.hash, LOG_HASH_BYTES, &hash);
  if (is_json && is_whole)
    (void)printf("{\"whole\":true,\"from\":\"%" PRId64 "\",\"rows\":%" PRId64 ",\"seq\":\"%" PRId64
                 "\",\"hash\":\"%s\"}\n",
                 v->from, v->rows, v->head.seq, buf_text(&hash));
  else if (is_json)
    (void)printf("{\"whole\":false,\"from\":\"%" PRId64 "\",\"rows\":%" PRId64 ",\"seq\":\"%" PRId64
                 "\",\"fault\":\"%s\"}\n",
                 v->from, v->rows, c->fault_seq, c->fault);
  else if (is_whole)
    (void)printf("log: whole, %" PRId64 " rows\nanchor: %" PRId64 ":%s\n", v->rows, v->head.seq, buf_text(&hash));
  else
    (void)printf("log: broken at row %" PRId64 ": %s\n", c->fault_seq, c->fault);
  buf_release(&hash);
  return is_whole ? EXIT_OK : EXIT_FINDINGS;
}

static void verify(struct cli *c, int64_t from, const struct log_anchor *anchor, bool is_json)
{
  struct verify v = {.cli = c, .from = from};
  log_chain_init(&v.chain, from, anchor);
  if (read_head(&v)) {
    while (walk_page(&v)) {}
    if (c->exit_code == EXIT_OK && v.chain.fault[0] == '\0') (void)log_chain_end(&v.chain, &v.head, v.newest);
    if (c->exit_code == EXIT_OK && v.chain.fault[0] == '\0') compare_nights(&v);
    if (c->exit_code == EXIT_OK) c->exit_code = tell(&v, is_json);
  }
  log_chain_release(&v.chain);
}

int log_command_verify(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("log verify", LOG_VERIFY_USAGE);
  const char *from_text = NULL, *anchor_text = NULL, *format = "text";
  const struct cmdline_option options[] = {
      {"--from", &from_text, NULL}, {"--anchor", &anchor_text, NULL}, {"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int64_t from = 1;
  int index = 0;
  struct log_anchor anchor = {.seq = 0};
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (!cmdline_choice(format, "text|json", &index)) return cli_misused(&c, "--format must be text or json");
  if (from_text != NULL && (text_to_i64(from_text, strlen(from_text), &from) != RESULT_OK || from < 1))
    return cli_misused(&c, "--from must be the number of a row");
  if (anchor_text != NULL && log_anchor_read(anchor_text, &anchor) != RESULT_OK)
    return cli_misused(&c, "--anchor must be a row's number and hash such as 17:9f86d081…, as `log verify` prints it");
  if (anchor.seq > 0 && anchor.seq < from) return cli_misused(&c, "--anchor lies before --from");
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  verify(&c, from, &anchor, strcmp(format, "json") == 0);
  cli_close(&c);
  return c.exit_code;
}
