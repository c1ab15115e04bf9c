// SPDX-License-Identifier: Apache-2.0
// The statements about statements of providers: their arguments and their rows.
// Owner: the caller, who runs them on a session or the pool.
#include "reconciler/store_statement.h"

#include <string.h>

#include "common/mem.h"
#include "sql_reconciler.inc"

#define BATCH_BYTES_MAX (STATEMENT_BATCH_LINES * 3 * (STATEMENT_TEXT_MAX + 1))

// --- lines on their way

void statement_batch_init(struct statement_batch *b)
{
  *b = (struct statement_batch){.lines = MEM_ARRAY(struct statement_line, STATEMENT_BATCH_LINES)};
  buf_init(&b->texts, BATCH_BYTES_MAX);
}

void statement_batch_release(struct statement_batch *b)
{
  mem_free(b->lines);
  buf_release(&b->texts);
}

// Only the length is kept: the texts lie one behind the other, and the buffer may move.
static void keep(struct statement_batch *b, struct statement_text *text)
{
  if (text->len > 0) buf_append(&b->texts, text->bytes, text->len);
  text->bytes = NULL;
}

void statement_batch_add(struct statement_batch *b, const struct statement_line *line)
{
  struct statement_line *l = &b->lines[b->count++];
  *l = *line;
  keep(b, &l->request_id);
  keep(b, &l->user);
  keep(b, &l->ref);
}

bool statement_batch_is_full(const struct statement_batch *b) { return b->count == STATEMENT_BATCH_LINES; }

void statement_batch_clear(struct statement_batch *b)
{
  b->count = 0;
  buf_clear(&b->texts);
}

// --- arguments

static void put_terms(struct db_args *args, const struct statement_conf *conf)
{
  struct buf terms;
  buf_init(&terms, 65536);
  buf_puts(&terms, "{\"covers\":[");
  for (size_t i = 0; i < conf->covers.count; i++)
    buf_printf(&terms, "%s\"%s\"", i > 0 ? "," : "", conf->covers.items[i]);
  buf_puts(&terms, "],\"fallback\":[");
  for (size_t i = 0; i < conf->fallback.count; i++)
    buf_printf(&terms, "%s\"%s\"", i > 0 ? "," : "", conf->fallback.items[i]);
  buf_puts(&terms, "],\"sharedWith\":[");
  for (size_t i = 0; i < conf->shared_with.count; i++) {
    if (i > 0) buf_putc(&terms, ',');
    buf_put_json(&terms, conf->shared_with.items[i], strlen(conf->shared_with.items[i]));
  }
  buf_printf(&terms, "],\"fetched\":%s}", conf->fetch.url != NULL ? "true" : "false");
  db_args_text(args, buf_text(&terms));
  buf_release(&terms);
}

const struct db_statement *store_statement_begin(struct db_args *args, const struct statement_profile *p,
                                                 const char *file, const char *actor)
{
  db_args_text(args, p->name);
  db_args_text(args, p->conf->time_zone);
  db_args_text(args, file);
  db_args_i64(args, p->conf->grace.us);
  put_terms(args, p->conf);
  db_args_text(args, actor);
  return &SQL_STATEMENT_BEGIN;
}

static void put_ids(struct db_args *args, const struct statement_batch *b, int which)
{
  const char *at = buf_text(&b->texts);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < b->count; i++) {
    const struct statement_line *l = &b->lines[i];
    const size_t lens[] = {l->request_id.len, l->user.len, l->ref.len};
    const char *text = at;
    for (int k = 0; k < which; k++) text += lens[k];
    db_args_array_text(args, text, lens[which]);
    at += lens[0] + lens[1] + lens[2];
  }
  db_args_array_end(args);
}

static void put_claims(struct db_args *args, const struct statement_batch *b)
{
  for (int which = 0; which < 2; which++) {
    db_args_array(args, DB_ARRAY_INT8);
    for (size_t i = 0; i < b->count; i++) {
      if (b->lines[i].has_claim)
        db_args_array_i64(args, which == 0 ? b->lines[i].activity_id : b->lines[i].claim_id);
      else
        db_args_array_null(args);
    }
    db_args_array_end(args);
  }
}

static void put_words(struct db_args *args, const struct statement_batch *b)
{
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < b->count; i++) {
    const char *kind = statement_kind_name(b->lines[i].kind);
    db_args_array_text(args, kind, strlen(kind));
  }
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < b->count; i++) {
    const char *status = statement_status_name(b->lines[i].status);
    db_args_array_text(args, status, strlen(status));
  }
  db_args_array_end(args);
}

static void put_money(struct db_args *args, const struct statement_batch *b)
{
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < b->count; i++) {
    if (b->lines[i].has_amount)
      db_args_array_i64(args, b->lines[i].amount);
    else
      db_args_array_null(args);
  }
  db_args_array_end(args);
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t i = 0; i < b->count; i++) {
    if (b->lines[i].currency[0] != '\0')
      db_args_array_text(args, b->lines[i].currency, strlen(b->lines[i].currency));
    else
      db_args_array_null(args);
  }
  db_args_array_end(args);
}

const struct db_statement *store_statement_lines_add(struct db_args *args, int64_t id,
                                                     const struct statement_profile *p, const struct statement_batch *b)
{
  db_args_i64(args, id);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < b->count; i++) db_args_array_i64(args, b->lines[i].line);
  db_args_array_end(args);
  put_ids(args, b, 0);
  put_claims(args, b);
  put_ids(args, b, 1);
  put_words(args, b);
  put_money(args, b);
  db_args_array(args, DB_ARRAY_INT8);
  for (size_t i = 0; i < b->count; i++) {
    if (b->lines[i].has_at)
      db_args_array_i64(args, b->lines[i].at_us);
    else
      db_args_array_null(args);
  }
  db_args_array_end(args);
  db_args_bool(args, p->is_local);
  put_ids(args, b, 2);
  return &SQL_STATEMENT_LINES_ADD;
}

const struct db_statement *store_statement_close(struct db_args *args, const struct statement_end *end)
{
  db_args_i64(args, end->id);
  db_args_text(args, end->date);
  db_args_binary(args, end->checksum, SIGNATURE_SHA256_BYTES);
  db_args_i64(args, end->bytes);
  db_args_i64(args, end->findings_max);
  db_args_text(args, end->actor);
  db_args_text(args, end->reason);
  return &SQL_STATEMENT_CLOSE;
}

const struct db_statement *store_statement_reinstate(struct db_args *args, const struct statement_end *end)
{
  db_args_i64(args, end->id);
  db_args_i64(args, end->findings_max);
  db_args_text(args, end->actor);
  db_args_text(args, end->reason);
  return &SQL_STATEMENT_REINSTATE;
}

const struct db_statement *store_statement_show(struct db_args *args, int64_t id)
{
  db_args_i64(args, id);
  return &SQL_STATEMENT_SHOW;
}

const struct db_statement *store_statement_rematch(struct db_args *args, int64_t id, int64_t findings_max)
{
  db_args_i64(args, id);
  db_args_i64(args, findings_max);
  return &SQL_STATEMENT_REMATCH;
}

const struct db_statement *store_statement_match_open(struct db_args *args, const char *provider, int64_t findings_max)
{
  db_args_text(args, provider);
  db_args_i64(args, findings_max);
  return &SQL_STATEMENT_MATCH_OPEN;
}

const struct db_statement *store_statement_match_failed(struct db_args *args, const char *provider, const char *fault)
{
  db_args_text(args, provider);
  db_args_text(args, fault);
  return &SQL_STATEMENT_MATCH_FAILED;
}

const struct db_statement *store_statement_list(struct db_args *args, const char *provider, int64_t after,
                                                int64_t limit)
{
  db_args_text(args, provider);
  if (after > 0)
    db_args_i64(args, after);
  else
    db_args_null(args);
  db_args_i64(args, limit);
  return &SQL_STATEMENT_LIST;
}

const struct db_statement *store_statement_lines(struct db_args *args, int64_t id, const char *outcome, int64_t after,
                                                 int64_t limit)
{
  db_args_i64(args, id);
  db_args_text(args, outcome);
  db_args_i64(args, after);
  db_args_i64(args, limit);
  return &SQL_STATEMENT_LINES;
}

const struct db_statement *store_statement_fetch_take(struct db_args *args, const char *provider,
                                                      const struct statement_conf *conf)
{
  db_args_text(args, provider);
  db_args_text(args, conf->time_zone);
  db_args_text(args, conf->fetch.at);
  db_args_i64(args, conf->fetch.catch_up);
  db_args_i64(args, conf->fetch.retry_every.us);
  return &SQL_STATEMENT_FETCH_TAKE;
}

const struct db_statement *store_statement_fetch_done(struct db_args *args, const char *provider, const char *date,
                                                      const char *fault, const char *actor, const char *reason)
{
  db_args_text(args, provider);
  db_args_text(args, date);
  db_args_text(args, fault);
  db_args_text(args, actor);
  db_args_text(args, reason);
  return &SQL_STATEMENT_FETCH_DONE;
}
